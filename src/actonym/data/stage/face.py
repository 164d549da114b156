"""Faces close up: who somebody is, as the third world knows it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from actonym.data.stage.figure import DARK_SKIN, LIGHT_SKIN
from actonym.data.stage.pose import Array

BROWN = np.array([[92, 58, 34], [112, 74, 44], [74, 46, 28]], float)
NOT_BROWN = np.array([[26, 23, 22], [208, 178, 112], [172, 76, 38], [152, 150, 147]], float)
EYES = np.array([[70, 44, 28], [62, 98, 140], [70, 110, 74], [60, 56, 52]], float)


@dataclass(frozen=True)
class Face:
    """Who somebody is, seen close up. Lengths are shares of half the height of the head."""

    name: str
    skin: Array
    hair: Array
    eyes: Array
    lips: Array
    width: float
    jaw: float  # how wide the face still is at the mouth, as a share
    gap: float  # from the middle to each eye
    eye: float
    brow: float  # how thick
    hairline: float
    hair_length: float  # 0 ends above the ears, 1 at the shoulders
    nose: tuple[float, float]  # how wide, how long
    pointy: bool
    mouth: float
    wrinkles: float
    beard: float
    rosy: float


def face(name: str, traits: Sequence[int], rng: Generator) -> Face:
    """A person drawn from overlapping distributions: no single cue of age or gender is certain.

    `traits` in the order of CelebV-HQ's five: young, pointy nose, male, rosy cheeks, brown hair. Each trait changes its
    own cues alone: the random numbers are the same ones, whatever the traits are.
    """
    young, pointy, male, rosy, brown = (bool(trait) for trait in traits)
    tones = np.concatenate([LIGHT_SKIN, DARK_SKIN])
    skin = np.clip(tones[int(rng.uniform(0, len(tones)))] + rng.normal(0, 6, 3), 0, 255)
    grey, tone, length, bearded = rng.uniform(0, 1, 4)
    colours = BROWN if brown else NOT_BROWN[: 3 if young and grey < 0.9 else 4]
    return Face(
        name=name,
        skin=skin,
        hair=np.clip(colours[int(tone * len(colours))] + rng.normal(0, 7, 3), 0, 255),
        eyes=EYES[int(rng.uniform(0, len(EYES)))],
        lips=skin * 0.72 + np.array([52.0, 8, 12]) * (rng.uniform(0.5, 1.0) + (0.0 if male else 0.5)),
        width=rng.uniform(0.70, 0.8),
        jaw=np.clip(rng.normal(0.86 if male else 0.72, 0.05), 0.6, 0.95),
        gap=rng.uniform(0.29, 0.35),
        eye=rng.normal(0.155 if male else 0.175, 0.012),
        brow=np.clip(rng.normal(0.058 if male else 0.038, 0.008), 0.02, 0.09),
        hairline=rng.uniform(0.5, 0.68),
        hair_length=rng.uniform(0, 0.2) + (0.5 + 0.5 * length if length < (0.12 if male else 0.85) else 0.0),
        nose=(rng.uniform(0.06, 0.085) + (0.0 if pointy else 0.07), rng.uniform(0.27, 0.34) + 0.08 * pointy),
        pointy=pointy,
        mouth=rng.uniform(0.25, 0.31),
        wrinkles=rng.uniform(0, 0.3) + (0.0 if young else 0.6),
        beard=rng.uniform(0.2, 0.6) * (male and bearded < 0.6),
        rosy=rng.uniform(0.4, 0.6) * rosy,
    )
