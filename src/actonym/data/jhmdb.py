"""JHMDB: 928 clips of HMDB51, 21 actions, with the outline of the person in every frame."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor

from actonym.data import hmdb51
from actonym.data.base import SPLITS, DatasetCard, Video, register
from actonym.data.files import FolderDataset, Label, fields, folder, list_files, locate, one_of, some, stem, warn
from actonym.errors import UserError
from actonym.video.sample import FileVideo

ACTIONS = (
    *("brush_hair", "catch", "clap", "climb_stairs", "golf", "jump", "kick_ball", "pick", "pour", "pullup", "push"),
    *("run", "shoot_ball", "shoot_bow", "shoot_gun", "sit", "stand", "swing_baseball", "throw", "walk", "wave"),
)
SPLIT = {"1": "train", "2": "test"}


class MaskedVideo(FileVideo):
    """A video file whose person masks lie in a MATLAB file."""

    def __init__(self, path: Path, masks: Path) -> None:
        super().__init__(path)
        self.masks = masks

    def mask(self, indices: Sequence[int]) -> Tensor:  # type: ignore[override]
        """uint8 `[1, T, H, W]`: 1 is the person. Frames after the last mask have the last one."""
        found = read_masks(self.masks)
        return found[:, [min(index, found.shape[1] - 1) for index in indices]]


@lru_cache(maxsize=4)
def read_masks(path: Path) -> Tensor:
    """uint8 `[1, T, H, W]` of a MATLAB 5 file with `part_mask` `[H, W, T]`; kept, since a video has several clips."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        mask = loadmat(path)["part_mask"]
    except (MatReadError, OSError, KeyError, ValueError, TypeError, NotImplementedError) as error:
        raise UserError(f"{path} holds no person masks: {error}") from error
    return torch.from_numpy(mask.reshape(*mask.shape[:2], -1).astype("uint8")).permute(2, 0, 1)[None].clamp(max=1)


class MaskedDataset(FolderDataset):
    """A dataset with a mask file for every video."""

    def __init__(self, labels: Sequence[Label], root: Path, masks: Mapping[str, Sequence[Path]], partial: bool) -> None:
        self._masks = masks
        super().__init__(labels, list_files(root), partial)
        samples = [sample for split in SPLITS for sample in self.samples(split)]
        without = [sample.name for sample in samples if not isinstance(sample.video, MaskedVideo)]
        if without and masks:
            warn(f"{self.name}: {len(without)} videos have no person masks ({some(without)})")

    def video(self, label: Label, path: Path) -> Video:
        masks = self._masks.get(f"{label.action}/{path.stem}") or self._masks.get(label.name)
        return MaskedVideo(path, masks[0]) if masks else FileVideo(path)


def list_masks(root: Path, parts: int = 2) -> dict[str, list[Path]]:
    """Mask files by the last parts of their path; none, with a word to the user, where they cannot be read."""
    found = list_files(root, parts, (".mat",))
    if found and find_spec("scipy") is None:
        warn("person masks are left out: reading them needs scipy (pip install 'actonym[masks]')")
        return {}
    return found


@register("jhmdb")
class Jhmdb(MaskedDataset):
    card = DatasetCard(
        title="JHMDB (Jhuang et al., ICCV 2013)",
        about="928 clips of HMDB51, 21 actions, splits 1-3, a person mask for every frame; no private attributes",
        licence="research use; videos of HMDB51 CC BY 4.0",
        source="http://jhmdb.is.tue.mpg.de (JHMDB_video.zip, splits.zip, puppet_mask.zip)",
        layout="ReCompress_Videos/CLASS/CLIP.avi, splits/ and puppet_mask/CLASS/CLIP/puppet_mask.mat",
        actions=len(ACTIONS),
    )
    actions = ACTIONS

    def __init__(self, path: str, split: int = 1, lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with the split files where they do not lie with the clips."""
        root = folder(path)
        files = list_masks(root, parts=3)
        masks = {name.removesuffix("/puppet_mask"): paths for name, paths in files.items() if "/puppet_mask" in name}
        super().__init__(read_labels(folder(lists or root), split), root, masks, partial)


def read_labels(root: Path, split: int = 1) -> list[Label]:
    """What the official lists below `root` say; no video is needed for it."""
    one_of("official split of JHMDB", split, (1, 2, 3))
    labels = []
    for action in ACTIONS:
        path = locate(root, "splits") / f"{action}_test_split{split}.txt"
        for clip, part in fields(path, 2):
            if part not in SPLIT:
                raise UserError(f"{path.name}: {clip} is in part {part!r}; parts are 1 and 2")
            name = stem(clip)
            labels.append(Label(f"{action}/{name}", action, SPLIT[part], source=hmdb51.film(name, action)))
    return labels
