"""Spatial transforms of clips, `[3, T, H, W]` or `[B, 3, T, H, W]`, float or bytes: the same for all frames."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import interpolate


def resize(clip: Tensor, size: tuple[int, int], nearest: bool = False) -> Tensor:
    """Bring frames to `(height, width)`, averaging when they shrink so that fine patterns do not alias.

    `nearest` takes the nearest pixel instead: for masks, whose values must not be mixed.
    """
    if tuple(clip.shape[-2:]) == tuple(size):
        return clip
    planes = clip.reshape(1, -1, *clip.shape[-2:])
    planes = planes if clip.is_floating_point() else planes.float()
    if nearest:
        planes = interpolate(planes, size, mode="nearest-exact")
    else:
        planes = interpolate(planes, size, mode="bilinear", align_corners=False, antialias=True)
    if not clip.is_floating_point():
        planes = planes.round_().clamp_(0, 255).to(clip.dtype)
    return planes.reshape(*clip.shape[:-2], *size)


def resize_short(clip: Tensor, size: int, nearest: bool = False) -> Tensor:
    """Bring the short side to `size`; the long one follows in proportion."""
    height, width = clip.shape[-2:]
    scale = size / min(height, width)
    return resize(clip, (max(size, round(height * scale)), max(size, round(width * scale))), nearest)


def crop(clip: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """A window of every frame; it must lie inside the frame."""
    if top < 0 or left < 0 or top + height > clip.shape[-2] or left + width > clip.shape[-1]:
        raise ValueError(f"a {height}x{width} window at ({top}, {left}) leaves a frame of {tuple(clip.shape[-2:])}")
    return clip[..., top : top + height, left : left + width]


def centre_crop(clip: Tensor, size: int) -> Tensor:
    """The square of `size` pixels in the middle."""
    height, width = clip.shape[-2:]
    return crop(clip, (height - size) // 2, (width - size) // 2, size, size)


def random_crop(clip: Tensor, size: int, generator: torch.Generator | None = None) -> Tensor:
    """A square of `size` pixels somewhere, at the same place in all frames."""
    top, left = (int(torch.randint(0, max(0, side - size) + 1, (1,), generator=generator)) for side in clip.shape[-2:])
    return crop(clip, top, left, size, size)


def flip(clip: Tensor) -> Tensor:
    """Mirror left and right."""
    return clip.flip(-1)


def normalize(clip: Tensor, mean: Sequence[float], std: Sequence[float]) -> Tensor:
    """Subtract the mean and divide by the deviation of each colour, as pretrained networks expect."""
    clip = clip if clip.is_floating_point() else clip.float() / 255
    centre, spread = (clip.new_tensor(values).view(3, 1, 1, 1) for values in (mean, std))
    return (clip - centre) / spread
