"""Utility and leak of one method: top-k accuracy, class-wise mean AP (cMAP) and F1, kept and closed."""

from collections.abc import Sequence
from math import hypot
from typing import Any

import torch
from torch import Tensor
from torchmetrics.functional.classification import binary_average_precision, binary_f1_score, multiclass_accuracy

from actonym.errors import UserError

THRESHOLD = 0.5  # of a probability; the scores of SPAct's release threshold raw logits, ours must not


def action_scores(logits: Tensor, action: Tensor, views: int = 1) -> dict[str, float]:
    """Top-1 and top-5 of `logits` `[N * views, C]` for `action` `[N]`, softmax scores averaged over a video's views.

    For several actions at once, `[N, C]`, their cMAP; actions that no or every test video has are left out.
    """
    if action.ndim == 2:
        return {"cmap": _mean_ap(mean_over_views(logits.sigmoid(), len(action), views), action)}
    scores = mean_over_views(logits.softmax(-1), len(action), views)
    classes = scores.shape[-1]

    def top(k: int) -> float:
        return multiclass_accuracy(scores, action, classes, average="micro", top_k=min(k, classes)).item()

    return {"top1": top(1), "top5": top(5)}


def privacy_scores(probabilities: Tensor, labels: Tensor, attributes: Sequence[str], views: int = 1) -> dict[str, Any]:
    """The leak of each attribute and its mean over attributes (class-wise), from `probabilities` `[N * views, P]`.

    An attribute with one class only in `labels` `[N, P]` has no meaningful AP: its scores are None and the means
    leave it out. A gain is the distance to LaF-Privacy's random predictor (its section 4.4 and table 8).
    """
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ValueError("privacy scores need probabilities in 0..1, not logits")
    scores = mean_over_views(probabilities, len(labels), views)
    each = {name: _attribute_scores(scores[:, i], labels[:, i]) for i, name in enumerate(attributes)}
    counted = [entry for entry in each.values() if entry["ap"] is not None]
    if not counted:
        raise UserError("no private attribute has both classes in the test labels; take more test videos")

    found: dict[str, Any] = {
        "cmap": _mean(counted, "ap"),
        "f1": _mean(counted, "f1"),
        "cmap_gain": _mean(counted, "ap_gain"),
        "f1_gain": _mean(counted, "f1_gain"),
        "per_attribute": each,
    }
    if groups := attribute_groups(attributes):
        parts = {
            name: [each[one] for one in members if each[one]["ap"] is not None] for name, members in groups.items()
        }
        found["per_group"] = {
            name: {"cmap": _mean(part, "ap"), "f1": _mean(part, "f1")} for name, part in parts.items()
        }
    return found


def attribute_groups(attributes: Sequence[str]) -> dict[str, list[str]]:
    """The attributes of each kind, by the `kind: name` that they are called; empty where they are of one kind."""
    groups: dict[str, list[str]] = {}
    for name in attributes:
        groups.setdefault(name.partition(": ")[0] if ": " in name else "", []).append(name)
    return {} if "" in groups else groups


def random_f1(prevalence: float) -> float:
    """Expected F1 of a coin: precision is the prevalence p, recall is 1/2, hence p / (0.5 + p)."""
    return prevalence / (0.5 + prevalence)


def kept(utility: float, raw_utility: float) -> float | None:
    """Utility on anonymized / utility on raw; None where raw has none."""
    return utility / raw_utility if raw_utility > 0 else None


def closed(leak: float, raw_leak: float, chance: float) -> float | None:
    """Share of the raw leak above chance that is gone. Not clamped; None where raw leaks nothing above chance."""
    return (raw_leak - leak) / (raw_leak - chance) if raw_leak > chance else None


def to_corner(kept: float, closed: float) -> float:
    """How far from all kept and all closed, 0 to 1.41 and more; what is kept beyond all brings nothing nearer.

    STPrivacy's figure 4 calls that the best trade-off which is nearest to the corner; there the axes are accuracies.
    """
    return hypot(1 - min(kept, 1), 1 - min(closed, 1))


def mean_over_views(scores: Tensor, videos: int, views: int) -> Tensor:
    """`[N * views, C]` to `[N, C]`: the views of one video lie next to each other."""
    if scores.ndim != 2 or len(scores) != videos * views:
        raise ValueError(f"scores {tuple(scores.shape)} do not fit {videos} videos of {views} views")
    return scores.view(videos, views, -1).mean(1)


def _mean(entries: Sequence[dict[str, Any]], key: str) -> float | None:
    """None where there is nothing to average."""
    return sum(entry[key] for entry in entries) / len(entries) if entries else None


def _mean_ap(scores: Tensor, labels: Tensor) -> float:
    """Over the classes that some and not all videos have."""
    shares = labels.double().mean(0)
    counted = ((shares > 0) & (shares < 1)).nonzero().flatten().tolist()
    if not counted:
        raise UserError("no action is in some and not in all of the test videos; take more test videos")
    return sum(binary_average_precision(scores[:, k], labels[:, k].long()).item() for k in counted) / len(counted)


def _attribute_scores(scores: Tensor, labels: Tensor) -> dict[str, Any]:
    prevalence = labels.double().mean().item()
    if labels.unique().numel() < 2:
        return {"ap": None, "f1": None, "ap_gain": None, "f1_gain": None, "prevalence": prevalence}
    target = labels.to(torch.int64)
    ap = binary_average_precision(scores, target).item()
    f1 = binary_f1_score(scores, target, threshold=THRESHOLD).item()
    return {
        "ap": ap,
        "f1": f1,
        "ap_gain": ap - prevalence,
        "f1_gain": f1 - random_f1(prevalence),
        "prevalence": prevalence,
    }
