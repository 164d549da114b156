"""What every dataset yields: Samples, with the words of DESIGN for their labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Protocol

from torch import Tensor

from actonym.errors import UserError, unknown
from actonym.spec import Settings, check, parse, text

ATTRIBUTES = ("face", "skin_color", "gender", "nudity", "relationship")  # the VP datasets' order
SPLITS = ("train", "val", "test")
PLACES = ("path", "lists", "labels", "genders", "annotations")  # settings that say where something lies


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
class Span:
    """What is seen of one attribute in the frames `first` to `last`; 0 is "not there" or "cannot be told"."""

    first: int
    last: int
    values: tuple[int, ...]  # several where several people are seen


@dataclass(frozen=True)
class Sample:
    """One labelled video."""

    name: str
    video: Video
    action: int
    privacy: Sequence[int] = ()  # a tuple, or bytes where there are thousands
    subject: str = ""
    source: str = ""  # the film it was cut from: clips of one source show the same people and place
    domain: str = ""
    text: str = ""  # the action in words
    actions: tuple[int, ...] = ()  # all of them, where a video has several: at once, or one after the other in segments
    segments: tuple[Segment, ...] = ()
    spans: tuple[Sequence[Span], ...] = ()  # of each attribute, where it is labelled frame by frame

    def privacy_at(self, frame: int) -> tuple[int, ...]:
        """The private attributes as one frame shows them; the video's where frames have no labels of their own."""
        return tuple(seen(spans, frame) for spans in self.spans) if self.spans else tuple(self.privacy)


def seen(spans: Sequence[Span], frame: int) -> int:
    """1 if an attribute can be told in a frame."""
    return int(any(span.first <= frame <= span.last and any(span.values) for span in spans))


@dataclass(frozen=True)
class DatasetCard:
    title: str
    about: str
    licence: str
    source: str  # where to get it
    papers: tuple[str, ...] = ()  # of those that we implement: which use it
    layout: str = ""  # what its folder holds
    actions: int = 0  # how many, where their names are known only from its lists
    rate: int = 2  # preset `paper` takes every second frame (STPrivacy 4.3, 4.8), unless a paper says otherwise
    synthetic: bool = False  # nobody real is in it, so that anybody may see its frames


class Dataset(Protocol):
    """A dataset of the field. `samples(split)` with split one of train, val, test."""

    name: ClassVar[str]
    card: ClassVar[DatasetCard]
    actions: Sequence[str]
    attributes: Sequence[str]  # where they are of several kinds: `kind: name`, such as `scene: beach`

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
    name, settings = _parse(spec)
    check(name, settings, _REGISTRY[name])
    known = signature(_REGISTRY[name]).parameters
    if "path" in known and "path" not in settings:
        layout = _REGISTRY[name].card.layout  # type: ignore[attr-defined]
        raise UserError(f"{name} needs its place: write {name}:PATH, where PATH holds {layout}")
    try:
        return _REGISTRY[name](**{key: value for key, value in defaults.items() if key in known} | settings)
    except TypeError as error:  # a word where a number belongs
        raise UserError(f"{spec}: {error}") from error


def shown(spec: str) -> str:
    """A spec as results show it. Where things lie is the machine's business: a file goes by its name, a folder by none.

    `hmdb51:path=/data/hmdb,split=2` is `hmdb51:split=2`, and `csv:/data/ward.csv` is `csv:ward.csv`.
    """
    name, settings = _parse(spec)
    places = {key: Path(str(value)).expanduser() for key, value in settings.items() if key in PLACES}
    files = {key: place.name for key, place in places.items() if place.is_file()}
    told = {key: files.get(key, value) for key, value in settings.items() if key in files or key not in places}
    return f"{name}:{told['path']}" if told.keys() == {"path"} else text(name, told)


def _parse(spec: str) -> tuple[str, Settings]:
    """The name of a dataset that there is, and the settings; a tail without `=` is its place."""
    name, _, tail = spec.partition(":")
    if name not in _REGISTRY:
        raise unknown("dataset", name, _REGISTRY)
    return name, parse(spec)[1] if "=" in tail or not tail else {"path": tail}
