"""UCF-Crime: 1,900 long videos of surveillance cameras, 13 kinds of crime and accident, and normal days."""

import re
from pathlib import Path

from actonym.data.base import DatasetCard, Segment, register
from actonym.data.files import FolderDataset, Label, fields, folder, list_files, stem
from actonym.errors import UserError

NORMAL = "Normal"
ACTIONS = (
    *("Abuse", "Arrest", "Arson", "Assault", "Burglary", "Explosion", "Fighting", NORMAL, "RoadAccidents", "Robbery"),
    *("Shooting", "Shoplifting", "Stealing", "Vandalism"),
)
FPS = 30  # of all videos; the official labels count frames
TRAIN = ("Anomaly_Train", "ucf-i3d", "rtfm_ucf-i3d")
TEST = ("Temporal_Anomaly_Annotation", "Temporal_Anomaly_Annotation_for_Testing_Videos")


@register("ucf-crime")
class UcfCrime(FolderDataset):
    """Only test videos say when: `segments` are what is not normal in them, none in a normal one."""

    card = DatasetCard(
        title="UCF-Crime (Sultani et al., CVPR 2018)",
        about="1,900 long surveillance videos, 13 anomalies and normal; 1,610 for training, 290 with times for testing",
        licence="research use; videos of YouTube and LiveLeak",
        source="https://www.crcv.ucf.edu/projects/real-world",
        papers=("SPLAVU",),
        layout="CLASS/VIDEO_x264.mp4, Anomaly_Train.txt and Temporal_Anomaly_Annotation.txt",
        actions=len(ACTIONS),
    )
    actions = ACTIONS

    def __init__(self, path: str, lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with the two lists where they do not lie with the videos."""
        root = folder(path)
        super().__init__(read_labels(folder(lists or root)), list_files(root, 1), partial)


def read_labels(root: Path) -> list[Label]:
    """What the two lists below `root` say; no video is needed for it. RTFM's list of training features serves too."""
    train = [name_of(line[0]) for line in fields(_find(root, TRAIN), 1)]
    labels = [Label(name, action_of(name), "train", source=name) for name in train]
    path = _find(root, TEST)
    for video, action, *frames in fields(path, 6):
        name = name_of(video)
        if action not in ACTIONS:
            raise UserError(f"{path.name}: {video} has the unknown action {action!r}")
        labels.append(Label(name, action, "test", source=name, segments=_segments(path, video, action, frames)))
    return labels


def name_of(path: str) -> str:
    """`Abuse028_x264` of a video, or of the file of features that RTFM names in the Windows way."""
    return stem(path.replace("\\", "/").split("/")[-1]).removesuffix(".npy").removesuffix("_i3d")


def action_of(name: str) -> str:
    """`Abuse` of `Abuse001_x264`; the videos of normal days are called Normal_Videos."""
    found = re.match(r"[A-Za-z]+", name)
    if found is None or found[0] not in ACTIONS:
        raise UserError(f"ucf-crime: {name!r} is not named after an action")
    return found[0]


def _segments(path: Path, video: str, action: str, frames: list[str]) -> tuple[Segment, ...]:
    """Up to two spans of frames; -1 where there is none."""
    try:
        numbers = [int(number) for number in frames[:4]]
    except ValueError as error:
        raise UserError(f"{path.name}: {video} has no frame numbers in {' '.join(frames)!r}") from error
    spans = [(first, last) for first, last in (numbers[:2], numbers[2:]) if first >= 0]
    return tuple(Segment(first / FPS, last / FPS, ACTIONS.index(action)) for first, last in spans)


def _find(root: Path, names: tuple[str, ...]) -> Path:
    found = list_files(root, 1, (".txt", ".list"))
    for name in names:
        if name in found:
            return found[name][0]
    raise UserError(f"{root} has no {names[0]}.txt")
