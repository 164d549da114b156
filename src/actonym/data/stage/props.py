"""Kinds of objects: small ones that lie about or are held, and large ones that stand."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator

from actonym.data.stage.draw import Camera, Part
from actonym.data.stage.pose import Array

SMALL, LARGE = 1.4, 1.2  # larger than life: people are small here, and what lies about must still be seen
GLASS, PAGES, LEAF = np.array([[70.0, 120, 90], [236, 230, 214], [60, 120, 56]])


class Prop:
    """Collects the parts of one object; `at` is the middle of its foot, or the hand that holds it. `[T, 3]`"""

    def __init__(self, camera: Camera, at: Array, scale: float, lift: float = 0.0) -> None:
        self.camera, self.at, self.scale, self.lift = camera, at, scale, lift
        self.parts: list[Part] = []

    def shape(self, corners: list[tuple[float, float]], colour: Array) -> None:
        """A convex piece; metres to the right and up."""
        self._add(self.camera.project(self._places(corners)), colour)

    def bar(self, a: tuple[float, float], b: tuple[float, float], width: float, colour: Array) -> None:
        self._add(self.camera.project(self._places([a, b])), colour, width / 2)

    def disc(self, x: float, y: float, radius: float, colour: Array) -> None:
        self._add(self.camera.project(self._places([(x, y)])), colour, radius)

    def _places(self, points: list[tuple[float, float]]) -> Array:
        return self.at[:, None] + self.scale * np.array([(x, y, 0.0) for x, y in points])

    def _add(self, points: Array, colour: Array, radius: float | None = None) -> None:
        near = self.at[:, 2] + self.lift + 1e-3 * len(self.parts)
        pixels = None if radius is None else radius * self.scale * self.camera.scale(near)
        self.parts.append(Part(points, near, np.clip(colour, 0, 255), 0, pixels))


def _bright(rng: Generator) -> Array:
    colour = rng.uniform(30, 120, 3)
    colour[rng.integers(3)] = rng.uniform(170, 240)
    return colour


def _ball(prop: Prop, rng: Generator) -> None:
    colour = _bright(rng)
    prop.disc(0, 0.17, 0.17, colour)
    prop.bar((-0.1, 0.17), (0.1, 0.17), 0.07, np.full(3, 240.0))
    prop.disc(0.05, 0.24, 0.03, colour + 90)


def _bottle(prop: Prop, rng: Generator) -> None:
    glass = GLASS * rng.uniform(0.5, 1.4)
    prop.shape([(-0.08, 0), (0.08, 0), (0.08, 0.3), (-0.08, 0.3)], glass)
    prop.bar((0, 0.3), (0, 0.44), 0.07, glass)
    prop.shape([(-0.08, 0.08), (0.08, 0.08), (0.08, 0.2), (-0.08, 0.2)], np.full(3, 235.0))
    prop.disc(0, 0.47, 0.045, _bright(rng))


def _book(prop: Prop, rng: Generator) -> None:
    cover = _bright(rng) * 0.8
    prop.shape([(-0.3, 0.04), (0.3, 0.04), (0.3, 0.4), (-0.3, 0.4)], cover)
    for side in (-1, 1):
        prop.shape([(0, 0.06), (side * 0.27, 0.09), (side * 0.27, 0.39), (0, 0.36)], PAGES)
    prop.bar((0, 0.06), (0, 0.36), 0.02, cover * 0.5)


def _bag(prop: Prop, rng: Generator) -> None:
    leather = _bright(rng) * 0.7
    for side in (-1, 1):
        prop.bar((side * 0.13, 0.32), (side * 0.08, 0.5), 0.04, leather * 0.6)
    prop.bar((-0.08, 0.5), (0.08, 0.5), 0.04, leather * 0.6)
    prop.shape([(-0.25, 0), (0.25, 0), (0.2, 0.34), (-0.2, 0.34)], leather)
    prop.bar((-0.2, 0.24), (0.2, 0.24), 0.03, leather * 0.5)


def _umbrella(prop: Prop, rng: Generator) -> None:
    angle = np.linspace(0, np.pi, 13)
    cloth, pale = _bright(rng), np.full(3, 235.0)
    prop.bar((0, 0), (0, 0.9), 0.035, np.full(3, 50.0))
    prop.shape([(0.55 * np.cos(a), 0.75 + 0.38 * np.sin(a)) for a in angle], cloth)
    prop.shape([(0, 1.12), (0.2, 0.75), (-0.2, 0.75)], pale)


def _chair(prop: Prop, rng: Generator) -> None:
    wood = rng.uniform(0.4, 1.1) * np.array([180.0, 130, 84]) + rng.normal(0, 20, 3)
    for x in (-0.22, 0.22):
        prop.bar((x, 0), (x, 0.98), 0.05, wood * 0.7)
    for y in (0.65, 0.82, 0.96):
        prop.bar((-0.22, y), (0.22, y), 0.06, wood)
    prop.shape([(-0.25, 0.42), (0.25, 0.42), (0.3, 0.5), (-0.3, 0.5)], wood)
    for x in (-0.28, 0.28):
        prop.bar((x, 0), (x, 0.42), 0.05, wood * 0.8)


def _lamp(prop: Prop, rng: Generator) -> None:
    metal = np.full(3, rng.uniform(20, 110))
    prop.bar((-0.16, 0.02), (0.16, 0.02), 0.05, metal)
    prop.bar((0, 0), (0, 1.3), 0.04, metal)
    prop.shape([(-0.26, 1.2), (0.26, 1.2), (0.14, 1.55), (-0.14, 1.55)], np.array([252.0, 236, 170]))


def _plant(prop: Prop, rng: Generator) -> None:
    leaf = LEAF * rng.uniform(0.6, 1.4)
    for angle in np.linspace(0.35, np.pi - 0.35, 6) + rng.normal(0, 0.08, 6):
        length = rng.uniform(0.4, 0.6)
        prop.bar((0, 0.32), (length * np.cos(angle), 0.32 + length * np.sin(angle)), 0.09, leaf * rng.uniform(0.8, 1.2))
    prop.shape([(-0.14, 0), (0.14, 0), (0.2, 0.34), (-0.2, 0.34)], np.array([176.0, 90, 56]) * rng.uniform(0.6, 1.2))


HELD: Mapping[str, Callable[[Prop, Generator], None]] = {
    "ball": _ball,
    "bottle": _bottle,
    "book": _book,
    "bag": _bag,
    "umbrella": _umbrella,
}
STANDING: Mapping[str, Callable[[Prop, Generator], None]] = {"chair": _chair, "lamp": _lamp, "plant": _plant}
OBJECTS = (*HELD, *STANDING)


def build(name: str, camera: Camera, at: Array, rng: Generator, lift: float = 0.0) -> list[Part]:
    """One object at a place that may move, `[T, 3]`."""
    prop = Prop(camera, at, SMALL if name in HELD else LARGE, lift)
    {**HELD, **STANDING}[name](prop, rng)
    return prop.parts
