"""What an attacker gets with no access to the video: the two floors beside every privacy number."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from actonym.bench.metrics import privacy_scores, random_f1

SMOOTHING = 1.0  # ours: one imagined training video per action with the attribute's overall share


def floors(
    train_action: Tensor, train_labels: Tensor, action: Tensor, labels: Tensor, attributes: Sequence[str]
) -> dict[str, Any]:
    """Both floors of the test `labels` `[N, P]`, as a result holds them."""
    floor = chance(labels, attributes)
    prior = action_prior(train_action, train_labels, action, labels, attributes)
    return {
        "chance": floor["cmap"],
        "action_prior": prior["cmap"],
        "f1": {"chance": floor["f1"], "action_prior": prior["f1"]},
        "per_attribute": {
            name: {"chance": floor["per_attribute"][name], "action_prior": prior["per_attribute"][name]["ap"]}
            for name in attributes
        },
    }


def chance(labels: Tensor, attributes: Sequence[str]) -> dict[str, Any]:
    """A coin per attribute: its expected AP is the prevalence in the test labels, its expected F1 `random_f1`.

    The means leave out the attributes with one class only, as those of the attackers do.
    """
    shares = labels.double().mean(0).tolist()
    counted = [share for share in shares if 0 < share < 1] or shares
    return {
        "cmap": sum(counted) / len(counted),
        "f1": sum(map(random_f1, counted)) / len(counted),
        "per_attribute": dict(zip(attributes, shares, strict=True)),
    }


def action_prior(
    train_action: Tensor, train_labels: Tensor, action: Tensor, labels: Tensor, attributes: Sequence[str]
) -> dict[str, Any]:
    """The best prediction from the true action label alone: privacy scores of each action's share in training."""
    shares = shares_by_action(train_action, train_labels, classes=int(max(train_action.max(), action.max())) + 1)
    return privacy_scores(shares[action], labels, attributes)


def shares_by_action(action: Tensor, labels: Tensor, classes: int) -> Tensor:
    """`[classes, P]`: per action the share of positives, drawn to the overall share where videos are few."""
    labels = labels.double()
    videos = torch.bincount(action, minlength=classes).double().unsqueeze(1)
    positives = torch.zeros(classes, labels.shape[1], dtype=torch.double).index_add_(0, action, labels)
    return (positives + SMOOTHING * labels.mean(0)) / (videos + SMOOTHING)
