"""What temporal detectors learn by: segments as distances `[M, 2]` from a moment inside them to start and end."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

TINY = 1e-8


def focal(logits: Tensor, wanted: Tensor, alpha: float = 0.25, gamma: float = 2.0) -> Tensor:
    """Focal loss (Lin et al., ICCV 2017, equation 5) of each element: what is easy counts little."""
    loss = binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    right = logits.sigmoid() * wanted + (1 - logits.sigmoid()) * (1 - wanted)
    balance = alpha * wanted + (1 - alpha) * (1 - wanted)
    return balance * (1 - right) ** gamma * loss


def iou(found: Tensor, wanted: Tensor) -> Tensor:
    """Intersection over union `[M]`. Both segments hold the moment, so their hull is their union and GIoU is IoU."""
    return torch.minimum(found, wanted).sum(-1) / torch.maximum(found, wanted).sum(-1).clamp(min=TINY)


def diou_loss(found: Tensor, wanted: Tensor) -> Tensor:
    """Distance-IoU loss (Zheng et al., AAAI 2020) `[M]`: 1 - IoU + (distance of the middles / length of the hull)^2."""
    apart = ((found[:, 1] - found[:, 0]) - (wanted[:, 1] - wanted[:, 0])) / 2
    hull = torch.maximum(found, wanted).sum(-1).clamp(min=TINY)
    return 1 - iou(found, wanted) + (apart / hull).square()
