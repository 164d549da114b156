"""CenterFace (Xu et al., 2019): faces and their five points. For attacks: the anonymizers' finder is another net."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from actonym import weights
from actonym.nets.runtime import Array, Network

STRIDE = 4  # of the heat map
MULTIPLE = 32  # sides must be a multiple of this
THRESHOLD = 0.35
OVERLAP = 0.3  # IoU above which two boxes are the same face; CenterFace's own
# The file fixes its input at 10 x 3 x 32 x 32, though nothing in the graph depends on it: three sizes become unknown.
FIXED, FREE = (bytes.fromhex(f"0a02{a}0a0208030a02{b}0a02{b}") for a, b in (("080a", "0820"), ("1200", "1200")))


@dataclass(frozen=True)
class Faces:
    """The faces of one frame, in its pixels, the surest first."""

    boxes: Tensor  # [K, 4]: left, top, right, bottom
    scores: Tensor  # [K]
    points: Tensor  # [K, 5, 2]: left eye, right eye, nose, corners of the mouth, as the picture shows them

    def __len__(self) -> int:
        return len(self.scores)


@lru_cache(maxsize=1)
def load(path: Path) -> Network:
    return Network(path.read_bytes().replace(FIXED, FREE))


def find(frames: Tensor, threshold: float = THRESHOLD, batch: int = 8) -> list[Faces]:
    """The faces of each of `frames`, uint8 `[T, 3, H, W]`, at their full resolution."""
    net = load(weights.path("centerface"))
    height, width = frames.shape[-2:]
    size = tuple(-(-side // MULTIPLE) * MULTIPLE for side in (height, width))
    scale = torch.tensor([width / size[1], height / size[0]])
    found = []
    for part in frames.split(batch):
        pictures = part.float()
        if size != (height, width):
            pictures = interpolate(pictures, size, mode="bilinear", align_corners=False)
        for maps in zip(*net(pictures.numpy()), strict=True):
            found.append(decode(maps, threshold, scale))
    return found


def decode(maps: Sequence[Array], threshold: float, scale: Tensor) -> Faces:
    """Faces from heat map `[1, h, w]`, log sizes, offsets `[2, h, w]` and points `[10, h, w]`; y comes before x."""
    heat, sizes, offsets, points = maps
    rows, columns = np.nonzero(heat[0] > threshold)
    scores = torch.from_numpy(heat[0][rows, columns])
    at = np.stack([columns, rows], 1)

    def pick(values: Array) -> Array:
        """`[K, C / 2, 2]`, x before y."""
        return values[:, rows, columns].T.reshape(len(rows), len(values) // 2, 2)[..., ::-1]

    side = np.exp(pick(sizes)[:, 0]) * STRIDE
    corner = (at + pick(offsets)[:, 0] + 0.5) * STRIDE - side / 2
    boxes = torch.from_numpy(np.concatenate([corner, corner + side], 1)).float() * scale.repeat(2)
    marks = torch.from_numpy(corner[:, None] + pick(points) * side[:, None]).float() * scale
    kept = suppress(boxes, scores)
    return Faces(boxes[kept], scores[kept], marks[kept])


def suppress(boxes: Tensor, scores: Tensor, overlap: float = OVERLAP) -> Tensor:
    """Indices of the boxes that no surer box overlaps, the surest first."""
    order = scores.argsort(descending=True, stable=True)
    over = iou(boxes[order], boxes[order]) > overlap
    kept: list[int] = []
    for place in range(len(order)):
        if not over[place, kept].any():
            kept.append(place)
    return order[kept]


def iou(first: Tensor, second: Tensor) -> Tensor:
    """Intersection over union `[N, M]` of boxes `[N, 4]` and `[M, 4]`."""
    corner = torch.maximum(first[:, None, :2], second[None, :, :2])
    opposite = torch.minimum(first[:, None, 2:], second[None, :, 2:])
    both = (opposite - corner).clamp(min=0).prod(-1)
    areas = [(boxes[:, 2:] - boxes[:, :2]).clamp(min=0).prod(-1) for boxes in (first, second)]
    return both / (areas[0][:, None] + areas[1][None] - both).clamp(min=1e-9)
