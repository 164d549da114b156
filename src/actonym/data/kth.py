"""KTH: 25 people, six actions, four scenes."""

import re
from dataclasses import replace
from pathlib import Path

from actonym.data.base import SPLITS, DatasetCard, Segment, register
from actonym.data.files import FolderDataset, Label, folder, list_files, locate, with_shared_validation
from actonym.data.table import read_rows
from actonym.errors import UserError, unknown

ACTIONS = {
    "boxing": "boxing",
    "handclapping": "hand clapping",
    "handwaving": "hand waving",
    "jogging": "jogging",
    "running": "running",
    "walking": "walking",
}
PEOPLE = {  # of 00sequences.txt
    "train": (11, 12, 13, 14, 15, 16, 17, 18),
    "val": (19, 20, 21, 23, 24, 25, 1, 4),
    "test": (22, 2, 3, 5, 6, 7, 8, 9, 10),
}
SCENES = ("d1", "d2", "d3", "d4")  # outdoors, at changing distance, in other clothes, indoors
LOST = "person13_handclapping_d3"  # was never published
FPS = 25
PROTOCOLS = ("official", "identity")


@register("kth")
class Kth(FolderDataset):
    """A video shows its action up to four times; `segments` say when, where 00sequences.txt or sequences.csv is there.

    The official split is by person. With `protocol=identity` every person is in every part, so that an attacker can
    learn who is seen: the split of metadata.csv (Ilic et al., CVPR 2024), with part of its training videos for
    validation. That list has a copy of another video in the place of the one that was never published; it is left out.
    """

    card = DatasetCard(
        title="KTH (Schuldt et al., ICPR 2004)",
        about="599 videos of 25 people, six actions, four scenes; split by person, or every person in every part",
        licence="no licence stated; research use",
        source="https://www.csc.kth.se/cvap/actions",
        layout="person01_boxing_d1_uncomp.avi and so on; if you have it 00sequences.txt; metadata.csv for identity",
        actions=len(ACTIONS),
    )
    actions = tuple(ACTIONS)

    def __init__(self, path: str, protocol: str = "official", lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with 00sequences.txt and metadata.csv where they do not lie with the videos."""
        root = folder(path)
        super().__init__(read_labels(folder(lists or root), protocol), list_files(root, 1), partial)


def read_labels(root: Path, protocol: str = "official") -> list[Label]:
    """All 599 videos; `root` holds the lists, of which the official split needs none."""
    if protocol not in PROTOCOLS:
        raise unknown("protocol of kth", protocol, PROTOCOLS)
    times = read_times(root)
    split_of = {person: split for split, people in PEOPLE.items() for person in people}
    labels = [
        Label(
            f"{name}_uncomp",
            action,
            split_of[person],
            subject=f"person{person:02d}",
            source=f"person{person:02d}_{scene}",
            text=ACTIONS[action],
            segments=tuple(Segment(*time, list(ACTIONS).index(action)) for time in times.get(name, ())),
        )
        for person in sorted(split_of)
        for action in ACTIONS
        for scene in SCENES
        if (name := f"person{person:02d}_{action}_{scene}") != LOST
    ]
    return labels if protocol == "official" else _by_video(labels, locate(root, "metadata.csv"))


def read_times(root: Path) -> dict[str, list[tuple[float, float]]]:
    """Seconds of each video of the official list (`1-95, 96-185, ...` in frames) or of its copy as a CSV."""
    found = list_files(root, 1, (".txt", ".csv"))
    times = {}
    for path in (found.get("00sequences") or found.get("sequences") or [])[:1]:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            name, frames, rest = re.sub(r"[\s,]+", " ", line).strip().partition(" frames ")
            if frames and name != "name":
                numbers = [int(number) for number in re.findall(r"\d+", rest)]
                times[name] = [((a - 1) / FPS, b / FPS) for a, b in zip(numbers[::2], numbers[1::2], strict=False)]
    return times


def _by_video(labels: list[Label], path: Path) -> list[Label]:
    split = {row["video"]: row["set"] for _, row in read_rows(path, ("video", "set"))}
    for video, part in split.items():
        if part not in SPLITS:
            raise UserError(f"{path.name}: {video}: {unknown('split', part, SPLITS)}")
    lost = [label.name for label in labels if label.name not in split]
    if lost:
        raise UserError(f"{path.name} does not say where {len(lost)} videos go, the first is {lost[0]}")
    return with_shared_validation([replace(label, split=split[label.name]) for label in labels])
