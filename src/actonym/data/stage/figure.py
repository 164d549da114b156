"""The puppets: bodies with proportions, hair, clothes and faces, posed in three dimensions."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from actonym.data.stage.pose import LEFT, RIGHT, Array, Pose

LIGHT_SKIN = np.array([[236, 198, 170], [224, 180, 148], [241, 210, 186], [214, 170, 136]], float)
DARK_SKIN = np.array([[110, 72, 50], [88, 56, 40], [128, 86, 60], [72, 47, 36]], float)
HAIR = np.array([[30, 24, 22], [70, 44, 26], [120, 82, 44], [190, 160, 96], [96, 92, 90], [130, 50, 30]], float)
CLOTHES = np.array(
    [[178, 44, 48], [38, 70, 140], [46, 110, 70], [226, 220, 208], [40, 42, 48], [208, 160, 52], [110, 70, 130],
     [96, 120, 140], [200, 120, 90], [150, 112, 84], [84, 60, 50], [220, 188, 160]], float)  # fmt: skip

STICK = 0.2  # metres
LEG = 0.49  # of the height


@dataclass(frozen=True)
class Subject:
    """Who somebody is, whatever they do and wear."""

    name: str
    woman: bool
    dark: bool
    skin: Array
    hair: Array
    long_hair: bool
    height: float  # of the whole body, in metres
    shoulders: float
    hips: float
    girth: float
    head: float


@dataclass(frozen=True)
class Outfit:
    """What somebody wears in one video."""

    nude: bool
    top: Array
    bottom: Array
    skirt: bool
    sleeves: bool
    coat: bool = False  # over all else, down to the knees, in the colour of the top


def subject(name: str, woman: bool, dark: bool, rng: Generator) -> Subject:
    """A person drawn from overlapping distributions: no single cue of gender is certain."""
    tones = DARK_SKIN if dark else LIGHT_SKIN
    return Subject(
        name=name,
        woman=woman,
        dark=dark,
        skin=np.clip(tones[rng.integers(len(tones))] + rng.normal(0, 6, 3), 0, 255),
        hair=np.clip(HAIR[rng.integers(len(HAIR))] + rng.normal(0, 8, 3), 0, 255),
        long_hair=bool(rng.uniform() < (0.9 if woman else 0.08)),
        height=rng.normal(1.66 if woman else 1.76, 0.07),
        shoulders=rng.normal(0.36 if woman else 0.45, 0.02),
        hips=rng.normal(0.33 if woman else 0.29, 0.015),
        girth=rng.uniform(0.85, 1.2),
        head=rng.uniform(0.95, 1.15),
    )


def outfit(person: Subject, nude: bool, rng: Generator) -> Outfit:
    top, bottom = CLOTHES[rng.choice(len(CLOTHES), 2, replace=False)]
    return Outfit(
        nude=nude,
        top=np.clip(top + rng.normal(0, 10, 3), 0, 255),
        bottom=np.clip(bottom + rng.normal(0, 10, 3), 0, 255),
        skirt=bool(person.woman and rng.uniform() < 0.5),
        sleeves=bool(rng.uniform() < 0.6),
    )


def direction(angles: Array, side: int | None = None) -> Array:
    """Unit vectors of limb segments, `[..., flexion | abduction] -> [..., 3]` (right, up, front)."""
    flexion, abduction = angles[..., 0], angles[..., 1]
    outwards = np.sin(abduction) * (0 if side is None else (1 if side == RIGHT else -1))
    return np.stack([outwards, -np.cos(abduction) * np.cos(flexion), np.cos(abduction) * np.sin(flexion)], -1)


def joints(person: Subject, pose: Pose) -> dict[str, Array]:
    """Joint positions `[T, 3]` in metres; feet on the floor (y = 0)."""
    h = person.height
    across = np.array([1.0, 0.0, 0.0])
    legs = {}
    for side in (LEFT, RIGHT):
        hip = across * (0.42 * person.hips * (1 if side == RIGHT else -1))
        knee = hip + LEG / 2 * h * direction(pose.legs[:, side, 0], side)
        foot = knee + LEG / 2 * h * direction(pose.legs[:, side, 1], side)
        legs[side] = hip + np.zeros_like(knee), knee, foot
    pelvis = np.zeros((len(pose.lean), 3))
    pelvis[:, 1] = -np.minimum(legs[LEFT][2][:, 1], legs[RIGHT][2][:, 1]) + 0.03 * h
    spine = np.stack([np.zeros_like(pose.lean), np.cos(pose.lean), np.sin(pose.lean)], -1)
    chest = pelvis + 0.29 * h * spine
    out = {"pelvis": pelvis, "chest": chest, "neck": chest + 0.03 * h * spine, "head": chest + 0.115 * h * spine}
    for side, tag in ((LEFT, "l"), (RIGHT, "r")):
        sign = 1 if side == RIGHT else -1
        shoulder = chest + across * (0.5 * person.shoulders * sign)
        elbow = shoulder + 0.165 * h * direction(pose.arms[:, side, 0], side)
        hand = elbow + 0.165 * h * direction(pose.arms[:, side, 1], side)
        wrist = pose.wrists[:, side]
        tip = hand + STICK * np.stack([sign * np.sin(wrist), np.cos(wrist), np.zeros_like(wrist)], -1)
        out |= {f"{tag}_shoulder": shoulder, f"{tag}_elbow": elbow, f"{tag}_hand": hand}
        out |= {f"{tag}_tip": tip, f"{tag}_band": (hand + tip) / 2}
        out |= dict(
            zip((f"{tag}_hip", f"{tag}_knee", f"{tag}_foot"), (pelvis + part for part in legs[side]), strict=True)
        )
        out[f"{tag}_toe"] = out[f"{tag}_foot"] + np.array([0.0, -0.02, 0.07]) * h
    return out


def turned(points: dict[str, Array], yaw: float | Array) -> dict[str, Array]:
    """The joints after the figure has turned by `yaw`, `[T]` or for good (0 faces the camera, pi shows its back)."""
    c, s = np.cos(yaw), np.sin(yaw)
    if np.ndim(yaw) == 0:  # its own way: the first world's pixels must not change, not even in the last bit
        rotation = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        return {name: place @ rotation.T for name, place in points.items()}
    return {
        name: np.stack([c * place[:, 0] + s * place[:, 2], place[:, 1], c * place[:, 2] - s * place[:, 0]], -1)
        for name, place in points.items()
    }


def looking(towards: int, rng: Generator) -> float:
    """Where a figure looks: towards the camera or away from it, by at most 35 degrees to the side."""
    return rng.uniform(-0.6, 0.6) + (0.0 if towards else np.pi)


def placed(points: dict[str, Array], x: float, z: float) -> dict[str, Array]:
    return moved(points, np.array([x, 0.0, z]))


def moved(points: dict[str, Array], path: Array) -> dict[str, Array]:
    """By `path`, `[T, 3]` or for good."""
    return {name: place + path for name, place in points.items()}


def toppled(points: dict[str, Array], angle: Array) -> dict[str, Array]:
    """The joints of a figure that falls to its left in the picture, or to its right where `angle` `[T]` is negative."""
    c, s = np.cos(angle), np.sin(angle)
    thick = 0.2 * np.abs(s)  # nobody sinks into the floor

    def fallen(place: Array) -> Array:
        x, y, z = place.T
        return np.stack([c * x - s * y, s * x + c * y + thick, z], -1)

    return {name: fallen(place) for name, place in points.items()}
