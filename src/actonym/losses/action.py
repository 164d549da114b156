"""What everybody who learns or keeps actions minimizes."""

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy


def action_loss(logits: Tensor, action: Tensor) -> Tensor:
    """Cross-entropy of one action per video, int64 `[B]`; binary cross-entropy of several at once, float `[B, A]`."""
    if action.is_floating_point():
        return binary_cross_entropy_with_logits(logits, action)
    return cross_entropy(logits, action)
