"""Blackening: people are painted over (the Obf-Blackening row of SPAct's and STPrivacy's tables)."""

from torch import Tensor

from actonym.methods.base import MethodCard, PixelMethod, register
from actonym.nets.finder import known, person_boxes


@register("blacken")
class Blacken(PixelMethod):
    """The boxes of people become black."""

    card = MethodCard(
        title="Blackening",
        idea="Find people and paint their boxes black.",
        paper="Dave et al., SPAct, CVPR 2022 (baseline)",
        year=2022,
        knobs={"finder": "what says where people are"},
        reported={
            "": {
                "vp-hmdb51": {"top1": 0.3827, "f1": 0.649, "cmap": 0.7406},
                "vp-ucf101": {"top1": 0.6941, "f1": 0.660, "cmap": 0.7537},
            }
        },
    )

    def __init__(self, finder: str = "everywhere") -> None:
        super().__init__()
        self.finder = known(finder)

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        return clip.masked_fill(person_boxes(clip, mask, self.finder), 0.0)
