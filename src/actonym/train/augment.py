"""Augmentation of uint8 clips, before they become floats: four times less memory to move."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

NOISE = 4  # uniform numbers in 0..1 drawn for each clip
SHIFT = 1 / 16  # of a clip's size, by which it may be moved

# (video uint8 [B, 3, T, H, W], mask uint8 [B, 1, T, H, W] or None, noise [B, NOISE]) -> video, mask.
# The loop draws the noise for the whole global batch: a clip is changed in the same way whichever process has it.
Augment = Callable[[Tensor, Tensor | None, Tensor], tuple[Tensor, Tensor | None]]


def flip_and_shift(
    video: Tensor, mask: Tensor | None, noise: Tensor, shift: float = SHIFT, flip: bool = True
) -> tuple[Tensor, Tensor | None]:
    """Each clip mirrored at random, and moved by up to `shift` of its size; border pixels are repeated.

    All frames of a clip are moved alike, and its mask with them.
    """
    rows = _moved(video.shape[-2], noise[:, 1], shift)
    columns = _moved(video.shape[-1], noise[:, 2], shift)
    if flip:
        columns = torch.where(noise[:, :1] < 0.5, columns.flip(1), columns)
    moved = partial(pick, rows=rows, columns=columns)
    return moved(video), None if mask is None else moved(mask)


def _moved(size: int, noise: Tensor, shift: float) -> Tensor:
    """For each clip, which pixel of the old row (or column) lands on each of the new one: `[B, size]`."""
    most = round(size * shift)
    offset = (noise * (2 * most + 1)).long().clamp_(max=2 * most) - most
    return (torch.arange(size) + offset[:, None]).clamp_(0, size - 1)


def pick(video: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Of each clip the pixels where some of its rows, `[B, h]`, and columns, `[B, w]`, cross: `[B, C, T, h, w]`."""
    b, c, t, h, w = video.shape
    pixels = (rows[:, :, None] * w + columns[:, None, :]).view(b, 1, -1).to(video.device)
    picked = video.reshape(b, c * t, h * w).gather(2, pixels.expand(b, c * t, -1))
    return picked.view(b, c, t, rows.shape[1], columns.shape[1])
