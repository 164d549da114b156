"""Toyota Smarthome: 16,115 clips of 18 elderly people at home, 31 activities."""

import re
from collections.abc import Iterable
from pathlib import Path

from actonym.data.base import DatasetCard, register
from actonym.data.files import FolderDataset, Label, fields, folder, list_files
from actonym.data.genders import ATTRIBUTE, read_genders, with_genders
from actonym.errors import UserError

ACTIONS = {
    "Cook.Cleandishes": "clean dishes",
    "Cook.Cleanup": "clean up the kitchen",
    "Cook.Cut": "cut food",
    "Cook.Stir": "stir food",
    "Cook.Usestove": "use the stove",
    "Cutbread": "cut bread",
    "Drink.Frombottle": "drink from a bottle",
    "Drink.Fromcan": "drink from a can",
    "Drink.Fromcup": "drink from a cup",
    "Drink.Fromglass": "drink from a glass",
    "Eat.Attable": "eat at a table",
    "Eat.Snack": "eat a snack",
    "Enter": "enter",
    "Getup": "get up",
    "Laydown": "lie down",
    "Leave": "leave",
    "Makecoffee.Pourgrains": "make coffee: pour grains",
    "Makecoffee.Pourwater": "make coffee: pour water",
    "Maketea.Boilwater": "make tea: boil water",
    "Maketea.Insertteabag": "make tea: insert a tea bag",
    "Pour.Frombottle": "pour from a bottle",
    "Pour.Fromcan": "pour from a can",
    "Pour.Fromkettle": "pour from a kettle",
    "Readbook": "read a book",
    "Sitdown": "sit down",
    "Takepills": "take pills",
    "Uselaptop": "use a laptop",
    "Usetablet": "use a tablet",
    "Usetelephone": "use a telephone",
    "Walk": "walk",
    "WatchTV": "watch TV",
}
TRAIN = {3, 4, 6, 7, 9, 12, 13, 15, 17, 19, 25}
TEST = {2, 10, 11, 14, 16, 18, 20}
LISTS = {"train_CS": "train", "validation_CS": "val", "test_CS": "test"}
NAME = re.compile(r"(.+)_p(\d+)_r\d+_v\d+_c\d+")  # activity, person, take, video, camera


@register("toyota-smarthome")
class ToyotaSmarthome(FolderDataset):
    """The trimmed clips, in the cross-subject protocol.

    Where the official lists (train_CS.txt, ...) are there, they decide; else the subjects in the names do, and a part
    of the training subjects is for validation. For the evaluation per gender of SPLAVU give `genders`, a CSV with the
    columns subject and gender: the attribute `female` then tells the groups apart. The paper's list is not released.
    """

    card = DatasetCard(
        title="Toyota Smarthome (Das et al., ICCV 2019)",
        about="16,115 clips of 18 elderly people at home, 31 activities; cross-subject; gender from your file",
        licence="academic research only, on request",
        source="https://project.inria.fr/toyotasmarthome",
        papers=("SPLAVU",),
        layout="ACTIVITY_p02_r00_v02_c03.mp4 and so on; if you have them train_CS.txt, validation_CS.txt, test_CS.txt",
        actions=len(ACTIONS),
    )
    actions = tuple(ACTIONS)

    def __init__(self, path: str, genders: str = "", lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with the official lists where they do not lie with the clips."""
        root = folder(path)
        files = list_files(root, 1)
        labels = read_lists(folder(lists or root))
        self.total = 0 if labels else 16_115
        labels = labels or read_labels(files)
        if genders:
            self.attributes = (ATTRIBUTE,)
            labels = with_genders(labels, read_genders(genders))
        super().__init__(labels, files, partial)


def read_lists(root: Path) -> list[Label]:
    """What the official lists say; nothing where none of them is there."""
    found = list_files(root, 1, (".txt",))
    if not found.keys() & LISTS.keys():
        return []
    labels = []
    for name, split in LISTS.items():
        if name not in found:
            raise UserError(f"{root} has no {name}.txt")
        for line in fields(found[name][0], 1):
            label = read_label(re.sub(r"\.\w+$", "", line[0].split("/")[-1]))
            if label is None:
                raise UserError(f"{name}.txt: cannot read {line[0]!r}")
            labels.append(Label(label.name, label.action, split, subject=label.subject, text=label.text))
    return labels


def read_labels(names: Iterable[str]) -> list[Label]:
    """What the names of clips say; names of another kind are left out."""
    labels = [label for label in map(read_label, names) if label]
    if not labels:
        raise UserError(f"toyota-smarthome: no video is named {ToyotaSmarthome.card.layout}")
    return labels


def read_label(name: str) -> Label | None:
    """One clip in the cross-subject protocol; None where its name is not one of the dataset's."""
    found = NAME.fullmatch(name)
    if found is None or found[1] not in ACTIONS or int(found[2]) not in TRAIN | TEST:
        return None
    person = int(found[2])
    split = "train" if person in TRAIN else "test"
    return Label(name, found[1], split, subject=f"p{person:02d}", text=ACTIONS[found[1]])
