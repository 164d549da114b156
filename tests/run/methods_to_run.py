"""Methods that do one thing visibly, and methods that break their word."""

import time

import torch
from torch import Tensor

from actonym.methods.base import MethodCard, PixelMethod

CARD = MethodCard(title="", idea="", paper="", year=2026)


class Swap(PixelMethod):
    """Red and blue change places; what clips it got is written down."""

    name = "swap"
    card = CARD

    def __init__(self, working_size: int | None = None, working_frames: int = 16) -> None:
        super().__init__()
        self.working_size = working_size
        self.working_frames = working_frames
        self.seen: list[tuple[int, ...]] = []

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        assert torch.is_inference_mode_enabled() and not self.training and clip.is_contiguous()
        self.seen.append(tuple(clip.shape))
        return clip.flip(1)


class Broken(PixelMethod):
    """Correct for the first clip, then not."""

    name = "broken"
    card = CARD
    working_frames = 4

    def __init__(self, way: str = "raises") -> None:
        super().__init__()
        self.way = way
        self.calls = 0

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        self.calls += 1
        if self.calls < 2:
            return clip * 0
        match self.way:
            case "raises":
                raise RuntimeError("out of memory")
            case "nan":
                return clip * float("nan")
            case "too bright":
                return clip + 1
            case "too dark":
                return clip - 2
            case "short":
                return clip[:, :, 1:]
            case "small":
                return clip[..., ::2]
        return None  # type: ignore[return-value]


class Slow(PixelMethod):
    """Gives others the time to interrupt it."""

    name = "slow"
    card = CARD
    working_frames = 2

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        time.sleep(1)
        return clip * 0.5


class Noise(PixelMethod):
    """Something no encoder makes small."""

    name = "noise"
    card = CARD

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        return torch.rand_like(clip)


class Dim(PixelMethod):
    """Darker by a knob that can be turned at any time."""

    name = "dim"
    card = MethodCard(title="", idea="", paper="", year=2026, knobs={"keep": "of the light"}, live=frozenset({"keep"}))

    def __init__(self, keep: float = 1.0) -> None:
        super().__init__()
        self.keep = keep

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        return clip * self.keep
