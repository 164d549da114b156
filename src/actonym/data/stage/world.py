"""What a world of the stage has to say: what is true of a video, who acts in it, and how it looks."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from actonym.data.base import SPLITS, DatasetCard, Segment, Span
from actonym.data.stage.pose import Array

CLIPS_PER_SUBJECT = 6
FPS = 16.0  # a clip of 16 frames is a second

Traits = tuple[int, ...]  # the attributes that are a person's own, 0 or 1 each
Cast = Mapping[Traits, list[Any]]  # who may act in a split


def describe(title: str, about: str) -> DatasetCard:
    licence, source = "Apache-2.0 (made by this program)", "made on the fly from a seed; nothing to download"
    return DatasetCard(title, about, licence, source, synthetic=True)


@dataclass(frozen=True)
class Labels:
    """What is true of a video."""

    action: str  # the first of them, where there are several
    privacy: tuple[int, ...]
    actor: Any  # of the world's own kind; has a name
    actions: tuple[str, ...] = ()  # all of them, in a world where there may be several


@dataclass(frozen=True)
class Footage:
    """A rendered video."""

    frames: Array  # uint8 [T, H, W, 3]
    mask: Array  # uint8 [T, H, W]: 0 nobody, 1 the actor, 2 and more others
    depth: Array  # float32 [T, H, W] metres


def joined(parts: Iterable[Footage]) -> Footage:
    """One video of its parts."""
    whole = list(parts)
    return Footage(*(np.concatenate([getattr(part, field.name) for part in whole]) for field in fields(Footage)))


class World(ABC):
    """The random numbers that a world is handed decide everything that its labels leave open."""

    card: ClassVar[DatasetCard]
    actions: ClassVar[Sequence[str]]
    attributes: ClassVar[Sequence[str]]
    traits: ClassVar[Sequence[int]]  # which of the attributes are the person's own
    salt: ClassVar[tuple[int, ...]]  # sets its random numbers apart from those of the other worlds
    prefix: ClassVar[str] = ""  # of its people's names: nobody lives in two worlds
    correlation: ClassVar[float] = 0.0  # where the user does not say otherwise
    tied: ClassVar[bool] = True  # whether the knob can tie anything to the action
    balanced: ClassVar[Sequence[str]] = ()  # splits in which nothing is ever tied to the action
    counts: ClassVar[tuple[int, int, int]] = (1600, 240, 480)  # videos of each split, where the user says nothing else
    clips: ClassVar[int] = 1  # how many clips long its videos are
    timed: ClassVar[Sequence[str]] = SPLITS  # splits whose videos say when something happens, if it does

    @abstractmethod
    def person(self, name: str, traits: Traits, rng: Generator) -> Any: ...

    @abstractmethod
    def called(self, traits: Traits) -> str:
        """Such people in words, for their names."""

    @abstractmethod
    def render(self, labels: Labels, frames: int, size: tuple[int, int], rng: Generator) -> Footage: ...

    def shots(self, labels: Labels, frames: int, size: tuple[int, int], rng: Generator) -> Iterator[Footage]:
        """The same, some frames at a time where videos are long."""
        yield self.render(labels, frames, size, rng)

    def named(self, split: str, row: int, labels: Labels) -> str:
        """What a video is called."""
        return f"{self.prefix}{split}/{row:05d}"

    def labels(self, row: int, cast: Cast, correlation: float, rng: Generator) -> Labels:
        """Actions take turns; attributes are fair coins, unless the knob ties them to the action."""
        action = row % len(self.actions)
        bits = [int(bit) for bit in rng.integers(0, 2, len(self.attributes))]
        if rng.uniform() < correlation:
            bits = [(action + place) % 2 for place in range(len(bits))]
        people = cast[tuple(bits[place] for place in self.traits)]
        return Labels(self.actions[action], tuple(bits), people[rng.integers(len(people))])

    def spans(self, labels: Labels, frames: int, rng: Generator) -> tuple[Sequence[Span], ...]:
        """What each frame shows of the attributes, in a world where that changes. `rng` is the one of `render`."""
        return ()

    def segments(self, labels: Labels, frames: int) -> tuple[Segment, ...]:
        """When something happens, in a world of long videos."""
        return ()

    def cast(self, split: str, clips: int, rng: Callable[[int, int], Generator]) -> Cast:
        """As many people of each kind; `rng` gives the numbers for the k-th of a kind."""
        kinds = list(product((0, 1), repeat=len(self.traits)))
        each = max(1, -(-clips // CLIPS_PER_SUBJECT) // len(kinds))
        return {
            kind: [
                self.person(f"{self.prefix}{split}-{self.called(kind)}-{k}", kind, rng(k, number)) for k in range(each)
            ]
            for number, kind in enumerate(kinds)
        }
