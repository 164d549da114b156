"""CASIA-B: the gait of 124 people, seen from 11 sides, with and without bag and coat."""

from functools import partial
from pathlib import Path

from actonym.data.base import DatasetCard, Video, register
from actonym.data.files import FolderDataset, Label, folder, list_files
from actonym.data.images import ImagesVideo, list_pictures, picture_folders
from actonym.errors import unknown
from actonym.video.sample import FileVideo

ACTIONS = {"nm": "walk", "bg": "walk with a bag", "cl": "walk in a coat"}
WALKS = (*(f"nm-{take:02d}" for take in range(1, 7)), "bg-01", "bg-02", "cl-01", "cl-02")
GALLERY = WALKS[:4]
VIEWS = tuple(f"{angle:03d}" for angle in range(0, 181, 18))
PEOPLE = 124
TRAIN_PEOPLE = 74  # of the large-sample protocol of the gait literature
PROTOCOLS = ("retrieval", "large-sample")


@register("casia-b")
class CasiaB(FolderDataset):
    """Who walks is what an attacker wants: the subject is looked up in the gallery. A sample's domain is its role,
    `gallery` (nm-01 to nm-04) or `probe` (the rest).

    `retrieval` is SPLAVU's protocol: nothing is trained, all people are in the test part. Its text has "the first 4
    repetitions of each walk in the gallery and the last 2 per subject as the probe"; walks with bag or coat have two
    repetitions only, and we take them as probes, as the gait literature does. `large-sample` is that literature's
    protocol: people 1 to 74 are for training.
    """

    card = DatasetCard(
        title="CASIA-B (Yu et al., ICPR 2006)",
        about="13,640 videos of 124 people who walk, 11 views, with bag or coat; gallery and probe to identify by gait",
        licence="research use, on request",
        source="http://www.cbsr.ia.ac.cn/english/Gait%20Databases.asp",
        papers=("SPLAVU",),
        layout="001-nm-01-000.avi and so on, or as silhouettes 001/nm-01/000/*.png",
        actions=len(ACTIONS),
    )
    actions = tuple(ACTIONS)

    def __init__(
        self, path: str, protocol: str = "retrieval", silhouettes: bool = False, partial: bool = False
    ) -> None:
        """`silhouettes` takes the folders of outlines instead of the videos."""
        root = folder(path)
        files = list_silhouettes(root) if silhouettes else list_files(root, 1)
        scenes = {name: paths for name, paths in files.items() if "-bkgrd-" not in name}  # without the empty rooms
        super().__init__(read_labels(protocol), scenes, partial)

    def video(self, label: Label, path: Path) -> Video:
        return ImagesVideo(partial(list_pictures, path)) if path.is_dir() else FileVideo(path)


def read_labels(protocol: str = "retrieval") -> list[Label]:
    """All 13,640 videos."""
    if protocol not in PROTOCOLS:
        raise unknown("protocol of casia-b", protocol, PROTOCOLS)
    return [
        Label(
            f"{person:03d}-{walk}-{view}",
            walk[:2],
            "train" if protocol == "large-sample" and person <= TRAIN_PEOPLE else "test",
            subject=f"{person:03d}",
            source=f"{person:03d}-{walk}",
            domain="gallery" if walk in GALLERY else "probe",
            text=ACTIONS[walk[:2]],
        )
        for person in range(1, PEOPLE + 1)
        for walk in WALKS
        for view in VIEWS
    ]


def list_silhouettes(root: Path) -> dict[str, list[Path]]:
    """Folders of outlines, named as the videos are."""
    return {name.replace("/", "-"): [place] for name, place in picture_folders(root, 3).items()}
