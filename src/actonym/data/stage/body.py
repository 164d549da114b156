"""From joints to shapes: the parts of a body, its clothes and its head."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from actonym.data.stage.draw import Camera, Part
from actonym.data.stage.figure import Outfit, Subject
from actonym.data.stage.pose import Array

BLACK, WHITE = np.zeros(3), np.full(3, 255.0)
SHOES, EYES, LIPS = np.array([45.0, 38, 36]), np.array([28.0, 22, 24]), np.array([150.0, 60, 60])


class Figure:
    """Collects the parts of one person whose joints are `at` in the world."""

    def __init__(self, person: Subject, at: dict[str, Array], camera: Camera, who: int) -> None:
        self.person, self.at, self.camera, self.who = person, at, camera, who
        self.parts: list[Part] = []

    def limb(self, a: str, b: str, width: float, colour: Array, lift: float = 0.0) -> None:
        """From joint to joint; `width` is a share of the body's height, `lift` brings it to the front."""
        near = (self.at[a][:, 2] + self.at[b][:, 2]) / 2 + lift
        points = self.camera.project(np.stack([self.at[a], self.at[b]], 1))
        radius = width * self.person.height * self.camera.scale(near) / 2
        self.parts.append(Part(points, near, _shade(colour, near), self.who, radius))

    def disc(self, place: Array, radius: float, colour: Array, lift: float = 0.0) -> None:
        points = self.camera.project(place)[:, None]
        scale = self.person.height * self.camera.scale(place[:, 2])
        self.parts.append(Part(points, place[:, 2] + lift, colour, self.who, radius * scale))

    def cloth(self, upper: tuple[Array, Array], lower: tuple[Array, Array], colour: Array, lift: float) -> None:
        """A piece between an upper and a lower edge, each from left to right."""
        points = self.camera.project(np.stack([upper[0], upper[1], lower[1], lower[0]], 1))
        near = (self.at["chest"][:, 2] + self.at["pelvis"][:, 2]) / 2 + lift
        self.parts.append(Part(points, near, colour, self.who))


def sticks(figure: Figure, tag: str) -> None:
    """A short stick, half black, half white: sharp in a fine picture, nothing in one that averages."""
    figure.limb(f"{tag}_hand", f"{tag}_band", 0.012, BLACK, 0.3)
    figure.limb(f"{tag}_band", f"{tag}_tip", 0.012, WHITE, 0.3)
    figure.disc(figure.at[f"{tag}_hand"], 0.027, figure.person.skin, 0.32)


def mittens(figure: Figure, tag: str) -> None:
    """A white mitten with a black cuff, for the same reason."""
    figure.disc(figure.at[f"{tag}_hand"], 0.036, BLACK, 0.3)
    figure.disc(figure.at[f"{tag}_hand"], 0.024, WHITE, 0.32)


def bare(figure: Figure, tag: str) -> None:
    figure.disc(figure.at[f"{tag}_hand"], 0.03, figure.person.skin, 0.32)


def body(
    person: Subject,
    clothes: Outfit,
    at: dict[str, Array],
    yaw: float | Array,
    camera: Camera,
    who: int,
    hands: Callable[[Figure, str], None] = sticks,
) -> list[Part]:
    """The parts of one person who has turned by `yaw`, for good or `[T]` frame by frame."""
    figure = Figure(person, at, camera, who)
    skin, g = person.skin, person.girth
    sleeve = clothes.top if clothes.sleeves and not clothes.nude else skin
    shin = skin if clothes.nude or clothes.skirt else clothes.bottom
    for tag in ("l", "r"):
        figure.limb(f"{tag}_hip", f"{tag}_knee", 0.085 * g, clothes.bottom)
        figure.limb(f"{tag}_knee", f"{tag}_foot", 0.062 * g, shin)
        figure.limb(f"{tag}_foot", f"{tag}_toe", 0.045, skin if clothes.nude else SHOES)
        figure.limb(f"{tag}_shoulder", f"{tag}_elbow", 0.056 * g, skin if clothes.nude else clothes.top)
        figure.limb(f"{tag}_elbow", f"{tag}_hand", 0.044 * g, sleeve)
        hands(figure, tag)
    _trunk(figure, clothes)
    facing = np.cos(yaw) > 0
    if np.ndim(facing) == 0 or facing.all() or not facing.any():
        _head(figure, yaw, bool(np.all(facing)))
    else:  # two heads, each in its own frames
        for side in (facing, ~facing):
            first = len(figure.parts)
            _head(figure, yaw, bool(side is facing))
            figure.parts[first:] = [replace(part, shown=side) for part in figure.parts[first:]]
    return figure.parts


def _trunk(figure: Figure, clothes: Outfit) -> None:
    """Shoulders to hips as one piece, wide enough to be seen from the side too; trousers or a skirt below it."""
    at, person = figure.at, figure.person
    margin = np.array([0.055 * person.height * person.girth, 0, 0])

    def edge(left: Array, right: Array) -> tuple[Array, Array]:
        swapped = (left[:, 0] > right[:, 0])[:, None]
        return np.where(swapped, right, left) - margin, np.where(swapped, left, right) + margin

    shoulders = edge(at["l_shoulder"] * 0.9 + at["chest"] * 0.1, at["r_shoulder"] * 0.9 + at["chest"] * 0.1)
    hips = edge(at["l_hip"], at["r_hip"])
    figure.cloth(shoulders, hips, person.skin if clothes.nude else clothes.top, 0.03)
    if clothes.coat:
        hem = edge(at["l_knee"] * 0.9 + at["l_hip"] * 0.1, at["r_knee"] * 0.9 + at["r_hip"] * 0.1)
        figure.cloth(hips, hem, clothes.top, 0.12)
    elif clothes.skirt and not clothes.nude:
        hem = edge(at["l_knee"] * 0.8 + at["l_hip"] * 0.2, at["r_knee"] * 0.8 + at["r_hip"] * 0.2)
        figure.cloth(hips, hem, clothes.bottom, 0.12)
    else:
        waist = (0.75 * hips[0] + 0.25 * shoulders[0], 0.75 * hips[1] + 0.25 * shoulders[1])
        figure.cloth(waist, (hips[0] - [0, 0.03, 0], hips[1] - [0, 0.03, 0]), clothes.bottom, 0.035)


def _head(figure: Figure, yaw: float | Array, facing: bool) -> None:
    """Skull, hair and, seen from the front, a face."""
    person, head, h = figure.person, figure.at["head"], figure.person.height
    up, zero = np.array([0.0, 1.0, 0.0]), np.zeros(np.shape(yaw))
    side = np.stack([np.cos(yaw), zero, -np.sin(yaw)], -1)
    front = np.stack([np.sin(yaw), zero, np.cos(yaw)], -1)
    size = 0.078 * person.head
    figure.limb("neck", "chest", 0.05, person.skin, 0.01)
    figure.disc(head, size, person.skin if facing else person.hair, 0.05)
    if person.long_hair:
        figure.disc(head - up * 0.05 * h - front * 0.02, size * 1.1, person.hair, 0.04 if facing else 0.07)
        figure.disc(head - up * 0.10 * h - front * 0.02, size * 0.95, person.hair, 0.035 if facing else 0.068)
    figure.disc(head + up * 0.028 * h - front * 0.035, size * 0.98, person.hair, 0.045 if facing else 0.06)
    if not facing:
        return
    figure.disc(head + up * 0.035 * h - front * 0.01, size * 0.72, person.hair, 0.055)
    for sign in (-1, 1):
        eye = head + front * 0.04 * h + side * sign * 0.026 * h + up * 0.004
        figure.disc(eye, 0.016, EYES, 0.08)
    figure.disc(head + front * 0.04 * h - up * 0.04 * h, 0.017, LIPS, 0.08)


def _shade(colour: Array, near: Array) -> Array:
    """A limb behind the body is a little darker."""
    return colour * (0.94 if near.mean() > 0 else 0.82)
