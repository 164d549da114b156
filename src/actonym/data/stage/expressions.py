"""What a face does: how brows, lids, nose and mouth are moved, and how one expression becomes another."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from actonym.data.celebv_hq import ACTIONS as EXPRESSIONS
from actonym.data.stage.pose import LEFT, Array, once

# After the action units of Ekman and Friesen's coding system: from the rest position, 1 is about as far as it goes.
UNITS = ("brow_in", "brow_out", "lids", "cheek", "nose", "corner", "wide", "open", "lip", "press")
_LOOKS: Mapping[str, Mapping[str, float]] = {
    "neutral": {},
    "happy": {"corner": 0.9, "wide": 0.5, "open": 0.3, "cheek": 0.7, "lids": -0.2},
    "sad": {"brow_in": 0.9, "brow_out": -0.5, "corner": -0.8, "lids": -0.3, "wide": -0.1},
    "anger": {"brow_in": -1.0, "brow_out": 0.2, "lids": -0.2, "press": 0.9, "nose": 0.2, "wide": -0.2},
    "fear": {"brow_in": 0.9, "brow_out": 0.4, "lids": 0.8, "open": 0.35, "wide": 0.6, "corner": -0.3},
    "surprise": {"brow_in": 0.9, "brow_out": 1.0, "lids": 0.7, "open": 1.0, "wide": -0.4},
    "contempt": {"corner": 0.9, "cheek": 0.4, "brow_out": 0.6, "lids": -0.2},  # on one side only
    "disgust": {"nose": 1.0, "lip": 0.9, "brow_in": -0.6, "lids": -0.5, "corner": -0.4, "cheek": 0.5},
}


@dataclass(frozen=True)
class Look:
    """How far each unit is moved over T frames, left and right."""

    moved: Array  # [T, unit, side]

    def __getitem__(self, unit: str) -> Array:
        """[T, side]"""
        return self.moved[:, UNITS.index(unit)]

    def middle(self, unit: str) -> Array:
        """[T] of what lies in the middle of the face."""
        return self[unit].mean(-1)


def form(expression: str, frames: int, rng: Generator) -> Look:
    """The face passes to this expression, from a neutral one or, as often, from any of the others.

    Both are as strong: seen one by one, the frames of sad after happy are those of happy after sad.
    """
    others = [name for name in EXPRESSIONS if name != expression]
    before = others[rng.integers(len(others)) if rng.uniform() < 0.5 else 0]
    share = once(frames, rng)[:, None, None]
    start, goal = _full(before, rng), _full(expression, rng)
    moved = start + share * (goal - start)
    moved = moved + 0.03 * rng.normal(0, 1, (frames, len(UNITS), 1)).cumsum(0) / np.sqrt(frames)
    lids = UNITS.index("lids")
    if rng.uniform() < 0.4:  # a blink
        moved[rng.integers(frames), lids] = -1.3
    return Look(moved)


def _full(expression: str, rng: Generator) -> Array:
    """An expression at its height, stronger in some than in others. [unit, side]"""
    goal = np.array([_LOOKS[expression].get(unit, 0.0) for unit in UNITS])
    goal = goal * rng.uniform(0.75, 1.1) * (1 + rng.normal(0, 0.1, len(UNITS)))
    both = np.repeat(goal[:, None], 2, 1)
    if expression == "contempt":
        both[:, LEFT if rng.integers(2) else 1 - LEFT] *= 0.1
    return both
