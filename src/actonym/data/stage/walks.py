"""People who walk: each ten times, seen from four sides, with and without bag and coat. As CASIA-B in SPLAVU.

Somebody has a body and a way of walking of their own, the same in all walks; clothes differ from walk to walk. Videos
are named as those of CASIA-B, `601-nm-05-054`: person, walk, view.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from actonym.data.base import SPLITS
from actonym.data.casia_b import ACTIONS, VIEWS, WALKS
from actonym.data.stage.body import bare, body
from actonym.data.stage.draw import Part
from actonym.data.stage.figure import Outfit, Subject, joints, moved, outfit, subject, turned
from actonym.data.stage.film import on_tripod, shots
from actonym.data.stage.gait import Gait, along, gait, speed, walk
from actonym.data.stage.props import build
from actonym.data.stage.puppets import Puppets
from actonym.data.stage.world import Cast, Footage, Labels, Traits, describe, joined
from actonym.errors import UserError

SEEN_FROM = VIEWS[::3]  # 0 is from the front, 90 from the side
OF_ONE = len(WALKS) * len(SEEN_FROM)  # videos of a person
MOST = 300  # people of a split
FIRST = {split: 1 + MOST * place for place, split in enumerate(SPLITS)}  # the number of a split's first person
COAT = 1.2  # how much wider somebody looks in one


@dataclass(frozen=True)
class Walker:
    """Who somebody is, how they walk, and what they wear in each walk."""

    name: str
    body: Subject
    gait: Gait
    wardrobe: tuple[Outfit, ...]
    starts: tuple[float, ...]  # where in a pair of steps each walk begins: all views see the same

    @property
    def number(self) -> int:
        return int(self.name[-3:])


@dataclass(frozen=True)
class OneWalk(Labels):
    walk: int = 0  # which of the ten
    view: int = 0  # which side it is seen from


class Walks(Puppets):
    """The action is how they walk: as always, with a bag, in a coat. The attributes are the walker's own."""

    card = describe(
        "Stage, walks", "people who walk ten times each, four views, with bag or coat: gallery and probe by gait"
    )
    actions = tuple(text.replace(" ", "_") for text in ACTIONS.values())
    attributes = ("skin_color", "gender")
    traits = ()
    tied = False  # everybody does everything
    salt = (9,)
    prefix = "walks-"
    counts = (12 * OF_ONE, 4 * OF_ONE, 24 * OF_ONE)
    clips = 2

    def cast(self, split: str, clips: int, rng: Callable[[int, int], Generator]) -> Cast:
        people = range(-(-clips // OF_ONE))
        if len(people) > MOST:
            raise UserError(
                f"stage: the world walks has {MOST * OF_ONE} videos in its {split} split at most, not {clips}"
            )
        return {(): [self.person(f"{self.prefix}{FIRST[split] + k:03d}", (), rng(k, 0)) for k in people]}

    def person(self, name: str, traits: Traits, rng: Generator) -> Walker:  # type: ignore[override]
        who = subject(name, bool(rng.integers(2)), bool(rng.integers(2)), rng)
        wardrobe = [outfit(who, False, rng) for _ in WALKS]
        for place, take in enumerate(WALKS):
            if take.startswith("cl"):
                wardrobe[place] = replace(wardrobe[place], coat=True, sleeves=True)
        return Walker(name, who, gait(rng), tuple(wardrobe), tuple(rng.uniform(0, 1, len(WALKS))))

    def labels(self, row: int, cast: Cast, correlation: float, rng: Generator) -> OneWalk:
        number, rest = divmod(row, OF_ONE)
        take, view = divmod(rest, len(SEEN_FROM))
        actor = cast[()][number]
        action = self.actions[list(ACTIONS).index(WALKS[take][:2])]
        return OneWalk(action, (int(actor.body.dark), int(actor.body.woman)), actor, walk=take, view=view)

    def named(self, split: str, row: int, labels: Labels) -> str:
        assert isinstance(labels, OneWalk)
        return f"{labels.actor.number:03d}-{WALKS[labels.walk]}-{SEEN_FROM[labels.view]}"

    def render(self, labels: Labels, frames: int, size: tuple[int, int], rng: Generator) -> Footage:
        return joined(self.shots(labels, frames, size, rng))

    def shots(self, labels: Labels, frames: int, size: tuple[int, int], rng: Generator) -> Iterator[Footage]:
        """Through the middle of the picture, half of the way before it and half behind."""
        assert isinstance(labels, OneWalk)
        camera = on_tripod(frames, size, rng, (0.5, 0.56))
        yaw = np.deg2rad(float(SEEN_FROM[labels.view]))
        who, clothes = labels.actor.body, labels.actor.wardrobe[labels.walk]
        if clothes.coat:
            who = replace(who, girth=COAT * who.girth)
        pose = walk(labels.actor.gait, frames, labels.actor.starts[labels.walk])
        ahead = speed(who, labels.actor.gait) * (np.arange(frames) - frames / 2) + rng.normal(0, 0.1)
        points = moved(turned(joints(who, pose), yaw), along(ahead, yaw))
        parts: list[Part] = body(who, clothes, points, yaw, camera, 1, bare)
        if labels.action == "walk_with_a_bag":
            parts += build("bag", camera, points["r_hand"] - [0.0, 0.6, 0.0], rng, lift=0.34)
        yield from shots(parts, camera, self.place(camera, rng), rng)
