"""What every dataset yields: Samples, with the words of DESIGN for their labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar, Protocol

from torch import Tensor

from actonym.errors import unknown
from actonym.spec import check, parse

ATTRIBUTES = ("face", "skin_color", "gender", "nudity", "relationship")  # the VP datasets' order
SPLITS = ("train", "val", "test")


class Video(Protocol):
    """A reference to a video: its frames are read only when asked for."""

    @property
    def length(self) -> int: ...

    def frames(self, indices: Sequence[int]) -> Tensor:
        """uint8 `[3, T, H, W]`."""
        ...

    def mask(self, indices: Sequence[int]) -> Tensor | None:
        """uint8 `[1, T, H, W]`: 0 nobody, k person k; None where that is not known."""
        ...


@dataclass(frozen=True)
class Segment:
    """A part of a longer video in which something happens; seconds from its start."""

    start: float
    end: float
    label: int


@dataclass(frozen=True)
class Sample:
    """One labelled video."""

    name: str
    video: Video
    action: int
    privacy: tuple[int, ...] = ()
    subject: str = ""
    source: str = ""  # the film it was cut from: clips of one source show the same people and place
    domain: str = ""
    text: str = ""  # the action in words
    actions: tuple[int, ...] = ()  # all of them, where a video has several
    segments: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class DatasetCard:
    title: str
    about: str
    licence: str
    source: str
    papers: tuple[str, ...] = ()


class Dataset(Protocol):
    """A dataset of the field. `samples(split)` with split one of train, val, test."""

    name: ClassVar[str]
    card: ClassVar[DatasetCard]
    actions: Sequence[str]
    attributes: Sequence[str]

    def samples(self, split: str) -> Sequence[Sample]: ...


_REGISTRY: dict[str, Callable[..., Any]] = {}


def register(name: str) -> Callable[[type], type]:
    def add(cls: type) -> type:
        cls.name = name  # type: ignore[attr-defined]
        _REGISTRY[name] = cls
        return cls

    return add


def registry() -> dict[str, Any]:
    return dict(sorted(_REGISTRY.items()))


def open_dataset(spec: str, **defaults: Any) -> Dataset:
    """A dataset from its name, `name:key=value,...`, or `name:path/to/its/folder` in its official layout.

    `defaults` are settings for the datasets that take them and whose spec does not say otherwise: a world that is
    rendered can be rendered at the size that is wanted.
    """
    name, _, tail = spec.partition(":")
    if name not in _REGISTRY:
        raise unknown("dataset", name, _REGISTRY)
    settings = parse(spec)[1] if "=" in tail or not tail else {"path": tail}
    check(name, settings, _REGISTRY[name])
    known = signature(_REGISTRY[name]).parameters
    return _REGISTRY[name](**{key: value for key, value in defaults.items() if key in known} | settings)
