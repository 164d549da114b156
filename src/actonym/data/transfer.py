"""Pairs of datasets that share actions, for transfer from one to the other: the three benchmarks of GenPriv.

Source and target are two datasets with the same `actions`; `domain` on the samples tells them apart.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from actonym.data import arid, hmdb51, kinetics400, nec_drone, vp
from actonym.data.base import ATTRIBUTES, DatasetCard, register
from actonym.data.files import FolderDataset, Label, folder, list_files
from actonym.errors import UserError

# Chen et al. (TA3N, ICCV 2019), UCF-HMDB full: 12 actions, the official split 1 of both; 3,209 videos.
UCF_HMDB: Mapping[str, Sequence[str]] = {
    "climb": ("RockClimbingIndoor", "RopeClimbing"),
    "fencing": ("Fencing",),
    "golf": ("GolfSwing",),
    "kick_ball": ("SoccerPenalty",),
    "pullup": ("PullUps",),
    "punch": ("BoxingPunchingBag", "BoxingSpeedBag", "Punch"),
    "pushup": ("PushUps",),
    "ride_bike": ("Biking",),
    "ride_horse": ("HorseRiding",),
    "shoot_ball": ("Basketball",),
    "shoot_bow": ("Archery",),
    "walk": ("WalkingWithDog",),
}
HMDB_ARID: Mapping[str, Sequence[str]] = {name.lower(): (name,) for name in arid.ACTIONS}
# Choi et al. (WACV 2020): which actions of Kinetics stand for those of NEC-Drone.
NEC_KINETICS: Mapping[str, Sequence[str]] = {
    "walking": ("marching",),
    "running": ("jogging", "running on treadmill"),
    "jumping": ("high jump", "jumping into pool"),
    "drinking water from a bottle": ("drinking beer",),
    "throwing an object": ("throwing axe", "throwing ball", "throwing discus", "shot put", "javelin throw"),
    "shaking hands": ("shaking hands",),
    "hugging": ("hugging",),
}
RATE = 4  # GenPriv, implementation details: every fourth frame, of all
ARID_TRAIN = 100  # videos of each action; GenPriv has 1,870 for training, of which HMDB51's split 1 makes 770


def share(labels: Sequence[Label], classes: Mapping[str, Sequence[str]], domain: str) -> list[Label]:
    """The labels of the shared actions, under their shared names."""
    name = {own: shared for shared, owns in classes.items() for own in owns}
    return [replace(x, action=name[x.action], domain=domain) for x in labels if x.action in name]


class Shared(FolderDataset):
    """One side of a pair."""

    subset: ClassVar[bool] = True


def _card(title: str, about: str, of: DatasetCard, actions: int) -> DatasetCard:
    return replace(of, title=title, about=about, papers=("GenPriv",), actions=actions, rate=RATE)


@register("tp-ucf")
class TpUcf(Shared):
    card = _card("TP-UCF", "VP-UCF101's 12 actions that TP-HMDB has too; split 1", vp.VpUcf101.card, len(UCF_HMDB))
    actions = tuple(UCF_HMDB)
    attributes = ATTRIBUTES

    def __init__(self, path: str, lists: str = "", partial: bool = False) -> None:
        root = folder(path)
        labels = share(vp.read_ucf101(folder(lists or root)), UCF_HMDB, "ucf101")
        super().__init__(labels, list_files(root), partial)


@register("tp-hmdb")
class TpHmdb(Shared):
    card = _card("TP-HMDB", "VP-HMDB51's 12 actions that TP-UCF has too; split 1", vp.VpHmdb51.card, len(UCF_HMDB))
    actions = tuple(UCF_HMDB)
    attributes = ATTRIBUTES

    def __init__(self, path: str, lists: str = "", partial: bool = False) -> None:
        root = folder(path)
        labels = share(vp.read_hmdb51(folder(lists or root)), {name: (name,) for name in UCF_HMDB}, "hmdb51")
        super().__init__(labels, list_files(root), partial)


@register("hmdb11")
class Hmdb11(Shared):
    card = _card("HMDB of HMDB-ARID", "HMDB51's 11 actions that ARID has too; split 1", hmdb51.Hmdb51.card, 11)
    actions = tuple(HMDB_ARID)

    def __init__(self, path: str, lists: str = "", partial: bool = False) -> None:
        root = folder(path)
        labels = share(hmdb51.read_labels(folder(lists or root)), {name: (name,) for name in HMDB_ARID}, "hmdb51")
        super().__init__(labels, list_files(root), partial)


@register("arid11")
class Arid11(Shared):
    """Which 1,100 training videos the benchmark took of ARID's split 1 is not published: ours are chosen by hash."""

    card = _card("ARID of HMDB-ARID", "ARID with HMDB51's names; split 1, 100 training videos each", arid.Arid.card, 11)
    actions = tuple(HMDB_ARID)

    def __init__(self, path: str, lists: str = "", train: int = ARID_TRAIN, partial: bool = False) -> None:
        """`train` is how many training videos of each action are taken; validation is held out of them."""
        if train < 2:
            raise UserError(f"arid11: train must be at least 2, not {train}")
        root = folder(path)
        labels = share(arid.read_labels(folder(lists or root)), HMDB_ARID, "arid")
        super().__init__(thin(labels, train), list_files(root), partial)


def thin(labels: Sequence[Label], train: int) -> list[Label]:
    """At most `train` training videos of each action, the same ones every time."""
    mine: dict[str, list[str]] = defaultdict(list)
    for label in sorted(labels, key=lambda one: hashlib.sha256(one.name.encode()).digest()):
        if label.split == "train":
            mine[label.action].append(label.name)
    chosen = {name for names in mine.values() for name in names[:train]}
    return [x if x.split != "train" or x.name in chosen else replace(x, split="") for x in labels]


@register("kinetics7")
class Kinetics7(Shared):
    card = _card(
        "Kinetics of Kinetics-NEC-Drone",
        "the actions of Kinetics-400 that stand for NEC-Drone's 7",
        kinetics400.Kinetics400.card,
        len(NEC_KINETICS),
    )
    actions = tuple(NEC_KINETICS)

    def __init__(self, path: str, test: str = "val", lists: str = "", partial: bool = False) -> None:
        root = folder(path)
        labels = share(kinetics400.read_labels(folder(lists or root), test), NEC_KINETICS, "kinetics400")
        super().__init__(labels, list_files(root, parts=1), partial)


@register("nec-drone7")
class NecDrone7(nec_drone.NecDrone):
    card = replace(
        nec_drone.NecDrone.card,
        title="NEC-Drone-7",
        about="the 7 actions of NEC-Drone that have counterparts in Kinetics-400",
        layout=nec_drone.NecDrone.card.layout.replace("16", "7"),
        actions=len(nec_drone.SEVEN),
    )
    actions = nec_drone.SEVEN
    prefix = "NEC-Drone-7"
    subset = True

    def _label(self, row: nec_drone.Row, codes: dict[int, str]) -> Label:
        if not 0 <= row.label < len(self.actions):
            raise UserError(f"nec-drone7: {row.folder} has the label {row.label}; there are {len(self.actions)}")
        return Label(row.name, self.actions[row.label], row.part, subject=row.actor, domain="nec-drone")
