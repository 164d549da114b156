"""How a figure holds its limbs, frame by frame, and the two ways in which things change: once, or again and again."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.random import Generator

Array = np.ndarray
LEFT, RIGHT = 0, 1
SLOWLY = 0.8  # share of a saw's period in which it goes up
CLIP = 16  # frames; what is longer goes on at the same pace


@dataclass
class Pose:
    """Angles in radians for T frames. A segment hangs straight down at flexion 0 (forwards), abduction 0 (outwards)."""

    arms: Array  # [T, side, upper | fore, flexion | abduction]
    legs: Array  # [T, side, thigh | shin, flexion | abduction]
    wrists: Array  # [T, side] of the stick that each hand holds: 0 points up, positive outwards
    lean: Array  # [T] of the trunk, forwards
    turn: Array  # [T] of the head


def pace(frames: int) -> float:
    """How many clips it lasts, at least one."""
    return max(1.0, frames / CLIP)


def stand(frames: int, rng: Generator) -> Pose:
    """Standing at ease: arms hang in some casual way, a slow sway."""
    sway = 0.04 * np.sin(np.linspace(0, rng.uniform(1, 4) * pace(frames), frames) + rng.uniform(0, 6))
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


def once(frames: int, rng: Generator) -> Array:
    """A smooth passage from 0 to 1 that starts and ends at some time inside the clip, not always complete."""
    start = rng.uniform(-0.15, 0.2)
    length = rng.uniform(0.6, 1.0)
    t = np.clip((np.linspace(0, 1, frames) - start) / length, 0, 1)
    return t * t * (3 - 2 * t)


def again(frames: int, rng: Generator, slow: float, fast: float) -> Array:
    """A sine with between `slow` and `fast` cycles in a clip, at any phase."""
    return np.sin(2 * np.pi * (np.linspace(0, rng.uniform(slow, fast) * pace(frames), frames) + rng.uniform()))


def saw(frames: int, rng: Generator, slow: float, fast: float) -> Array:
    """Up slowly from -1 to 1 and down at once, between `slow` and `fast` times in a clip, at any phase."""
    phase = (np.linspace(0, rng.uniform(slow, fast) * pace(frames), frames) + rng.uniform()) % 1
    return np.where(phase < SLOWLY, 2 * phase / SLOWLY - 1, 1 - 2 * (phase - SLOWLY) / (1 - SLOWLY))


def lay(over: Pose, pose: Pose, first: int, ramp: int) -> None:
    """Another pose takes over from frame `first` on, for as long as it lasts; limbs go over in `ramp` frames."""
    length = len(pose.lean)
    ease = np.clip((np.arange(length) + 1) / ramp, 0, 1)
    share = np.minimum(ease, ease[::-1])
    for field in fields(Pose):
        whole, part = getattr(over, field.name), getattr(pose, field.name)
        span = slice(max(first, 0), min(first + length, len(whole)))
        weight = share[span.start - first : span.stop - first].reshape(-1, *[1] * (whole.ndim - 1))
        whole[span] += weight * (part[span.start - first : span.stop - first] - whole[span])


def mix(rest: Array, goal: list[float], share: Array) -> Array:
    return rest + share[:, None] * (np.asarray(goal) - rest)
