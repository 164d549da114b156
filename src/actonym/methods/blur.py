"""Blurring: people are smoothed over (the StrongBlur and WeakBlur rows of SPAct's and STPrivacy's tables)."""

import torch
from torch import Tensor
from torch.nn.functional import conv2d, interpolate, pad

from actonym.methods.base import MethodCard, register
from actonym.methods.cover import HOLD, KNOBS, Cover

STRENGTHS = {"weak": 0.02, "strong": 0.06}  # ours: standard deviation as a share of the short side


@register("blur")
class Blur(Cover):
    """The boxes of people are blurred with a Gaussian, as strong at 4K as at 112 pixels."""

    card = MethodCard(
        title="Blurring",
        idea="Find people and blur their boxes. The width of the blur is a share of the frame's short side.",
        paper="Dave et al., SPAct, CVPR 2022 (baseline)",
        year=2022,
        knobs={"strength": "weak, strong, or the standard deviation as a share of the short side", **KNOBS},
        reported={
            "strength=strong": {
                "vp-hmdb51": {"top1": 0.4091, "f1": 0.655, "cmap": 0.7433},
                "vp-ucf101": {"top1": 0.7394, "f1": 0.672, "cmap": 0.7558},
            },
            "strength=weak": {
                "vp-hmdb51": {"top1": 0.4724, "f1": 0.663, "cmap": 0.7511},
                "vp-ucf101": {"top1": 0.7731, "f1": 0.678, "cmap": 0.7603},
            },
        },
    )

    def __init__(
        self, strength: str | float = "strong", finder: str = "person", shape: str = "box", hold: int = HOLD
    ) -> None:
        super().__init__(finder, shape, hold)
        if isinstance(strength, str) and strength not in STRENGTHS:
            raise ValueError(f"strength must be weak, strong or a number, not {strength!r}")
        self.share = STRENGTHS[strength] if isinstance(strength, str) else float(strength)

    def cover(self, clip: Tensor, region: Tensor) -> Tensor:
        sigma = max(self.share * min(clip.shape[-2:]), 1e-3)
        return torch.where(region, gaussian_blur(clip, sigma), clip)


def gaussian_blur(clip: Tensor, sigma: float) -> Tensor:
    """Each frame convolved with a Gaussian, its border pixels repeated outwards; cut at three deviations.

    A wide Gaussian leaves nothing that a smaller picture could not hold: it is applied to one, in a fraction of the
    time.
    """
    b, c, t, h, w = clip.shape
    shrink = min(int(sigma // 4), h, w)
    if shrink > 1:
        frames = clip.transpose(1, 2).reshape(b * t, c, h, w)
        small = interpolate(frames, (h // shrink, w // shrink), mode="area")
        small = gaussian_blur(small[:, :, None], sigma / shrink)[:, :, 0]
        large = interpolate(small, (h, w), mode="bilinear", align_corners=False)
        return large.reshape(b, t, c, h, w).transpose(1, 2)
    frames = clip.transpose(1, 2).reshape(b * t * c, 1, h, w)
    radius = max(1, round(3 * sigma))
    kernel = torch.exp(-0.5 * (torch.arange(-radius, radius + 1, device=clip.device) / sigma) ** 2).to(clip.dtype)
    kernel = kernel / kernel.sum()
    frames = conv2d(pad(frames, (radius, radius, 0, 0), mode="replicate"), kernel.view(1, 1, 1, -1))
    frames = conv2d(pad(frames, (0, 0, radius, radius), mode="replicate"), kernel.view(1, 1, -1, 1))
    return frames.reshape(b, t, c, h, w).transpose(1, 2).clamp(0, 1)
