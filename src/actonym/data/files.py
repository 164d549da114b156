"""What the datasets of the field share: their lists, the files these mean, and what of it is missing."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from actonym.data.base import SPLITS, DatasetCard, Sample, Segment, Span, Video
from actonym.data.divide import divide
from actonym.errors import UserError, unknown
from actonym.video.sample import FileVideo

VIDEOS = (".avi", ".mp4", ".mkv", ".webm", ".mov", ".mpg", ".mpeg", ".m4v", ".wmv")
VAL_SHARE = 0.15  # ours: of each action's training videos, where the official lists have no validation part
SHOWN = 3  # names in a message

Files = Mapping[str, Sequence[Path]]  # what lies in a folder, by name; more than one path is a duplicate


@dataclass(frozen=True)
class Label:
    """What a dataset's lists say of one video, before anyone has looked for its file."""

    name: str  # as in the folder's listing, such as class/video, without its ending
    action: str
    split: str = ""  # train, val or test; nothing where the lists leave the video out
    privacy: Sequence[int] = ()
    subject: str = ""
    source: str = ""
    domain: str = ""
    text: str = ""  # the action in words, where that is more than its name
    actions: tuple[str, ...] = ()
    segments: tuple[Segment, ...] = ()
    spans: tuple[Sequence[Span], ...] = ()

    @property
    def group(self) -> str:
        """What must not be split: the videos of one person, or of one film where people are not known."""
        return self.subject or self.source or self.name


@dataclass(frozen=True)
class Problems:
    """Where labels and files do not fit."""

    missing: Sequence[str] = ()  # videos that the lists name and the folder does not hold
    bare: Sequence[str] = ()  # videos that are there and listed, but have no attributes
    unlabelled: Sequence[str] = ()  # videos of the folder that no list names
    duplicates: Sequence[str] = ()  # names that are in the folder or in the lists twice

    @property
    def whole(self) -> bool:
        return not (self.missing or self.bare or self.unlabelled)


class FolderDataset:
    """A dataset in a folder of the user's. A subclass reads its lists and lists its files, and hands both on.

    Videos that are missing are an error with their number and the first names, unless `partial` says to go on with
    those that are there. What was wrong is kept in `problems`.
    """

    name: ClassVar[str]
    card: ClassVar[DatasetCard]
    actions: Sequence[str] = ()
    attributes: Sequence[str] = ()
    subset: ClassVar[bool] = False  # part of a larger dataset: the other videos of its folder are no mistake
    total: int = 0  # videos it has, where their names are known only from the folder itself

    def __init__(self, labels: Sequence[Label], files: Files, partial: bool = False) -> None:
        self.actions = self.actions or sorted({label.action for label in labels})
        self.labels = with_validation(labels)
        self._places = {action: place for place, action in enumerate(self.actions)}
        for label in self.labels:
            if label.action not in self._places:
                raise UserError(f"{self.name}: {label.name} has the unknown action {label.action!r}")
        found, self.problems = join(self.labels, files, len(self.attributes))
        if self.subset:
            self.problems = replace(self.problems, unlabelled=())
        self._refuse(found, partial)
        if len(labels) < self.total:
            unnamed = f"{self.total - len(labels)} more that no list names"
            self.problems = replace(self.problems, missing=[*self.problems.missing, unnamed])
        if self.problems.duplicates:
            twice = self.problems.duplicates
            warn(f"{self.name}: {len(twice)} names are there twice ({some(twice)}); the first of each is used")
        self._samples = {
            split: [self._sample(label, path) for label, path in found if label.split == split] for split in SPLITS
        }

    def samples(self, split: str) -> list[Sample]:
        """The videos of a split that are there and labelled, in the order of the lists."""
        if split not in SPLITS:
            raise unknown("split", split, SPLITS)
        return self._samples[split]

    def video(self, label: Label, path: Path) -> Video:
        """How a file becomes frames; datasets with masks or images say it in their own way."""
        return FileVideo(path)

    def _sample(self, label: Label, path: Path) -> Sample:
        return Sample(
            name=label.name,
            video=self.video(label, path),
            action=self._places[label.action],
            privacy=label.privacy,
            subject=label.subject,
            source=label.source,
            domain=label.domain or self.name,
            text=label.text or words(label.action),
            actions=tuple(self._places[action] for action in label.actions),
            segments=label.segments,
            spans=label.spans,
        )

    def _refuse(self, found: Sequence[object], partial: bool) -> None:
        listed = sum(1 for label in self.labels if label.split)
        if not (found or self.problems.bare):
            raise UserError(f"{self.name}: none of its {listed} videos is there; needed is {self.card.layout}")
        hint = f"write {self.name}:path=FOLDER,partial=true to go on with the {len(found)} that are whole"
        wrong = {"videos are missing": self.problems.missing, "videos have no attributes": self.problems.bare}
        for what, names in wrong.items():
            if names and not partial:
                raise UserError(f"{self.name}: {len(names)} of {listed} {what} ({some(names)}); {hint}")
        if len(self.labels) < self.total and not partial:
            raise UserError(f"{self.name}: only {len(self.labels)} of its {self.total} videos are there; {hint}")


def join(labels: Sequence[Label], files: Files, attributes: int = 0) -> tuple[list[tuple[Label, Path]], Problems]:
    """Each label that is in a split with its file; and what does not fit.

    Names are matched as they are, and where that fails on letters and digits alone, if only one file fits: copies of
    a dataset differ in what they put for the other characters (JHMDB has `@` where HMDB51 has `#` or `&`).
    """
    names: dict[str, Label] = {}
    twice = [name for name, paths in files.items() if len(paths) > 1]
    for label in labels:
        if label.name in names:
            twice.append(label.name)
        names.setdefault(label.name, label)
    loose: dict[str, list[str]] = {}
    for name in files.keys() - names.keys():
        loose.setdefault(plain(name), []).append(name)
    found: list[tuple[Label, Path]] = []
    missing, bare, used = [], [], set[str]()
    for name, label in names.items():
        near = [name] if name in files else loose.get(plain(name), [])
        used.update(near if len(near) == 1 else ())
        if not label.split:
            continue
        if len(near) != 1:
            missing.append(name)
        elif len(label.privacy) != attributes:
            bare.append(name)
        else:
            found.append((label, files[near[0]][0]))
    return found, Problems(missing, bare, sorted(files.keys() - used), sorted(set(twice)))


def with_validation(labels: Sequence[Label], share: float = VAL_SHARE) -> list[Label]:
    """Labels with a validation part: where the lists have none, a fixed share of the groups of training videos."""
    if any(label.split == "val" for label in labels):
        return list(labels)
    place = divide([(label.group, label.action) for label in labels if label.split == "train"], {"val": share})
    return [replace(label, split=place[label.group]) if label.split == "train" else label for label in labels]


def with_shared_validation(labels: Sequence[Label], share: float = VAL_SHARE) -> list[Label]:
    """Labels with a validation part that has every subject of training, for attackers that learn who is seen."""
    place = divide([(label.name, label.subject) for label in labels if label.split == "train"], {"val": share})
    return [replace(label, split=place.get(label.name, label.split)) for label in labels]


def folder(path: str | Path) -> Path:
    found = Path(str(path)).expanduser()
    if not found.is_dir():
        raise UserError(f"{path} is not a folder")
    return found


def locate(root: Path, *names: str) -> Path:
    """A file or folder that a dataset brings along, under one of its names."""
    found = look_for(root, *names)
    if found is None:
        raise UserError(f"{root} has no {' or '.join(names)}")
    return found


def look_for(root: Path, *names: str) -> Path | None:
    """The same where it may be missing: in the folder, or one or two folders further down. Names may have a `*`."""
    for place in ("", "*/", "*/*/"):  # not all the way down: some datasets hold millions of files
        for name in names:
            for path in sorted(root.glob(place + name)):
                return path
    return None


def list_files(root: Path, parts: int = 2, suffixes: Sequence[str] = VIDEOS) -> dict[str, list[Path]]:
    """The videos of a folder, looked through once, by the last `parts` parts of their path without the ending."""
    found: dict[str, list[Path]] = {}
    for at, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            stem, suffix = os.path.splitext(name)
            if suffix.lower() in suffixes and not name.startswith("."):
                key = "/".join([*Path(at).relative_to(root).parts, stem][-parts:])
                found.setdefault(key, []).append(Path(at, name))
    return found


def fields(path: Path, count: int, separator: str | None = None) -> Iterator[list[str]]:
    """The lines of a list file, cut into at least `count` fields; empty lines are left out."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    for number, line in enumerate(text.splitlines(), 1):
        parts = [part.strip() for part in line.strip().split(separator)]
        if not line.strip():
            continue
        if len(parts) < count:
            raise UserError(f"{path.name}, line {number}: cannot read {line.strip()!r}")
        yield parts


def read_json(path: Path) -> Any:
    """The contents of a JSON file; what is wrong with it is told in one line."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path.name} is no JSON: {error}") from error


def stem(name: str) -> str:
    """A path as lists write it, without its ending; a dot inside a name is no ending."""
    base, suffix = os.path.splitext(name.replace("\\", "/"))
    return base if suffix.lower() in VIDEOS else name


def plain(name: str) -> str:
    """Letters and digits only."""
    return re.sub(r"[^a-z0-9/]", "", name.lower())


def words(name: str) -> str:
    """A class name as people would say it: `ApplyEyeMakeup` and `brush_hair` in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_+", " ", name).lower().strip()


def some(names: Sequence[str]) -> str:
    """The first of them, for a message."""
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def one_of(kind: str, value: int, known: Iterable[int]) -> int:
    """A setting that must be one of a few numbers, such as the official split."""
    if value not in known:
        raise UserError(f"there is no {kind} {value}; there are {', '.join(map(str, known))}")
    return value


def warn(text: str) -> None:
    """One line for the user that does not stop the work."""
    print(f"actonym: {text}", file=sys.stderr)
