"""Kinetics-400: ten-second clips of the web, 400 actions."""

from pathlib import Path

from actonym.data.base import DatasetCard, register
from actonym.data.files import FolderDataset, Label, folder, list_files, locate
from actonym.data.table import read_rows
from actonym.errors import UserError, unknown

COLUMNS = ("label", "youtube_id", "time_start", "time_end")
LISTS = {"train": ("train.csv",), "val": ("val.csv", "validate.csv"), "test": ("test.csv",)}


@register("kinetics400")
class Kinetics400(FolderDataset):
    """Papers test on the official validation list, so it is the test part here, and validation is held out of
    training; `test=test` takes the official lists as they are. Many videos are gone from the web: `partial=true`.
    """

    card = DatasetCard(
        title="Kinetics-400 (Kay et al., 2017)",
        about="some 300,000 clips of ten seconds, 400 actions; no private attributes",
        licence="annotations CC BY 4.0; videos belong to those who put them on the web",
        source="https://github.com/cvdfoundation/kinetics-dataset",
        papers=("GenPriv", "SPLAVU"),
        layout="train.csv, val.csv, test.csv and ID_START_END.mp4 in folders of any kind",
        actions=400,
    )

    def __init__(self, path: str, test: str = "val", lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with the CSV files where they do not lie with the clips."""
        root = folder(path)
        super().__init__(read_labels(folder(lists or root), test), list_files(root, parts=1), partial)


def read_labels(root: Path, test: str = "val") -> list[Label]:
    """What the official lists below `root` say; no video is needed for it."""
    if test not in ("val", "test"):
        raise unknown("list to test on", test, ("val", "test"))
    parts = {"train": "train", "val": "test"} if test == "val" else {part: part for part in LISTS}
    return [label for official, part in parts.items() for label in _read(locate(root, *LISTS[official]), part)]


def _read(path: Path, part: str) -> list[Label]:
    labels = []
    for number, row in read_rows(path, COLUMNS):
        try:
            start, end = int(row["time_start"]), int(row["time_end"])
        except ValueError as error:
            raise UserError(f"{path.name}, row {number}: times are whole seconds ({error})") from error
        video = row["youtube_id"]
        labels.append(Label(f"{video}_{start:06d}_{end:06d}", row["label"], part, source=video))
    return labels
