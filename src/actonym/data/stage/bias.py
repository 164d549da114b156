"""The first world with a shortcut: in training nearly all who do one action are of one gender, elsewhere of the other.

As NTU-Bias-F and NTU-Bias-M of SPLAVU (appendix A): a recognizer that goes by the gender is right in training, and
wrong in testing, where either gender does everything equally often. Gender is plain to see here, by build, hair and
colours, and women wear coats: where it can hardly be told, nobody is tempted to go by it.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator

from actonym.data.base import ATTRIBUTES
from actonym.data.genders import ATTRIBUTE
from actonym.data.ntu_bias import COMMON, FEMALE, MALE
from actonym.data.stage.figure import Outfit, Subject
from actonym.data.stage.puppets import Puppets
from actonym.data.stage.world import Cast, Labels, Traits, describe

FLIPPED = "sway"  # ours: five other actions begin in the same pose
GENDER = ATTRIBUTES.index("gender")
BUILD_OF: dict[bool, dict[str, Any]] = {
    False: {"height": 1.9, "girth": 1.25, "shoulders": 0.5, "hips": 0.28},
    True: {"height": 1.55, "girth": 0.85, "shoulders": 0.34, "hips": 0.36},
}
HAIR_OF = {False: np.array([30.0, 24, 22]), True: np.array([190.0, 160, 96])}
CLOTHES_OF = {False: np.array([[38.0, 70, 140], [40, 42, 48]]), True: np.array([[208.0, 60, 70], [226, 220, 208]])}


class BiasF(Puppets):
    """Women are rare, but in the flipped action. The knob ties the gender alone, and in testing nothing."""

    card = describe(
        "Stage, bias-f", f"{COMMON:.0%} men in training, but in one action {COMMON:.0%} women; testing is balanced"
    )
    attributes = tuple(ATTRIBUTE if name == "gender" else name for name in ATTRIBUTES)
    salt = (5,)
    prefix = "bias-f-"
    correlation = 2 * COMMON - 1  # where the action does not decide, half are of the common gender too
    balanced = ("test",)
    rare: int = FEMALE

    def person(self, name: str, traits: Traits, rng: Generator) -> Subject:
        person = super().person(name, traits, rng)
        hair = np.clip(HAIR_OF[person.woman] + rng.normal(0, 8, 3), 0, 255)
        return replace(person, long_hair=person.woman, hair=hair, **BUILD_OF[person.woman])

    def outfit(self, person: Subject, nude: bool, rng: Generator) -> Outfit:
        clothes = super().outfit(person, nude, rng)
        top, bottom = (np.clip(colour + rng.normal(0, 10, 3), 0, 255) for colour in CLOTHES_OF[person.woman])
        return replace(clothes, top=top, bottom=bottom, coat=person.woman)

    def labels(self, row: int, cast: Cast, correlation: float, rng: Generator) -> Labels:
        """Counted out, not drawn: each action has exactly its share, spread evenly."""
        bits = [int(bit) for bit in rng.integers(0, 2, len(self.attributes))]
        take, action = divmod(row, len(self.actions))
        other = (1 - correlation) / 2  # the share of those who do not do what their gender does
        is_other = int((take + 1) * other + 0.5) > int(take * other + 0.5)
        bits[GENDER] = self.rare if is_other != (self.actions[action] == FLIPPED) else 1 - self.rare
        people = cast[tuple(bits[place] for place in self.traits)]
        return Labels(self.actions[action], tuple(bits), people[rng.integers(len(people))])


class BiasM(BiasF):
    """Men are rare, but in the flipped action."""

    card = describe(
        "Stage, bias-m", f"{COMMON:.0%} women in training, but in one action {COMMON:.0%} men; testing is balanced"
    )
    salt = (6,)
    prefix = "bias-m-"
    rare = MALE
