"""How people walk: each in a way of their own."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from actonym.data.stage.figure import LEG, Subject
from actonym.data.stage.pose import CLIP, LEFT, Array, Pose


@dataclass(frozen=True)
class Gait:
    """A way of walking. Angles in radians."""

    steps: float  # pairs of steps in a clip
    stride: float  # how far a thigh swings to either side
    knee: float  # how far a knee bends when its foot is in the air
    arms: float  # how far an upper arm swings
    elbows: float  # how far they are bent
    apart: float  # arms, away from the body
    straddle: float  # legs
    lean: float
    nod: float  # of the trunk, with each step
    limp: float  # how much farther the left leg swings than the right one, as a share


def gait(rng: Generator) -> Gait:
    return Gait(
        steps=rng.uniform(0.7, 1.1),
        stride=rng.uniform(0.25, 0.42),
        knee=rng.uniform(0.5, 1.2),
        arms=rng.uniform(0.05, 0.75),
        elbows=rng.uniform(0.0, 1.2),
        apart=rng.uniform(0.05, 0.35),
        straddle=rng.uniform(0.0, 0.12),
        lean=rng.uniform(-0.06, 0.22),
        nod=rng.uniform(0.0, 0.08),
        limp=rng.normal(0, 0.12),
    )


def walk(way: Gait, frames: int, start: float) -> Pose:
    """Walking on the spot; `start` is where in a pair of steps it begins, 0..1."""
    phase = 2 * np.pi * (start + way.steps * np.arange(frames) / CLIP)
    arms, legs = np.zeros((2, frames, 2, 2, 2))
    for side in (0, 1):
        own = phase + np.pi * side
        more = 1 + way.limp / 2 * (1 if side == LEFT else -1)
        legs[:, side, 0, 0] = thigh = more * way.stride * np.sin(own)
        legs[:, side, 1, 0] = thigh - 0.1 - way.knee * np.maximum(np.cos(own), 0) ** 2  # bent while it swings forwards
        arms[:, side, 0, 0] = upper = -way.arms * np.sin(own)
        arms[:, side, 1, 0] = upper + way.elbows * (1 - 0.3 * np.sin(own))
    legs[..., 1], arms[..., 1] = way.straddle, way.apart
    lean = way.lean + way.nod * np.cos(2 * phase)
    return Pose(arms, legs, np.zeros((frames, 2)), lean, np.zeros(frames))


def speed(person: Subject, way: Gait) -> float:
    """Metres in a frame: as far as the feet reach, so that they do not slip."""
    return 4 * LEG * person.height * np.sin(way.stride) * way.steps / CLIP


def along(path: Array, yaw: float) -> Array:
    """Places `[T, 3]` on the floor, so many metres ahead for somebody who looks to `yaw`."""
    return path[:, None] * np.array([np.sin(yaw), 0.0, np.cos(yaw)])
