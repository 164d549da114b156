"""The pictures of a report: the trade-off, kept against closed, a chart per ablated factor, and paths of trainings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from actonym.bench.curves import Curve, curves
from actonym.bench.result import Result
from actonym.bench.summary import Group, Mean, Row
from actonym.bench.table import FLOORS, reported_trade_off

# Okabe and Ito's palette: told apart by people with any kind of colour blindness. Black is raw's.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#7F7F7F")
INK, STRONG, QUIET, FAINT = "#1f2328", "#374151", "#6b7280", "#e5e7eb"
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "axes.titlesize": 11.5,
    "text.color": INK,
    "text.parse_math": False,  # a name with $ in it is a name
}
DPI = 200
TITLE_WIDTH = 62  # letters of full size
LETTER = 0.088  # inches of one, in a bold title of 10 points
REPORTED_ON = "vp-hmdb51"
FLOOR_LINES = {"chance": "--", "action_prior": ":"}
DISTANCES = (8, 12, 18, 28, 42, 60)  # points between a point and its name
LINE_FROM = 20  # points from which on a name needs a line to its point
DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.7, 0.7), (-0.7, 0.7), (0.7, -0.7), (-0.7, -0.7))

Panel = tuple[Group, Callable[[Axes, Group], None]]


@dataclass(frozen=True)
class Point:
    """A method's place in a plot; the spreads are None below three seeds."""

    label: str
    at: tuple[float, float]
    spread: tuple[float | None, float | None]
    color: str
    hollow: bool = False

    @property
    def reach(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Lower left and upper right of the error bars."""
        (x, y), (dx, dy) = self.at, (self.spread[0] or 0.0, self.spread[1] or 0.0)
        return (x - dx, y - dy), (x + dx, y + dy)


def point(label: str, x: Mean, y: Mean, color: str, hollow: bool = False) -> list[Point]:
    """No point where a number is missing."""
    if x.value is None or y.value is None:
        return []
    return [Point(label, (x.value, y.value), (x.spread, y.spread), color, hollow)]


def trade_off(groups: Sequence[Group]) -> bytes:
    """A PNG of top-1 over cMAP, and over linkage where it was measured: upper left is best."""
    return _png(trade_off_figure(groups))


def kept_closed(groups: Sequence[Group]) -> bytes:
    """A PNG of kept over closed, one panel per group, with the papers' own points: upper right is best."""
    return _png(kept_closed_figure(groups))


def ablations(groups: Sequence[Group]) -> bytes | None:
    """A PNG of charts, one per factor in which variants of a method differ; None where there are no variants."""
    figure = ablation_figure(groups)
    return None if figure is None else _png(figure)


def paths(groups: Sequence[Group]) -> bytes | None:
    """A PNG of charts, one per method whose training was validated epoch by epoch; None where there is none."""
    figure = path_figure(groups)
    return None if figure is None else _png(figure)


def trade_off_figure(groups: Sequence[Group]) -> Figure:
    panels = [(group, draw) for group in groups for draw in (_draw_trade_off, *[_draw_linkage] * group.linked)]
    return _figure(panels, (9.0, 5.6))


def kept_closed_figure(groups: Sequence[Group]) -> Figure:
    return _figure([(group, _draw_kept_closed) for group in groups], (7.0, 4.6))


def ablation_figure(groups: Sequence[Group]) -> Figure | None:
    """After STPrivacy's figure 4: a row per group, a column per factor."""
    return _charts(
        [
            (group, [partial(_draw_ablation, group=group, factor=factor, rows=rows) for factor, rows in charts.items()])
            for group in groups
            if (charts := group.ablations)
        ]
    )


def path_figure(groups: Sequence[Group]) -> Figure | None:
    """What validation found after each epoch of the game: a row per group, a column per method, a line per seed."""
    return _charts(
        [
            (group, [partial(_draw_paths, row=row, color=colors[row.method]) for row in walked])
            for group in groups
            if (walked := [row for row in group.rows if any(path_of(result)[0] for result in row.results)])
            and (colors := family_colors(group.rows))
        ]
    )


def path_of(result: Result) -> tuple[list[tuple[float, float]], int]:
    """Leak and action after each epoch of the last phase that looked at both; and which epoch was kept."""
    phases = result.get("training", {}).get("phases", [])
    played = [phase for phase in phases if {"action", "leak"} <= phase.get("points", {}).keys()]
    if not played:
        return [], 0
    points, kept = played[-1]["points"], played[-1].get("best_epoch")
    return list(zip(points["leak"], points["action"], strict=True)), -1 if kept is None else kept


def _draw_paths(axes: Axes, row: Row, color: str) -> None:
    """Every epoch is a small point; the large one was kept."""
    for path, kept in map(path_of, row.results):
        if path:
            axes.plot(*zip(*path, strict=True), "o-", color=color, markersize=3, linewidth=0.8, alpha=0.45)
            axes.plot(*path[kept], "o", color=color, markersize=8)
    axes.margins(0.1)
    axes.set_title(row.method, loc="left", fontsize=10)
    axes.set_xlabel("leak to the network of the game", fontsize=9)
    axes.set_ylabel("action recognizer of the game", fontsize=9)


def _charts(lines: Sequence[tuple[Group, Sequence[Callable[[Axes], None]]]]) -> Figure | None:
    """Small charts, a line for each group; None where there are none."""
    if not lines:
        return None
    columns = max(len(charts) for _, charts in lines)
    width, height = 3.4 * columns + 0.5, 3.5 * len(lines)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), dpi=DPI)
        edges = {"left": 0.72 / width, "right": 1 - 0.2 / width, "bottom": 0.52 / height, "top": 1 - 0.62 / height}
        spaces = {"wspace": 0.28, "hspace": 0.5}
        panels = figure.subplots(len(lines), columns, squeeze=False, gridspec_kw={**edges, **spaces})
        for line, (group, charts) in zip(panels, lines, strict=True):
            for axes in line[len(charts) :]:
                axes.set_axis_off()
            for axes, draw in zip(line, charts, strict=False):
                draw(axes)
            size = 10 * min(1, (width - 0.6) / (LETTER * len(group.title)))
            line[0].annotate(group.title, (0, 1), (-30, 24), xycoords="axes fraction", textcoords="offset points",
                             fontsize=size, fontweight="bold")  # fmt: skip
    return figure


def _draw_ablation(axes: Axes, group: Group, factor: str, rows: Mapping[str, Row]) -> None:
    """The method itself is dark, its variants are not; the nearer to the upper left corner the better."""
    points = [
        found
        for label, row in rows.items()
        for found in point(label, row.mean("privacy", "cmap"), row.utility, INK if row.method == label else PALETTE[0])
    ]
    _limits(axes, points)
    places = {rows[each.label].method: each.at for each in points}
    for curve in curves(group):
        if curve.factor == factor:
            _draw_line(axes, curve, places, PALETTE[0])
    _corner(axes, "best", left=True)
    _draw_points(axes, points)
    axes.set_title(factor, loc="left", fontsize=10)
    axes.set_xlabel("leak (cMAP)", fontsize=9)
    axes.set_ylabel(group.utility_name, fontsize=9)


def _draw_trade_off(axes: Axes, group: Group) -> None:
    floors = {key: group.floors.mean("floors", key).value or 0.0 for key in FLOORS}
    _draw_leak(axes, group, ("privacy", "cmap"), floors)
    axes.set_xlabel("leak to the strongest attacker (cMAP), lower is better")
    _entitle(axes, "Action-privacy trade-off", group)


def _draw_linkage(axes: Axes, group: Group) -> None:
    floors = {"chance": group.floors.mean("linkage", "chance", "rank1").value or 0.0}
    _draw_leak(axes, group, ("linkage", "rank1"), floors)
    axes.set_xlabel("clips linked to the same person and place (rank-1 of the strongest attacker), lower is better")
    _entitle(axes, "Linkage", group)


def _entitle(axes: Axes, what: str, group: Group) -> None:
    """What is drawn, and of which data; long names are written smaller."""
    title = f"{what}: {group.title}"
    size = STYLE["axes.titlesize"] * min(1, TITLE_WIDTH / len(title))
    axes.set_title(title, loc="left", fontweight="bold", fontsize=size, pad=26)


def _draw_leak(axes: Axes, group: Group, leak: Sequence[str], floors: Mapping[str, float]) -> None:
    """Utility over what stands at `leak` in the results."""
    colors = family_colors(group.rows)
    points = [
        found
        for row in _methods(group)
        for found in point(row.method, row.mean(*leak), row.utility, colors[row.method])
    ]
    _limits(axes, points, also_x=floors.values())
    _draw_floors(axes, floors)
    _corner(axes, "upper left is best: the action is kept, little leaks", left=True)
    places = {each.label: each.at for each in points}
    for curve in curves(group):
        _draw_line(axes, curve, places, colors[curve.rows[0].method])
    _draw_points(axes, points)
    axes.set_ylabel(f"action recognition ({group.utility_name}), higher is better")


def _draw_line(axes: Axes, curve: Curve, places: Mapping[str, tuple[float, float]], color: str) -> None:
    """Joins those of a curve's methods that have a place in the plot."""
    steps = [places[row.method] for row in curve.line if row.method in places]
    if len(steps) > 1:
        axes.plot(*zip(*steps, strict=True), color=color, linewidth=1.2, alpha=0.6, zorder=2)


def _draw_kept_closed(axes: Axes, group: Group) -> None:
    colors = family_colors(group.rows)
    points, papers = [], []
    for row in _methods(group):
        own = point(row.method, row.mean("closed"), row.mean("kept"), colors[row.method])
        share, gone = reported_trade_off(row, REPORTED_ON)
        paper = point(row.method, Mean(gone), Mean(share), colors[row.method], hollow=True)
        points += own
        if row.method != "raw" and own and paper:
            papers += paper
            axes.plot(*zip(own[0].at, paper[0].at, strict=True), color=colors[row.method], linewidth=0.7, alpha=0.5,
                      linestyle=(0, (1, 3)))  # fmt: skip
    _limits(axes, points + papers, also_x=(0.0, 1.0), also_y=(1.0,))
    _corner(axes, "upper right is best", left=False)
    places = {each.label: each.at for each in points}
    for curve in curves(group):
        _draw_line(axes, curve, places, colors[curve.rows[0].method])
    _draw_points(axes, points + papers)
    if papers:
        axes.plot([], [], "o", color=QUIET, label="measured here")
        axes.plot(
            [], [], "o", color=QUIET, fillstyle="none", label=f"reported on {REPORTED_ON.upper()}, not comparable"
        )
        axes.legend(loc="lower left", bbox_to_anchor=(-0.012, 0.985), ncols=2, frameon=False, fontsize=8.5,
                    labelcolor=QUIET, handletextpad=0.2, columnspacing=1.2)  # fmt: skip
    axes.set_xlabel("closed: share of the leak above chance that is gone")
    axes.set_ylabel(f"kept: share of {group.utility_name} that is left")
    _entitle(axes, "Kept and closed", group)


def _methods(group: Group) -> Sequence[Row]:
    """The rows without variants, which have charts of their own; all where there is nothing else."""
    return [row for row in group.rows if "variant" not in row.results[0]] or group.rows


def family_colors(rows: Sequence[Row]) -> dict[str, str]:
    """One colour per method name, whatever its settings and variant; raw is black."""

    def family(row: Row) -> str:
        return row.method.partition(":")[0].partition("@")[0]

    families = dict.fromkeys(family(row) for row in rows if row.method != "raw")
    by_family = {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(families)} | {"raw": INK}
    return {row.method: by_family[family(row)] for row in rows}


def _draw_floors(axes: Axes, floors: Mapping[str, float]) -> None:
    """Vertical lines, named above the frame; of two names the left one ends at its line, the right one starts there."""
    sides = ("right", "left")[-len(floors) :]
    for (key, x), side in zip(sorted(floors.items(), key=lambda item: item[1]), sides, strict=True):
        axes.axvline(x, color=QUIET, linestyle=FLOOR_LINES[key], linewidth=1.2, zorder=1)
        offset = (-2 if side == "right" else 2, 4)
        axes.annotate(f"{FLOORS[key]} {x:.3f}", (x, 1), offset, xycoords=("data", "axes fraction"),
                      textcoords="offset points", ha=side, va="bottom", color=QUIET, fontsize=8.5)  # fmt: skip


def _draw_points(axes: Axes, points: Sequence[Point]) -> None:
    for each in points:
        axes.errorbar(
            *each.at, xerr=each.spread[0], yerr=each.spread[1], color=each.color, linestyle="none",
            marker="D" if each.label == "raw" else "o", markersize=6 if each.hollow else 8,
            fillstyle="none" if each.hollow else "full", elinewidth=1.2, capsize=2.5, zorder=3,
        )  # fmt: skip
    _label(axes, [each for each in points if not each.hollow], points)


def _limits(axes: Axes, points: Sequence[Point], also_x: Iterable[float] = (), also_y: Iterable[float] = ()) -> None:
    """The range of the points with their error bars, and a margin for the names."""
    for i, more, limit in ((0, also_x, axes.set_xlim), (1, also_y, axes.set_ylim)):
        values = [corner[i] for each in points for corner in each.reach] + list(more)
        room = 0.13 * max(max(values) - min(values), 0.1)
        limit(min(values) - room, max(values) + room)


def _corner(axes: Axes, text: str, left: bool) -> None:
    """An arrow into the best corner, with what it means in words beside it."""
    side = -1 if left else 1
    corner, tail = (0.5 + side * 0.5, 1), (-side * 30, -22)
    arrow = {"arrowstyle": "-|>", "color": STRONG, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 5}
    axes.annotate("", corner, tail, xycoords="axes fraction", textcoords="offset points", arrowprops=arrow)
    axes.annotate(text, corner, (tail[0] - side * 5, tail[1]), xycoords="axes fraction", textcoords="offset points",
                  ha="left" if left else "right", va="center", fontsize=8.5, color=STRONG,
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 2})  # fmt: skip


def _label(axes: Axes, points: Sequence[Point], obstacles: Sequence[Point]) -> None:
    """Write each name beside its point; a name that had to go far gets a line."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    renderer, unit = FigureCanvasAgg(figure).get_renderer(), figure.dpi / 72
    frame = axes.get_window_extent(renderer)
    taken = [Bbox(axes.transData.transform(each.reach)).padded(4.5 * unit) for each in obstacles]
    taken += [text.get_window_extent(renderer) for text in axes.texts if text.get_text()]
    taken += [spot.padded(2 * unit) for line in axes.lines for spot in _along(axes, line)]
    floors = [line for line in axes.lines if line.get_linestyle() in FLOOR_LINES.values()]
    taken += [line.get_window_extent(renderer).padded(2 * unit) for line in floors]
    for each in points:
        note = axes.annotate(each.label, each.at, (0, 0), textcoords="offset points", ha="center", va="center",
                             color=each.color, fontsize=9.5, fontweight="bold", zorder=4)  # fmt: skip
        x, y = axes.transData.transform(each.at)
        size = note.get_window_extent(renderer)
        own = Bbox(axes.transData.transform(each.reach))
        box, distance = free_place(own, size.width, size.height, taken, frame, unit)
        taken.append(box)
        note.set_position((((box.x0 + box.x1) / 2 - x) / unit, ((box.y0 + box.y1) / 2 - y) / unit))
        if distance >= LINE_FROM:
            end = (max(box.x0, min(x, box.x1)), max(box.y0, min(y, box.y1)))
            axes.annotate("", each.at, end, textcoords="figure pixels", zorder=2,
                          arrowprops={"arrowstyle": "-", "color": each.color, "linewidth": 0.8})  # fmt: skip


def _along(axes: Axes, line: Line2D) -> list[Bbox]:
    """Spots on a curve that joins points, close enough that no name fits between them; none of other lines."""
    corners: Any = axes.transData.transform(line.get_xydata()) if line.get_linestyle() == "-" else []
    steps = np.linspace(0, 1, 24)[:, None]
    return [Bbox([spot, spot]) for start, end in pairwise(corners) for spot in start + steps * (end - start)]


def free_place(
    own: Bbox, width: float, height: float, taken: Sequence[Bbox], frame: Bbox, unit: float = 1.0
) -> tuple[Bbox, int]:
    """The nearest box beside `own` that covers the least of what is taken and stays in the frame; its distance."""

    def box(distance: int, dx: float, dy: float) -> Bbox:
        x = (own.x0 + own.x1) / 2 + dx * (own.width / 2 + distance * unit + width / 2)
        y = (own.y0 + own.y1) / 2 + dy * (own.height / 2 + distance * unit + height / 2)
        return Bbox.from_bounds(x - width / 2, y - height / 2, width, height)

    def cost(place: tuple[int, float, float]) -> tuple[float, int]:
        room = box(*place)
        covered = width * height - _common(room, frame) + sum(_common(room, other) for other in taken)
        return round(covered, 3), place[0] + (6 if place[2] else 0)  # beside its point a name reads best

    best = min(((distance, *way) for distance in DISTANCES for way in DIRECTIONS), key=cost)
    return box(*best), best[0]


def _common(one: Bbox, other: Bbox) -> float:
    """The area two boxes share."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(width, 0.0) * max(height, 0.0)


def _figure(panels: Sequence[Panel], size: tuple[float, float]) -> Figure:
    """Panels below each other. Margins are fixed: labels are placed before anything is drawn."""
    width, height = size[0], size[1] * len(panels)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), dpi=DPI)
        edges = {"left": 0.72 / width, "right": 1 - 0.2 / width, "bottom": 0.58 / height, "top": 1 - 0.62 / height}
        places = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={**edges, "hspace": 0.3})
        for axes, (group, draw) in zip(places[:, 0], panels, strict=True):
            draw(axes, group)
    return figure


def _png(figure: Figure) -> bytes:
    file = BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})  # the same results give the same bytes
    return file.getvalue()
