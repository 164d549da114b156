"""Videos that datasets hand out as folders of pictures."""

import os
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor

from actonym.errors import UserError

IMAGES = (".jpg", ".jpeg", ".png", ".bmp", ".ppm")


class ImagesVideo:
    """Frames are pictures, in this order; they are brought to the size of the first.

    Instead of the paths one may give what lists them, which is called when frames are first asked for.
    """

    def __init__(self, paths: Sequence[Path] | Callable[[], Sequence[Path]]) -> None:
        self._paths = paths

    @cached_property
    def paths(self) -> Sequence[Path]:
        return self._paths() if callable(self._paths) else self._paths

    @property
    def length(self) -> int:
        if not self.paths:
            raise UserError("no pictures of it are there")
        return len(self.paths)

    def frames(self, indices: Sequence[int]) -> Tensor:
        """uint8 `[3, T, H, W]`."""
        read = {index: read_picture(self.paths[index]) for index in set(indices)}  # a still image is asked for often
        pictures = [read[index] for index in indices]
        height, width = pictures[0].shape[:2]
        same = [p if p.shape == pictures[0].shape else cv2.resize(p, (width, height)) for p in pictures]
        return torch.from_numpy(np.stack(same)).permute(3, 0, 1, 2).contiguous()

    def mask(self, indices: Sequence[int]) -> None:
        """Where people are is not known of plain pictures."""


def read_picture(path: Path) -> np.ndarray:
    """uint8 `[H, W, 3]`, RGB."""
    try:
        data = np.fromfile(path, np.uint8)  # unlike imread, this takes any file name on any system
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    picture = cv2.imdecode(data, cv2.IMREAD_COLOR) if data.size else None
    if picture is None:
        raise UserError(f"{path} is not a picture")
    return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)


def list_pictures(folder: Path, prefix: str = "") -> list[Path]:
    """The pictures of a folder in the order of the last number in their names."""
    found = [entry for entry in folder.iterdir() if is_picture(entry.name, prefix)]
    return sorted(found, key=lambda path: (number(path), path.name))


def is_picture(name: str, prefix: str = "") -> bool:
    return name.startswith(prefix) and name.lower().endswith(IMAGES) and not name.startswith(".")


def number(path: Path) -> int:
    """The last number in a picture's name, by which frames are counted; -1 where there is none."""
    digits = re.findall(r"\d+", path.stem)
    return int(digits[-1]) if digits else -1


def picture_folders(root: Path, parts: int, prefix: str = "") -> dict[str, Path]:
    """The folders below `root` that hold pictures, by the last `parts` parts of their path."""
    found: dict[str, Path] = {}
    for at, folders, names in os.walk(root):
        folders.sort()
        if any(is_picture(name, prefix) for name in names):
            found.setdefault("/".join(Path(at).relative_to(root).parts[-parts:]), Path(at))
    return found
