"""MGFN (Chen et al., AAAI 2023): scores how anomalous each segment of a video is. First a glance, then focus."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from actonym.nets.temporal import ChannelNorm

RELEASE_KERNEL = 5  # of the focus blocks


class MGFN(nn.Module):
    """Features `[B, N, D]` of N segments to anomaly scores `[B, N]` in 0..1 and what they are judged by, `[B, N, C]`.

    Works for any N; training has 32. Videos of one batch are of one length.
    """

    def __init__(
        self,
        dim: int,
        *,
        dims: Sequence[int] = (64, 128, 1024),
        depths: Sequence[int] = (3, 3, 2),
        kinds: Sequence[str] = ("glance", "focus", "focus"),
        head_dim: int = 64,
        magnitude: float = 0.1,
    ) -> None:
        super().__init__()
        self.magnitude = magnitude
        self.tokens, self.norms = (nn.Conv1d(size, dims[0], 3, padding=1) for size in (dim, 1))
        stages: list[nn.Module] = []
        for width, depth, kind, following in zip(dims, depths, kinds, [*dims[1:], 0], strict=True):
            stages += [Block(width, kind, head_dim) for _ in range(depth)]
            if following:
                stages.append(nn.Sequential(ChannelNorm(width), nn.Conv1d(width, following, 1)))
        self.stages = nn.Sequential(*stages)
        self.last = nn.LayerNorm(dims[-1])
        self.score = nn.Linear(dims[-1], 1)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Feature amplification (section 3.2): the norm of a segment's feature is looked at beside the feature."""
        sizes = features.norm(dim=-1, keepdim=True)
        x = self.tokens(features.transpose(1, 2)) + self.magnitude * self.norms(sizes.transpose(1, 2))
        seen = self.last(self.stages(x).transpose(1, 2))
        return self.score(seen).sigmoid()[..., 0], seen


class Block(nn.Module):
    """A short-cut convolution, glance or focus, and a feed-forward part, each with its residual."""

    def __init__(self, width: int, kind: str, head_dim: int) -> None:
        super().__init__()
        self.shortcut = nn.Conv1d(width, width, 3, padding=1)
        self.look = {"glance": Glance, "focus": Focus}[kind](width, head_dim)
        self.forward_part = nn.Sequential(
            ChannelNorm(width), nn.Conv1d(width, 4 * width, 1), nn.GELU(), nn.Conv1d(4 * width, width, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.shortcut(x)
        x = x + self.look(x)
        return x + self.forward_part(x)


class Glance(nn.Module):
    """Self-attention: each segment looks at the whole video."""

    def __init__(self, width: int, head_dim: int) -> None:
        super().__init__()
        self.heads = width // head_dim
        self.norm = ChannelNorm(width)
        self.qkv = nn.Conv1d(width, 3 * width, 1, bias=False)
        self.out = nn.Conv1d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.norm(x)).unflatten(1, (3, self.heads, -1)).transpose(-2, -1).unbind(1)
        return self.out(scaled_dot_product_attention(q, k, v).transpose(-2, -1).flatten(1, 2))


class Focus(nn.Module):
    """Self-attentional convolution: each segment looks at its neighbours, with weights that the channels of a group
    share. Batch norm is the release's: in training its statistics are the batch's."""

    def __init__(self, width: int, head_dim: int, kernel: int = RELEASE_KERNEL) -> None:
        super().__init__()
        self.heads = width // head_dim
        self.norm = nn.BatchNorm1d(width)
        self.values = nn.Conv1d(width, width, 1, bias=False)
        self.near = nn.Conv1d(self.heads, self.heads, kernel, padding=kernel // 2, groups=self.heads)
        self.out = nn.Conv1d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        values = self.values(self.norm(x)).unflatten(1, (-1, self.heads))  # [B, C / heads, heads, N]
        return self.out(self.near(values.flatten(0, 1)).view_as(values).flatten(1, 2))


def most_marked(scores: Tensor, seen: Tensor, count: int, drop: float = 0.0) -> tuple[Tensor, Tensor]:
    """The mean score `[B]` of the `count` segments with the largest feature norm, and these norms `[B, count]`.

    Segments are chosen by the Euclidean norm and returned with the sum of absolute values, as in the release. `drop` of
    them, by lot, are passed over, so that training does not always look at the same.
    """
    size = seen.detach().norm(dim=-1)
    size = size.masked_fill(torch.rand_like(size) < drop, 0)
    chosen = size.topk(min(count, size.shape[1]), dim=1).indices
    return scores.gather(1, chosen).mean(1), seen.abs().sum(-1).gather(1, chosen)
