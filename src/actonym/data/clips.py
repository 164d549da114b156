"""Labelled clips of one split, held as bytes: what recognizers and attackers learn from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from actonym.data.base import Dataset, Sample
from actonym.video.sample import clip_indices


@dataclass(frozen=True)
class Clips:
    """`views` consecutive clips belong to one video and carry its labels once."""

    video: Tensor  # uint8 [N * views, 3, T, H, W]
    action: Tensor  # int64 [N]
    privacy: Tensor  # float32 [N, P]
    subject: Sequence[str]
    mask: Tensor | None = None  # uint8 0/1 [N * views, 1, T, H, W]
    views: int = 1

    def __len__(self) -> int:
        return len(self.action)

    def map(self, method: Callable[[Tensor, Tensor | None], Tensor], batch: int = 32) -> "Clips":
        """The same clips after `method`, rounded to bytes as a video file would."""
        out = torch.empty_like(self.video)
        with torch.inference_mode():
            for at in range(0, len(self.video), batch):
                part = slice(at, at + batch)
                mask = None if self.mask is None else self.mask[part].float()
                out[part] = to_bytes(method(to_floats(self.video[part]), mask))
        return replace(self, video=out)


def to_floats(video: Tensor) -> Tensor:
    return video.float().div_(255)


def to_bytes(clip: Tensor) -> Tensor:
    return clip.mul(255).round_().clamp_(0, 255).to(torch.uint8)
