"""BDQ (Kumawat and Nagahara, ECCV 2022): blur, difference, quantization; sixteen numbers to learn."""

from dataclasses import dataclass
from math import log
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import conv3d, pad

from actonym.methods.base import MethodCard, PixelMethod, register
from actonym.train.adversarial import Supervised
from actonym.train.phase import Phase, Recognizers
from actonym.video.transform import resize, resize_short

FAINTEST = 1 / 255  # range of a clip's differences below which they are not stretched: rounding of the camera


@dataclass
class BDQGame(Supervised):
    """There is nothing to reconstruct: what the encoder shows is never like raw video."""

    reconstruction: float = 0.0
    raw_rehearsal: ClassVar[bool] = False


@register("bdq")
class BDQ(PixelMethod):
    """Blur with a learned width, subtract neighbouring frames, quantize with learned steps.

    Differences are scaled by the least and the greatest of their own clip, never of the batch; and they come out as
    0..1 of that range (the paper scales them back). There are as many as frames: the first one counts twice.
    """

    card = MethodCard(
        title="BDQ",
        idea="Every frame is blurred, the frame before it is subtracted, and the difference is quantized; the blur and "
        "the steps are learned.",
        paper="Kumawat and Nagahara, Privacy-Preserving Action Recognition via Motion Difference Quantization, 2022",
        year=2022,
        needs=frozenset({"action", "privacy"}),
        knobs={"train.privacy": "weight of what is hidden against the action", "levels": "steps of the quantization"},
    )

    game = BDQGame

    def __init__(
        self, levels: int = 15, slope: float = 5.0, sigma: float = 3.0, kernel: int = 5, side: int = 224
    ) -> None:
        """`sigma` is where the blur's width starts; `kernel`: its size in pixels, at the short side `side`."""
        super().__init__()
        if kernel % 2 == 0 or levels < 1 or sigma <= 0:
            raise ValueError(f"kernel must be odd, levels and sigma above 0, not {kernel}, {levels}, {sigma}")
        self.slope, self.kernel, self.working_size = slope, kernel, side
        self.log_sigma = nn.Parameter(torch.tensor(log(sigma)))
        self.steps = nn.Parameter(torch.arange(levels) + 0.5)

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        assert self.working_size is not None
        small = resize_short(clip, self.working_size)
        shown = self.quantize(difference(self.blur(small)))
        return resize(shown, (clip.shape[-2], clip.shape[-1])).clamp(0, 1)

    def blur(self, clip: Tensor) -> Tensor:
        """A Gaussian of `kernel` x `kernel` pixels, colours and frames by themselves."""
        reach = self.kernel // 2
        distance = torch.arange(-reach, reach + 1, device=clip.device)
        weight = (-distance.square() / (2 * (2 * self.log_sigma).exp())).softmax(0)
        out = pad(clip, (reach, reach, reach, reach, 0, 0), mode="replicate").flatten(0, 1)[:, None]
        out = conv3d(conv3d(out, weight.view(1, 1, 1, -1, 1)), weight.view(1, 1, 1, 1, -1))
        return out.view_as(clip)

    def quantize(self, differences: Tensor) -> Tensor:
        """Each clip's range onto 0..L; then L soft steps up. A step that leaves that range stays at its end."""
        levels = len(self.steps)
        low, high = (extreme((1, 2, 3, 4), keepdim=True) for extreme in (differences.amin, differences.amax))
        scaled = (differences - low) / (high - low).clamp_min(FAINTEST) * levels
        out = torch.zeros_like(scaled)
        for step in self.steps.clamp(0, levels).unbind():
            out = out + (self.slope * (scaled - step)).sigmoid()
        return out / levels

    def phases(self, recognizers: Recognizers) -> list[Phase]:
        return self.game(self, recognizers, **self.training_settings).phases()


def difference(clip: Tensor) -> Tensor:
    """Each frame minus the one before it; the first of these twice. One frame alone differs from nothing."""
    if clip.shape[2] == 1:
        return torch.zeros_like(clip)
    moved = clip[:, :, 1:] - clip[:, :, :-1]
    return torch.cat([moved[:, :, :1], moved], 2)
