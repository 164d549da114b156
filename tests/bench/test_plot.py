from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import ErrorbarContainer
from matplotlib.image import imread
from matplotlib.transforms import Bbox

from actonym import presets
from actonym.bench.candidate import candidate
from actonym.bench.plot import (
    ablation_figure,
    ablations,
    family_colors,
    free_place,
    kept_closed,
    kept_closed_figure,
    path_figure,
    paths,
    trade_off,
    trade_off_figure,
)
from actonym.bench.result import Result
from actonym.bench.summary import summarize
from actonym.methods.blacken import Blacken
from actonym.methods.stprivacy import STPrivacy

Make = Callable[..., Result]


def points(axes: Axes) -> list[tuple[float, float]]:
    bars = [bar for bar in axes.containers if isinstance(bar, ErrorbarContainer)]
    return [(float(bar.lines[0].get_xdata()[0]), float(bar.lines[0].get_ydata()[0])) for bar in bars]


def test_points_and_floors_are_where_they_belong(make: Make) -> None:
    groups = summarize([make(), make("blur", top1=0.6, cmap=0.7)])
    [axes] = trade_off_figure(groups).axes
    assert points(axes) == [(0.8, 0.9), (0.7, 0.6)]
    vertical = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2]
    assert vertical == [0.5, 0.52]
    texts = [text.get_text() for text in axes.texts]
    assert {"raw", "blur", "floor: chance 0.500", "floor: action prior 0.520"} <= set(texts)
    assert any("upper left is best" in text for text in texts)
    left, right = axes.get_xlim()
    assert left < 0.5 and right > 0.8


def test_linkage_has_a_panel_of_its_own_where_it_was_measured(make: Make) -> None:
    def linked(rank1: float) -> dict[str, object]:
        return {"rank1": rank1, "chance": {"rank1": 0.2}}

    group = [make(linkage=linked(0.8)), make("blur", top1=0.6, linkage=linked(0.5)), make("blacken")]
    first, second = trade_off_figure(summarize(group)).axes
    assert len(points(first)) == 3 and points(second) == [(0.8, 0.9), (0.5, 0.6)]
    texts = [text.get_text() for text in second.texts]
    assert "floor: chance 0.200" in texts and "blacken" not in texts
    assert "rank-1" in second.get_xlabel()


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_error_bars_from_three_seeds_up(make: Make, seeds: int) -> None:
    groups = summarize([make(seed=seed, top1=0.8 + 0.02 * seed, cmap=0.7 + 0.01 * seed) for seed in range(seeds)])
    [axes] = trade_off_figure(groups).axes
    [bar] = axes.containers
    assert bar.has_xerr == bar.has_yerr == (seeds >= 3)
    if seeds == 3:
        (_, low), (_, high) = bar.lines[2][1].get_segments()[0]
        assert (low, high) == pytest.approx((0.8, 0.84))  # mean .82, deviation .02


def test_kept_and_closed_with_the_papers_points(make: Make) -> None:
    groups = summarize([make(), make("blacken", top1=0.45, cmap=0.56, reported=Blacken.card.reported[""])])
    [axes] = kept_closed_figure(groups).axes
    ours, paper = points(axes)[:2], points(axes)[2]
    assert ours == [(0.0, 1.0), (pytest.approx(0.8), 0.5)]
    assert paper == pytest.approx(((0.7558 - 0.7406) / (0.7558 - 0.583), 0.3827 / 0.5144))
    assert "not comparable" in axes.get_legend().get_texts()[1].get_text()


def test_a_method_without_closed_has_no_point(make: Make) -> None:
    [axes] = kept_closed_figure(summarize([make(closed=None, reported=Blacken.card.reported[""])])).axes
    assert points(axes) == []


def test_both_are_png_and_one_panel_per_group(make: Make, tmp_path: Path) -> None:
    groups = summarize([make(), make(data="other")])
    for draw in (trade_off, kept_closed):
        one, two = draw(groups[:1]), draw(groups)
        assert one.startswith(b"\x89PNG")
        sizes = []
        for data in (one, two):
            (tmp_path / "plot.png").write_bytes(data)
            image = imread(tmp_path / "plot.png")
            assert image[..., :3].std() > 0.02
            sizes.append(image.shape)
        assert sizes[0][1] == sizes[1][1] >= 900 and sizes[1][0] == 2 * sizes[0][0]
    assert trade_off(groups) == trade_off(groups)


def test_twelve_names_do_not_cover_each_other(make: Make) -> None:
    random = Random(0)
    results = [
        make(f"method{i}", top1=0.6 + random.random() * 0.3, cmap=0.55 + random.random() * 0.2) for i in range(12)
    ]
    figure = trade_off_figure(summarize(results))
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts if text.get_text().startswith("method")]
    assert len(boxes) == 12
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_a_place_is_taken_only_once() -> None:
    frame, own = Bbox([[0, 0], [200, 200]]), Bbox([[100, 100], [100, 100]])
    first, _ = free_place(own, 40, 10, [], frame)
    second, _ = free_place(own, 40, 10, [first], frame)
    assert first.x0 > 100 and not first.overlaps(second)
    edge, _ = free_place(Bbox([[190, 100], [190, 100]]), 40, 10, [], frame)
    assert edge.x1 <= 200  # to the left, where there is room
    _, far = free_place(own, 40, 10, [Bbox([[70, 70], [130, 130]])], frame)
    assert far > 20


def test_names_with_dollars_are_names(make: Make) -> None:
    assert trade_off(summarize([make("cost$^{$")]))


def test_a_family_has_one_colour_and_raw_is_dark(make: Make) -> None:
    [group] = summarize([make(name) for name in ("raw", "blur:strength=weak", "blur:strength=strong", "blacken")])
    colors = family_colors(group.rows)
    assert colors["blur:strength=weak"] == colors["blur:strength=strong"] != colors["blacken"]
    assert np.mean([int(colors["raw"][i : i + 2], 16) for i in (1, 3, 5)]) < 60


def turned(make: Make, keep: float, of: str = "stprivacy", **values: object) -> Result:
    knobs = {"of": of, "values": {"keep": keep, **values}}
    return make(f"{of}:keep={keep}", top1=0.5 + 0.4 * keep, cmap=0.55 + 0.2 * keep, knobs=knobs)


def lines(axes: Axes) -> list[list[float]]:
    """The heights of all lines that join points."""
    floors = ("--", ":")
    return [
        list(line.get_ydata())
        for line in axes.lines
        if len(line.get_xdata()) > 1 and line.get_linestyle() not in floors and line.get_linestyle() != "None"
    ]


def test_a_knob_that_was_turned_makes_a_curve(make: Make) -> None:
    results = [turned(make, keep) for keep in (0.9, 0.3, 0.6)]
    results += [turned(make, keep, "other", depth=keep) for keep in (0.2, 0.4)]  # two knobs at once are no curve
    results += [turned(make, 0.5, "alone"), make("blur", top1=0.6, cmap=0.7)]
    [axes] = trade_off_figure(summarize([make(), *results])).axes
    assert lines(axes) == [pytest.approx([0.62, 0.74, 0.86])], "one line, in the order of the knob's values"


def variant(make: Make, factor: str, label: str, top1: float) -> Result:
    about = {"of": "stprivacy", "factor": factor, "label": label}
    return make(f"stprivacy@{factor}-{label}", top1=top1, cmap=top1 - 0.1, variant=about)


def test_a_chart_per_factor_with_the_method_itself_in_each(make: Make) -> None:
    variants = [
        variant(make, "length", "1", 0.5),
        variant(make, "length", "4", 0.6),
        variant(make, "alpha", "0.5", 0.7),
    ]
    groups = summarize([make(), make("stprivacy", top1=0.8, cmap=0.65), *variants])
    figure = ablation_figure(groups)
    assert figure is not None
    charts = {axes.get_title(loc="left"): axes for axes in figure.axes}
    assert list(charts) == ["alpha", "length"]
    assert points(charts["length"]) == [(0.65, 0.8), (0.4, 0.5), (0.5, 0.6)]
    texts = {text.get_text() for text in charts["length"].texts}
    assert {"stprivacy", "1", "4"} <= texts and "raw" not in texts
    assert charts["alpha"].get_ylabel() == "top-1"
    assert points(trade_off_figure(groups).axes[0]) == [(0.8, 0.9), (0.65, 0.8)], "there is no room for variants there"
    assert len(points(trade_off_figure(summarize(variants)).axes[0])) == 3
    assert ablation_figure(summarize([make(), make("stprivacy")])) is None and ablations(summarize([make()])) is None


def test_stprivacys_own_variants_make_the_five_charts_of_figure_4(make: Make) -> None:
    """Three of mechanisms, and four or three points of each other factor, the method itself in all of them."""
    names = [f"stprivacy@{name}" for name in presets.names("stprivacy") if name not in ("stage", "paper", "alpha-0.5")]
    results = [
        make(name, top1=0.6 + number / 100, cmap=0.6, variant=candidate(name, "stage").variant)
        for number, name in enumerate(names)
    ]
    figure = ablation_figure(summarize([make(), make("stprivacy", top1=0.8, cmap=0.65), *results]))
    assert figure is not None
    counts = {axes.get_title(loc="left"): len(points(axes)) for axes in figure.axes if axes.axison}
    wanted = {"mechanism": 3, "alpha": 5, "temporal length": 3, "lambda_Action": 3, "lambda_Privacy": 3}
    assert counts == wanted
    for axes in figure.axes:
        assert "best" in {text.get_text() for text in axes.texts} and axes.get_ylabel() == "top-1"


def test_variants_with_numbers_are_joined_in_their_order(make: Make) -> None:
    numbers = [variant(make, "length", label, top1) for label, top1 in (("10", 0.5), ("4", 0.7), ("0.5", 0.6))]
    words = [variant(make, "losses", label, 0.6) for label in ("one", "other")]
    figure = ablation_figure(summarize([make(), *numbers, *words]))
    assert figure is not None
    assert {axes.get_title(loc="left"): lines(axes) for axes in figure.axes} == {
        "length": [[0.6, 0.7, 0.5]],
        "losses": [],
    }
    assert lines(trade_off_figure(summarize([make(), *numbers])).axes[0]) == []
    assert lines(trade_off_figure(summarize(numbers)).axes[0]) == [[0.6, 0.7, 0.5]]


def test_ablations_of_two_datasets_stand_below_each_other(make: Make) -> None:
    one = variant(make, "alpha", "0.5", 0.7)
    figure = ablation_figure(summarize([one, {**one, "data": "other"}, variant(make, "length", "1", 0.6)]))
    assert figure is not None and len(figure.axes) == 4 and sum(axes.axison for axes in figure.axes) == 3


TURNS = (("stprivacy:keep=0.3", 0.6, 0.3), ("stprivacy", 0.7, 0.5), ("stprivacy:keep=1.0", 0.8, 1.0))


def test_turns_of_a_knob_are_joined_and_only_the_method_itself_has_the_papers_point(make: Make) -> None:
    turns = [
        make(name, top1=top1, cmap=top1 - 0.1, knobs={"of": "stprivacy", "values": {"keep": keep}},
             reported=STPrivacy.card.reported[""])
        for name, top1, keep in TURNS
    ]  # fmt: skip
    [axes] = kept_closed_figure(summarize([make(), *turns])).axes
    assert len(points(axes)) == 5, "raw, three turns and the paper's"
    assert [len(line) for line in lines(axes)] == [3]


def test_a_single_chart_shows_its_whole_title(make: Make) -> None:
    one = variant(make, "mechanism", "sparsification", 0.7)
    figure = ablation_figure(summarize([{**one, "data": "stage:world=park,train=1600,val=240,test=480"}]))
    assert figure is not None
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    page, renderer = figure.bbox, canvas.get_renderer()
    for text in (*figure.axes[0].texts, figure.axes[0].yaxis.label):
        box = text.get_window_extent(renderer)
        assert page.x0 <= box.x0 and box.x1 <= page.x1, text


def test_variants_have_the_colour_of_their_method(make: Make) -> None:
    [group] = summarize([make("stprivacy"), make("blur"), variant(make, "alpha", "1", 0.7), turned(make, 0.5)])
    colors = family_colors(group.rows)
    assert colors["stprivacy"] == colors["stprivacy@alpha-1"] == colors["stprivacy:keep=0.5"] != colors["blur"]


def test_every_epoch_of_a_training_is_drawn(make: Make) -> None:
    def trained(best: int | None, *points: tuple[float, float]) -> dict[str, object]:
        found = {"leak": [leak for leak, _ in points], "action": [action for _, action in points]}
        phases = [{"name": "drill", "points": {}}, {"name": "adversarial", "points": found, "best_epoch": best}]
        return {"seconds": 1.0, "phases": phases}

    way = (0.9, 0.5), (0.4, 0.7), (0.6, 0.8)
    results = [make(), make("spact", training=trained(1, *way)), make("spact", 1, training=trained(None, *way[:2]))]
    figure = path_figure(summarize(results))
    assert figure is not None
    [axes] = figure.axes
    drawn = [list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in axes.lines]
    assert drawn == [list(way), [way[1]], list(way[:2]), [way[1]]], "the path, then the epoch that was kept"
    assert axes.get_title(loc="left") == "spact"
    assert paths(summarize(results)) is not None and paths(summarize(results[:1])) is None
