"""How good the scores of a network are on the clips that choose its checkpoint."""

from torch import Tensor
from torchmetrics.functional.classification import binary_average_precision, multilabel_average_precision


def action_score(logits: Tensor, action: Tensor, views: int = 1) -> float:
    """Top-1 for int64 `[N]`, with scores averaged over the views; class-wise mean AP for several actions, `[N, A]`."""
    if action.is_floating_point():
        return class_mean_ap(logits, action, views)
    scores = logits.softmax(-1).view(len(action), views, -1).mean(1)
    return (scores.argmax(-1) == action).float().mean().item()


def class_mean_ap(logits: Tensor, labels: Tensor, views: int = 1) -> float:
    """Class-wise mean AP of the mean score over the views, for labels `[N, K]`; classes never seen are left out."""
    seen = labels.sum(0) > 0
    scores = logits.sigmoid().view(len(labels), views, -1).mean(1)[:, seen]
    target = labels[:, seen].long()
    if target.shape[1] < 2:  # torchmetrics has another function for one class
        return binary_average_precision(scores[:, 0], target[:, 0]).item() if seen.any() else 0.0
    return multilabel_average_precision(scores, target, target.shape[1], average="macro").item()
