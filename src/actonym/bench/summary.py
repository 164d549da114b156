"""Results summed up over seeds: what tables, plots and pages show."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, stdev
from typing import Any

from actonym.bench.result import Result, main_utility

SPREAD_FROM = 3  # seeds; a deviation of two says nothing
ABSENT = "–"
UTILITIES = {"top1": "top-1", "cmap": "action cMAP"}  # what a result holds -> how tables call it


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
        return mean_of(at(result, path) for result in self.results)

    @property
    def utility(self) -> Mean:
        """Top-1, or the cMAP of the actions where videos have several."""
        return self.mean("utility", main_utility(self.results[0]["utility"]))

    @property
    def training(self) -> float | None:
        """Minutes that the training of the method took; None where there was none."""
        seconds = self.mean("training", "seconds").value
        return None if seconds is None else seconds / 60

    @property
    def strongest(self) -> str:
        return most(result["attacker"]["strongest"] for result in self.results)

    @property
    def converged(self) -> str:
        """Whether the recognizer and the strongest attacker did."""
        times = sum(map(_converged, self.results))
        return {0: "no", len(self.results): "yes"}.get(times, f"{times} of {len(self.results)}")


@dataclass(frozen=True)
class Group:
    """The methods that were measured on the same data (and source), under the same protocol and preset."""

    data: str
    protocol: str
    preset: str
    source: str
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        source = f" (source {self.source})" if self.source else ""
        return f"{self.data}, protocol {self.protocol}{source}, preset {self.preset}"

    @property
    def utility_name(self) -> str:
        return UTILITIES[main_utility(self.results[0]["utility"])]

    @property
    def results(self) -> list[Result]:
        return [result for row in self.rows for result in row.results]

    @property
    def attributes(self) -> list[str]:
        return list(dict.fromkeys(name for result in self.results for name in result["floors"]["per_attribute"]))

    @property
    def attribute_groups(self) -> list[str]:
        """Kinds of attributes, such as objects and scenes; none where they are of one kind."""
        return list(dict.fromkeys(name for result in self.results for name in result["privacy"].get("per_group", {})))

    @property
    def linked(self) -> bool:
        """Whether linkage was measured."""
        return any("linkage" in result for result in self.results)

    @property
    def ablations(self) -> dict[str, dict[str, Row]]:
        """Factor -> label -> variant of a method; the method itself is called by its name."""
        found: dict[str, dict[str, Row]] = {}
        whole = {row.method: row for row in self.rows}
        for row in self.rows:
            if (about := row.results[0].get("variant")) is not None:
                chart = found.setdefault(about["factor"], {})
                if about["of"] in whole:
                    chart.setdefault(about["of"], whole[about["of"]])
                chart[about["label"]] = row
        return found

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


def summarize(results: Iterable[Result]) -> list[Group]:
    """Results by data, protocol, preset and source, then by method: raw first, the others by name."""

    def group_key(result: Result) -> tuple[str, str, str, str]:
        return result["data"], result["protocol"], result["preset"], result.get("source", "")

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


def headline(group: Group) -> str:
    """What was measured, on what, by whom, how often; in words."""
    seeds = seeds_of(group.rows)
    times = f"{seeds} seed" if seeds == "1" else f"{seeds} seeds"
    clips = group.results[0]["clips"]
    names = attacker_names(group)
    return (
        f"{count(len(group.rows), 'method')} on {group.data}: {clips['train']} training, {clips['val']} validation "
        f"and {clips['test']} test videos, {times} per method. "
        f"{count(len(names), 'attacker')} tried ({', '.join(names)}), each trained on the anonymized "
        f"training videos; the strongest counts.{_spared(group, len(names))}"
    )


def finding(group: Group) -> str:
    """Who keeps most, who closes most and who is linked least, in words; empty where there is nothing but raw."""
    rows = [(row, row.mean("kept").value, row.mean("closed").value) for row in group.rows if row.method != "raw"]
    known = [(row.method, share, gone) for row, share, gone in rows if share is not None and gone is not None]
    if not known:
        return ""
    keeper, closer = max(known, key=lambda line: line[1]), max(known, key=lambda line: line[2])
    if keeper == closer:
        first = f"{keeper[0]} keeps most and closes most (kept {keeper[1]:.3f}, closed {keeper[2]:.3f})."
    else:
        first = (
            f"{keeper[0]} keeps most (kept {keeper[1]:.3f}, closed {keeper[2]:.3f}); "
            f"{closer[0]} closes most (kept {closer[1]:.3f}, closed {closer[2]:.3f})."
        )
    return f"{first} {_least_linked(group)}".strip()


def _least_linked(group: Group) -> str:
    """Whose clips are hardest to link to others of the same person and place."""
    ranks = [(row.mean("linkage", "rank1").value, row) for row in group.rows if row.method != "raw"]
    known = [(rank, row) for rank, row in ranks if rank is not None]
    if not known:
        return ""
    rank, row = min(known, key=lambda pair: pair[0])
    raw, chance = row.mean("raw", "linkage"), group.floors.mean("linkage", "chance", "rank1")
    return f"{row.method} is linked least (rank-1 {rank:.3f}, raw {raw.text()}, chance {chance.text()})."


def seeds_of(rows: Iterable[Row]) -> str:
    """How many seeds the methods have, `3` or `1 to 3`."""
    numbers = sorted({len(row.results) for row in rows})
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])


def count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def mean_of(numbers: Iterable[float | None]) -> Mean:
    values = list(numbers)
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return Mean(None)
    return Mean(fmean(known), stdev(known) if len(known) >= SPREAD_FROM else None)


def most(names: Iterable[str]) -> str:
    """The attacker that was strongest in most seeds; a dash where none was tried."""
    everyone = list(names)
    if not everyone:
        return ABSENT
    [(name, times)] = Counter(everyone).most_common(1)
    return name if times == len(everyone) else f"{name} ({times} of {len(everyone)})"


def attacker_names(group: Group) -> list[str]:
    return list(dict.fromkeys(entry["name"] for result in group.results for entry in result["attacker"]["tried"]))


def _spared(group: Group, most: int) -> str:
    """Who met fewer attackers than others, in words; empty where all met all."""
    fewest = {row.method: min(len(result["attacker"]["tried"]) for result in row.results) for row in group.rows}
    spared = [f"{method} {met}" for method, met in fewest.items() if met < most]
    return f" Some met fewer, who can only find less: {', '.join(spared)}." if spared else ""


def at(node: Any, path: Iterable[str]) -> float | None:
    for key in path:
        node = node.get(key) if node else None
    return node


def _converged(result: Result) -> bool:
    attacker = result["attacker"]
    strongest = next(entry for entry in attacker["tried"] if entry["name"] == attacker["strongest"])
    return result["utility"]["recognizer"]["converged"] and strongest["converged"]


def _runs(ordered: Iterable[Result], key: Callable[[Result], Any]) -> list[list[Result]]:
    return [list(same) for _, same in groupby(ordered, key)]
