"""Objectives that compare embeddings with each other."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize


def nt_xent(first: Tensor, second: Tensor, temperature: float = 0.1) -> Tensor:
    """Of every view, `[2 N]`: how hard its twin is to find among the 2 N - 1 others (Chen et al., ICML 2020).

    Row k of `first` and row k of `second`, `[N, D]`, are two views of sample k. Minus the log of the share that the
    twin has in the sum of exp(cosine / temperature).
    """
    count = len(first)
    views = normalize(torch.cat([first, second]).float(), dim=1)
    similarity = (views @ views.T / temperature).fill_diagonal_(-torch.inf)
    twin = torch.arange(2 * count, device=first.device).roll(count)
    return cross_entropy(similarity, twin, reduction="none")


def triplet(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0) -> Tensor:
    """Of every sample, `[N]`: how far its positive is from being nearer than its negative by `margin` (Euclidean)."""
    near, far = ((anchor - other).square().sum(1).add(1e-12).sqrt() for other in (positive, negative))
    return (near - far + margin).clamp_min(0)


def found(first: Tensor, second: Tensor) -> float:
    """The share of samples, both ways, whose twin is the most similar of all: 1 / N where views give nothing away."""
    similarity = normalize(first.float(), dim=1) @ normalize(second.float(), dim=1).T
    own = torch.arange(len(first), device=first.device)
    hits = [(side.argmax(1) == own).float().mean() for side in (similarity, similarity.T)]
    return float(sum(hits) / 2)
