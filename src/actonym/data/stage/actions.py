"""What the figures do: joint angles over time.

Some are large (an arm is raised, somebody sits down) and come in pairs that are one motion played forwards and
backwards. The others are small motions: in the first world of the hands or only of the short stick that each hand
holds, in the second of hands and feet. They begin in the same pose and differ in how the two sides move against each
other, or in the order of what happens. So a single frame does not give the action away, and a coarse picture loses the
small ones.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.random import Generator

from actonym.data.stage.pose import LEFT, RIGHT, Array, Pose, again, mix, once, pace, saw, stand


def _raise(pose: Pose, s: Array, rng: Generator) -> None:
    """One arm from the side of the body to above the head."""
    side = rng.integers(2)
    upper = [rng.uniform(0.0, 0.3), rng.uniform(2.3, 2.9)]
    fore = [upper[0] + rng.uniform(-0.1, 0.3), upper[1] + rng.uniform(-0.1, 0.2)]
    pose.arms[:, side, 0] = mix(pose.arms[:, side, 0], upper, s)
    pose.arms[:, side, 1] = mix(pose.arms[:, side, 1], fore, s)


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
    swing = rng.uniform(0.8, 1.2) * again(len(pose.lean), rng, 1.0, 1.8)
    pose.wrists[:, LEFT] = swing
    pose.wrists[:, RIGHT] = right * swing


def _spin(pose: Pose, rng: Generator, out: int) -> None:
    """The sticks go round and round; `out` is 1 if they move away from the body when they point up."""
    angle = 2 * np.pi * np.linspace(0, rng.uniform(1.0, 1.8) * pace(len(pose.lean)), len(pose.lean))
    pose.wrists[:] = rng.uniform(-np.pi, np.pi, 2) + out * angle[:, None]


def _lift(pose: Pose, rng: Generator, right: int) -> None:
    """The elbows, and the hands with them, go up and down; `right` is 1 if both do so together."""
    lift = rng.uniform(0.4, 0.6) * again(len(pose.lean), rng, 1.0, 1.8)
    pose.arms[:, LEFT, 0, 1] += lift
    pose.arms[:, RIGHT, 0, 1] += right * lift


def _spread(pose: Pose, s: Array, rng: Generator) -> None:
    """Arms and legs go out to the sides, as in the first half of a jumping jack."""
    pose.arms[:, :, :, 1] += s[:, None, None] * (rng.uniform(1.2, 1.6) - pose.arms[:, :, :, 1])
    pose.legs[:, :, :, 1] += (s * rng.uniform(0.3, 0.45))[:, None, None]


def _side_leg(pose: Pose, s: Array, rng: Generator) -> None:
    """One straight leg goes out to the side."""
    side = rng.integers(2)
    pose.legs[:, side, :, 1] += (s * rng.uniform(0.8, 1.1))[:, None]
    pose.arms[:, :, :, 1] += rng.uniform(0.1, 0.4)  # for balance, from the start


def _ready(pose: Pose, rng: Generator) -> None:
    """Elbows bent and away from the body: where the small motions of the second world begin."""
    pose.arms[:, :, 0, 0] = rng.uniform(0.0, 0.3)
    pose.arms[:, :, 0, 1] = rng.uniform(0.5, 0.8)
    pose.arms[:, :, 1, 0] = rng.uniform(0.0, 0.2)
    pose.arms[:, :, 1, 1] = rng.uniform(2.0, 2.3)


def _step(pose: Pose, rng: Generator, in_turn: bool) -> None:
    """One foot is in the air: the other one after each step if `in_turn`, else the same one again."""
    wave = rng.choice([-1, 1]) * again(len(pose.lean), rng, 1.0, 1.7)
    left = np.maximum(wave, 0) if in_turn else np.abs(wave) * rng.integers(2)
    lift = rng.uniform(0.8, 1.2) * np.stack([left, np.abs(wave) - left], -1)
    pose.legs[:, :, 0, 0] += lift
    pose.legs[:, :, 1, 0] -= 0.6 * lift


def _stroke(pose: Pose, rng: Generator, down: int) -> None:
    """The forearms go up and down; `down` is 1 if they go up slowly and strike, -1 if they jerk up and sink."""
    stroke = down * rng.uniform(0.5, 0.7) * saw(len(pose.lean), rng, 1.2, 2.0)
    pose.arms[:, :, 1, 1] += stroke[:, None]


def _stir(pose: Pose, rng: Generator, out: int) -> None:
    """Each hand goes round in a circle; `out` is 1 if it moves away from the body when it is highest."""
    angle = 2 * np.pi * np.linspace(0, rng.uniform(1.2, 2.0) * pace(len(pose.lean)), len(pose.lean))
    angle = rng.uniform(-np.pi, np.pi, 2) - out * angle[:, None]
    reach = rng.uniform(0.45, 0.6)
    pose.arms[:, :, 0, 1] += reach * np.cos(angle)
    pose.arms[:, :, 1, 1] += reach * np.sin(angle)


_PAIRS: dict[tuple[str, str], Callable[[Pose, Array, Generator], None]] = {
    ("raise_arm", "lower_arm"): _raise,
    ("sit_down", "stand_up"): _sit,
    ("spread", "gather"): _spread,
    ("lift_leg", "lower_leg"): _side_leg,
}
_HANDS: dict[str, Callable[[Pose, Generator], None]] = {
    "pump": partial(_lift, right=1),
    "climb": partial(_lift, right=-1),
    "flap": partial(_swing, right=1),
    "sway": partial(_swing, right=-1),
    "wind": partial(_spin, out=1),
    "unwind": partial(_spin, out=-1),
}
_LIMBS: dict[str, Callable[[Pose, Generator], None]] = {
    "march": partial(_step, in_turn=True),
    "stamp": partial(_step, in_turn=False),
    "hammer": partial(_stroke, down=1),
    "hoist": partial(_stroke, down=-1),
    "stir_out": partial(_stir, out=1),
    "stir_in": partial(_stir, out=-1),
}

PUPPETS = ("raise_arm", "lower_arm", "sit_down", "stand_up", *_HANDS)
PARK = ("spread", "gather", "lift_leg", "lower_leg", *_LIMBS)


def perform(action: str, frames: int, rng: Generator) -> Pose:
    """The pose of a figure that does `action`, over `frames` frames."""
    pose = stand(frames, rng)
    for begin, motions in ((_hands_up, _HANDS), (_ready, _LIMBS)):
        if action in motions:
            begin(pose, rng)
            motions[action](pose, rng)
            return pose
    pair = next(pair for pair in _PAIRS if action in pair)
    share = once(frames, rng)
    _PAIRS[pair](pose, share if action == pair[0] else share[::-1], rng)
    return pose
