"""What the figures do: joint angles over time.

Most actions come in pairs that are one motion played forwards and backwards, so a single frame cannot tell them apart:
motion over time is needed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

Array = np.ndarray
LEFT, RIGHT = 0, 1


@dataclass
class Pose:
    """Angles in radians for T frames. A segment hangs straight down at flexion 0 (forwards), abduction 0 (outwards)."""

    arms: Array  # [T, side, upper | fore, flexion | abduction]
    legs: Array  # [T, side, thigh | shin, flexion | abduction]
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
    return Pose(arms, legs, rng.uniform(-0.03, 0.08) + 0.3 * sway, rng.uniform(-0.3, 0.3) + 2 * sway)


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


def _reach(pose: Pose, s: Array, rng: Generator) -> None:
    """A bent arm (or both) stretches from the chest out to the side."""
    sides = [(LEFT, RIGHT), (LEFT,), (RIGHT,)][rng.integers(3)]
    forwards, sideways = rng.uniform(0.2, 0.9), rng.uniform(1.1, 1.5)
    for side in sides:
        pose.arms[:, side, 0] = _mix(np.tile([0.3, 0.35], (len(s), 1)), [forwards, sideways], s)
        pose.arms[:, side, 1] = _mix(np.tile([2.0, -0.7], (len(s), 1)), [forwards, sideways + 0.1], s)


def _wave(pose: Pose, rng: Generator) -> None:
    """An arm is up and the forearm swings from side to side."""
    side, frames = rng.integers(2), len(pose.lean)
    pose.arms[:, side, 0] = [rng.uniform(0.1, 0.6), rng.uniform(1.3, 2.3)]
    pose.arms[:, side, 1, 0] = rng.uniform(0.0, 0.4)
    pose.arms[:, side, 1, 1] = rng.uniform(2.7, 3.1) + rng.uniform(0.35, 0.6) * _again(frames, rng, 1.5, 2.8)


def _clap(pose: Pose, rng: Generator) -> None:
    """Both hands meet before the chest, again and again."""
    open_ = 0.5 + 0.5 * _again(len(pose.lean), rng, 1.5, 2.8)
    width = rng.uniform(0.6, 0.9)
    pose.arms[:, :, 0, 0] = rng.uniform(0.7, 1.1)
    pose.arms[:, :, 0, 1] = (0.1 + width * open_)[:, None]
    pose.arms[:, :, 1, 0] = rng.uniform(1.3, 1.7)
    pose.arms[:, :, 1, 1] = (-0.45 + 1.3 * width * open_)[:, None]


def _march(pose: Pose, rng: Generator) -> None:
    """Knees rise in turn; arms swing against them."""
    swing = _again(len(pose.lean), rng, 1.2, 2.4)
    height = rng.uniform(0.5, 0.9)
    for side, sign in ((LEFT, 1), (RIGHT, -1)):
        up = np.clip(sign * swing, 0, 1) * height
        pose.legs[:, side, 0, 0] += up
        pose.legs[:, side, 1, 0] -= up * rng.uniform(0.3, 0.7)
        pose.arms[:, side, :, 0] -= (sign * swing * rng.uniform(0.15, 0.4))[:, None]


def _kick(pose: Pose, rng: Generator) -> None:
    """A leg swings out and back, again and again."""
    side = rng.integers(2)
    swing = (0.5 + 0.5 * _again(len(pose.lean), rng, 1.2, 2.4)) * rng.uniform(0.5, 0.8)
    share = rng.uniform(0.0, 0.6)
    pose.legs[:, side, :, 1] += (swing * (1 - share))[:, None]
    pose.legs[:, side, :, 0] += (swing * share)[:, None]


_PAIRS: dict[tuple[str, str], Callable[[Pose, Array, Generator], None]] = {
    ("raise_arm", "lower_arm"): _raise,
    ("sit_down", "stand_up"): _sit,
    ("reach", "withdraw"): _reach,
}
_CYCLES: dict[str, Callable[[Pose, Generator], None]] = {"wave": _wave, "clap": _clap, "march": _march, "kick": _kick}

ACTIONS = (*(name for pair in _PAIRS for name in pair), *_CYCLES)


def perform(action: str, frames: int, rng: Generator) -> Pose:
    """The pose of a figure that does `action`, over `frames` frames."""
    pose = stand(frames, rng)
    if action in _CYCLES:
        _CYCLES[action](pose, rng)
        return pose
    for (forwards, backwards), move in _PAIRS.items():
        if action in (forwards, backwards):
            share = _once(frames, rng)
            move(pose, share if action == forwards else share[::-1], rng)
    return pose
