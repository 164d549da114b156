"""Downsampling: the oldest baseline (Ryoo et al., AAAI 2017), as STPrivacy's tables use it."""

from torch import Tensor
from torch.nn.functional import interpolate

from actonym.methods.base import MethodCard, PixelMethod, register


@register("downsample")
class Downsample(PixelMethod):
    """Every frame at 1/factor of its size, then back at the original size."""

    card = MethodCard(
        title="Downsampling",
        idea="Fewer pixels: average blocks of factor x factor, then enlarge to the original size.",
        paper="Ryoo et al., Privacy-preserving human activity recognition from extreme low resolution, AAAI 2017",
        year=2017,
        knobs={"factor": "how many times smaller; larger is more private and less useful"},
        reported={
            "factor=2": {
                "vp-hmdb51": {"top1": 0.4080, "f1": 0.601, "cmap": 0.7135},
                "vp-ucf101": {"top1": 0.7279, "f1": 0.620, "cmap": 0.7149},
            },
            "factor=4": {
                "vp-hmdb51": {"top1": 0.3132, "f1": 0.594, "cmap": 0.6979},
                "vp-ucf101": {"top1": 0.5607, "f1": 0.615, "cmap": 0.6985},
            },
        },
    )

    def __init__(self, factor: float = 4, working_size: int | None = 112) -> None:
        super().__init__()
        if factor < 1:
            raise ValueError(f"factor must be at least 1, not {factor}")
        self.factor = factor
        self.working_size = working_size

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        b, c, t, h, w = clip.shape
        frames = clip.transpose(1, 2).reshape(b * t, c, h, w)
        small = interpolate(frames, (max(1, round(h / self.factor)), max(1, round(w / self.factor))), mode="area")
        large = interpolate(small, (h, w), mode="bilinear", align_corners=False)
        return large.reshape(b, t, c, h, w).transpose(1, 2)
