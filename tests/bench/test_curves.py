from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import stdev
from typing import Any

import pytest

from actonym.bench.curves import curves, hypervolume, volume
from actonym.bench.report import report
from actonym.bench.result import Result, write
from actonym.bench.summary import summarize
from actonym.bench.table import privacy_utility

Make = Callable[..., Result]
TITLE = "Privacy-utility curves"


def by_cells(points: list[tuple[float, float]], cells: int = 200) -> float:
    """Slow twin: the share of the cells of a grid whose middle is dominated by some point."""
    middles = [(i + 0.5) / cells for i in range(cells)]
    return sum(any(x <= kept and y <= closed for kept, closed in points) for x in middles for y in middles) / cells**2


@pytest.mark.parametrize("seed", range(8))
def test_hypervolume_is_the_share_of_dominated_cells(seed: int) -> None:
    random = Random(seed)
    points = [(random.uniform(-0.2, 1.2), random.uniform(-0.3, 1.1)) for _ in range(1 + 2 * seed)]
    assert hypervolume(points) == pytest.approx(by_cells(points), abs=0.01)


def test_hypervolume_by_hand() -> None:
    assert hypervolume([]) == hypervolume([(1.0, 0.0), (0.0, 1.0), (-1.0, -1.0)]) == 0.0
    assert hypervolume([(0.5, 0.4)]) == pytest.approx(0.2)
    assert hypervolume([(0.5, 0.4), (0.25, 0.8)]) == pytest.approx(0.2 + 0.1)
    assert hypervolume([(1.3, 1.1)]) == 1.0, "clipped"


def test_dominated_points_and_the_order_change_nothing() -> None:
    points = [(0.9, 0.2), (0.7, 0.5), (0.3, 0.8)]
    dominated = [(0.7, 0.5), (0.7, 0.4), (0.6, 0.5), (0.1, 0.1), (0.9, -0.5)]
    assert hypervolume([*dominated, *points[::-1]]) == hypervolume(points)
    assert hypervolume([*points, (0.71, 0.5)]) > hypervolume(points)


def weighted(make: Make, weight: float, seed: int = 0, **changes: Any) -> Result:
    """Of a sweep: the more weight, the less is kept and the more is closed. Weight 1 is the method itself."""
    settings = {"method": {"dim": 8}, "train": {"budget": weight, "epochs": 2}}
    about = {"of": "splavu", "factor": "budget", "label": f"{weight:g}"}
    changes |= {} if weight == 1 else {"variant": about}
    training = {"seconds": 1.0, "phases": [], "settings": settings}
    return make(
        "splavu" if weight == 1 else f"splavu@budget-{weight:g}", seed, top1=0.9 - 0.02 * weight,
        cmap=0.8 - 0.02 * weight - 0.01 * seed, training=training, **changes,
    )  # fmt: skip


def test_a_sweep_of_weights_has_the_method_itself_in_its_place(make: Make) -> None:
    [group] = summarize([make(), *(weighted(make, weight) for weight in (10, 0, 3, 1, 0.3))])
    [curve] = curves(group)
    assert (curve.method, curve.factor, len(curve.rows)) == ("splavu", "budget", 5)
    names = ["splavu@budget-0", "splavu@budget-0.3", "splavu", "splavu@budget-3", "splavu@budget-10"]
    assert [row.method for row in curve.line] == names


def test_where_the_place_of_the_method_is_unknown_the_line_leaves_it_out(make: Make) -> None:
    results = [weighted(make, weight) for weight in (0, 1, 10)]
    results[2]["training"]["settings"]["train"]["epochs"] = 3  # two settings differ
    [curve] = curves(summarize(results)[0])
    assert len(curve.rows) == 3 and [row.method for row in curve.line] == ["splavu@budget-0", "splavu@budget-10"]
    results[2]["training"]["settings"]["train"] = {"budget": 20, "epochs": 2}  # a label with another unit
    [curve] = curves(summarize(results)[0])
    assert len(curve.line) == 2
    for result in results:
        del result["training"]
    [curve] = curves(summarize(results)[0])
    assert len(curve.rows) == 3 and len(curve.line) == 2


def test_curves_are_of_one_method_one_factor_and_the_same_settings(make: Make) -> None:
    def varied(name: str, of: str, label: str) -> Result:
        return make(name, variant={"of": of, "factor": "losses", "label": label})

    results = [make("a"), varied("a@x", "a", "x"), varied("b@x", "b", "x"), varied("a@x:size=2", "a", "x")]
    found = {(curve.method, curve.factor): curve for curve in curves(summarize([*results, make("a:size=2")])[0])}
    assert {key: [row.method for row in curve.rows] for key, curve in found.items()} == {
        ("a", "losses"): ["a", "a@x"],
        ("b", "losses"): ["b@x"],
        ("a:size=2", "losses"): ["a:size=2", "a@x:size=2"],
    }
    assert not any(curve.line for curve in found.values()), "x is no number"


def test_seeds_are_averaged_first_and_the_spread_is_that_of_each_alone(make: Make) -> None:
    results = [weighted(make, weight, seed) for weight in (0, 1, 10) for seed in range(3)]
    [group] = summarize(results)

    def of(weights: list[float], gain: float) -> float:
        return hypervolume(((0.9 - 0.02 * w) / 0.9, (0.02 * w + 0.01 * gain) / 0.3) for w in weights)

    [curve] = curves(group)
    found = volume(curve.rows, "closed")
    assert found.value == pytest.approx(of([0, 1, 10], 1))
    assert found.spread == pytest.approx(stdev(of([0, 1, 10], seed) for seed in range(3)))
    [curve] = curves(summarize(results[1:])[0])  # the seeds of one method are others
    assert volume(curve.rows, "closed").spread is None and volume(curve.rows, "linkage", "closed").value is None


def linked(closed: float) -> dict[str, Any]:
    tried = [{"name": "features/cosine/anonymized", "rank1": 0.5, "map": 0.5}]
    best = {"rank1": 0.5, "map": 0.5, "strongest": tried[0]["name"], "closed": closed}
    return {"linkage": {**best, "tried": tried, "chance": {"rank1": 0.2, "map": 0.1}, "queries": 40}}


def write_all(results: list[Result], folder: Path) -> None:
    for number, result in enumerate(results):
        write(result, folder / f"{number}.json")


@pytest.mark.parametrize("link", [False, True])
def test_a_report_has_a_table_of_curves(make: Make, tmp_path: Path, link: bool) -> None:
    weights = (0.0, 1.0, 10.0)
    results = [weighted(make, weight, **(linked(weight / 20) if link else {})) for weight in weights]
    write_all([make(), *results, weighted(make, 10.0, 1, **(linked(0.5) if link else {}))], tmp_path)
    markdown, *_, page = (path.read_text() for path in report(tmp_path) if path.suffix != ".png")
    kept = (0.88 / 0.9, 0.70 / 0.9)  # weight 0 closes nothing
    attributes = kept[0] * 0.02 / 0.3 + kept[1] * (0.205 - 0.02) / 0.3
    linkage = kept[0] * 0.05 + kept[1] * 0.45
    cells = ["splavu", "budget", "3", f"{attributes:.3f}", *([f"{linkage:.3f}"] if link else []), "1 to 2"]
    assert f"### {TITLE}" in markdown and f"| {' | '.join(cells)} |" in markdown
    assert f"<h3>{TITLE}</h3>" in page and "normalized hypervolume" in page
    assert ("NHV (linkage)" in markdown) == link


def test_turns_of_a_knob_are_a_curve_too(make: Make) -> None:
    def turned(keep: float) -> Result:
        return make(f"stprivacy:keep={keep}", top1=0.9 * keep, knobs={"of": "stprivacy", "values": {"keep": keep}})

    table = privacy_utility(summarize([turned(0.3), turned(0.5), turned(0.7)])[0])
    assert table is not None and table.rows == [["stprivacy", "keep", "3", "0.000", "1"]]


def test_two_points_are_no_curve(make: Make, tmp_path: Path) -> None:
    write_all([make(), weighted(make, 0), weighted(make, 1)], tmp_path)
    paths = report(tmp_path)
    assert TITLE not in paths[0].read_text() and TITLE not in paths[-1].read_text()


def test_a_number_that_a_point_lacks_is_a_dash(make: Make) -> None:
    results = [weighted(make, 0), weighted(make, 1, **linked(0.1)), weighted(make, 10, closed=None)]
    table = privacy_utility(summarize(results)[0])
    assert table is not None and table.rows == [["splavu", "budget", "3", "–", "–", "1"]]
