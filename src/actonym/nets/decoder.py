"""From features back to a picture: a straight line, and a small up-convolutional decoder on top of it."""

from itertools import pairwise

import torch
from torch import Tensor, nn

from actonym.errors import UserError

FIRST = 4  # side of the smallest map; each layer doubles it


class Decoder(nn.Module):
    """Features `[B, dim]` to pictures `[B, 3, size, size]`: a mean picture, and what the features add to it.

    `line` is fixed and adds what a linear map can tell; the layers learn the rest, which at the start is nothing.
    Values are not held to 0..1 here: who looks at the pictures cuts off what is outside.
    """

    def __init__(self, dim: int, size: int = 64, width: int = 16, dropout: float = 0.2) -> None:
        super().__init__()
        doublings = (size // FIRST).bit_length() - 1
        if doublings < 2 or FIRST * 2**doublings != size:
            raise UserError(f"a decoder makes pictures of 16, 32, 64, 128, ... pixels, not {size}")
        widths = [width * 2**step for step in reversed(range(doublings))]
        self.mean, self.spread = nn.Buffer(torch.zeros(dim)), nn.Buffer(torch.ones(dim))
        self.picture = nn.Buffer(torch.zeros(3, size, size))
        self.line = nn.Buffer(torch.zeros(dim, 3 * size * size))
        self.first = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(dim, widths[0] * FIRST**2), nn.Unflatten(1, (widths[0], FIRST, FIRST))
        )
        self.up = nn.Sequential(*(nn.Sequential(nn.GELU(), _doubling(i, o)) for i, o in pairwise(widths)))
        self.last = nn.Sequential(nn.GELU(), _doubling(widths[-1], 3))
        for value in self.last[1].parameters():
            nn.init.zeros_(value)

    def begin(self, features: Tensor, picture: Tensor) -> None:
        """Line and layers see numbers of mean 0 and deviation 1, and add to this picture."""
        self.mean.copy_(features.mean(0))
        self.spread.copy_(features.std(0, correction=0).clamp_min(1e-6))
        self.picture.copy_(picture)

    def scaled(self, features: Tensor) -> Tensor:
        return (features - self.mean) / self.spread

    def forward(self, features: Tensor) -> Tensor:
        seen = self.scaled(features)
        straight = (seen @ self.line).view(-1, *self.picture.shape)
        return self.picture + straight + self.last(self.up(self.first(seen)))


def _doubling(inputs: int, outputs: int) -> nn.Module:
    return nn.ConvTranspose2d(inputs, outputs, 4, stride=2, padding=1)
