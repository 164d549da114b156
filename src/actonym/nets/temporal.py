"""Parts of heads that look along time: sequences `[B, C, T]` of different lengths, zeros after a video's end.

With a mask `[B, 1, T]` every part ignores what is after the end, so that the output for a video does not depend on how
long its neighbours in the batch are. (TriDet's release averages and normalizes over the padding too.)
"""

from typing import Any

import torch
from torch import Tensor, nn


class ChannelNorm(nn.LayerNorm):
    """Layer norm over the channels of each moment."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


class MaskedConv(nn.Conv1d):
    """A convolution that keeps the length; zeros stay zeros after the end."""

    def __init__(self, dim: int, out: int, kernel: int, **how: Any) -> None:
        super().__init__(dim, out, kernel, padding=kernel // 2, **how)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(x) * mask


class MaskedGroupNorm(nn.GroupNorm):
    """Group norm with the statistics of the moments that there are."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:  # type: ignore[override]
        grouped, seen = x.unflatten(1, (self.num_groups, -1)), mask[:, None].to(x.dtype)
        count = seen.sum(-1, keepdim=True) * grouped.shape[2]
        mean = (grouped * seen).sum((2, 3), keepdim=True) / count
        variance = ((grouped - mean).square() * seen).sum((2, 3), keepdim=True) / count
        normed = ((grouped - mean) / (variance + self.eps).sqrt()).flatten(1, 2)
        return (normed * self.weight[:, None] + self.bias[:, None]) * mask


class ScaledDropPath(nn.Module):
    """Leaves a residual branch out at random, video by video; what stays is scaled, at first by almost nothing."""

    def __init__(self, dim: int, drop: float, start: float = 1e-4) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.full((dim,), start))
        self.drop = drop

    def forward(self, x: Tensor) -> Tensor:
        x = x * self.scale[:, None]
        if not self.training or not self.drop:
            return x
        kept = torch.rand(len(x), 1, 1, device=x.device) >= self.drop
        return x * kept / (1 - self.drop)


def masked_mean(x: Tensor, mask: Tensor) -> Tensor:
    """`[B, C, 1]` over the moments that there are."""
    return (x * mask).sum(-1, keepdim=True) / mask.sum(-1, keepdim=True)
