"""Gradient reversal (Ganin and Lempitsky, ICML 2015): what is below it works against what is above it."""

from typing import Any

import torch
from torch import Tensor


class _Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, strength: float) -> Tensor:
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return -ctx.strength * gradients[0], None


def reverse(x: Tensor, strength: float = 1.0) -> Tensor:
    """`x` itself; on the way back the gradient times minus `strength`."""
    return _Reverse.apply(x, strength)
