"""Long videos in which actions begin and end, with quiet stretches between them. As THUMOS14 in SPLAVU.

The actions are those that can go on for any time, of the first two worlds. Between them somebody stands, and now and
then does something else, which is none of the actions.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from actonym.data.base import Segment
from actonym.data.stage.actions import perform
from actonym.data.stage.body import body
from actonym.data.stage.draw import Camera, Part
from actonym.data.stage.figure import joints, outfit, placed, turned
from actonym.data.stage.film import on_tripod, shots, traffic
from actonym.data.stage.pose import lay, stand
from actonym.data.stage.puppets import Puppets
from actonym.data.stage.world import FPS, Cast, Footage, Labels, describe, joined

ACTIONS = ("pump", "climb", "flap", "sway", "march", "stamp", "hammer", "hoist")
OTHERWISE = ("raise_arm", "sit_down", "spread", "lift_leg")  # done in some of the pauses
RAMP = 4  # frames in which limbs go over from one to the next


@dataclass(frozen=True)
class Programme(Labels):
    """When things happen, in shares of the video."""

    acts: tuple[tuple[float, float, str], ...] = ()  # start, end, action
    pauses: tuple[tuple[float, float, str], ...] = ()  # in which something is done that is no action


class Untrimmed(Puppets):
    """The action of a video is the one that most of its segments have; `actions` are all of them."""

    card = describe(
        "Stage, untrimmed", "long videos in which 8 actions begin and end, for detection; the attributes of the puppets"
    )
    actions = ACTIONS
    salt = (7,)
    prefix = "untrimmed-"
    counts = (100, 20, 48)
    clips = 32

    def labels(self, row: int, cast: Cast, correlation: float, rng: Generator) -> Programme:
        plain = super().labels(row, cast, correlation, rng)
        count = int(rng.integers(2, 6))
        others = [name for name in self.actions if name != plain.action]
        names = [plain.action] * count
        names[: (count - 1) // 2] = rng.choice(others, (count - 1) // 2, replace=False).tolist()
        lengths = rng.uniform(0.5, 1.5, 2 * count + 1)  # a pause, an action, ..., a pause
        ends = np.cumsum(lengths / lengths.sum())
        acts = tuple(zip(ends[0:-1:2], ends[1::2], rng.permutation(names).tolist(), strict=True))
        gaps = zip([0.0, *ends[1::2]], ends[0::2], rng.choice(OTHERWISE, count + 1).tolist(), strict=True)
        pauses = tuple(gap for gap in gaps if rng.uniform() < 0.5)
        return Programme(plain.action, plain.privacy, plain.actor, tuple(sorted(set(names))), acts, pauses)

    def segments(self, labels: Labels, frames: int) -> tuple[Segment, ...]:
        assert isinstance(labels, Programme)
        times = [(*_frames(act, frames), act[2]) for act in labels.acts]
        return tuple(Segment(first / FPS, last / FPS, self.actions.index(action)) for first, last, action in times)

    def shots(self, labels: Labels, frames: int, size: tuple[int, int], rng: Generator) -> Iterator[Footage]:
        camera = self.camera(frames, size, rng)
        parts = [*self.actor(labels, camera, rng), *self.others(labels, camera, rng), *traffic(camera, rng)]
        yield from shots(parts, camera, self.place(camera, rng), rng)

    def render(self, labels: Labels, frames: int, size: tuple[int, int], rng: Generator) -> Footage:
        return joined(self.shots(labels, frames, size, rng))

    def camera(self, frames: int, size: tuple[int, int], rng: Generator) -> Camera:
        return on_tripod(frames, size, rng, (0.36, 0.48))

    def actor(self, labels: Labels, camera: Camera, rng: Generator) -> list[Part]:
        """What is an action has taken over when its segment begins, and goes on until its end."""
        assert isinstance(labels, Programme)
        frames = len(camera.zoom)
        pose = stand(frames, rng)
        for times in labels.pauses:
            first, last = _frames(times, frames)
            length = max(2 * RAMP, (last - first) // 2)
            lay(pose, perform(times[2], length, rng), (first + last - length) // 2, length // 4)
        for times in labels.acts:
            first, last = _frames(times, frames)
            lay(pose, perform(times[2], last - first + 2 * RAMP, rng), first - RAMP, RAMP)
        yaw = self.yaw(labels, frames, rng)
        points = placed(turned(joints(labels.actor, pose), yaw), 0.0, 0.0)
        clothes = outfit(labels.actor, bool(labels.privacy[3]), rng)
        return body(labels.actor, clothes, points, yaw, camera, 1, self.hands)


def _frames(times: tuple[float, float, str], frames: int) -> tuple[int, int]:
    """The first frame, and the one after the last."""
    first, last = (round(share * frames) for share in times[:2])
    return first, max(last, first + 1)
