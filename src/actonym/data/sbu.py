"""SBU Kinect Interaction: pairs of seven people, eight interactions, in colour and depth."""

from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor

from actonym.data.base import DatasetCard, Video, register
from actonym.data.files import FolderDataset, Label, fields, folder, list_files, one_of, with_shared_validation
from actonym.data.images import ImagesVideo, list_pictures, picture_folders
from actonym.errors import UserError, unknown

# Folders 01 to 08. The dataset's description does not say which is which, and copies of it on the web disagree. In this
# order the two that have one sequence a pair (05 and 06) are those in which both people do the same, as they should.
ACTIONS = ("approach", "depart", "kick", "push", "shake hands", "hug", "exchange an object", "punch")
SEQUENCES = {  # how many of each action, in the order of ACTIONS; the first person acts, the second reacts
    **{"s01s02": "22221132", "s01s03": "22221113", "s01s07": "22221122", "s02s01": "33311121", "s02s03": "22220121"},
    **{"s02s06": "22221122", "s02s07": "22321122", "s03s02": "22211122", "s03s04": "22221122", "s03s05": "12221122"},
    **{"s03s06": "22120122", "s04s02": "22121122", "s04s03": "22221122", "s04s06": "22221122", "s05s02": "22230102"},
    **{"s05s03": "22121112", "s06s02": "22121121", "s06s03": "22221120", "s06s04": "22221122", "s07s01": "22221122"},
    **{"s07s03": "22221122"},
}
FOLDS = (  # of the dataset's README: whole pairs, but a person can be in several folds
    ("s01s02", "s03s04", "s05s02", "s06s04"),
    ("s02s03", "s02s07", "s03s05", "s05s03"),
    ("s01s03", "s01s07", "s07s01", "s07s03"),
    ("s02s01", "s02s06", "s03s02", "s03s06"),
    ("s04s02", "s04s03", "s04s06", "s06s02", "s06s03"),
)
IMAGES = {"rgb": "rgb_", "depth": "depth_"}


class DepthVideo(ImagesVideo):
    """Depth images as a grey video. Those of 16 bits are scaled to bytes by the farthest point of the sequence."""

    def frames(self, indices: Sequence[int]) -> Tensor:
        """uint8 `[3, T, H, W]`, three times the same plane."""
        clip = np.stack([read_depth(self.paths[index]) for index in indices])
        if clip.dtype != np.uint8:
            clip = (clip * (255 / self.farthest)).round().astype(np.uint8)
        return torch.from_numpy(clip)[None].repeat(3, 1, 1, 1)

    @cached_property
    def farthest(self) -> int:
        return max(1, *(int(read_depth(path).max()) for path in self.paths))


class SbuVideo(ImagesVideo):
    """A sequence in colour, which has depth images beside it."""

    def __init__(self, place: Path) -> None:
        super().__init__(partial(list_pictures, place, IMAGES["rgb"]))
        self.depth = DepthVideo(partial(list_pictures, place, IMAGES["depth"]))


@register("sbu")
class Sbu(FolderDataset):
    """`images=depth` hands out the depth images as the video; else a sample's `video.depth` has them.

    The subject is the pair, whoever acts. The five folds of the README keep pairs of one recording together, not
    people. With `lists` the lists of BDQ (train.txt, val.txt) or of Ilic et al. (train.txt, test.txt) decide: every
    pair in both parts, so that an attacker can learn who is seen.
    """

    card = DatasetCard(
        title="SBU Kinect Interaction (Yun et al., CVPR Workshops 2012)",
        about="282 sequences of pairs of seven people, eight interactions, in colour and depth; five folds",
        licence="research use",
        source="https://www3.cs.stonybrook.edu/~kyun/research/kinect_interaction",
        papers=("RAPrivacy",),
        layout="s01s02/01/001/rgb_000001.png, depth_000001.png and so on",
        actions=len(ACTIONS),
    )
    actions = ACTIONS

    def __init__(self, path: str, fold: int = 1, images: str = "rgb", lists: str = "", partial: bool = False) -> None:
        """`fold` is the one for testing; `images` is rgb or depth; `lists` a folder with another split."""
        if images not in IMAGES:
            raise unknown("images of sbu", images, IMAGES)
        self.images = images
        labels = read_lists(folder(lists)) if lists else read_labels(fold)
        found = picture_folders(folder(path), 3, IMAGES[images])
        super().__init__(labels, {name: [place] for name, place in found.items()}, partial)

    def video(self, label: Label, path: Path) -> Video:
        video = SbuVideo(path)
        return video.depth if self.images == "depth" else video


def read_labels(fold: int = 1) -> list[Label]:
    """All 282 sequences, one fold for testing."""
    one_of("fold of SBU", fold, range(1, len(FOLDS) + 1))
    return [
        _label(f"{pair}/{place:02d}/{take:03d}", "test" if pair in FOLDS[fold - 1] else "train")
        for pair, counts in SEQUENCES.items()
        for place, count in enumerate(counts, 1)
        for take in range(1, int(count) + 1)
    ]


def read_lists(root: Path) -> list[Label]:
    """The two lists of another split: `SBU/s03s06/s03s06/01/002,1,26,8,0` or `s03s06/01/002,1,26,8,0`."""
    found = list_files(root, 1, (".txt",))
    labels = []
    for split, names in (("train", ("train",)), ("test", ("test", "val"))):
        paths = [found[name][0] for name in names if name in found]
        if not paths:
            raise UserError(f"{root} has no {' or '.join(f'{name}.txt' for name in names)}")
        for path, *_, action in fields(paths[0], 5, ","):
            if path != "name":
                label = _label("/".join(path.split("/")[-3:]), split)
                if str(ACTIONS.index(label.action)) != action:
                    raise UserError(f"{paths[0].name}: {path} is not of action {action}")
                labels.append(label)
    return with_shared_validation(labels)


def _label(name: str, split: str) -> Label:
    pair, action, *_ = name.split("/")
    if pair not in SEQUENCES or action not in {f"{place:02d}" for place in range(1, len(ACTIONS) + 1)}:
        raise UserError(f"sbu: there is no sequence {name}")
    people = sorted((pair[:3], pair[3:]))
    return Label(name, ACTIONS[int(action) - 1], split, subject="".join(people), source=pair)


def read_depth(path: Path) -> np.ndarray:
    """`[H, W]`, 8 or 16 bits as in the file."""
    picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE | cv2.IMREAD_ANYDEPTH)
    if picture is None or picture.dtype not in (np.uint8, np.uint16):
        raise UserError(f"{path} is no depth image")
    return picture
