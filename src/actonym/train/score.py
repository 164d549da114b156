"""How good the scores of a network are, where several classes may be there at once."""

from torch import Tensor
from torchmetrics.functional.classification import binary_average_precision, multilabel_average_precision


def class_mean_ap(logits: Tensor, labels: Tensor, views: int = 1) -> float:
    """Class-wise mean AP of the mean score over the views, for labels `[N, K]`; classes never seen are left out."""
    seen = labels.sum(0) > 0
    scores = logits.sigmoid().view(len(labels), views, -1).mean(1)[:, seen]
    target = labels[:, seen].long()
    if target.shape[1] < 2:  # torchmetrics has another function for one class
        return binary_average_precision(scores[:, 0], target[:, 0]).item() if seen.any() else 0.0
    return multilabel_average_precision(scores, target, target.shape[1], average="macro").item()
