"""A video transformer over tubelets (STPrivacy section 3.1; ViT sizes of Dosovitskiy et al. and DeiT)."""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, scaled_dot_product_attention

from actonym.nets.masked_attention import masked_attention


@dataclass(frozen=True)
class ViTSize:
    dim: int
    heads: int
    depth: int = 12


SIZES = {"tiny": ViTSize(192, 3), "small": ViTSize(384, 6), "base": ViTSize(768, 12)}


class Tubelets(nn.Module):
    """A clip to tokens `[B, L * N, D]` by 3-D convolution; tubelets do not overlap."""

    def __init__(self, dim: int, tubelet: tuple[int, int, int]) -> None:
        super().__init__()
        self.project = nn.Conv3d(3, dim, tubelet, tubelet)

    def forward(self, clip: Tensor) -> Tensor:
        return self.project(clip).flatten(2).transpose(1, 2)


class Attention(nn.Module):
    """Multi-head self-attention with query, key and value biases."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"dim must be divisible by heads, not {dim} by {heads}")
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: Tensor, kept: Tensor | None = None) -> Tensor:
        """`kept` `[B, N]`, 0 or 1, says which tokens may be looked at."""
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        mixed = scaled_dot_product_attention(q, k, v) if kept is None else masked_attention(q, k, v, kept)
        return self.out(mixed.transpose(1, 2).reshape(b, n, d))


class Layer(nn.Module):
    """Pre-norm transformer layer; its feed-forward is `widen` times as wide."""

    def __init__(self, dim: int, heads: int, widen: int = 4) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(dim, eps=1e-6), Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(dim, widen * dim), nn.GELU(), nn.Linear(widen * dim, dim))

    @torch.no_grad()
    def start_faint(self, scale: float) -> None:
        """What it adds is scaled, so that it begins near the identity."""
        for last in (self.attention.out, cast("nn.Linear", self.mlp[2])):
            last.weight.mul_(scale)
            nn.init.zeros_(last.bias)

    def forward(self, x: Tensor, kept: Tensor | None = None) -> Tensor:
        x = x + self.attention(self.norm1(x), kept)
        return x + self.mlp(self.norm2(x))


def resize_positions(position: Tensor, old: tuple[int, int], new: tuple[int, int]) -> Tensor:
    """Learned positions `[1, L, h * w, D]` for another grid of tokens in a frame."""
    if old == new:
        return position
    _, length, _, dim = position.shape
    grid = position.reshape(length, *old, dim).permute(0, 3, 1, 2)
    grid = interpolate(grid, new, mode="bicubic", align_corners=False)
    return grid.permute(0, 2, 3, 1).reshape(1, length, new[0] * new[1], dim)


class VideoViT(nn.Module):
    """Tubelet tokens with learned positions and no class token; the mean token goes to a linear head."""

    def __init__(
        self,
        outputs: int,
        size: str = "tiny",
        frames: int = 16,
        side: int = 112,
        tubelet: tuple[int, int, int] = (2, 16, 16),
    ) -> None:
        super().__init__()
        if frames % tubelet[0] or side % tubelet[1] or side % tubelet[2]:
            raise ValueError(f"a clip of {frames} x {side} x {side} does not divide into tubelets of {tubelet}")
        spec = SIZES[size]
        tokens = (frames // tubelet[0]) * (side // tubelet[1]) * (side // tubelet[2])
        self.tubelets = Tubelets(spec.dim, tubelet)
        self.position = nn.Parameter(torch.zeros(1, tokens, spec.dim))
        self.layers = nn.Sequential(*(Layer(spec.dim, spec.heads) for _ in range(spec.depth)))
        self.norm = nn.LayerNorm(spec.dim, eps=1e-6)
        self.head = nn.Linear(spec.dim, outputs)
        nn.init.trunc_normal_(self.position, std=0.02)
        self.apply(initialize)

    def forward(self, clip: Tensor) -> Tensor:
        x = self.tubelets(clip * 2 - 1) + self.position
        return self.head(self.norm(self.layers(x)).mean(1))


def initialize(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.trunc_normal_(module.weight, std=0.02)
        nn.init.zeros_(module.bias)
