"""Privacy-utility curves: what a method reaches while one thing about it is varied, and how good that is as a whole."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from actonym.bench.result import Result
from actonym.bench.summary import Group, Mean, Row, at, mean_of


@dataclass(frozen=True)
class Curve:
    """A method and its variants of one factor, or the turns of one of its knobs."""

    method: str
    factor: str
    rows: tuple[Row, ...]
    line: tuple[Row, ...]  # those whose place is a known number, in the order of the numbers


def curves(group: Group) -> list[Curve]:
    """All of a group, however few their points are."""
    return _turned(group) + _varied(group)


def hypervolume(points: Iterable[tuple[float, float]]) -> float:
    """The normalized hypervolume (NHV) of (kept, closed) points: the share of the unit square that they dominate.

    A point dominates what keeps no more and closes no more; the reference point is (0, 0). SPLAVU's appendix C reports
    the NHV of a curve after Singh et al., Decouple-and-Sample (ECCV 2022): there the axes are the accuracy of the task
    and one minus that of the attacker, normalized, which depend on the data. Kept and closed are shares of what raw
    video has, so that ours may be compared between datasets, and not with the papers'. Beyond 0..1 they are clipped.
    """
    area = height = 0.0
    for kept, closed in sorted(((_clip(kept), _clip(closed)) for kept, closed in points), reverse=True):
        if closed > height:  # else a point that keeps more closes as much: this one is dominated
            area, height = area + kept * (closed - height), closed
    return area


def volume(rows: Sequence[Row], *closed: str) -> Mean:
    """The NHV of methods, each averaged over its seeds first; None where one lacks kept or what stands at `closed`.

    The spread is that of the NHV of each seed alone, where all methods have the same seeds.
    """
    points = [(row.mean("kept").value, row.mean(*closed).value) for row in rows]
    known = [(share, gone) for share, gone in points if share is not None and gone is not None]
    if len(known) < len(points):
        return Mean(None)
    same = len({tuple(result["seed"] for result in row.results) for row in rows}) == 1
    seeds: list[tuple[Result, ...]] = list(zip(*(row.results for row in rows), strict=True)) if same else []
    each = [hypervolume((result["kept"], at(result, closed) or 0.0) for result in seed) for seed in seeds]
    return Mean(hypervolume(known), mean_of(each).spread)


def _clip(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _turned(group: Group) -> list[Curve]:
    """Methods that differ only in one knob that was turned after training, in the order of its values."""
    found: dict[tuple[str, str, str], dict[float, Row]] = {}
    for row in group.rows:
        about = row.results[0].get("knobs", {"of": "", "values": {}})
        for name, value in about["values"].items():
            others = repr({key: one for key, one in about["values"].items() if key != name})
            if isinstance(value, int | float):
                found.setdefault((about["of"], name, others), {})[value] = row
    lines = {key: tuple(turns[value] for value in sorted(turns)) for key, turns in found.items()}
    return [Curve(method, knob, line, line) for (method, knob, _), line in lines.items() if len(line) > 1]


def _varied(group: Group) -> list[Curve]:
    """Methods with their variants of one factor; all have the same settings behind their names."""
    whole = {row.method: row for row in group.rows}
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in group.rows:
        if (about := row.results[0].get("variant")) is not None:
            settings = "".join(row.method.partition(":")[1:])
            found.setdefault((about["of"] + settings, about["factor"]), {})[about["label"]] = row
    return [_variants(method, factor, rows, whole.get(method)) for (method, factor), rows in found.items()]


def _variants(method: str, factor: str, variants: dict[str, Row], itself: Row | None) -> Curve:
    numbers = {label: number for label in variants if (number := _number(label)) is not None}
    places = [(number, variants[label]) for label, number in numbers.items()]
    if itself is not None and (own := _own(itself, places)) is not None:
        places.append((own, itself))
    line = tuple(row for _, row in sorted(places, key=lambda place: place[0]))
    return Curve(method, factor, (*([itself] if itself else []), *variants.values()), line)


def _own(itself: Row, places: Sequence[tuple[float, Row]]) -> float | None:
    """The number of the method itself: it stands in its settings where those of the variants hold their labels."""
    mine = _settings(itself)
    theirs = [(number, _settings(row)) for number, row in places]
    keys = {key for _, said in theirs for key in said if said[key] != mine.get(key)}
    if len(keys) != 1 or any(said.get(key) != number for key in keys for number, said in theirs):
        return None
    return _number(mine.get(keys.pop()))


def _settings(row: Row) -> dict[tuple[str, str], Any]:
    """What a method was trained with; empty where it was not."""
    said = row.results[0].get("training", {}).get("settings", {})
    return {(section, key): value for section, values in said.items() for key, value in values.items()}


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
