"""A learned method small enough to be trained in a moment, with a knob that can be turned afterwards."""

import torch
from torch import Tensor, nn

from actonym.methods import MethodCard, PixelMethod
from actonym.train import Batch, Phase, Recognizers, Update
from actonym.train.schedule import cosine

STAGE = """
method: {keep: 0.75}     # ours
train: {epochs: 2, lr: 0.5}   # ours
"""
DARK = """
base: [stage, paper]     # ours: one value differs
factor: start
label: dark
method: {start: 0.1}
"""
SLOW = """
base: stage              # ours: a tenth of the preset's
train: {lr: 0.05}
"""


class Tint(PixelMethod):
    """Each colour times a learned gain, and of the raw clip the share `keep`."""

    name = "tint"
    card = MethodCard(
        title="Tint",
        idea="Learn one gain per colour.",
        paper="none",
        year=2026,
        needs=frozenset({"action", "privacy"}),
        knobs={"keep": "share of the raw clip", "start": "the gain before training"},
        live=frozenset({"keep"}),
    )

    def __init__(self, keep: float = 0.5, start: float = 0.5) -> None:
        super().__init__()
        self.keep = keep
        self.gain = nn.Parameter(torch.full((3,), start) + 0.01 * torch.randn(3))

    @property
    def keep(self) -> float:
        return self._keep

    @keep.setter
    def keep(self, value: float) -> None:
        if not 0 <= value <= 1:
            raise ValueError(f"keep is a share, not {value}")
        self._keep = value

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        gain = self.gain.clamp(0, 1).view(3, 1, 1, 1)
        return clip * (self.keep + (1 - self.keep) * gain)

    def phases(self, recognizers: Recognizers) -> list[Phase]:
        how = self.training_settings

        def step(batch: Batch, update: Update) -> dict[str, Tensor]:
            seen = self(batch.clip)
            loss = seen.mean() + 0.01 * recognizers.action(seen).square().mean()
            update("method", loss)
            return {"brightness": loss}

        optimizer = torch.optim.SGD(self.parameters(), how.get("lr", 0.5))
        return [
            Phase("dim", how.get("epochs", 2), step, {"method": optimizer}, {"method": self}, schedule=cosine),
            Phase("dim more", 1, step, {"method": optimizer}, {"method": self}),
        ]
