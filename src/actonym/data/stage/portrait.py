"""From a face to shapes: its features lie on a head that turns, and are moved by its expression."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from actonym.data.stage.draw import Part
from actonym.data.stage.expressions import Look
from actonym.data.stage.face import Face
from actonym.data.stage.figure import CLOTHES
from actonym.data.stage.pose import Array

ROSE, MOUTH, TEETH, SCLERA = np.array([[222.0, 70, 78], [62, 22, 26], [238, 234, 224], [236, 234, 230]])
PUPIL = np.full(3, 18.0)
WRINKLED = 0.4  # from here on lines are drawn
LONG = 0.3  # hair that is longer falls over the ears
NEAR, STEP = 3.0, 1e-3  # metres before the place of the puppets; what is drawn later lies a little nearer


@dataclass(frozen=True)
class Head:
    """Where a head is in the picture and how it is turned, for each frame."""

    centre: Array  # [T, 2] pixels
    scale: Array  # [T] pixels of half its height
    yaw: Array  # [T]
    pitch: Array
    roll: Array

    def upright(self) -> "Head":
        """At the same place, but not turned."""
        return Head(self.centre, self.scale, 0 * self.yaw, 0 * self.pitch, 0 * self.roll)

    def project(self, points: Array) -> Array:
        """Points of the head `[K, 3]` or `[T, K, 3]` (right, up, front) to pixels `[T, K, 2]`."""
        x, y, z = np.moveaxis(np.broadcast_to(points, (len(self.scale), *points.shape[-2:])), -1, 0)
        yaw, pitch, roll = (angle[:, None] for angle in (self.yaw, self.pitch, self.roll))
        x, z = np.cos(yaw) * x + np.sin(yaw) * z, np.cos(yaw) * z - np.sin(yaw) * x
        y = np.cos(pitch) * y - np.sin(pitch) * z
        x, y = np.cos(roll) * x + np.sin(roll) * y, np.cos(roll) * y - np.sin(roll) * x
        return self.centre[:, None] + self.scale[:, None, None] * np.stack([x, -y], -1)


class Portrait:
    """Collects the parts of one face, from back to front."""

    def __init__(self, person: Face, look: Look, head: Head) -> None:
        self.person, self.look, self.head = person, look, head
        self.inner = False  # from when on things lie within the outline of the head
        self.parts: list[Part] = []

    def shape(self, points: Array, colour: Array, concave: bool = False, shown: Array | None = None) -> None:
        """A filled outline, `[K, 3]` or `[T, K, 3]`."""
        self._add(Part(self.head.project(points), self._near(), colour, 1, shown=shown, concave=concave))

    def stroke(self, a: Array, b: Array, width: float, colour: Array) -> None:
        """A line with round ends, from `[T, 3]` or `[3]` to the same."""
        ends = np.stack(np.broadcast_arrays(a, b), -2)
        self._add(Part(self.head.project(ends), self._near(), colour, 1, width / 2 * self.head.scale))

    def _near(self) -> Array:
        return np.full(len(self.head.scale), NEAR + STEP * len(self.parts))

    def _add(self, part: Part) -> None:
        self.parts.append(replace(part, colour=np.clip(part.colour, 0, 255), inner=self.inner))


def portrait(person: Face, look: Look, head: Head, rng: Generator) -> list[Part]:
    """All of a face, and the shoulders below it."""
    made = Portrait(person, look, head)
    _behind(made, CLOTHES[rng.integers(len(CLOTHES))])
    _skull(made)
    made.inner = True
    _cheeks(made)
    _age(made)
    _nose(made)
    for side in (-1, 1):
        _eye(made, side)
        _brow(made, side)
    _mouth(made)
    made.inner = False
    _hair(made)
    return made.parts


def _on(x: Array | float, y: Array | float, out: float = 0.0) -> Array:
    """A place on the front of the head, `[..., 3]`."""
    x, y = np.broadcast_arrays(x, y)
    bulge = np.sqrt(np.clip(1 - (x / 0.85) ** 2 - (y / 1.15) ** 2, 0.02, None))
    return np.stack([x, y, 0.5 * bulge + out], -1)


def _ring(count: int = 16) -> tuple[Array, Array]:
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
    return np.cos(angle), np.sin(angle)


def _oval(x: Array | float, y: Array | float, w: Array | float, h: Array | float, out: float = 0.0) -> Array:
    """An ellipse on the face; its numbers may change with time, `[T]`."""
    x, y, w, h = (np.asarray(value)[..., None] for value in (x, y, w, h))
    c, s = _ring()
    return _on(x + w * c, y + h * s, out)


def _polygon(*corners: Array) -> Array:
    """Corners `[3]` or `[T, 3]` as one outline."""
    return np.stack(np.broadcast_arrays(*corners), -2)


def _outline(person: Face) -> Array:
    """The contour of the head, jaw included. [K, 3]"""
    angle = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    x, y = np.cos(angle), np.sin(angle)
    narrow = np.where(y < 0, 1 - (1 - person.jaw) * np.abs(y) ** 1.2, 1.0)
    return np.stack([person.width * x * narrow, y, 0 * x], -1)


def _behind(made: Portrait, shirt: Array) -> None:
    """Long hair, the neck, and shoulders that do not turn with the head."""
    person, head = made.person, made.head
    if person.hair_length > LONG:
        low = -0.6 - person.hair_length
        c, s = _ring(24)
        mane = np.stack([(person.width + 0.2) * c, (0.7 + low) / 2 + (0.7 - low) / 2 * s, 0 * c - 0.3], -1)
        made.shape(mane, person.hair * 0.85)
    made.head = head.upright()
    neck = 0.3 + 0.14 * person.jaw
    column = [(-neck, -0.4), (neck, -0.4), (neck, -1.5), (-neck, -1.5)]
    made.shape(np.array([(x, y, 0) for x, y in column]), person.skin * 0.82)
    chest = [(-0.4, -1.2), (0.4, -1.2), (1.2, -1.45), (1.45, -1.7), (1.6, -4), (-1.6, -4), (-1.45, -1.7), (-1.2, -1.45)]
    made.shape(np.array([(x, y, 0) for x, y in chest]), shirt)
    made.head = head


def _skull(made: Portrait) -> None:
    person = made.person
    for side in (-1, 1):
        c, s = _ring(12)
        ear = np.stack([side * person.width + 0.09 * c, -0.05 + 0.17 * s, 0 * c - 0.1], -1)
        made.shape(ear, person.skin * 0.88)
    made.shape(_outline(person), person.skin, concave=True)
    if person.beard:
        angle = np.linspace(np.pi, 2 * np.pi, 17)
        narrow = 1 - (1 - person.jaw) * np.abs(np.sin(angle)) ** 1.2
        rim = np.stack([person.width * np.cos(angle) * narrow, np.minimum(np.sin(angle), -0.22), 0 * angle], -1)
        edge = _on(np.array([0.42, 0.2, -0.2, -0.42]), np.array([-0.42, -0.3, -0.3, -0.42]))
        beard = person.skin * (1 - person.beard) + person.hair * person.beard
        made.shape(np.concatenate([rim, edge]), beard, concave=True)


def _cheeks(made: Portrait) -> None:
    """Red ones, in two steps; a smile lifts them."""
    person = made.person
    for k, side in enumerate((-1, 1)):
        y = -0.27 + 0.05 * made.look["cheek"][:, k]
        for size, share in ((0.2, 0.6), (0.13, 1.0)) if person.rosy else ():
            red = person.rosy * share
            made.shape(_oval(side * 0.42, y, size, 0.8 * size), person.skin * (1 - red) + ROSE * red)


def _age(made: Portrait) -> None:
    """Lines on the forehead, around the eyes and, at any age, from the nose to the mouth."""
    person, look = made.person, made.look
    if person.wrinkles > WRINKLED:
        line = person.skin * (1 - 0.42 * person.wrinkles)
        for y in (0.36, 0.46, 0.56):
            y_now = y + 0.05 * look.middle("brow_in")
            made.stroke(_on(-0.3, y_now), _on(0.3, y_now), 0.018, line)
        for side in (-1, 1):
            x = side * person.gap
            made.stroke(_on(x - side * 0.1, -0.17), _on(x + side * 0.12, -0.15), 0.02, line)
            for y in (-0.05, 0.05):
                made.stroke(_on(x + side * 0.2, 0.02 + y / 2), _on(x + side * 0.3, 0.02 + 1.6 * y), 0.015, line)
    fold = person.skin * (0.9 - 0.25 * person.wrinkles)
    for k, side in enumerate((-1, 1)):
        wing = _on(side * (person.nose[0] + 0.07), -0.26 + 0.03 * look["nose"][:, k])
        made.stroke(wing, _corner(made, side) + np.array([side * 0.08, 0.03, 0]), 0.025, fold)


def _nose(made: Portrait) -> None:
    """Pointed and narrow, or round and wide; disgust wrinkles it and draws it up."""
    person, wrinkled = made.person, made.look.middle("nose")
    wide, long = person.nose
    tip = 0.04 - long + 0.06 * wrinkled
    if person.pointy:
        top = [_on(-0.03, 0.1, 0.12), _on(0.03, 0.1, 0.12)]
        low = [_on(wide, tip + 0.05, 0.12), _on(0.0, tip - 0.09, 0.12), _on(-wide, tip + 0.05, 0.12)]
        made.shape(_polygon(*top, *low), person.skin * 0.8)
        made.stroke(_on(0.0, 0.08, 0.12), _on(0.0, tip, 0.2), 0.04, person.skin * 1.08)
    else:
        bridge = [_on(-0.05, 0.08, 0.1), _on(0.05, 0.08, 0.1), _on(wide, tip, 0.1), _on(-wide, tip, 0.1)]
        made.shape(_polygon(*bridge), person.skin * 0.9)
        made.shape(_oval(0.0, tip, wide, 0.09, 0.12), person.skin * 0.8)
        made.shape(_oval(0.0, tip + 0.03, 0.6 * wide, 0.05, 0.16), person.skin * 1.05)
    for side in (-1, 1):
        made.shape(_oval(side * 0.6 * wide, tip - 0.04, 0.028, 0.02, 0.12), person.skin * 0.4)
        crease = _on(side * (0.05 + 0.07 * wrinkled), 0.08 - 0.07 * wrinkled, 0.1)
        made.stroke(_on(side * 0.05, 0.08, 0.1), crease, 0.02, person.skin * 0.7)


def _eye(made: Portrait, side: int) -> None:
    """White, iris, pupil and the upper lid of one eye."""
    person, k, x = made.person, (side + 1) // 2, side * made.person.gap
    lids, cheek = made.look["lids"][:, k], made.look["cheek"][:, k]
    tall = np.clip(person.eye * (0.52 + 0.36 * lids - 0.1 * cheek), 0.012, None)
    y = 0.05 + 0.02 * cheek
    for size, colour in ((1.0, SCLERA), (0.48, person.eyes), (0.22, PUPIL)):
        made.shape(_oval(x, y, size * person.eye, np.minimum(tall, size * person.eye)), colour)
    lid = [_on(x + u * person.eye, y + tall * np.sqrt(max(1 - u * u, 0)), 0.02) for u in (-1.05, -0.45, 0.45, 1.05)]
    for a, b in pairwise(lid):
        made.stroke(a, b, 0.03, person.skin * 0.35)


def _brow(made: Portrait, side: int) -> None:
    person, k, x = made.person, (side + 1) // 2, side * made.person.gap
    inner, outer = made.look["brow_in"][:, k], made.look["brow_out"][:, k]
    frown = 0.05 * np.clip(-inner, 0, None)
    start = _on(x - side * (0.16 + frown), 0.27 + 0.16 * inner, 0.03)
    bend = _on(x + side * 0.04, 0.32 + 0.06 * inner + 0.1 * outer, 0.03)
    end = _on(x + side * 0.2, 0.27 + 0.15 * outer, 0.03)
    made.stroke(start, bend, person.brow * 1.3, person.hair * 0.5)
    made.stroke(bend, end, person.brow, person.hair * 0.5)


def _corner(made: Portrait, side: int) -> Array:
    """Where a corner of the mouth is. [T, 3]"""
    look, k = made.look, (side + 1) // 2
    wide = made.person.mouth + 0.09 * look.middle("wide") - 0.04 * look.middle("open")
    return _on(side * wide, -0.55 + 0.18 * look["corner"][:, k] - 0.04 * look.middle("open"))


def _mouth(made: Portrait) -> None:
    """Two lips around an opening, which shows teeth when it is wide."""
    person, look = made.person, made.look
    left, right = _corner(made, -1), _corner(made, 1)
    press = 1 - 0.6 * np.clip(look.middle("press"), 0, 1)
    upper = -0.55 + 0.006 + 0.08 * look.middle("lip") + 0.03 * look.middle("open")
    lower = -0.55 - 0.006 - 0.36 * np.clip(look.middle("open"), 0, None) - 0.03 * look.middle("lip")
    full = 0.07 * press
    made.shape(_lips(left, right, upper + full, lower - 1.2 * full), person.lips, concave=True)
    made.shape(_lips(left, right, upper, lower, 0.9), MOUTH, concave=True)
    gap = upper - lower
    made.shape(_lips(left, right, upper - 0.1 * gap, upper - 0.45 * gap, 0.7), TEETH, concave=True, shown=gap > 0.05)


def _lips(left: Array, right: Array, upper: Array, lower: Array, share: float = 1.0) -> Array:
    """The outline between two curves that meet in the corners. [T, K, 3]"""
    u = np.linspace(-1, 1, 9)
    bow = (1 - u * u)[None]
    x = share * ((left[:, :1] + right[:, :1]) / 2 + u * (right[:, :1] - left[:, :1]) / 2)
    rest = (left[:, 1:2] * (1 - u) + right[:, 1:2] * (1 + u)) / 2
    top = rest + bow * (upper[:, None] - rest)
    low = rest + bow * (lower[:, None] - rest)
    return np.concatenate([_on(x, top, 0.03), _on(x[:, ::-1], low[:, ::-1], 0.03)], 1)


def _hair(made: Portrait) -> None:
    """A cap from ear to ear with a hairline; long hair falls over the sides."""
    person = made.person
    angle = np.linspace(-0.15, np.pi + 0.15, 19)
    rim = np.stack([(person.width + 0.1) * np.cos(angle), 1.12 * np.sin(angle), 0 * angle], -1)
    inner = np.linspace(np.pi + 0.05, -0.05, 13)
    edge = _on(0.86 * person.width * np.cos(inner), person.hairline * np.clip(np.sin(inner), 0, None) ** 0.45 + 0.02)
    made.shape(np.concatenate([rim, edge]), person.hair, concave=True)
    if person.hair_length > LONG:
        for side in (-1, 1):
            top, low = (
                np.array([side * person.width, 0.3, 0]),
                np.array([side * (person.width + 0.06), -0.8 * person.hair_length, 0]),
            )
            made.stroke(top, low, 0.22, person.hair * 0.95)
