"""UNet (Ronneberger et al., MICCAI 2015) and UNet++ (Zhou et al., DLMIA 2018): images `[N, 3, H, W]` to images in 0..1.

Both halve the picture four times: sides must be multiples of 16. In small they can `fold` squares of pixels into
channels first, and unfold them at the end: of few channels at full size a processor makes little use.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import pixel_shuffle, pixel_unshuffle

MULTIPLE = 16


class UNet(nn.Module):
    """SPAct's anonymizer: widths 64-128-256-512-512, bilinear enlargement, a sigmoid at the end."""

    def __init__(self, width: int = 64, fold: int = 1) -> None:
        super().__init__()
        self.fold, planes = fold, _planes(fold)
        widths = [width * factor for factor in (1, 2, 4, 8, 8)]
        self.first = _twice(planes, width, width)
        self.down = nn.ModuleList(_twice(i, o, o) for i, o in pairwise(widths))
        joined = [2 * below for below in widths[-2::-1]]  # what comes from below and across: as wide as each other
        self.up = nn.ModuleList(
            _twice(i, i // 2, o) for i, o in zip(joined, [4 * width, 2 * width, width, width], strict=True)
        )
        self.last = nn.Conv2d(width, planes, 1)

    def forward(self, images: Tensor) -> Tensor:
        x = self.first(pixel_unshuffle(images, self.fold))
        across = []
        for layers in self.down:
            across.append(x)
            x = layers(_halved(x))
        for layers in self.up:
            x = layers(torch.cat([across.pop(), _doubled(x)], 1))
        return pixel_shuffle(self.last(x), self.fold).sigmoid()


class UNetPlusPlus(nn.Module):
    """TeD-SPAD's anonymizer: between the two sides of a UNet every level has nodes of its own, densely connected.

    Node (i, j) sees all nodes before it on its level i, and the enlarged node (i + 1, j - 1) below.
    """

    def __init__(self, width: int = 32, fold: int = 1) -> None:
        super().__init__()
        self.fold, planes = fold, _planes(fold)
        widths = [width * 2**level for level in range(5)]
        self.nodes = nn.ModuleDict()
        for level, own in enumerate(widths):
            self.nodes[f"{level},0"] = _twice(widths[level - 1] if level else planes, own, own)
            for column in range(1, 5 - level):
                self.nodes[f"{level},{column}"] = _twice(column * own + widths[level + 1], own, own)
        self.last = nn.Conv2d(width, planes, 1)

    def forward(self, images: Tensor) -> Tensor:
        made = {(0, 0): self.nodes["0,0"](pixel_unshuffle(images, self.fold))}
        for depth in range(1, 5):
            made[depth, 0] = self.nodes[f"{depth},0"](_halved(made[depth - 1, 0]))
            for column in range(1, depth + 1):
                level = depth - column
                before = [made[level, k] for k in range(column)]
                joined = torch.cat([*before, _doubled(made[level + 1, column - 1])], 1)
                made[level, column] = self.nodes[f"{level},{column}"](joined)
        return pixel_shuffle(self.last(made[0, 4]), self.fold).sigmoid()


def _planes(fold: int) -> int:
    """Of a picture whose squares of `fold` x `fold` pixels are folded into channels."""
    if not isinstance(fold, int) or fold < 1:
        raise ValueError(f"fold must be a whole number of pixels, at least 1, not {fold!r}")
    return 3 * fold**2


def _twice(inputs: int, middle: int, outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for i, o in ((inputs, middle), (middle, outputs)):
        layers += [nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


def _halved(x: Tensor) -> Tensor:
    return nn.functional.max_pool2d(x, 2)


def _doubled(x: Tensor) -> Tensor:
    return nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True)
