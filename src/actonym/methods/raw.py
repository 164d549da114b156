"""No anonymization: what every other method is measured against."""

from torch import Tensor

from actonym.methods.base import MethodCard, PixelMethod, register


@register("raw")
class Raw(PixelMethod):
    """The video as it is."""

    card = MethodCard(
        title="Raw video",
        idea="Nothing is changed. The upper end of utility and of leakage.",
        paper="the first row of every table of the field",
        year=2018,
        reported={
            "": {
                "vp-hmdb51": {"top1": 0.5144, "f1": 0.673, "cmap": 0.7558},
                "vp-ucf101": {"top1": 0.8420, "f1": 0.684, "cmap": 0.7662},
            }
        },
    )

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        return clip
