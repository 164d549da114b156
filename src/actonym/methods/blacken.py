"""Blackening: people are painted over (the Obf-Blackening row of SPAct's and STPrivacy's tables)."""

from torch import Tensor

from actonym.methods.base import MethodCard, register
from actonym.methods.cover import HOLD, KNOBS, Cover


@register("blacken")
class Blacken(Cover):
    """The boxes of people become black."""

    card = MethodCard(
        title="Blackening",
        idea="Find people and paint their boxes black.",
        paper="Dave et al., SPAct, CVPR 2022 (baseline)",
        year=2022,
        knobs=KNOBS,
        reported={
            "": {
                "vp-hmdb51": {"top1": 0.3827, "f1": 0.649, "cmap": 0.7406},
                "vp-ucf101": {"top1": 0.6941, "f1": 0.660, "cmap": 0.7537},
            }
        },
    )

    def __init__(self, finder: str = "person", shape: str = "box", hold: int = HOLD) -> None:
        super().__init__(finder, shape, hold)

    def cover(self, clip: Tensor, region: Tensor) -> Tensor:
        return clip.masked_fill(region, 0.0)
