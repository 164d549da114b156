"""What the figures do: joint angles over time.

Some are large (an arm is raised, somebody sits down) and come in pairs that are one motion played forwards and
backwards. The others are small motions, of the hands or only of the short stick that each hand holds; they begin in the
same pose and differ in how the two sides move against each other. So a single frame does not give the action away, and
a coarse picture loses the small ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

Array = np.ndarray
LEFT, RIGHT = 0, 1


@dataclass
class Pose:
    """Angles in radians for T frames. A segment hangs straight down at flexion 0 (forwards), abduction 0 (outwards)."""

    arms: Array  # [T, side, upper | fore, flexion | abduction]
    legs: Array  # [T, side, thigh | shin, flexion | abduction]
    wrists: Array  # [T, side] of the stick that each hand holds: 0 points up, positive outwards
    lean: Array  # [T] of the trunk, forwards
    turn: Array  # [T] of the head


def stand(frames: int, rng: Generator) -> Pose:
    """Standing at ease: arms hang in some casual way, a slow sway."""
    sway = 0.04 * np.sin(np.linspace(0, rng.uniform(1, 4), frames) + rng.uniform(0, 6))
    arms = np.zeros((frames, 2, 2, 2))
    for side in (LEFT, RIGHT):
        bend = rng.uniform(0.0, 0.5)
        arms[:, side, 0] = [rng.uniform(-0.15, 0.2), rng.uniform(0.08, 0.3)]
        arms[:, side, 1] = [arms[0, side, 0, 0] + bend, rng.uniform(0.0, 0.25)]
    arms[..., 0] += sway[:, None, None]
    legs = np.zeros((frames, 2, 2, 2))
    legs[..., 1] = rng.uniform(0.03, 0.16)
    wrists = rng.uniform(-np.pi, np.pi, 2) + 3 * sway[:, None]
    return Pose(arms, legs, wrists, rng.uniform(-0.03, 0.08) + 0.3 * sway, rng.uniform(-0.3, 0.3) + 2 * sway)


def _once(frames: int, rng: Generator) -> Array:
    """A smooth passage from 0 to 1 that starts and ends at some time inside the clip, not always complete."""
    start = rng.uniform(-0.15, 0.2)
    length = rng.uniform(0.6, 1.0)
    t = np.clip((np.linspace(0, 1, frames) - start) / length, 0, 1)
    return t * t * (3 - 2 * t)


def _again(frames: int, rng: Generator, slow: float, fast: float) -> Array:
    """A sine with between `slow` and `fast` cycles in the clip, at any phase."""
    return np.sin(2 * np.pi * (np.linspace(0, rng.uniform(slow, fast), frames) + rng.uniform()))


def _mix(rest: Array, goal: list[float], share: Array) -> Array:
    return rest + share[:, None] * (np.asarray(goal) - rest)


def _raise(pose: Pose, s: Array, rng: Generator) -> None:
    """One arm from the side of the body to above the head."""
    side = rng.integers(2)
    upper = [rng.uniform(0.0, 0.3), rng.uniform(2.3, 2.9)]
    fore = [upper[0] + rng.uniform(-0.1, 0.3), upper[1] + rng.uniform(-0.1, 0.2)]
    pose.arms[:, side, 0] = _mix(pose.arms[:, side, 0], upper, s)
    pose.arms[:, side, 1] = _mix(pose.arms[:, side, 1], fore, s)


def _sit(pose: Pose, s: Array, rng: Generator) -> None:
    """Knees bend until the thighs are nearly level."""
    depth = rng.uniform(1.1, 1.45)
    pose.legs[:, :, 0, 0] += (s * depth)[:, None]
    pose.legs[:, :, 1, 0] -= (s * depth * 0.35)[:, None]
    pose.lean += s * rng.uniform(0.2, 0.45)
    pose.arms[..., 0] += (s * rng.uniform(0.2, 0.8))[:, None, None]


def _hands_up(pose: Pose, rng: Generator) -> None:
    """Both hands beside the head, seen against the background: where all the actions of the hands begin."""
    pose.arms[:, :, 0, 0] = rng.uniform(0.0, 0.3)
    pose.arms[:, :, 0, 1] = rng.uniform(0.8, 1.1)
    pose.arms[:, :, 1, 0] = rng.uniform(0.0, 0.2)
    pose.arms[:, :, 1, 1] = rng.uniform(2.75, 3.05)


def _swing(pose: Pose, rng: Generator, right: int) -> None:
    """The sticks swing from side to side; `right` is 1 if the right one goes out when the left one does."""
    swing = rng.uniform(0.8, 1.2) * _again(len(pose.lean), rng, 1.0, 1.8)
    pose.wrists[:, LEFT] = swing
    pose.wrists[:, RIGHT] = right * swing


def _spin(pose: Pose, rng: Generator, out: int) -> None:
    """The sticks go round and round; `out` is 1 if they move away from the body when they point up."""
    angle = 2 * np.pi * np.linspace(0, rng.uniform(1.0, 1.8), len(pose.lean))
    pose.wrists[:] = rng.uniform(-np.pi, np.pi, 2) + out * angle[:, None]


def _lift(pose: Pose, rng: Generator, right: int) -> None:
    """The elbows, and the hands with them, go up and down; `right` is 1 if both do so together."""
    lift = rng.uniform(0.4, 0.6) * _again(len(pose.lean), rng, 1.0, 1.8)
    pose.arms[:, LEFT, 0, 1] += lift
    pose.arms[:, RIGHT, 0, 1] += right * lift


_PAIRS: dict[tuple[str, str], Callable[[Pose, Array, Generator], None]] = {
    ("raise_arm", "lower_arm"): _raise,
    ("sit_down", "stand_up"): _sit,
}
_HANDS: dict[str, Callable[[Pose, Generator], None]] = {
    "pump": partial(_lift, right=1),
    "climb": partial(_lift, right=-1),
    "flap": partial(_swing, right=1),
    "sway": partial(_swing, right=-1),
    "wind": partial(_spin, out=1),
    "unwind": partial(_spin, out=-1),
}

ACTIONS = (*(name for pair in _PAIRS for name in pair), *_HANDS)


def perform(action: str, frames: int, rng: Generator) -> Pose:
    """The pose of a figure that does `action`, over `frames` frames."""
    pose = stand(frames, rng)
    if action in _HANDS:
        _hands_up(pose, rng)
        _HANDS[action](pose, rng)
        return pose
    pair = next(pair for pair in _PAIRS if action in pair)
    share = _once(frames, rng)
    _PAIRS[pair](pose, share if action == pair[0] else share[::-1], rng)
    return pose
