"""Features as one of a few codes: a bottleneck of which one can say how much passes."""

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from actonym.nets.heads import head


class Codes(nn.Module):
    """Every vector becomes the code that a linear head chooses; each vector by itself.

    At most log2(codes) bits of a clip pass, whatever an attacker knows. Before there are codes nothing passes.
    """

    def __init__(self, dim: int, codes: int) -> None:
        super().__init__()
        if codes < 2:
            raise ValueError(f"at least 2 codes are needed, not {codes}")
        self.choose = head("linear", codes, dim)
        self.codes = nn.Buffer(torch.zeros(codes, dim))

    def forward(self, features: Tensor) -> Tensor:
        """Gradients, also those of an attacker, are those of a soft choice."""
        logits = self.choose(features.flatten(0, -2)).unflatten(0, features.shape[:-1])
        soft = logits.softmax(-1)
        chosen = one_hot(logits.argmax(-1), len(self.codes)).to(soft)
        return (chosen + (soft - soft.detach())) @ self.codes

    @torch.no_grad()
    def set(self, features: Tensor, labels: Tensor) -> None:
        """Each code to the mean of the features `[M, D]` of its label `[M]`; a code without any to the mean of all."""
        mine = one_hot(labels, len(self.codes)).to(features)
        sizes = mine.sum(0)[:, None]
        self.codes.copy_(torch.where(sizes > 0, mine.T @ features / sizes.clamp_min(1), features.mean(0)))
