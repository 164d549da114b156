"""Small networks on top of features `[B, D]`: what is trained where the encoder is frozen."""

from collections.abc import Callable

from torch import nn

from actonym.errors import unknown

WIDTH = 512  # ours: of the hidden layer
DROPOUT = 0.5  # ours: a few hundred videos and a thousand features

# outputs, dim -> network that maps features to logits; each feature is brought to mean 0 and deviation 1 first
HEADS: dict[str, Callable[[int, int], nn.Module]] = {
    "linear": lambda outputs, dim: nn.Sequential(_standardized(dim), nn.Dropout(DROPOUT), nn.Linear(dim, outputs)),
    "mlp": lambda outputs, dim: nn.Sequential(
        _standardized(dim),
        nn.Dropout(DROPOUT),
        nn.Linear(dim, WIDTH),
        nn.ReLU(inplace=True),
        nn.Dropout(DROPOUT),
        nn.Linear(WIDTH, outputs),
    ),
}


def head(net: str, outputs: int, dim: int) -> nn.Module:
    if net not in HEADS:
        raise unknown("head", net, HEADS)
    return HEADS[net](outputs, dim)


def _standardized(dim: int) -> nn.Module:
    return nn.BatchNorm1d(dim, affine=False)
