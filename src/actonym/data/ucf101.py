"""UCF101: 13,320 clips of the web, 101 actions, three official splits."""

from pathlib import Path

from actonym.data.base import DatasetCard, register
from actonym.data.files import FolderDataset, Label, fields, folder, list_files, locate, one_of, stem

LISTS = "ucfTrainTestlist"


@register("ucf101")
class Ucf101(FolderDataset):
    """The clips as the archive unpacks, and the list files anywhere beside or above them."""

    card = DatasetCard(
        title="UCF101 (Soomro et al., 2012)",
        about="13,320 clips of the web, 101 actions, splits 1-3; no private attributes",
        licence="no licence stated; research use",
        source="https://www.crcv.ucf.edu/data/UCF101.php",
        papers=("LaF-Privacy", "SPLAVU", "STPrivacy"),
        layout=f"CLASS/v_CLASS_gNN_cNN.avi and {LISTS}/",
        actions=101,
        rate=4,  # STPrivacy 4.3
    )

    def __init__(self, path: str, split: int = 1, lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with the split files where they do not lie with the clips."""
        root = folder(path)
        super().__init__(read_labels(folder(lists or root), split), list_files(root), partial)


def read_labels(root: Path, split: int = 1) -> list[Label]:
    """What the official lists below `root` say; no video is needed for it."""
    one_of("official split of UCF101", split, (1, 2, 3))
    lists = locate(root, LISTS)
    labels = []
    for part in ("train", "test"):
        for clip, *_ in fields(lists / f"{part}list{split:02d}.txt", 1):
            name = stem(clip)
            labels.append(Label(name, name.split("/")[0], part, source=group(name)))
    return labels


def group(name: str) -> str:
    """Clips of one group show the same people in the same place: `v_Archery_g08` of `Archery/v_Archery_g08_c01`."""
    return name.split("/")[-1].rpartition("_c")[0]
