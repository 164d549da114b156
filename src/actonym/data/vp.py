"""VP-HMDB51 and VP-UCF101: five private attributes for every video of HMDB51 and UCF101."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from actonym.data import hmdb51, ucf101
from actonym.data.base import ATTRIBUTES, DatasetCard, register
from actonym.data.files import FolderDataset, Label, folder, list_files, locate, plain, some, stem, warn
from actonym.errors import UserError

ABOUT = "face, skin colour, gender, nudity and relationship: 1 where it can be told over the whole video"
LABELS = "https://github.com/ming1993li/stprivacy (MIT)"
PAPERS = ("GenPriv", "LaF-Privacy", "RAPrivacy", "SPLAVU", "STPrivacy")


@register("vp-hmdb51")
class VpHmdb51(FolderDataset):
    card = DatasetCard(
        title="VP-HMDB51 (Li et al., ICCV 2023)",
        about=f"HMDB51 with five private attributes ({ABOUT}); HMDB51's splits 1-3",
        licence="labels MIT; videos CC BY 4.0",
        source=f"labels {LABELS}; videos {hmdb51.Hmdb51.card.source}",
        papers=PAPERS,
        layout=f"{hmdb51.Hmdb51.card.layout} and hmdb51_privacy_attribute_label.pickle",
        actions=len(hmdb51.ACTIONS),
    )
    actions = hmdb51.ACTIONS
    attributes = ATTRIBUTES

    def __init__(self, path: str, split: int = 1, lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with split files and labels where they do not lie with the clips."""
        root = folder(path)
        super().__init__(read_hmdb51(folder(lists or root), split), list_files(root), partial)


@register("vp-ucf101")
class VpUcf101(FolderDataset):
    card = DatasetCard(
        title="VP-UCF101 (Li et al., ICCV 2023)",
        about=f"UCF101 with five private attributes ({ABOUT}); UCF101's splits 1-3",
        licence="labels MIT; videos without a stated licence, research use",
        source=f"labels {LABELS}; videos {ucf101.Ucf101.card.source}",
        papers=PAPERS,
        layout=f"{ucf101.Ucf101.card.layout} and ucf101_privacy_attribute_label.pickle",
        actions=101,
        rate=ucf101.Ucf101.card.rate,
    )
    attributes = ATTRIBUTES

    def __init__(self, path: str, split: int = 1, lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with split files and labels where they do not lie with the clips."""
        root = folder(path)
        super().__init__(read_ucf101(folder(lists or root), split), list_files(root), partial)


def read_hmdb51(root: Path, split: int = 1) -> list[Label]:
    """HMDB51's lists below `root` joined with the attributes; no video is needed for it."""
    path = locate(root, "hmdb51_privacy_attribute_label.pickle")
    return with_attributes(hmdb51.read_labels(root, split), read_attributes(path))


def read_ucf101(root: Path, split: int = 1) -> list[Label]:
    """UCF101's lists below `root` joined with the attributes; no video is needed for it."""
    path = locate(root, "ucf101_privacy_attribute_label.pickle")
    return with_attributes(ucf101.read_labels(root, split), read_attributes(path))


def read_attributes(path: Path) -> dict[str, tuple[int, ...]]:
    """`class/video` to its five bits. The order of the columns is not written anywhere; base rates fit `ATTRIBUTES`."""
    from actonym.weights.unpickle import numpy_pickle

    table = numpy_pickle(path.read_bytes())
    if not isinstance(table, Mapping):
        raise UserError(f"{path.name} holds no table of videos")
    found = {}
    for name, value in table.items():
        bits = tuple(int(bit) for bit in value.reshape(-1)) if hasattr(value, "reshape") else ()
        if len(bits) != len(ATTRIBUTES) or set(bits) - {0, 1}:
            raise UserError(f"{path.name}: {name} has no {len(ATTRIBUTES)} labels of 0 and 1")
        found[stem(str(name))] = bits
    return found


def with_attributes(labels: Sequence[Label], attributes: Mapping[str, tuple[int, ...]]) -> list[Label]:
    """Labels with the attributes of the same video; a video without any keeps none, and is told of later."""
    loose = {plain(name): bits for name, bits in attributes.items()}
    unknown = sorted(loose.keys() - {plain(label.name) for label in labels})
    if unknown:
        warn(f"{len(unknown)} videos have attributes and are in no list ({some(unknown)})")
    return [replace(label, privacy=attributes.get(label.name) or loose.get(plain(label.name), ())) for label in labels]
