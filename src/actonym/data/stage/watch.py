"""A street under watch: long videos in which all is normal, or somebody falls, fights or throws. As UCF-Crime.

Somebody waits there, others pass by. In a normal video they meet, point or crouch; that is not odd, and begins alike.
Training and validation videos only say what they hold; when, is known in testing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from actonym.data.base import Segment
from actonym.data.stage.actions import perform
from actonym.data.stage.body import bare, body
from actonym.data.stage.draw import Camera, Part
from actonym.data.stage.figure import Subject, joints, moved, outfit, subject, toppled, turned
from actonym.data.stage.film import on_tripod, shots
from actonym.data.stage.gait import Gait, along, gait, speed, walk
from actonym.data.stage.pose import Array, Pose, again, lay, stand
from actonym.data.stage.scenery import scenery
from actonym.data.stage.world import FPS, Cast, Footage, Labels, Traits, World, describe, joined

NORMAL = "normal"
ODD = ("fall", "fight", "throw")
LIKE = {"fall": "crouch", "fight": "meet", "throw": "point"}  # what is normal and begins alike
BESIDE = 0.7  # metres between two who meet
OUT = 3.4  # metres from the middle: out of the picture
PASSERS = 48  # frames from one who passes by to the next
RAMP = 8  # frames in which limbs and bodies go over from one to the next
DOWN = 12  # frames that a fall takes
THROW = 20  # frames of a throw
FLIGHT = 14  # frames that a thing flies


@dataclass(frozen=True)
class Event(Labels):
    """What happens, and when in shares of the video."""

    what: str = "crouch"  # one of ODD, or what is like it
    start: float = 0.4
    end: float = 0.7
    side: int = 1  # to which it happens: 1 is to the right

    def frames(self, count: int) -> tuple[int, int]:
        """The first frame, and the one after the last."""
        first = round(self.start * count)
        return first, max(first + 1, round(self.end * count))


class Watch(World):
    """The attributes are those of all who are seen."""

    card = describe(
        "Stage, watch", "long videos of a street, normal or with a fall, a fight or throwing; times in testing only"
    )
    actions = (NORMAL, *ODD)
    attributes = ("skin_color", "gender")
    traits = (0, 1)
    salt = (8,)
    prefix = "watch-"
    counts = (120, 40, 60)
    clips = 32
    timed = ("test",)

    def called(self, traits: Traits) -> str:
        return f"{'dark' if traits[0] else 'light'}-{'woman' if traits[1] else 'man'}"

    def person(self, name: str, traits: Traits, rng: Generator) -> Subject:
        return subject(name, bool(traits[1]), bool(traits[0]), rng)

    def labels(self, row: int, cast: Cast, correlation: float, rng: Generator) -> Event:
        """Every other video is normal; what is odd takes turns, and so does what is like it."""
        what = ODD[row // 2 % len(ODD)]
        action = what if row % 2 else NORMAL
        bits = rng.integers(0, 2, 2).tolist()
        if rng.uniform() < correlation:
            bits = [row % 2, 1 - row % 2]
        people = cast[tuple(bits)]
        length = rng.uniform(0.15, 0.35)
        start = rng.uniform(0.1, 0.9 - length)
        return Event(
            action,
            tuple(bits),
            people[rng.integers(len(people))],
            what=what if row % 2 else LIKE[what],
            start=start,
            end=start + length,
            side=int(rng.choice([-1, 1])),
        )

    def segments(self, labels: Labels, frames: int) -> tuple[Segment, ...]:
        assert isinstance(labels, Event)
        first, last = labels.frames(frames)
        odd = labels.action != NORMAL
        return (Segment(first / FPS, last / FPS, self.actions.index(labels.action)),) if odd else ()

    def render(self, labels: Labels, frames: int, size: tuple[int, int], rng: Generator) -> Footage:
        return joined(self.shots(labels, frames, size, rng))

    def shots(self, labels: Labels, frames: int, size: tuple[int, int], rng: Generator) -> Iterator[Footage]:
        assert isinstance(labels, Event)
        camera = on_tripod(frames, size, rng, (0.34, 0.42))
        home = np.array([rng.uniform(-0.4, 0.4), 0.0, 0.0])
        parts = _actor(labels, camera, home, rng)
        if labels.what in ("fight", "meet"):
            parts += _partner(labels, camera, home, rng)
        if labels.what == "throw":
            parts += _missiles(labels, camera, home, rng)
        for who, start in enumerate(range(int(rng.integers(-PASSERS, 0)), frames, PASSERS), 3):
            parts += _passer(labels, camera, who, start, rng)
        yield from shots(parts, camera, scenery(["street"], camera, rng), rng)


def _while(first: int, last: int, frames: int, ramp: int = RAMP) -> Array:
    """1 from frame `first` to `last`, with a smooth passage before and after. [T]"""
    time = np.arange(frames)
    share = np.clip(np.minimum(time - first + ramp, last + ramp - time) / ramp, 0, 1)
    return share * share * (3 - 2 * share)


def _actor(event: Event, camera: Camera, home: Array, rng: Generator) -> list[Part]:
    """Waits; what happens, happens to them."""
    frames, person = len(camera.zoom), event.actor
    first, last = event.frames(frames)
    pose = stand(frames, rng)
    length = last - first
    happens = _while(first, last, frames)
    aside = event.side * np.pi / 2 if event.what != "fall" else 0.0  # whom or what they turn to
    yaw = rng.uniform(-0.6, 0.6) * (1 - happens) + aside * happens
    path = np.tile(home, (frames, 1))
    if event.what == "fight":
        lay(pose, punches(length, rng), first, RAMP)
        path[:, 0] += 0.1 * happens * again(frames, rng, 0.8, 1.2)
    elif event.what == "throw":
        lay(pose, throws(length, rng), first, RAMP)
    elif event.what in ("crouch", "fall"):
        bend = max(2, length // 2 if event.what == "crouch" else DOWN)
        lay(pose, perform("sit_down", bend, rng), first, max(1, bend // 2))
    else:
        lay(pose, perform("raise_arm", length, rng), first, max(1, length // 3))
    points = joints(person, pose)
    if event.what == "fall":
        down = np.clip((np.arange(frames) - first) / DOWN, 0, 1) ** 2
        up = np.clip((last - np.arange(frames)) / (2 * DOWN), 0, 1)  # and gets up again
        points = toppled(points, -event.side * 1.5 * np.minimum(down, up))
    return body(person, outfit(person, False, rng), moved(turned(points, yaw), path), yaw, camera, 1, bare)


def _partner(event: Event, camera: Camera, home: Array, rng: Generator) -> list[Part]:
    """Comes from one side, stays with the actor for as long as it lasts, and goes back."""
    frames = len(camera.zoom)
    first, last = event.frames(frames)
    person, way = _extra(event, "partner", rng)
    time = np.arange(frames)
    steps = speed(person, way) * np.clip(np.maximum(first - time, time - last), 0, None)
    x = home[0] + event.side * (BESIDE + steps)
    pose = walk(way, frames, rng.uniform())
    still = punches(last - first, rng) if event.what == "fight" else stand(last - first, rng)
    lay(pose, still, first, 2)
    if event.what == "fight":
        x = x + 0.1 * _while(first, last, frames) * again(frames, rng, 0.8, 1.2)
    back = np.clip((time - last) / RAMP, 0, 1)
    yaw = event.side * np.pi * (back - 0.5)
    path = np.stack([x, 0 * x, 0 * x - 0.05], -1)
    return _figure(person, pose, yaw, path, camera, 2, rng)


def _passer(event: Event, camera: Camera, who: int, start: int, rng: Generator) -> list[Part]:
    """Walks from one side to the other, behind the actor or before."""
    frames = len(camera.zoom)
    person, way = _extra(event, "passer", rng)
    yaw = rng.choice([-1, 1]) * np.pi / 2
    path = along(speed(person, way) * (np.arange(frames) - start) - OUT, yaw)
    path[:, 2] = rng.choice([-2.2, -1.2, 0.7], p=[0.4, 0.4, 0.2])
    return _figure(person, walk(way, frames, rng.uniform()), yaw, path, camera, who, rng)


def _extra(event: Event, name: str, rng: Generator) -> tuple[Subject, Gait]:
    dark, woman = event.privacy
    return subject(name, bool(woman), bool(dark), rng), gait(rng)


def _figure(
    person: Subject, pose: Pose, yaw: float | Array, path: Array, camera: Camera, who: int, rng: Generator
) -> list[Part]:
    """One of the others, drawn where they are in the picture only."""
    points = moved(turned(joints(person, pose), yaw), path)
    shown = np.abs(path[:, 0]) < OUT
    parts = body(person, outfit(person, False, rng), points, yaw, camera, who, bare)
    for part in parts:
        part.shown = shown if part.shown is None else part.shown & shown
    return parts


def _missiles(event: Event, camera: Camera, home: Array, rng: Generator) -> list[Part]:
    """What is thrown: it leaves the hand in the middle of each throw."""
    frames = len(camera.zoom)
    first, last = event.frames(frames)
    parts = []
    for start in range(first, last, THROW):
        time = np.clip(np.arange(frames) - start - THROW // 2, -1, FLIGHT + 1)
        x = home[0] + event.side * (0.4 + rng.uniform(0.12, 0.18) * time)
        y = 1.7 + rng.uniform(0.03, 0.07) * time - 0.009 * time**2
        points = camera.project(np.stack([x, y, 0 * x + 0.1], -1))[:, None]
        near = np.full(frames, 0.3)
        shown = (time >= 0) & (time <= FLIGHT) & (y > 0)
        parts.append(Part(points, near, rng.uniform(20, 120, 3), 0, 0.07 * camera.scale(near), shown=shown))
    return parts


def punches(frames: int, rng: Generator) -> Pose:
    """Both fists in turn, quickly, with the whole body."""
    pose = stand(frames, rng)
    beat = again(frames, rng, 2.2, 3.2)
    for side, sign in ((0, 1), (1, -1)):
        out = np.maximum(sign * beat, 0)
        pose.arms[:, side, 0] = np.stack([0.5 + 0.9 * out, np.full(frames, 0.2)], -1)
        pose.arms[:, side, 1] = np.stack([2.2 - 0.7 * out, np.full(frames, 0.1)], -1)
        pose.legs[:, side, 0, 0] += sign * (0.35 + 0.15 * beat)
    pose.lean += 0.15 + 0.15 * np.abs(beat)
    return pose


def throws(frames: int, rng: Generator) -> Pose:
    """One arm goes back over the head and is flung forwards, again and again."""
    pose = stand(frames, rng)
    share = np.arange(frames) % THROW / THROW
    swing = np.interp(share, [0, 0.35, 0.55, 0.75, 1], [0.2, 3.7, 1.0, 0.2, 0.2])
    side = rng.integers(2)
    pose.arms[:, side, 0, 0] = swing
    pose.arms[:, side, 1, 0] = swing + np.interp(share, [0, 0.35, 0.55, 1], [0.3, 1.0, 0.1, 0.3])
    pose.lean += np.interp(share, [0, 0.35, 0.55, 1], [0.0, -0.2, 0.35, 0.0])
    pose.legs[:, 1 - side, 0, 0] += np.interp(share, [0, 0.35, 0.6, 1], [0.0, 0.5, 0.2, 0.0])
    return pose
