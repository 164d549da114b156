"""Kinds of places, painted: a wall and a floor with what belongs there."""

from collections.abc import Callable, Mapping, Sequence

import cv2
import numpy as np
from numpy.random import Generator

from actonym.data.stage.draw import DISTANCE, Camera
from actonym.data.stage.film import WALL, canvas, paintwork, weathered
from actonym.data.stage.pose import Array


class Backdrop:
    """A background in metres: to the right of its left edge, and up from where wall and floor meet."""

    def __init__(self, scene: Array, line: int, unit: float) -> None:
        self.scene, self.line, self.unit = scene, line, unit
        self.width = scene.shape[1] / unit
        self.top = line / unit
        self.deep = (scene.shape[0] - line) / unit  # of the floor, down to the lower edge

    def pixel(self, x: float, y: float) -> tuple[int, int]:
        return round(x * self.unit), round(self.line - y * self.unit)

    def box(self, x: float, y: float, w: float, h: float, colour: Array, thick: int = -1) -> None:
        """With its lower left corner at `x`, `y`; an outline where `thick` says so."""
        cv2.rectangle(self.scene, self.pixel(x, y), self.pixel(x + w, y + h), tuple(colour), thick)

    def disc(self, x: float, y: float, radius: float, colour: Array) -> None:
        cv2.circle(self.scene, self.pixel(x, y), max(1, round(radius * self.unit)), tuple(colour), -1)

    def line_to(self, a: tuple[float, float], b: tuple[float, float], colour: Array) -> None:
        cv2.line(self.scene, self.pixel(*a), self.pixel(*b), tuple(colour), max(1, round(0.04 * self.unit)))

    def shape(self, corners: Sequence[tuple[float, float]], colour: Array) -> None:
        cv2.fillConvexPoly(self.scene, np.array([self.pixel(*c) for c in corners], np.int32), tuple(colour))

    def fill(self, above: Array, below: Array) -> None:
        self.scene[: self.line], self.scene[self.line :] = above, below

    def row(
        self, pieces: Sequence[Callable[["Backdrop", float, Generator], float]], gap: float, rng: Generator
    ) -> None:
        """The pieces side by side, each kind in turn, all along the wall. A piece says how wide it is."""
        order, x, k = rng.permutation(len(pieces)), rng.uniform(-1.5, 0.0), 0
        while x < self.width:
            x += pieces[order[k % len(pieces)]](self, x, rng) + rng.uniform(0.3, 1.0) * gap
            k += 1


def _kitchen(drop: Backdrop, rng: Generator) -> None:
    drop.fill(paintwork(rng), paintwork(rng) * 0.8)
    tiles = paintwork(rng)
    drop.box(0, 0.9, drop.width, 0.7, tiles)
    for x in np.arange(0, drop.width, 0.3):
        drop.line_to((x, 0.9), (x, 1.6), tiles * 0.7)
    wood, top = paintwork(rng), paintwork(rng) * 0.6
    for x in np.arange(-rng.uniform(0, 0.7), drop.width, 0.7):
        what = rng.integers(4)
        drop.box(x, 0, 0.7, 0.9, wood)
        drop.box(x, 0, 0.7, 0.9, wood * 0.6, 1)
        if what == 0:  # a fridge
            drop.box(x, 0, 0.7, 2.0, np.full(3, 215.0))
            drop.box(x, 0, 0.7, 1.2, np.full(3, 140.0), 1)
            continue
        if what == 1:  # a stove
            drop.box(x + 0.08, 0.15, 0.54, 0.5, np.full(3, 30.0))
            drop.box(x + 0.05, 1.55, 0.6, 0.25, np.full(3, 120.0))
        else:
            drop.box(x, 1.6, 0.7, 0.7, wood)
            drop.box(x, 1.6, 0.7, 0.7, wood * 0.6, 1)
        drop.box(x, 0.88, 0.7, 0.08, top)


def _bed(drop: Backdrop, x: float, rng: Generator) -> float:
    wood, blanket = paintwork(rng) * 0.6, paintwork(rng)
    drop.box(x, 0, 0.12, 1.1, wood)
    drop.box(x, 0.1, 2.2, 0.35, wood)
    drop.box(x + 0.1, 0.4, 2.1, 0.25, np.full(3, 225.0))
    drop.box(x + 0.8, 0.3, 1.42, 0.4, blanket)
    drop.shape([(x + 0.15, 0.65), (x + 0.7, 0.62), (x + 0.65, 0.9), (x + 0.2, 0.9)], np.full(3, 240.0))
    return 2.3


def _wardrobe(drop: Backdrop, x: float, rng: Generator) -> float:
    wood = paintwork(rng)
    for k in (0, 1):
        drop.box(x + 0.6 * k, 0, 0.6, 2.1, wood)
        drop.box(x + 0.6 * k, 0, 0.6, 2.1, wood * 0.6, 1)
    return 1.2


def _curtains(drop: Backdrop, x: float, rng: Generator) -> float:
    cloth = paintwork(rng)
    drop.box(x, 1.0, 1.4, 1.1, np.array([190.0, 215, 235]))
    drop.line_to((x + 0.7, 1.0), (x + 0.7, 2.1), np.full(3, 240.0))
    for side in (x - 0.1, x + 1.15):
        drop.box(side, 0.7, 0.35, 1.5, cloth)
    return 1.5


def _bedroom(drop: Backdrop, rng: Generator) -> None:
    drop.fill(paintwork(rng), paintwork(rng) * 0.7)
    rug = paintwork(rng)
    x = rng.uniform(0.3, 0.5) * drop.width
    drop.shape([(x - 1.5, -0.4), (x + 1.5, -0.4), (x + 2, -1.6), (x - 2, -1.6)], rug)
    drop.row((_bed, _curtains, _wardrobe), 0.4, rng)


def _desk(drop: Backdrop, x: float, rng: Generator) -> float:
    wood = paintwork(rng)
    drop.box(x, 0.7, 1.6, 0.08, wood)
    for leg in (0.05, 1.5):
        drop.box(x + leg, 0, 0.06, 0.7, wood * 0.7)
    for screen in (0.2, 0.9):
        drop.box(x + screen, 0.85, 0.6, 0.42, np.full(3, 25.0))
        drop.box(x + screen + 0.05, 0.9, 0.5, 0.32, np.array([120.0, 170, 215]) * rng.uniform(0.5, 1.1))
        drop.box(x + screen + 0.25, 0.75, 0.1, 0.1, np.full(3, 25.0))
    return 1.6


def _shelf(drop: Backdrop, x: float, rng: Generator) -> float:
    wood = paintwork(rng) * 0.7
    drop.box(x, 0, 1.0, 2.1, wood)
    for y in (0.1, 0.6, 1.1, 1.6):
        for book in np.arange(x + 0.06, x + 0.9, 0.11):
            drop.box(book, y, 0.09, rng.uniform(0.25, 0.4), paintwork(rng))
    return 1.0


def _board(drop: Backdrop, x: float, rng: Generator) -> float:
    drop.box(x, 1.0, 1.6, 1.0, np.full(3, 238.0))
    drop.box(x, 1.0, 1.6, 1.0, np.full(3, 110.0), 1)
    for y in (1.25, 1.5, 1.75):
        drop.line_to((x + 0.2, y), (x + rng.uniform(0.6, 1.4), y), rng.uniform(20, 160, 3))
    return 1.6


def _office(drop: Backdrop, rng: Generator) -> None:
    drop.fill(paintwork(rng), paintwork(rng) * 0.7)
    for x in np.arange(rng.uniform(0, 1), drop.width, 2.2):
        drop.box(x, min(2.6, drop.top - 0.2), 1.2, 0.1, np.full(3, 250.0))
    drop.row((_desk, _shelf, _board), 0.3, rng)


def _bars(drop: Backdrop, x: float, rng: Generator) -> float:
    wood = np.array([190.0, 150, 100]) * rng.uniform(0.6, 1.1)
    for post in (0, 0.95):
        drop.box(x + post, 0, 0.08, 2.4, wood * 0.8)
    for y in np.arange(0.2, 2.4, 0.25):
        drop.box(x, y, 1.0, 0.07, wood)
    return 1.05


def _mirror(drop: Backdrop, x: float, rng: Generator) -> float:
    drop.box(x, 0.3, 1.8, 1.8, np.array([175.0, 195, 205]) * rng.uniform(0.8, 1.1))
    drop.box(x, 0.3, 1.8, 1.8, np.full(3, 70.0), 1)
    drop.line_to((x + 0.3, 0.6), (x + 1.2, 1.9), np.full(3, 235.0))
    return 1.9


def _bag(drop: Backdrop, x: float, rng: Generator) -> float:
    drop.line_to((x + 0.25, 1.7), (x + 0.25, drop.top), np.full(3, 60.0))
    drop.box(x, 0.7, 0.5, 1.0, np.array([150.0, 40, 36]) * rng.uniform(0.4, 1.2))
    return 0.6


def _gym(drop: Backdrop, rng: Generator) -> None:
    floor = np.array([186.0, 142, 92]) * rng.uniform(0.6, 1.1)
    drop.fill(paintwork(rng), floor)
    for y in (-0.5, -2.0):
        drop.line_to((0, y), (drop.width, y + rng.uniform(-0.3, 0.3)), rng.uniform(150, 250, 3))
    x = rng.uniform(0.25, 0.6) * drop.width
    mat = rng.uniform(20, 200, 3)
    drop.shape([(x, -0.3), (x + 2, -0.3), (x + 2.2, -1.1), (x - 0.2, -1.1)], mat)
    drop.row((_bars, _mirror, _bag), 0.5, rng)


def _house(drop: Backdrop, x: float, rng: Generator) -> float:
    wall, wide, tall = paintwork(rng), rng.uniform(2.2, 3.2), rng.uniform(3.2, 5.5)
    drop.box(x, 0, wide, tall, wall)
    drop.shape([(x - 0.1, tall), (x + wide + 0.1, tall), (x + wide / 2, tall + 0.9)], paintwork(rng) * 0.6)
    drop.box(x + 0.2, 0, 0.6, 1.4, paintwork(rng) * 0.5)
    glass = np.array([90.0, 110, 130]) * rng.uniform(0.5, 1.4)
    for y in (0.7, 2.1):
        for u in np.arange(x + 1.0, x + wide - 0.4, 0.75):
            drop.box(u, y, 0.45, 0.6, glass)
    return wide


def _street(drop: Backdrop, rng: Generator) -> None:
    drop.fill(np.array([170.0, 195, 220]) * rng.uniform(0.6, 1.1), np.full(3, rng.uniform(60, 110)))
    drop.row((_house,), 0.15, rng)
    drop.box(0, -0.35, drop.width, 0.35, np.full(3, rng.uniform(140, 180)))
    for x in np.arange(rng.uniform(0, 1), drop.width, 1.4):
        drop.box(x, -1.5, 0.8, 0.1, np.full(3, 225.0))


def _palm(drop: Backdrop, x: float, rng: Generator) -> float:
    tall = rng.uniform(2.0, 3.2)
    drop.line_to((x, -0.1), (x + 0.2, tall), np.array([120.0, 86, 56]))
    for angle in np.linspace(0.2, 2.9, 6):
        end = x + 0.2 + 0.9 * np.cos(angle), tall + 0.5 * np.sin(angle) - 0.25
        drop.line_to((x + 0.2, tall), end, np.array([50.0, 110, 50]))
    return 1.0


def _boat(drop: Backdrop, x: float, rng: Generator) -> float:
    drop.shape([(x, 0.75), (x + 0.8, 0.75), (x + 0.65, 0.55), (x + 0.15, 0.55)], paintwork(rng) * 0.6)
    drop.shape([(x + 0.4, 0.8), (x + 0.4, 1.7), (x + 0.8, 0.8)], np.full(3, 240.0))
    return 1.0


def _beach(drop: Backdrop, rng: Generator) -> None:
    sand = np.array([222.0, 196, 140]) * rng.uniform(0.7, 1.1)
    drop.fill(np.array([120.0, 175, 225]) * rng.uniform(0.7, 1.1), sand)
    sea = np.array([40.0, 110, 160]) * rng.uniform(0.6, 1.2)
    drop.box(0, -0.1, drop.width, 0.9, sea)
    for _ in range(12):
        x, y = rng.uniform(0, drop.width), rng.uniform(0, 0.75)
        drop.line_to((x, y), (x + rng.uniform(0.3, 0.9), y), sea + 50)
    drop.box(0, -0.15, drop.width, 0.12, np.full(3, 235.0))
    drop.disc(rng.uniform(0.3, 0.7) * drop.width, min(2.6, drop.top - 0.4), 0.35, np.array([250.0, 235, 170]))
    drop.row((_palm, _boat), 2.0, rng)


SCENES: Mapping[str, Callable[[Backdrop, Generator], None]] = {
    "kitchen": _kitchen,
    "bedroom": _bedroom,
    "office": _office,
    "gym": _gym,
    "street": _street,
    "beach": _beach,
}


def scenery(names: Sequence[str], camera: Camera, rng: Generator) -> Array:
    """One place, or two side by side with a post between them, larger than the picture. [height, width, 3]"""
    scene, line = canvas(camera)
    unit = camera.zoom.mean() * DISTANCE / (DISTANCE - WALL)
    width = scene.shape[1]
    cut = width if len(names) == 1 else round(rng.uniform(0.42, 0.58) * width)
    for name, part in zip(names, (slice(0, cut), slice(cut, width)), strict=False):
        piece = np.ascontiguousarray(scene[:, part])
        SCENES[name](Backdrop(piece, line, unit), rng)
        scene[:, part] = piece
    if len(names) > 1:
        post = max(1, round(0.1 * unit))
        scene[:, cut - post : cut + post] = paintwork(rng) * 0.5
    return weathered(scene, rng)
