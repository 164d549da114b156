"""VISPR: 22,167 photographs with what they give away; the field trains and tests its attackers on them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actonym.data.base import DatasetCard, Video, register
from actonym.data.files import FolderDataset, Label, fields, folder, list_files, read_json
from actonym.data.images import IMAGES, ImagesVideo
from actonym.errors import UserError

PARTS = {"train": "train2017", "val": "val2017", "test": "test2017"}
ATTRIBUTES = {  # SPLAVU, table 9 (VISPR1); the order of SPAct's label files, which their base rates confirm
    "a17_color": "skin_color",
    "a4_gender": "gender",
    "a9_face_complete": "full_face",
    "a10_face_partial": "partial_face",
    "a12_semi_nudity": "semi_nudity",
    "a64_rel_personal": "personal_relationship",
    "a65_rel_social": "social_relationship",
}
ACTION = "photograph"  # nobody acts in a still image: all are of one class


@register("vispr")
class Vispr(FolderDataset):
    """A photograph is a video of one frame. An attribute is 1 where it can be told from the photograph.

    The labels are the official JSON files, one a photograph, or SPAct's pickled tables. The tables leave the official
    validation part out; then a part of training takes its place.
    """

    card = DatasetCard(
        title="VISPR (Orekondy et al., ICCV 2017)",
        about="22,167 photographs, 10,000 for training and 8,000 for testing, with the seven attributes of SPAct",
        licence="photographs under the licences of their authors on Flickr; lists Apache-2.0; label tables MIT",
        source="https://resources.mpi-inf.mpg.de/d2/orekondy/vpa; tables https://github.com/UCF-CRCV/TeD-SPAD",
        papers=("SPLAVU",),
        layout="train2017/, val2017/, test2017/ with ID.jpg, and with ID.json or *train_labels.pkl, *test_labels.pkl",
        actions=1,
    )
    actions = (ACTION,)
    attributes = tuple(ATTRIBUTES.values())

    def __init__(self, path: str, lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with the labels where they do not lie with the photographs."""
        root = folder(path)
        super().__init__(read_labels(folder(lists or root)), list_files(root, 2, IMAGES), partial)

    def video(self, label: Label, path: Path) -> Video:
        return ImagesVideo([path])


def read_labels(root: Path) -> list[Label]:
    """The labels below `root`, in the order of the lists where these are there; no photograph is needed for it."""
    found = list_files(root, 2, (".json",))
    lists = list_files(root, 1, (".txt",))
    tables = list_files(root, 1, (".pkl", ".pickle"))
    labels = []
    for split, part in PARTS.items():
        said: dict[str, tuple[int, ...]] = {}
        for name, paths in tables.items():
            if name.endswith(f"{split}_labels"):
                said = {f"{part}/{image}": bits for image, bits in read_table(paths[0]).items()}
        said |= {name: read_attributes(paths[0]) for name, paths in found.items() if name.startswith(f"{part}/")}
        if not said:
            continue
        listed = [f"{part}/{Path(line[0]).stem}" for path in lists.get(part, [])[:1] for line in fields(path, 1)]
        labels += [Label(name, ACTION, split, said.get(name, ()), text=ACTION) for name in listed or sorted(said)]
    for split in ("train", "test"):
        if not any(label.split == split for label in labels):
            where = f"neither {PARTS[split]}/ID.json nor *{split}_labels.pkl"
            raise UserError(f"{root} has no labels of the {split} part of VISPR: {where}")
    return labels


def read_attributes(path: Path) -> tuple[int, ...]:
    """The seven bits of an official file: `{"image_path": ..., "labels": ["a4_gender", ...]}`."""
    said = read_json(path)
    if not isinstance(said, Mapping) or not isinstance(said.get("labels"), list):
        raise UserError(f"{path.name} has no list of labels")
    return tuple(int(name in said["labels"]) for name in ATTRIBUTES)


def read_table(path: Path) -> dict[str, tuple[int, ...]]:
    """The seven bits of every photograph, by its id, of one of SPAct's label files."""
    from actonym.weights.unpickle import numpy_pickle

    table = numpy_pickle(path.read_bytes())
    if not isinstance(table, Mapping):
        raise UserError(f"{path.name} holds no table of photographs")
    return {Path(str(name)).stem: _bits(path, name, value) for name, value in table.items()}


def _bits(path: Path, name: object, value: Any) -> tuple[int, ...]:
    bits = tuple(int(bit) for bit in value.reshape(-1)) if hasattr(value, "reshape") else ()
    if len(bits) != len(ATTRIBUTES) or set(bits) - {0, 1}:
        raise UserError(f"{path.name}: {name} has no {len(ATTRIBUTES)} labels of 0 and 1")
    return bits
