"""Inversion: from anonymized features back to raw ones (SPLAVU 5.3, table 8).

What was recovered is judged as the paper does: by recognizers that were trained on raw features, which the attacker is
assumed to have.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

Anonymize = Callable[[Tensor], Tensor]  # features [B, N, D] of videos to anonymized ones


@dataclass(frozen=True)
class Search:
    """How long and how fast an attacker looks."""

    steps: int = 500
    lr: float = 1e-2
    batch_size: int = 256


def black_box(anonymized: Tensor, raw: Tensor, val: tuple[Tensor, Tensor], how: Search, seed: int = 0) -> nn.Module:
    """A network from anonymized to raw features, trained on pairs that the attacker has observed; both `[M, D]`.

    It sees no gradient of the anonymizer. The weights that are best on the validation pairs are kept, those of a
    straight line among them: an anonymizer that changes little is undone by doing nothing.
    """
    torch.manual_seed(seed)
    net = Inverse(anonymized.shape[-1])
    net.scale_to(anonymized)
    optimizer = torch.optim.AdamW(net.parameters(), how.lr / 10, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, how.lr / 10, how.steps)
    best, kept = _error(net, val), _weights(net)
    for step in range(how.steps):
        rows = torch.randint(len(raw), (min(how.batch_size, len(raw)),))
        loss = mse_loss(net.train()(anonymized[rows]), raw[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if (step + 1) % max(1, how.steps // 20) == 0 and (error := _error(net, val)) < best:
            best, kept = error, _weights(net)
    net.load_state_dict(kept)
    return net.eval()


class Inverse(nn.Module):
    """The features themselves and what three layers add to them; at the start that is nothing."""

    def __init__(self, dim: int, width: int | None = None) -> None:
        super().__init__()
        width = width or 2 * dim
        self.mean, self.spread = nn.Buffer(torch.zeros(dim)), nn.Buffer(torch.ones(dim))
        self.line = nn.Linear(dim, dim)
        self.layers = nn.Sequential(nn.Linear(dim, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.last = nn.Linear(width, dim)
        for layer in (self.line, self.last):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def scale_to(self, features: Tensor) -> None:
        """The layers see numbers of mean 0 and deviation 1."""
        self.mean.copy_(features.mean(0))
        self.spread.copy_(features.std(0).clamp_min(1e-6))

    def forward(self, features: Tensor) -> Tensor:
        scaled = (features - self.mean) / self.spread
        return features + self.line(scaled) + self.last(self.layers(scaled))


@torch.inference_mode()
def _error(net: nn.Module, pairs: tuple[Tensor, Tensor]) -> float:
    return float(mse_loss(net.eval()(pairs[0]), pairs[1]))


def _weights(net: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in net.state_dict().items()}


def white_box(anonymize: Anonymize, anonymized: Tensor, how: Search, start: Tensor | None = None) -> Tensor:
    """Features `[B, N, D]` that the anonymizer maps to what was observed, found by going down the gradient.

    The attacker holds the anonymizer itself and begins at what was observed, or at `start`. Each video keeps the best
    features that were met on the way.
    """
    target = anonymized.detach()
    guess = (target if start is None else start).clone().requires_grad_()
    optimizer = torch.optim.Adam([guess], how.lr * float(target.std().clamp_min(1e-6)))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, how.steps)
    best = torch.full((len(target),), torch.inf)
    kept = guess.detach().clone()
    for _ in range(how.steps):
        distance = (anonymize(guess) - target).square().flatten(1).mean(1)
        closer = distance.detach() < best
        best = torch.where(closer, distance.detach(), best)
        kept[closer] = guess.detach()[closer]
        optimizer.zero_grad()
        (gradient,) = torch.autograd.grad(distance.sum(), guess)
        guess.grad = gradient
        optimizer.step()
        schedule.step()
    return kept


def recovered(found: Tensor, raw: Tensor) -> dict[str, float]:
    """How much of raw features came back: the share of their variance, and the mean cosine, about the mean of raw."""
    centre = raw.flatten(0, -2).mean(0)
    missed, all_of_it = (found - raw).square().sum(), (raw - centre).square().sum()
    cosine = nn.functional.cosine_similarity((found - centre).flatten(0, -2), (raw - centre).flatten(0, -2))
    return {"variance": float(1 - missed / all_of_it), "cosine": float(cosine.mean())}
