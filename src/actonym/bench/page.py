"""One HTML page that needs nothing but itself: tables, plots, frames, flags and how to read them."""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from actonym.bench import plot
from actonym.bench.result import Result
from actonym.bench.summary import Group, count, finding, headline, summarize
from actonym.bench.table import FLOORS, Table, flagged, tables

PNG = b"\x89PNG\r\n\x1a\n"

# What a flag means for the reader; a flag may name details after a colon.
MEANING = {
    "attacker did not converge": "The strongest attacker was still learning when its time was up. "
    "The true leak may be larger.",
    "weaker attacker did not converge": "With more time one of these attackers may have become the strongest.",
    "recognizer did not converge": "The recognizer was still learning when its time was up. "
    "The true utility may be higher.",
    "below the action-prior floor": "The action can still be recognized, and it alone gives away more than the "
    "attacker found: a weak attacker, not privacy.",
    "raw attacker weak": "Even on raw video the attacker is hardly better than chance. There is little to close here, "
    "and closed says little.",
    "attribute left out": "The test videos hold one class only, so no score exists. The means leave it out.",
}

GLOSSARY = {
    "top-1": "Share of test videos whose action is recognized, by a recognizer trained anew on the anonymized videos.",
    "action cMAP": "Where videos have several actions at once: how well the recognizer ranks the videos by each action "
    "(average precision), averaged over the actions. Chance is the mean share of videos with an action.",
    "cMAP": "The leak: how well the strongest attacker ranks the videos by each private attribute (average precision), "
    "averaged over the attributes. Lower is more private.",
    "F1, F1 gain": "The leak as F1 of its yes/no answers, and its distance to a random predictor.",
    "floors": "What an attacker gets without seeing the video. Chance: the share of videos with the attribute. Action "
    "prior: the best prediction from the true action label alone. A method that keeps the action cannot honestly leak "
    "less than the action prior.",
    "kept": "Utility (top-1, or action cMAP) on anonymized video divided by that on raw video. 1 is all of it.",
    "closed": "Share of the raw leak above chance that is gone. 0 is no protection, 1 is down to chance; below 0 the "
    "method leaks more than raw video.",
    "linkage": "Given a clip, another one of the same person and place is looked for among clips of the same action. "
    "Rank-1 is how often the first that is found is right. Lower is more private; chance is the floor.",
    "seeds": "Every number is a mean over seeds. ± is the standard deviation over seeds, printed from 3 seeds up.",
}

CSS = """
:root { color-scheme: light dark; --ink: #1f2328; --quiet: #5b6472; --line: #dfe3e8; --back: #ffffff; --soft: #f5f7f9;
  --warn: #8a4b00; --warn-back: #fff5e6; --warn-line: #f0c88a; --accent: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --quiet: #9aa4b2; --line: #30363d; --back: #14171b;
  --soft: #1c2127; --warn: #ffc680; --warn-back: #2b2113; --warn-line: #6b4c1d; --accent: #56b4e9; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); line-height: 1.5; overflow-wrap: break-word;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { margin: 0; font-size: 1.9rem; letter-spacing: -0.01em; }
h2 { margin: 2.5rem 0 0.5rem; font-size: 1.4rem; border-top: 1px solid var(--line); padding-top: 1.5rem; }
h3 { margin: 2rem 0 0.5rem; font-size: 1.08rem; }
p { margin: 0.5rem 0; max-width: 52rem; }
.motto { color: var(--quiet); margin: 0.1rem 0 0; }
.finding { font-weight: 600; }
.note { color: var(--quiet); font-size: 0.86rem; }
.wide { overflow-x: auto; margin: 0.5rem 0; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 0.88rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.4rem 0.7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line);
  line-height: 1.3; }
thead th { background: var(--soft); font-weight: 600; vertical-align: bottom; white-space: normal; }
tbody tr:last-child > * { border-bottom: 0; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--back); font-weight: 600; }
thead th:first-child { background: var(--soft); }
tr.floor > * { color: var(--quiet); font-weight: 400; font-style: italic; background: var(--soft); }
figure { margin: 1rem 0; }
figure img { display: block; width: 100%; height: auto; background: #fff; border: 1px solid var(--line);
  border-radius: 8px; }
figcaption { color: var(--quiet); font-size: 0.86rem; margin-top: 0.35rem; }
.small { max-width: 44rem; margin-top: 2.5rem; }
td small { display: block; color: var(--quiet); font-size: 0.76rem; }
.strips { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.25rem; }
.strips figure { margin: 0; }
.strips figcaption b { color: var(--ink); }
.flags { background: var(--warn-back); border: 1px solid var(--warn-line); border-radius: 8px; list-style: none;
  padding: 0.6rem 1rem; margin: 1rem 0; }
.flags li { margin: 0.35rem 0; }
.flags b { color: var(--warn); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.4rem 1.25rem; margin: 0.75rem 0; }
dt { font-weight: 600; }
dd { margin: 0; max-width: 48rem; }
pre { background: var(--soft); padding: 0.75rem 1rem; border-radius: 8px; overflow-x: auto; font-size: 0.82rem; }
summary { cursor: pointer; color: var(--accent); }
@media (max-width: 36rem) { main { padding: 1.25rem 0.9rem 3rem; } dl { display: block; } dd { margin: 0 0 0.6rem; }
  th, td { padding: 0.4rem 0.5rem; } th:first-child { max-width: 9.5rem; white-space: normal; } }
""".strip()

ABLATIONS = (
    "Variants of a method, factor by factor; dark: the method itself. The nearer to the upper left the better. "
    "A line joins variants in the order of their numbers."
)
PATHS = (
    "What validation found after each epoch, a line per seed; large: the epoch that was kept. These networks "
    "learned along with the method and are no judges of it: what leaks stands in the tables."
)

# Says to the browser that nothing may be fetched, whatever a result file managed to smuggle in.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def page(results: Mapping[Path, Result]) -> str:
    """The whole page for results by path; pictures are looked for beside each result."""
    groups = summarize(results.values())
    body = [
        "<h1>Actonym report</h1>",
        '<p class="motto">What is kept of the action, and what still leaks to the strongest attacker.</p>',
        *(_section(group, results) for group in groups),
        _glossary(),
        _record(results.values()),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Actonym report</title>\n<style>\n{CSS}\n</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _section(group: Group, results: Mapping[Path, Result]) -> str:
    first, *others = tables(group)
    upper_left = (
        "Upper left is best. Dashed and dotted: what an attacker gets without the video. Error bars: seeds. "
        "A line joins what differs in one number only, a knob or a weight."
    )
    upper_right = "Upper right is best. Hollow: what the papers report on their own data, not comparable."
    return "\n".join(
        [
            f"<section>\n<h2>{escape(group.title)}</h2>",
            f"<p>{escape(headline(group))}</p>",
            f'<p class="finding">{escape(finding(group))}</p>',
            _flags(group),
            _table(first),
            _figure(plot.trade_off([group]), "Action-privacy trade-off", escape(upper_left)),
            _strips(group, results),
            _figure(plot.kept_closed([group]), "Kept and closed", escape(upper_right), "small"),
            _charts("Ablations", plot.ablations([group]), ABLATIONS),
            _charts("Paths of the trainings", plot.paths([group]), PATHS),
            *(_table(table) for table in others),
            "</section>",
        ]
    )


def _charts(title: str, drawn: bytes | None, caption: str) -> str:
    """A figure under its own title, if there is something to draw."""
    return "" if drawn is None else f"<h3>{escape(title)}</h3>\n{_figure(drawn, title, escape(caption))}"


def _table(table: Table) -> str:
    def cell(text: str, bold: bool) -> str:
        value, _, spread = map(escape, text.partition(" ± "))
        return f"<td>{f'<b>{value}</b>' if bold else value}{f'<small>± {spread}</small>' if spread else ''}</td>"

    lines = []
    for i, (name, *cells) in enumerate(table.rows):
        kind = ' class="floor"' if name in FLOORS.values() else ""
        inner = "".join(cell(text, (i, j) in table.bold) for j, text in enumerate(cells, start=1))
        lines.append(f'<tr{kind}><th scope="row">{escape(name).replace(":", ":<wbr>")}</th>{inner}</tr>')
    header = "".join(f'<th scope="col">{escape(text)}</th>' for text in table.header)
    return (
        f'<h3>{escape(table.title)}</h3>\n<div class="wide"><table>\n<thead><tr>{header}</tr></thead>\n<tbody>\n'
        + "\n".join(lines)
        + f'\n</tbody></table></div>\n<p class="note">{escape(table.note)}</p>'
    )


def _flags(group: Group) -> str:
    lines = [
        f"<li><b>{escape(flag)}</b>: {escape(flagged(methods))}. {escape(MEANING.get(flag.partition(':')[0], ''))}</li>"
        for flag, methods in group.flags.items()
    ]
    return f'<ul class="flags">\n{chr(10).join(lines)}\n</ul>' if lines else "<p>No flags were raised.</p>"


def _strips(group: Group, results: Mapping[Path, Result]) -> str:
    """For each method the picture of its first seed that has one."""
    figures = []
    for row in group.rows:
        own = (_picture(path, result) for path, result in results.items() if result in row.results)
        if png := next(filter(None, own), None):
            shown = row.results[0].get("shown", ["raw", "anonymized"])
            caption = f"<b>{escape(row.method)}</b>, top to bottom: {escape(', '.join(shown))}"
            figures.append(_figure(png, f"Frames of raw video and of {row.method}", caption))
    return f'<h3>What it looks like</h3>\n<div class="strips">\n{chr(10).join(figures)}\n</div>' if figures else ""


def _picture(path: Path, result: Result) -> bytes | None:
    """The PNG beside a result; None where it has none, or the file is gone or something else."""
    if result["picture"] is None or not (file := path.parent / result["picture"]).is_file():
        return None
    data = file.read_bytes()
    return data if data.startswith(PNG) else None


def _figure(png: bytes, alt: str, caption: str, kind: str = "") -> str:
    source = b64encode(png).decode()
    return (
        f'<figure class="{kind}"><img alt="{escape(alt)}" src="data:image/png;base64,{source}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _glossary() -> str:
    return "<section>\n<h2>How to read this</h2>\n" + _definitions(GLOSSARY) + "\n</section>"


def _record(results: Iterable[Result]) -> str:
    """Versions and settings of all results: each distinct one once."""
    every = list(results)
    versions: dict[str, set[str]] = {}
    for name, version in ((name, version) for result in every for name, version in result["versions"].items()):
        versions.setdefault(name, set()).add(version)
    settings = dict.fromkeys(json.dumps(result["settings"], indent=2, sort_keys=True) for result in every)
    seconds = sum(result["seconds"] for result in every)
    blocks = "\n".join(f"<pre>{escape(text)}</pre>" for text in settings)
    return (
        f"<section>\n<h2>Made with</h2>\n{_definitions({name: ', '.join(sorted(v)) for name, v in versions.items()})}\n"
        f"<p>{count(len(every), 'run')}, {count(round(seconds / 60), 'minute')} in all.</p>\n"
        f"<details><summary>Settings of the evaluation</summary>\n{blocks}\n</details>\n</section>"
    )


def _definitions(entries: Mapping[str, str]) -> str:
    lines = "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in entries.items())
    return f"<dl>\n{lines}\n</dl>"
