"""The last layers of networks: small ones on top of a frozen encoder's features, and other ends for recognizers."""

from collections.abc import Callable
from copy import deepcopy

from torch import Tensor, nn

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
    "deep": lambda outputs, dim: nn.Sequential(
        _standardized(dim),
        nn.Dropout(DROPOUT),
        *_hidden(dim),
        *_hidden(WIDTH),
        *_hidden(WIDTH),
        nn.Linear(WIDTH, outputs),
    ),
}


def head(net: str, outputs: int, dim: int) -> nn.Module:
    if net not in HEADS:
        raise unknown("head", net, HEADS)
    return HEADS[net](outputs, dim)


def _hidden(dim: int) -> list[nn.Module]:
    return [nn.Linear(dim, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU(inplace=True), nn.Dropout(DROPOUT / 2)]


def _standardized(dim: int) -> nn.Module:
    return nn.BatchNorm1d(dim, affine=False)


def last_linear(net: nn.Module) -> tuple[str, nn.Linear]:
    """The layer of a network that turns features into answers, and its name."""
    layers = [(name, module) for name, module in net.named_modules() if isinstance(module, nn.Linear)]
    if not layers or not layers[-1][0]:
        raise ValueError(f"{type(net).__name__} has no linear layer at its end, so it has no features")
    return layers[-1]


def projecting(net: nn.Module, hidden: int, dim: int) -> nn.Module:
    """A copy of a recognizer that maps to embeddings `[B, dim]`, through a hidden layer, in place of answers."""
    copy = deepcopy(net)
    name, last = last_linear(copy)
    parent, _, child = name.rpartition(".")
    layers = nn.Sequential(nn.Linear(last.in_features, hidden), nn.ReLU(inplace=True), nn.Linear(hidden, dim))
    setattr(copy.get_submodule(parent), child, layers)
    return copy


def features_and_answers(net: nn.Module, clip: Tensor) -> tuple[Tensor, Tensor]:
    """What a recognizer makes of clips before its last linear layer, `[B, D]`, and its answers; both differentiable."""
    seen: list[Tensor] = []
    hook = last_linear(net)[1].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    try:
        answers = net(clip)
    finally:
        hook.remove()
    return seen[-1], answers
