"""Which epoch of an adversarial training is kept: a rule that is written down, where others choose by hand.

Each epoch is a point of a trade-off: `action`, the accuracy of the action recognizer that learns along, and `leak`,
0 for nothing and 1 for everything, both on validation clips. A rule turns a point into a score; the highest is kept.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torchmetrics.functional.classification import binary_auroc

from actonym.errors import unknown
from actonym.train.phase import Point

# action, leak, weight, floor -> score; None keeps the last epoch
Rule = Callable[[float, float, float, float], float] | None

RULES: dict[str, Rule] = {
    "action_minus_leak": lambda action, leak, weight, floor: action - weight * leak,
    # Points below the floor come after all others; among themselves the better action comes first.
    "least_leak": lambda action, leak, weight, floor: -leak if action >= floor else action - floor - 1,
    "last": None,
}


def find_rule(name: str) -> Rule:
    if name not in RULES:
        raise unknown("rule", name, RULES)
    return RULES[name]


def judged(rule: str, action: float, leak: float, weight: float, floor: float) -> Point:
    """The point of an epoch, with its score if the rule gives one."""
    point = {"action": action, "leak": leak}
    score = find_rule(rule)
    return point if score is None else {"score": score(action, leak, weight, floor), **point}


def attribute_leak(logits: Tensor, labels: Tensor) -> float:
    """How far the answers are from a coin's: 2 |AUC - 1/2|, mean over the attributes that both occur and are absent.

    An answer that is surely wrong leaks as much as one that is right: whoever is trained anew turns it round.
    """
    told: list[Any] = []
    for answers, truth in zip(logits.T, labels.T, strict=True):
        if 0 < truth.mean() < 1:
            told.append((2 * binary_auroc(answers, truth.long()) - 1).abs())
    return float(torch.stack(told).mean()) if told else 0.0
