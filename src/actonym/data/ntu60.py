"""NTU RGB+D 60: 56,880 videos of 40 people, 60 actions, three cameras."""

import re
from collections.abc import Iterable
from pathlib import Path

from actonym.data.base import DatasetCard, register
from actonym.data.files import Files, FolderDataset, Label, folder, list_files
from actonym.data.genders import ATTRIBUTE, read_genders, with_genders
from actonym.errors import UserError, unknown

ACTIONS = (  # A001 to A060
    *("drink water", "eat a meal", "brush teeth", "brush hair", "drop something", "pick something up", "throw"),
    *("sit down", "stand up", "clap", "read", "write", "tear up paper", "put on a jacket", "take off a jacket"),
    *("put on a shoe", "take off a shoe", "put on glasses", "take off glasses", "put on a hat", "take off a hat"),
    *("cheer up", "wave a hand", "kick something", "reach into a pocket", "hop", "jump up", "make a phone call"),
    *("play with a phone", "type on a keyboard", "point with a finger", "take a selfie", "check the time"),
    *("rub two hands", "nod or bow", "shake the head", "wipe the face", "salute", "put palms together"),
    *("cross hands in front", "sneeze or cough", "stagger", "fall", "touch the head in pain"),
    *("touch the chest in pain", "touch the back in pain", "touch the neck in pain", "vomit", "fan oneself"),
    *("punch another person", "kick another person", "push another person", "pat another person's back"),
    *("point at another person", "hug another person", "give something to another person"),
    *("touch another person's pocket", "shake hands", "walk towards each other", "walk apart"),
)
TRAIN_SUBJECTS = {1, 2, 4, 5, 8, 9, 13, 14, 15, 16, 17, 18, 19, 25, 27, 28, 31, 34, 35, 38}
TRAIN_CAMERAS = {2, 3}
CAMERAS, TAKES = (1, 2, 3), (1, 2)
PROTOCOLS = ("cross-subject", "cross-view")
CARD = DatasetCard(
    title="NTU RGB+D 60 (Shahroudy et al., CVPR 2016)",
    about="56,880 videos of 40 people, 60 actions, three cameras; cross-subject and cross-view; gender from your file",
    licence="academic research only, on request",
    source="https://rose1.ntu.edu.sg/dataset/actionRecognition",
    papers=("SPLAVU",),
    layout="S001C001P001R001A001_rgb.avi and so on",
    actions=len(ACTIONS),
)
NAME = re.compile(r"S(\d{3})C(\d{3})P(\d{3})R(\d{3})A(\d{3})")  # setup, camera, person, take, action


@register("ntu60")
class Ntu60(FolderDataset):
    """A person does all actions twice before three cameras in each setup, so a folder's names say what it lacks.

    Whose gender is known (`genders`, a CSV with the columns subject and gender) has the attribute `female`. In the
    actions of two people the subject is the one that the name gives; the other is not known.
    """

    card = CARD
    actions = ACTIONS
    total = 56_880

    def __init__(self, path: str, protocol: str = "cross-subject", genders: str = "", partial: bool = False) -> None:
        """`protocol` is cross-subject or cross-view."""
        files = list_videos(folder(path))
        labels = read_labels(files, protocol)
        if genders:
            self.attributes = (ATTRIBUTE,)
            labels = with_genders(labels, read_genders(genders))
        super().__init__(labels, files, partial)


def list_videos(root: Path) -> Files:
    """The videos of a folder by name, without the rest of NTU RGB+D 120 if that is there too."""
    videos: dict[str, list[Path]] = {}
    for name, paths in list_files(root, 1).items():
        if not _of_120(name.removesuffix("_rgb")):
            videos.setdefault(name.removesuffix("_rgb"), []).extend(paths)
    return videos


def read_labels(names: Iterable[str], protocol: str = "cross-subject") -> list[Label]:
    """The labels of all videos of the people and setups that occur in the names."""
    if protocol not in PROTOCOLS:
        raise unknown("protocol of ntu60", protocol, PROTOCOLS)
    codes = [tuple(map(int, found.groups())) for found in map(NAME.fullmatch, names) if found]
    if not codes:
        raise UserError(f"ntu60: no video is named {CARD.layout}")
    labels = []
    for setup, person in sorted({(code[0], code[2]) for code in codes}):
        for camera in CAMERAS:
            seen = person in TRAIN_SUBJECTS if protocol == "cross-subject" else camera in TRAIN_CAMERAS
            for take in TAKES:
                for place, action in enumerate(ACTIONS, 1):
                    labels.append(
                        Label(
                            f"S{setup:03d}C{camera:03d}P{person:03d}R{take:03d}A{place:03d}",
                            action,
                            "train" if seen else "test",
                            subject=f"P{person:03d}",
                            source=f"S{setup:03d}P{person:03d}",
                        )
                    )
    return labels


def _of_120(name: str) -> bool:
    found = NAME.fullmatch(name)
    return found is not None and int(found[5]) > len(ACTIONS)
