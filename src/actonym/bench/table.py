"""Results summed up over seeds, as tables: the measured, the reported, and the leak per attribute."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, stdev
from typing import Any

from actonym.bench.metrics import closed, kept
from actonym.bench.result import Result
from actonym.methods.raw import Raw

SPREAD_FROM = 3  # seeds; a deviation of two says nothing
ABSENT = "–"
FLOORS = {"chance": "floor: chance", "action_prior": "floor: action prior"}
REPORTED_CHANCE = {"vp-hmdb51": 0.583, "vp-ucf101": 0.587}  # LaF-Privacy section 4.4: mean prevalence of the labels
SEEDS_NOTE = f"Means over seeds; ± is the standard deviation over seeds, from {SPREAD_FROM} seeds up."
REPORTED_NOTE = (
    "Other data, other attackers: only kept and closed, which have no unit, may stand beside ours. Those of the papers "
    "are computed from their raw row and the mean prevalence of their labels."
)


@dataclass(frozen=True)
class Mean:
    """A number over seeds; None where a seed has none."""

    value: float | None
    spread: float | None = None

    def text(self, form: str = ".3f") -> str:
        if self.value is None:
            return ABSENT
        return f"{self.value:{form}}" + (f" ± {self.spread:.3f}" if self.spread is not None else "")


@dataclass(frozen=True)
class Row:
    """One method over its seeds."""

    method: str
    results: tuple[Result, ...]

    def mean(self, *path: str) -> Mean:
        """The mean of what stands at `path` in each result."""
        return _mean(_at(result, path) for result in self.results)

    @property
    def strongest(self) -> str:
        return _most(result["attacker"]["strongest"] for result in self.results)

    @property
    def converged(self) -> str:
        """Whether the recognizer and the strongest attacker did."""
        times = sum(map(_converged, self.results))
        return {0: "no", len(self.results): "yes"}.get(times, f"{times} of {len(self.results)}")


@dataclass(frozen=True)
class Group:
    """The methods that were measured on the same data, under the same protocol and preset."""

    data: str
    protocol: str
    preset: str
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        return f"{self.data}, protocol {self.protocol}, preset {self.preset}"

    @property
    def results(self) -> list[Result]:
        return [result for row in self.rows for result in row.results]

    @property
    def attributes(self) -> list[str]:
        return list(dict.fromkeys(name for result in self.results for name in result["floors"]["per_attribute"]))

    @property
    def floors(self) -> Row:
        """The floors belong to data and seed, not to a method: one result of each seed has them all."""
        return Row("floors", tuple({result["seed"]: result for result in self.results}.values()))

    @property
    def flags(self) -> dict[str, dict[str, list[int]]]:
        """Flag -> method -> seeds in which it was raised."""
        found: dict[str, dict[str, list[int]]] = {}
        for result in self.results:
            for flag in result["flags"]:
                found.setdefault(flag, {}).setdefault(result["method"], []).append(result["seed"])
        return found


@dataclass(frozen=True)
class Table:
    """Text in cells, for Markdown and for HTML."""

    title: str
    note: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    bold: frozenset[tuple[int, int]] = frozenset()  # row and column of cells that stand out


def summarize(results: Iterable[Result]) -> list[Group]:
    """Results by data, protocol and preset, then by method: raw first, the others by name."""

    def group_key(result: Result) -> tuple[str, str, str]:
        return result["data"], result["protocol"], result["preset"]

    def method_key(result: Result) -> tuple[Any, ...]:
        return result["method"] != "raw", natural(result["method"]), result["method"]

    ordered = sorted(results, key=lambda result: (group_key(result), method_key(result), result["seed"]))
    return [
        Group(*key, tuple(Row(same[0]["method"], tuple(same)) for same in _runs(group, method_key)))
        for key, group in groupby(ordered, group_key)
    ]


def natural(name: str) -> list[tuple[float, str]]:
    """A sort key that puts `factor=4` before `factor=16`."""
    return [(float(part), "") if part.isdecimal() else (-1.0, part) for part in re.split(r"(\d+)", name)]


def measured(group: Group) -> Table:
    """One row per method, the floors as rows of their own."""
    header = ["method", "top-1", "cMAP", "F1", "F1 gain", "kept", "closed", "strongest attacker", "converged", "seeds"]
    rows = [
        [
            row.method,
            row.mean("utility", "top1").text(),
            row.mean("privacy", "cmap").text(),
            row.mean("privacy", "f1").text(),
            row.mean("privacy", "f1_gain").text("+.3f"),
            row.mean("kept").text(),
            row.mean("closed").text(),
            row.strongest,
            row.converged,
            str(len(row.results)),
        ]
        for row in group.rows
    ]
    for key, name in FLOORS.items():
        leak, f1, by_chance = (group.floors.mean("floors", *path) for path in ([key], ["f1", key], ["f1", "chance"]))
        gain = Mean((f1.value or 0) - (by_chance.value or 0)).text("+.3f")
        rows.append([name, ABSENT, leak.text(), f1.text(), gain, *[ABSENT] * 4, str(len(group.floors.results))])
    return Table("Measured", SEEDS_NOTE, header, rows)


def per_attribute(group: Group) -> Table:
    """The average precision of the strongest attacker, attribute by attribute."""
    rows = [
        [row.method, *(row.mean("privacy", "per_attribute", name, "ap").text() for name in group.attributes)]
        for row in group.rows
    ]
    for key, floor in FLOORS.items():
        leaks = (group.floors.mean("floors", "per_attribute", name, key).text() for name in group.attributes)
        rows.append([floor, *leaks])
    return Table("Leak per attribute (AP)", SEEDS_NOTE, ["method", *group.attributes], rows)


def attackers(group: Group) -> Table:
    """The leak (cMAP) to each attacker that was tried, the strongest in bold."""
    names = _attacker_names(group)
    rows, bold = [], set()
    for i, row in enumerate(group.rows):
        tried = [entry for result in row.results for entry in result["attacker"]["tried"]]
        leaks = [_mean(entry["cmap"] for entry in tried if entry["name"] == name) for name in names]
        rows.append([row.method, *(leak.text() for leak in leaks)])
        values = [leak.value or 0.0 for leak in leaks]
        bold.add((i, 1 + values.index(max(values))))
    note = "In each seed the strongest attacker counts; in bold the one that is strongest on average."
    return Table("Leak per attacker (cMAP)", note, ["method", *names], rows, frozenset(bold))


def linkage(group: Group) -> Table | None:
    """Who can tell that two clips show the same person and place; None where it was not tried."""
    if not any("linkage" in result for result in group.results):
        return None
    header = ["method", "rank-1", "mAP", "closed", "strongest attacker"]
    rows = [
        [
            row.method,
            row.mean("linkage", "rank1").text(),
            row.mean("linkage", "map").text(),
            row.mean("linkage", "closed").text(),
            _most(result["linkage"]["strongest"] for result in row.results if "linkage" in result),
        ]
        for row in group.rows
    ]
    chance = (group.floors.mean("linkage", "chance", key).text() for key in ("rank1", "map"))
    note = "Another clip of the same source or subject is looked for among clips of the same action. " + SEEDS_NOTE
    return Table("Linkage", note, header, [*rows, [FLOORS["chance"], *chance, ABSENT, ABSENT]])


DETECTED = {  # column -> where the number stands in a result
    "faces found again": ("faces", "faces", "rate"),
    "videos with a face": ("faces", "videos", "rate"),
    "identity rank-1": ("identity", "best", "rank1"),
    "identity AUC": ("identity", "best", "auc"),
    "nudity AP": ("nudity", "ap"),
    "gender accuracy": ("gender", "best", "accuracy"),
}


def detected(group: Group) -> Table | None:
    """What ready-made models still find; None where none was asked."""
    if not any("detectors" in result for result in group.results):
        return None
    rows = [
        [row.method, *(_mean(_detected(result, path) for result in row.results).text() for path in DETECTED.values())]
        for row in group.rows
    ]
    floors = [
        _mean(_detected(result, path, True) for result in group.floors.results).text() for path in DETECTED.values()
    ]
    note = (
        "Models that nobody trained on this data. Faces and videos: of those with a face in the raw video. Identity, "
        "gender: the stronger of two attackers, one of which knows where the faces were."
    )
    return Table("Ready-made detectors", note, ["method", *DETECTED], [*rows, [FLOORS["chance"], *floors]])


def _detected(result: Result, path: Sequence[str], chance: bool = False) -> float | None:
    """A number of a detector; `best` stands for its strongest attacker."""
    name, *rest = path
    node = (result.get("detectors") or {}).get(name)
    if node and rest[0] == "best":
        node, rest = next(one for one in node["tried"] if one["name"] == node["strongest"]), rest[1:]
    return _at(node, ["chance", *rest] if chance else rest)


def reported(group: Group) -> Table | None:
    """Our kept and closed beside those of the papers; None where no method has a reported value."""
    header = ["method", "kept here", "closed here"]
    for data in REPORTED_CHANCE:
        header += [f"{data.upper()} {what}" for what in ("top-1 / cMAP / F1", "kept", "closed")]
    rows = [
        [row.method, row.mean("kept").text(), row.mean("closed").text()]
        + [cell for data in REPORTED_CHANCE for cell in _reported_cells(row, data)]
        for row in group.rows
        if row.results[0]["reported"]
    ]
    return Table("Reported by the papers, not comparable", REPORTED_NOTE, header, rows) if rows else None


def reported_trade_off(row: Row, data: str) -> tuple[float | None, float | None]:
    """A paper's kept and closed on `data`, from its raw row (STPrivacy's where the paper gives none of its own)."""
    said = (row.results[0]["reported"] or {}).get(data)
    if said is None:
        return None, None
    raw = said.get("raw", Raw.card.reported[""][data])
    return kept(said["top1"], raw["top1"]), closed(said["cmap"], raw["cmap"], REPORTED_CHANCE[data])


def headline(group: Group) -> str:
    """What was measured, on what, by whom, how often; in words."""
    seeds = sorted({len(row.results) for row in group.rows})
    clips = group.results[0]["clips"]
    names = _attacker_names(group)
    return (
        f"{count(len(group.rows), 'method')} on {group.data}: {clips['train']} training, {clips['val']} validation "
        f"and {clips['test']} test videos, {' to '.join(map(str, seeds))} {'seed' if seeds == [1] else 'seeds'} "
        f"per method. {count(len(names), 'attacker')} tried ({', '.join(names)}), each trained on the anonymized "
        "training videos; the strongest counts."
    )


def finding(group: Group) -> str:
    """Who keeps most and who closes most, in words; empty where there is nothing but raw."""
    rows = [(row, row.mean("kept").value, row.mean("closed").value) for row in group.rows if row.method != "raw"]
    known = [(row.method, share, gone) for row, share, gone in rows if share is not None and gone is not None]
    if not known:
        return ""
    keeper, closer = max(known, key=lambda line: line[1]), max(known, key=lambda line: line[2])
    if keeper == closer:
        return f"{keeper[0]} keeps most and closes most (kept {keeper[1]:.3f}, closed {keeper[2]:.3f})."
    return (
        f"{keeper[0]} keeps most (kept {keeper[1]:.3f}, closed {keeper[2]:.3f}); "
        f"{closer[0]} closes most (kept {closer[1]:.3f}, closed {closer[2]:.3f})."
    )


def count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def tables(group: Group) -> list[Table]:
    """All tables of a group, in the order of a report."""
    found = [measured(group), linkage(group), detected(group), reported(group), per_attribute(group), attackers(group)]
    return [table for table in found if table is not None]


def markdown(results: Iterable[Result]) -> str:
    """All tables of all groups, in a fixed order."""
    parts = ["# Actonym report"]
    for group in summarize(results):
        parts += [f"## {_cell(group.title)}", _cell(f"{headline(group)} {finding(group)}")]
        for table in tables(group):
            parts += _markdown_table(table)
        if group.flags:
            lines = [f"- {_cell(flag)}: {_cell(flagged(methods))}" for flag, methods in group.flags.items()]
            parts += ["### Flags", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def flagged(methods: dict[str, list[int]]) -> str:
    """Where a flag was raised, in words."""
    return "; ".join(
        f"{method} (seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))})"
        for method, seeds in methods.items()
    )


def _markdown_table(table: Table) -> list[str]:
    rows = [
        [f"**{_cell(text)}**" if (i, j) in table.bold else _cell(text) for j, text in enumerate(row)]
        for i, row in enumerate(table.rows)
    ]
    lines = [[_cell(text) for text in table.header], ["---"] + ["--:"] * (len(table.header) - 1), *rows]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return [f"### {table.title}", text, table.note]


def _cell(text: str) -> str:
    """Nothing in a name may end a cell or a line, or become HTML."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def _mean(numbers: Iterable[float | None]) -> Mean:
    values = list(numbers)
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return Mean(None)
    return Mean(fmean(known), stdev(known) if len(known) >= SPREAD_FROM else None)


def _most(names: Iterable[str]) -> str:
    """The attacker that was strongest in most seeds."""
    everyone = list(names)
    [(name, times)] = Counter(everyone).most_common(1)
    return name if times == len(everyone) else f"{name} ({times} of {len(everyone)})"


def _attacker_names(group: Group) -> list[str]:
    return list(dict.fromkeys(entry["name"] for result in group.results for entry in result["attacker"]["tried"]))


def _at(node: Any, path: Iterable[str]) -> float | None:
    for key in path:
        node = node.get(key) if node else None
    return node


def _reported_cells(row: Row, data: str) -> list[str]:
    said = (row.results[0]["reported"] or {}).get(data)
    if said is None:
        return [ABSENT] * 3
    share, gone = reported_trade_off(row, data)
    return [" / ".join(f"{said[key]:.3f}" for key in ("top1", "cmap", "f1")), Mean(share).text(), Mean(gone).text()]


def _converged(result: Result) -> bool:
    attacker = result["attacker"]
    strongest = next(entry for entry in attacker["tried"] if entry["name"] == attacker["strongest"])
    return result["utility"]["recognizer"]["converged"] and strongest["converged"]


def _runs(ordered: Iterable[Result], key: Callable[[Result], Any]) -> list[list[Result]]:
    return [list(same) for _, same in groupby(ordered, key)]
