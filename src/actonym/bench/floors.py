"""What an attacker gets with no access to the video: the two floors beside every privacy number.

Chance is the share of videos with an attribute. The action prior is the best prediction from the true action alone: the
share among the training videos of that action. Where videos have several actions at once, most sets of them are too
rare to have a share of their own; there it is a logistic regression on the actions, which weighs each action.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import softplus

from actonym.bench.metrics import attribute_groups, privacy_scores, random_f1

SMOOTHING = 1.0  # ours: one imagined training video per action with the attribute's overall share
RIDGE = 1.0  # ours: half of this times the squared weights; like SMOOTHING it draws rare actions to the overall share


def floors(
    train_action: Tensor, train_labels: Tensor, action: Tensor, labels: Tensor, attributes: Sequence[str]
) -> dict[str, Any]:
    """Both floors of the test `labels` `[N, P]`, as a result holds them."""
    floor = chance(labels, attributes)
    prior = action_prior(train_action, train_labels, action, labels, attributes)
    found = {
        "chance": floor["cmap"],
        "action_prior": prior["cmap"],
        "f1": {"chance": floor["f1"], "action_prior": prior["f1"]},
        "per_attribute": {
            name: {"chance": floor["per_attribute"][name], "action_prior": prior["per_attribute"][name]["ap"]}
            for name in attributes
        },
    }
    if groups := attribute_groups(attributes):
        found["per_group"] = {
            name: {
                "chance": _mean_share([floor["per_attribute"][one] for one in members]),
                "action_prior": prior["per_group"][name]["cmap"],
            }
            for name, members in groups.items()
        }
    if action.ndim == 2:
        found["utility"] = _mean_share(action.double().mean(0).tolist())
    return found


def chance(labels: Tensor, attributes: Sequence[str]) -> dict[str, Any]:
    """A coin per attribute: its expected AP is the prevalence in the test labels, its expected F1 `random_f1`.

    The means leave out the attributes with one class only, as those of the attackers do.
    """
    shares = labels.double().mean(0).tolist()
    counted = _counted(shares)
    return {
        "cmap": _mean_share(shares),
        "f1": sum(map(random_f1, counted)) / len(counted),
        "per_attribute": dict(zip(attributes, shares, strict=True)),
    }


def _counted(shares: Sequence[float]) -> Sequence[float]:
    return [share for share in shares if 0 < share < 1] or shares


def _mean_share(shares: Sequence[float]) -> float:
    counted = _counted(shares)
    return sum(counted) / len(counted)


def action_prior(
    train_action: Tensor, train_labels: Tensor, action: Tensor, labels: Tensor, attributes: Sequence[str]
) -> dict[str, Any]:
    """The best prediction from the true action label alone: privacy scores of each action's share in training."""
    if action.ndim == 2:
        return privacy_scores(by_several_actions(train_action, train_labels, action), labels, attributes)
    shares = shares_by_action(train_action, train_labels, classes=int(max(train_action.max(), action.max())) + 1)
    return privacy_scores(shares[action], labels, attributes)


def shares_by_action(action: Tensor, labels: Tensor, classes: int) -> Tensor:
    """`[classes, P]`: per action the share of positives, drawn to the overall share where videos are few."""
    labels = labels.double()
    videos = torch.bincount(action, minlength=classes).double().unsqueeze(1)
    positives = torch.zeros(classes, labels.shape[1], dtype=torch.double).index_add_(0, action, labels)
    return (positives + SMOOTHING * labels.mean(0)) / (videos + SMOOTHING)


def by_several_actions(train_action: Tensor, train_labels: Tensor, action: Tensor) -> Tensor:
    """Probabilities `[N, P]` of attributes from actions `[N, A]`, by logistic regression on the training labels.

    It is convex: from zero weights and the overall shares it always ends at the same place.
    """
    sets, place, videos = train_action.double().unique(dim=0, return_inverse=True, return_counts=True)
    labels = train_labels.double()
    positives = torch.zeros(len(sets), labels.shape[1], dtype=torch.double).index_add_(0, place, labels)
    weights = torch.zeros(sets.shape[1], labels.shape[1], dtype=torch.double, requires_grad=True)
    bias = labels.mean(0).clamp(1e-6, 1 - 1e-6).logit().requires_grad_()
    optimizer = torch.optim.LBFGS(
        [weights, bias], max_iter=500, tolerance_grad=1e-9, tolerance_change=1e-12, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        optimizer.zero_grad()
        logits = sets @ weights + bias
        missed = (videos[:, None] * softplus(logits) - positives * logits).sum() + RIDGE / 2 * weights.square().sum()
        value = missed / labels.numel()
        value.backward()
        return value

    optimizer.step(loss)
    return (action.double() @ weights + bias).sigmoid().detach()
