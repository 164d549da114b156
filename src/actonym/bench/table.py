"""Results summed up over seeds, as tables: the measured, the reported, and the leak per attribute."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from actonym.bench.curves import curves, volume
from actonym.bench.metrics import closed, kept, to_corner
from actonym.bench.result import NO_GAP, Result, main_utility
from actonym.bench.summary import (
    ABSENT,
    SPREAD_FROM,
    Group,
    Mean,
    Row,
    at,
    attacker_names,
    finding,
    headline,
    mean_of,
    most,
    seeds_of,
    summarize,
)
from actonym.methods.raw import Raw

FLOORS = {"chance": "floor: chance", "action_prior": "floor: action prior"}
REPORTED_CHANCE = {"vp-hmdb51": 0.583, "vp-ucf101": 0.587}  # LaF-Privacy section 4.4: mean prevalence of the labels
SCORES = {"map": "mAP", "auc": "AUC", "rank1": "rank-1", "top1": "top-1"}  # how tables call a task's score
LEAST_POINTS = 3  # of a curve: two would be one more row of the tables
MOST_ATTRIBUTES = 20  # ours: more columns than that nobody reads; the result files have them all
SEEDS_NOTE = f"Means over seeds; ± is the standard deviation over seeds, from {SPREAD_FROM} seeds up."
REPORTED_NOTE = (
    "Other data, other attackers: only kept and closed, which have no unit, may stand beside ours. Those of the papers "
    "are computed from their raw row and the mean prevalence of their labels."
)


@dataclass(frozen=True)
class Table:
    """Text in cells, for Markdown and for HTML."""

    title: str
    note: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    bold: frozenset[tuple[int, int]] = frozenset()  # row and column of cells that stand out


def measured(group: Group) -> Table:
    """One row per method, the floors as rows of their own."""
    names = ["method", group.utility_name, "cMAP" if group.utility_name == "top-1" else "leak cMAP", "F1", "F1 gain"]
    header = [*names, "kept", "closed", "strongest attacker", "converged", "seeds"]
    rows = [
        [
            row.method,
            row.utility.text(),
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
        useful = group.floors.mean("floors", "utility").text() if key == "chance" else ABSENT
        rows.append([name, useful, leak.text(), f1.text(), gain, *[ABSENT] * 4, str(len(group.floors.results))])
    table = Table("Measured", SEEDS_NOTE, header, rows)
    return _with_training(table, group) if any(row.training is not None for row in group.rows) else table


def _with_training(table: Table, group: Group) -> Table:
    minutes = [row.training for row in group.rows] + [None] * len(FLOORS)
    texts = [ABSENT if time is None else f"{time:.0f} min" if time >= 1 else f"{60 * time:.0f} s" for time in minutes]
    rows = [[*cells, text] for cells, text in zip(table.rows, texts, strict=True)]
    note = f"{table.note} Training: the time it took to train the method, anew for every seed."
    return replace(table, header=[*table.header, "training"], rows=rows, note=note)


def per_group(group: Group) -> Table | None:
    """The leak of each kind of attributes; None where they are of one kind."""
    if not (names := group.attribute_groups):
        return None
    rows = [
        [row.method, *(row.mean("privacy", "per_group", name, "cmap").text() for name in names)] for row in group.rows
    ]
    for key, floor in FLOORS.items():
        rows.append([floor, *(group.floors.mean("floors", "per_group", name, key).text() for name in names)])
    return Table("Leak per group of attributes (cMAP)", SEEDS_NOTE, ["method", *names], rows)


def per_attribute(group: Group) -> Table | None:
    """The average precision of the strongest attacker, attribute by attribute; None where there are too many."""
    if len(group.attributes) > MOST_ATTRIBUTES:
        return None
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
    names = attacker_names(group)
    rows, bold = [], set()
    for i, row in enumerate(group.rows):
        tried = [entry for result in row.results for entry in result["attacker"]["tried"]]
        leaks = [mean_of(entry["cmap"] for entry in tried if entry["name"] == name) for name in names]
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
            most(result["linkage"]["strongest"] for result in row.results if "linkage" in result),
        ]
        for row in group.rows
    ]
    chance = (group.floors.mean("linkage", "chance", key).text() for key in ("rank1", "map"))
    note = "Another clip of the same source or subject is looked for among clips of the same action. " + SEEDS_NOTE
    return Table("Linkage", note, header, [*rows, [FLOORS["chance"], *chance, ABSENT, ABSENT]])


def ablations(group: Group) -> Table | None:
    """Variants of a method, factor by factor, and how far each is from all kept and all closed; None without any."""
    rows: list[list[str]] = []
    bold = set()
    for factor, chart in group.ablations.items():
        far = {label: _far(row) for label, row in chart.items()}
        nearest = min((one.value for one in far.values() if one.value is not None), default=None)
        for label, row in chart.items():
            if nearest is not None and far[label].value == nearest:
                bold.add((len(rows), 4))
            shares = (row.mean("kept").text(), row.mean("closed").text())
            rows.append([label, factor, *shares, far[label].text(), str(len(row.results))])
    note = "To the corner: how far from all kept and all closed; the nearest of each factor in bold. " + SEEDS_NOTE
    header = ["variant", "factor", "kept", "closed", "to the corner", "seeds"]
    return Table("Ablations", note, header, rows, frozenset(bold)) if rows else None


def _far(row: Row) -> Mean:
    """From the corner: of each seed, then averaged."""
    points = [(result["kept"], result["closed"]) for result in row.results]
    return mean_of(None if None in point else to_corner(*point) for point in points)


def privacy_utility(group: Group) -> Table | None:
    """How good the curve of each method is as a whole; None where none has enough points."""
    kinds = {"NHV (attributes)": ("closed",)} | ({"NHV (linkage)": ("linkage", "closed")} if group.linked else {})
    rows = [
        [
            curve.method,
            curve.factor,
            str(len(curve.rows)),
            *(volume(curve.rows, *path).text() for path in kinds.values()),
            seeds_of(curve.rows),
        ]
        for curve in curves(group)
        if len(curve.rows) >= LEAST_POINTS
    ]
    note = (
        "NHV, normalized hypervolume: the share of the square of kept and closed, both 0 to 1, in which some point of "
        "the curve keeps and closes at least as much; 1 is all kept and all closed. Points are averaged over seeds "
        f"first; ± is the standard deviation over seeds, from {SPREAD_FROM} seeds up."
    )
    return (
        Table("Privacy-utility curves", note, ["method", "factor", "points", *kinds, "seeds"], rows) if rows else None
    )


def bias(group: Group) -> Table | None:
    """How often the recognizer is right about each group of people; None where groups were not told apart."""
    told = [result["utility"]["bias"] for result in group.results if "bias" in result["utility"]]
    if not told:
        return None
    names = list(dict.fromkeys(name for one in told for name in one["groups"]))
    where = ("utility", "bias")
    rows = [
        [
            row.method,
            *(row.mean(*where, "groups", name, "top1").text() for name in names),
            row.mean("utility", "top1").text(),
            row.mean(*where, "gap").text(),
            row.mean(*where, "by_lot").text(),
            (ABSENT if any(NO_GAP in one["flags"] for one in row.results) else row.mean(*where, "closed").text()),
        ]
        for row in group.rows
    ]
    note = (
        "Top-1 of women and men. By lot: the gap between as large groups if they were drawn by lot; where the raw gap "
        f"of a seed is no larger, there is none to close. {SEEDS_NOTE}"
    )
    return Table("Accuracy per group", note, ["method", *names, "all", "gap", "by lot", "gap closed"], rows)


def tasks(group: Group) -> Table | None:
    """What further tasks reach on features, and how much of raw that is; None where there are none."""
    told = {name: one["metric"] for result in group.results for name, one in result.get("tasks", {}).items()}
    if not told:
        return None
    header = [column for name, metric in told.items() for column in (f"{name} {SCORES.get(metric, metric)}", "kept")]
    rows = []
    for row in group.rows:
        scores = [
            row.mean("tasks", name, *path) for name, of in told.items() for path in (["anonymized", of], ["kept"])
        ]
        rows.append([row.method, *(score.text() for score in scores)])
    note = "Each on a store of its own, with heads trained anew. Of gait, what is kept is a leak. " + SEEDS_NOTE
    return Table("Tasks", note, ["method", *header], rows)


RECOVERED = {"observed": "no attack", "black_box": "black-box", "white_box": "white-box"}


def inversion(group: Group) -> Table | None:
    """What inversions of features bring back; None where no method maps features."""
    if not any("inversion" in result for result in group.results):
        return None
    useful = main_utility(group.results[0]["utility"])
    kinds = {
        group.utility_name: ("utility", useful),
        "cMAP": ("cmap",),
        "rank-1": ("rank1",),
        "variance": ("variance",),
    }
    header = ["method", *(f"{name}: {attack}" for name in kinds for attack in RECOVERED.values())]
    rows = [
        [row.method, *(row.mean("inversion", attack, *path).text() for path in kinds.values() for attack in RECOVERED)]
        for row in group.rows
        if "inversion" in row.results[0]
    ]
    note = (
        "Networks that were trained on raw features see anonymized ones as they are, and after an attacker tried to "
        "undo the method: black-box with a network trained on pairs, white-box with the method in hand. Rank-1: "
        "linkage by cosine. Variance: the share of the raw features' that is back; 1 is all of it. "
    )
    return Table("Inversion", note + SEEDS_NOTE, header, rows)


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
        [row.method, *(mean_of(_detected(result, path) for result in row.results).text() for path in DETECTED.values())]
        for row in group.rows
    ]
    floors = [
        mean_of(_detected(result, path, True) for result in group.floors.results).text() for path in DETECTED.values()
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
    return at(node, ["chance", *rest] if chance else rest)


def reported(group: Group) -> Table | None:
    """Our kept and closed beside those of the papers; None where no method has a reported value."""
    header = ["method", "kept here", "closed here"]
    for data in REPORTED_CHANCE:
        header += [f"{data.upper()} {what}" for what in ("top-1 / cMAP / F1", "kept", "closed")]
    rows = [
        [row.method, row.mean("kept").text(), row.mean("closed").text()]
        + [cell for data in REPORTED_CHANCE for cell in _reported_cells(row, data)]
        for row in group.rows
        if _said(row)
    ]
    return Table("Reported by the papers, not comparable", REPORTED_NOTE, header, rows) if rows else None


def reported_trade_off(row: Row, data: str) -> tuple[float | None, float | None]:
    """A paper's kept and closed on `data`, from its raw row (STPrivacy's where the paper gives none of its own)."""
    said = _said(row).get(data)
    if said is None:
        return None, None
    raw = said.get("raw", Raw.card.reported[""][data])
    return kept(said["top1"], raw["top1"]), closed(said["cmap"], raw["cmap"], REPORTED_CHANCE[data])


def tables(group: Group) -> list[Table]:
    """All tables of a group, in the order of a report."""
    first = (measured, bias, tasks, per_group, linkage, ablations, privacy_utility, inversion, detected, reported)
    found = [table(group) for table in (*first, per_attribute, attackers)]
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


def _said(row: Row) -> dict[str, Any]:
    """A paper's numbers by dataset. They are of the knobs as it had them: none stand beside a knob that was turned."""
    first = row.results[0]
    turned = first.get("knobs", {}).get("of", row.method) != row.method
    return {} if turned else first["reported"] or {}


def _reported_cells(row: Row, data: str) -> list[str]:
    said = _said(row).get(data)
    if said is None:
        return [ABSENT] * 3
    share, gone = reported_trade_off(row, data)
    numbers = " / ".join(Mean(said.get(key)).text() for key in ("top1", "cmap", "f1"))
    return [numbers, Mean(share).text(), Mean(gone).text()]
