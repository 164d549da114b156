"""Clips cut into tubelets and put together again: boxes of some frames and pixels that do not overlap."""

from itertools import product
from math import ceil, pi
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

Box = tuple[int, int, int]

CHANGE = 8  # times as loud a wave that changes in time is made, for each step of its frequency


def grid_of(clip: Tensor, tubelet: Box) -> Box:
    """How many tubelets a clip has in time, down and across."""
    t, h, w = (side // step for side, step in zip(clip.shape[2:], tubelet, strict=True))
    return t, h, w


def cut(clip: Tensor, tubelet: Box) -> Tensor:
    """`[B, 3, T, H, W] -> [B, L, N, 3 dT dH dW]`: the pixels of each tubelet."""
    b, c = clip.shape[:2]
    (length, down, across), (dt, dh, dw) = grid_of(clip, tubelet), tubelet
    parts = clip.reshape(b, c, length, dt, down, dh, across, dw).permute(0, 2, 4, 6, 1, 3, 5, 7)
    return parts.reshape(b, length, down * across, c * dt * dh * dw)


def join(tubelets: Tensor, grid: Box, tubelet: Box) -> Tensor:
    """The inverse of `cut`."""
    b = len(tubelets)
    (length, down, across), (dt, dh, dw) = grid, tubelet
    parts = tubelets.reshape(b, length, down, across, 3, dt, dh, dw).permute(0, 4, 1, 5, 2, 6, 3, 7)
    return parts.reshape(b, 3, length * dt, down * dh, across * dw)


def best_of(score: Tensor, count: int) -> Tensor:
    """Where the best of each row `[B, L, N]` are, in their order: `[B, L, count]`."""
    return score.topk(count, 2).indices.sort(2).values


def picked(x: Tensor, place: Tensor) -> Tensor:
    """Of each row of tokens or tubelets `[B, L, N, D]` those at some places, `[B, L, K]`."""
    return x.gather(2, place[..., None].expand(-1, -1, -1, x.shape[-1]))


def filled(clip: Tensor, tubelet: Box) -> Tensor:
    """Brought up to a whole number of tubelets: the last frame, row and column are repeated."""
    t, h, w = (ceil(side / step) * step - side for side, step in zip(clip.shape[2:], tubelet, strict=True))
    return pad(clip, (0, w, 0, h, 0, t), mode="replicate") if t or h or w else clip


def low_frequencies(tubelet: Box, count: int) -> Tensor:
    """The `count` slowest waves of a tubelet, `[count, 3 dT dH dW]`, orthonormal: a 3-D cosine transform."""
    waves = [cosines(side) for side in tubelet]
    colours = torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, -1.0], [1.0, -2.0, 1.0]])
    colours = colours / colours.norm(dim=1, keepdim=True)
    found = [
        torch.einsum("c,t,h,w->cthw", colours[c], waves[0][t], waves[1][h], waves[2][w]).flatten()
        for c, t, h, w in _slowest(tubelet, count)
    ]
    return torch.stack(found)


@torch.no_grad()
def show_waves(tokens: nn.Conv3d, pixels: nn.Linear, tubelet: Box, grey: bool = False) -> None:
    """Tokens are the slowest waves of their tubelets, and pixels, in -0.5..0.5, what these make up, or its brightness.

    Waves are made about equally loud: in normalized tokens what moves would be nothing beside what is bright.
    """
    dim = pixels.in_features
    basis, loud = low_frequencies(tubelet, dim), rarity(tubelet, dim)[:, None]
    tokens.weight.copy_((loud * basis).view_as(tokens.weight))
    shown = colourless(tubelet, dim)[:, None] if grey else 1
    pixels.weight.copy_((shown * basis / loud).T / 2)  # the clip enters as -1..1
    for end in (tokens, pixels):
        nn.init.zeros_(cast("nn.Parameter", end.bias))


def rarity(tubelet: Box, count: int) -> Tensor:
    """By how much each of those waves must be enlarged to vary about as much as the others, `[count]`.

    Pictures have less of faster waves, and far less of what changes from frame to frame. On the stage waves that are
    enlarged in this way vary by 1 to 4, the mean brightness by 6; else the change of brightness, which tells where
    something moves, would vary by a fifteenth of that.
    """
    return torch.tensor([(1.0 + h + w) * CHANGE**t for _, t, h, w in _slowest(tubelet, count)])


def colourless(tubelet: Box, count: int) -> Tensor:
    """Which of those waves are brightness, `[count]`."""
    return torch.tensor([colour == 0 for colour, *_ in _slowest(tubelet, count)])


def _slowest(tubelet: Box, count: int) -> list[tuple[int, ...]]:
    """Colour and frequencies in time, height and width of the slowest waves.

    Brightness comes before colour, as in video codecs: a wave of colour counts as one twice as fast, and four more.
    """
    places = list(product(range(3), *(range(side) for side in tubelet)))
    if count > len(places):
        raise ValueError(f"a tubelet of {tubelet} has {len(places)} values, fewer than {count}")
    places.sort(key=lambda place: sum(place[1:]) if place[0] == 0 else 2 * sum(place[1:]) + 4)
    return places[:count]


def cosines(side: int) -> Tensor:
    """The orthonormal cosine transform (DCT-II) of `side` values, one wave per row."""
    place = torch.arange(side) + 0.5
    waves = torch.cos(pi / side * place * torch.arange(side)[:, None])
    return waves / waves.norm(dim=1, keepdim=True)
