"""Objectives that compare embeddings with each other."""

from math import log

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize


def nt_xent(first: Tensor, second: Tensor, temperature: float = 0.1) -> Tensor:
    """Of every view, `[2 N]`: how hard its twin is to find among the 2 N - 1 others (Chen et al., ICML 2020).

    Row k of `first` and row k of `second`, `[N, D]`, are two views of sample k. Minus the log of the share that the
    twin has in the sum of exp(cosine / temperature).
    """
    twin = torch.arange(2 * len(first), device=first.device).roll(len(first))
    return cross_entropy(_similarity(first, second, temperature), twin, reduction="none")


def lost(first: Tensor, second: Tensor, temperature: float = 0.1) -> Tensor:
    """Of every view, `[2 N]`: how far the others' shares, as in `nt_xent`, are from equal ones; 0 where all are alike.

    The Kullback-Leibler divergence of the two. Unlike the loss of a twin that is found for sure it has a slope.
    """
    others = 2 * len(first) - 1
    shares = _similarity(first, second, temperature).log_softmax(1)
    own = torch.eye(len(shares), dtype=torch.bool, device=shares.device)
    return -shares.masked_fill(own, 0).sum(1) / others - log(others)


def _similarity(first: Tensor, second: Tensor, temperature: float) -> Tensor:
    """Of all views to all, `[2 N, 2 N]`; none to itself."""
    views = normalize(torch.cat([first, second]).float(), dim=1)
    return (views @ views.T / temperature).fill_diagonal_(-torch.inf)


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
