"""The first world with frames that differ: people turn round, a companion comes or goes, a screen passes before them.

So each frame shows other attributes, and what it shows is known: labels frame by frame, as PA-HMDB51 has them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.random import Generator

from actonym.data.base import Span
from actonym.data.stage.body import body
from actonym.data.stage.draw import Camera, Part
from actonym.data.stage.figure import joints, outfit, placed, subject, turned
from actonym.data.stage.film import paintwork
from actonym.data.stage.pose import Array, stand
from actonym.data.stage.puppets import Puppets
from actonym.data.stage.world import Cast, Labels, describe

TURN, WALK = 0.25, 0.2  # shares of the clip that it takes to turn round, and to come or go
AWAY, BESIDE = 3.2, 1.3  # metres from the actor: where a companion comes from, and who is near enough to be one
SCREEN, SCREEN_Z, SPEED = 0.8, 1.0, 4.0  # half the width of the screen, its place, metres that it moves in a clip
FAR = 100.0
BODY, ENOUGH = 0.3, 0.25  # half the width of a figure, and the share of it from which on somebody is seen
WHOLE_FACE = 0.8  # cosine of the angle to the camera from which a face is fully seen


@dataclass(frozen=True)
class Course(Labels):
    """When things happen, in shares of the clip."""

    aside: float = 0.0  # how far people look past the camera, in radians
    turn: float = 0.5  # when those who show their faces turn round
    towards: bool = True  # they do so in the end, not in the beginning
    walk: float = 0.5  # when the companion walks
    comes: bool = True  # to the actor, not away
    beside: float = 0.85  # metres, signed: where the companion stands
    screen: float | None = None  # when the screen is before the actor
    rightwards: bool = True

    def yaw(self, frames: int) -> Array:
        """Where people look: 0 is towards the camera. [T]"""
        away = np.ones(frames)
        if self.privacy[0]:
            away = _passage(frames, self.turn, TURN)
            away = 1 - away if self.towards else away
        return self.aside + np.pi * away

    def mate(self, frames: int) -> Array:
        """How far to the actor's right the companion is. [T]"""
        share = _passage(frames, self.walk, WALK)
        gone = 1 - share if self.comes else share
        return np.sign(self.beside) * (abs(self.beside) + gone * (AWAY - abs(self.beside)))

    def screen_at(self, frames: int) -> Array:
        """The middle of the screen; far out where there is none. [T]"""
        if self.screen is None:
            return np.full(frames, FAR)
        return (1 if self.rightwards else -1) * SPEED * (np.linspace(0, 1, frames) - self.screen)


class Turning(Puppets):
    """Values of the spans: 1 where the video has the attribute and the frame shows it, 2 for a face seen in full."""

    card = describe(
        "Stage, turning",
        "the first world's actions; attributes come and go within a clip and are labelled frame by frame",
    )
    salt = (2,)
    prefix = "turning-"

    def labels(self, row: int, cast: Cast, correlation: float, rng: Generator) -> Course:
        plain = super().labels(row, cast, correlation, rng)
        return Course(
            plain.action,
            plain.privacy,
            plain.actor,
            aside=rng.uniform(-0.4, 0.4),
            turn=rng.uniform(0.3, 0.7),
            towards=bool(rng.integers(2)),
            walk=rng.uniform(0.3, 0.7),
            comes=bool(rng.integers(2)),
            beside=rng.choice([-1, 1]) * rng.uniform(0.75, 0.95),
            screen=rng.uniform(0.35, 0.65) if rng.uniform() < 0.5 else None,
            rightwards=bool(rng.integers(2)),
        )

    def spans(self, labels: Labels, frames: int, rng: Generator) -> tuple[Sequence[Span], ...]:
        assert isinstance(labels, Course)
        camera = self.camera(frames, (1, 1), rng)  # of any size: shares of the picture are the same
        face, dark, woman, nudity, relationship = labels.privacy
        mate, screen = labels.mate(frames), labels.screen_at(frames)
        actor_seen = _seen(np.zeros(frames), screen, camera)
        mate_seen = _seen(mate, screen, camera) & bool(relationship)
        somebody = actor_seen | mate_seen
        front = np.cos(labels.yaw(frames))
        full = np.where(front > WHOLE_FACE, 2, 1) * (front > 0)
        together = actor_seen & mate_seen & (np.abs(mate) < BESIDE)
        shown = (face * full * somebody, dark * somebody, woman * somebody, nudity * somebody, together)
        return tuple(_runs(values.astype(int)) for values in shown)

    def yaw(self, labels: Labels, frames: int, rng: Generator) -> Array:
        assert isinstance(labels, Course)
        return labels.yaw(frames)

    def others(self, labels: Labels, camera: Camera, rng: Generator) -> list[Part]:
        """A companion who comes or goes, or now and then a stranger far behind."""
        assert isinstance(labels, Course)
        if not labels.privacy[4]:
            return super().others(labels, camera, rng)
        frames, me = len(camera.zoom), labels.actor
        other = subject("companion", me.woman, me.dark, rng)
        pose = stand(frames, rng)
        x = labels.mate(frames)
        pose.legs[:, :, :, 0] += 0.4 * np.sin(4 * x)[:, None, None] * np.array([1.0, -1.0])[:, None]
        path = np.stack([x, np.zeros(frames), np.zeros(frames)], -1)
        yaw = labels.yaw(frames)
        points = {name: place + path for name, place in turned(joints(other, pose), yaw).items()}
        clothes = outfit(other, bool(labels.privacy[3]), rng)
        return body(other, clothes, placed(points, 0.0, rng.uniform(-0.3, -0.1)), yaw, camera, 2)

    def things(self, labels: Labels, camera: Camera, rng: Generator) -> list[Part]:
        assert isinstance(labels, Course)
        parts = super().things(labels, camera, rng)
        if labels.screen is None:
            return parts
        middle, near = labels.screen_at(len(camera.zoom)), np.full(len(camera.zoom), SCREEN_Z)
        for width, low, high, lift in ((SCREEN, 0.0, 2.1, 0.0), (SCREEN - 0.08, 0.15, 2.0, 0.01)):
            corners = [(-width, low), (width, low), (width, high), (-width, high)]
            points = np.stack([np.stack([middle + x, 0 * near + y, near], -1) for x, y in corners], 1)
            parts.append(Part(camera.project(points), near + lift, paintwork(rng), 0))
        return parts


def _passage(frames: int, middle: float, length: float) -> Array:
    """A smooth passage from 0 to 1."""
    t = np.clip((np.linspace(0, 1, frames) - middle) / length + 0.5, 0, 1)
    return t * t * (3 - 2 * t)


def _seen(x: Array, screen: Array, camera: Camera) -> Array:
    """Whether enough of a figure at `x` is in the picture and not behind the screen. [T]"""

    def edges(middle: Array, half: float, z: float) -> tuple[Array, Array]:
        ends = (np.stack([middle + side * half, 0 * middle, 0 * middle + z], -1) for side in (-1, 1))
        left, right = (camera.project(end)[:, 0] for end in ends)
        return left, right

    left, right = edges(x, BODY, 0.0)
    low, high = np.clip(left, 0, camera.size[1]), np.clip(right, 0, camera.size[1])
    start, end = edges(screen, SCREEN, SCREEN_Z)
    covered = np.clip(np.minimum(high, end) - np.maximum(low, start), 0, None)
    return (high - low - covered) / (right - left) > ENOUGH


def _runs(values: Array) -> list[Span]:
    """Frames in a row that show the same."""
    spans, first = [], 0
    for value, run in groupby(values.tolist()):
        last = first + len(list(run)) - 1
        spans.append(Span(first, last, (value,)))
        first = last + 1
    return spans
