"""NEC-Drone: people seen from drones, 16 actions, 7 of which have counterparts in Kinetics."""

import csv
from dataclasses import dataclass
from pathlib import Path

from actonym.data.base import DatasetCard, Video, register
from actonym.data.files import FolderDataset, Label, folder, look_for
from actonym.data.images import ImagesVideo, list_pictures, number, picture_folders
from actonym.errors import UserError

PARTS = {"trainlist": "train", "vallist": "val", "testlist": "test"}
# The seven that Kinetics has too, in the order of the dataset's own description; that this is the order of the label
# numbers is inferred.
SEVEN = (
    *("walking", "running", "jumping", "drinking water from a bottle"),
    *("throwing an object", "shaking hands", "hugging"),
)


@dataclass(frozen=True)
class Row:
    """One line of an annotation file: the folder of frames, the action's code and number, the actor, which frames."""

    folder: str
    code: str
    actor: str
    first: int
    last: int
    label: int
    part: str

    @property
    def name(self) -> str:
        return f"{self.folder}/{self.first}-{self.last}"


@register("nec-drone")
class NecDrone(FolderDataset):
    """The lists give the 16 actions numbers and codes only, so the codes are their names."""

    card = DatasetCard(
        title="NEC-Drone (Choi et al., WACV 2020)",
        about="5,250 videos of 19 actors seen from drones, 16 actions; no private attributes",
        licence="on request from NEC Labs, research use",
        source="https://www.nec-labs.com/~mas/NEC-Drone/",
        papers=("GenPriv",),
        layout="NEC-Drone-16*_trainlist.csv (vallist, testlist) and DRONE/ACTION/ACTOR/VIDEO/FRAME.jpg",
        actions=16,
        rate=4,  # GenPriv
    )
    prefix = "NEC-Drone-16"

    def __init__(self, path: str, lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with the annotation files where they do not lie with the frames."""
        root = folder(path)
        rows = read_rows(folder(lists or root), self.prefix)
        self._rows = {row.name: row for row in rows}
        codes = {row.label: row.code for row in rows}
        self.actions = self.actions or [codes[label] for label in sorted(codes)]
        super().__init__(
            [self._label(row, codes) for row in rows], _files(rows, picture_folders(root, parts=4)), partial
        )

    def _label(self, row: Row, codes: dict[int, str]) -> Label:
        return Label(row.name, codes[row.label], row.part, subject=row.actor)

    def video(self, label: Label, path: Path) -> Video:
        """The pictures from the first to the last frame of the list, which counts them from 1."""
        row = self._rows[label.name]
        return ImagesVideo(lambda: [image for image in list_pictures(path) if row.first <= number(image) <= row.last])


def read_rows(root: Path, prefix: str) -> list[Row]:
    """The official annotation files below `root`; no frame is needed for it."""
    rows: list[Row] = []
    for ending, part in PARTS.items():
        path = look_for(root, f"{prefix}*{ending}.csv")
        rows += _read(path, part) if path else []
    for part in ("train", "test"):
        if not any(row.part == part for row in rows):
            raise UserError(f"{root} has no {prefix}*_{part}list.csv with videos in it")
    return rows


def _read(path: Path, part: str) -> list[Row]:
    rows = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        for at, fields in enumerate(csv.reader(file), 1):
            try:
                drone, code, actor, video, first, last, label = (field.strip() for field in fields)
                place = f"{drone}/{code}/{actor}/{video}"
                rows.append(Row(place, code, actor, int(first), int(last), int(label), part))
            except ValueError as error:
                raise UserError(f"{path.name}, row {at}: cannot read {','.join(fields)!r}") from error
    return rows


def _files(rows: list[Row], folders: dict[str, Path]) -> dict[str, list[Path]]:
    """The folder of each row by the row's name, and the folders that no row names."""
    listed = {row.folder for row in rows}
    found = {row.name: [folders[row.folder]] for row in rows if row.folder in folders}
    return found | {name: [path] for name, path in folders.items() if name not in listed}
