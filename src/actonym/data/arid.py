"""ARID: actions in the dark, 11 classes that HMDB51 has too."""

from pathlib import Path

from actonym.data.base import DatasetCard, register
from actonym.data.files import FolderDataset, Label, fields, folder, list_files, locate, one_of, stem
from actonym.errors import UserError

LISTS = "list_cvt"
PARTS = {"train": "train", "test": "test", "other": ""}  # `other` is in neither
ACTIONS = ("Drink", "Jump", "Pick", "Pour", "Push", "Run", "Sit", "Stand", "Turn", "Walk", "Wave")


@register("arid")
class Arid(FolderDataset):
    card = DatasetCard(
        title="ARID (Xu et al., 2021)",
        about="3,784 clips in the dark, 11 actions, splits 1-3; no private attributes",
        licence="CC BY 4.0",
        source="https://xuyu0010.github.io/arid.html; lists https://github.com/xuyu0010/ARID_v1",
        papers=("GenPriv",),
        layout=f"CLASS/CLASS_GROUP_CLIP.mp4 and {LISTS}/",
        actions=len(ACTIONS),
        rate=4,  # GenPriv
    )
    actions = ACTIONS

    def __init__(self, path: str, split: int = 1, lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with the split files where they do not lie with the clips."""
        root = folder(path)
        super().__init__(read_labels(folder(lists or root), split), list_files(root), partial)


def read_labels(root: Path, split: int = 1) -> list[Label]:
    """What the official lists below `root` say; no video is needed for it."""
    one_of("official split of ARID", split, (1, 2, 3))
    lists = locate(root, LISTS)
    actions = {place: name for place, name, *_ in fields(lists / "mapping_table.txt", 2)}
    labels = []
    for part, ours in PARTS.items():
        path = lists / f"ARID_split{split}_{part}.txt"
        for _, place, clip, *_ in fields(path, 3):
            if place not in actions:
                raise UserError(f"{path.name}: {clip} has the class {place}, which mapping_table.txt does not name")
            name = stem(clip)
            # Clips of a group, as in Drink_10_3, were taken at the same place.
            labels.append(Label(name, actions[place], ours, source=name.split("/")[-1].rpartition("_")[0]))
    return labels
