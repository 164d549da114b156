"""One function for both kinds of action labels, against sums written out."""

from math import exp, log

import pytest
import torch

from actonym.losses.action import action_loss

LOGITS = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]])


def test_one_action_per_video():
    slow = 0.0
    for row, true in enumerate((2, 1)):
        slow -= log(exp(LOGITS[row, true]) / sum(exp(value) for value in LOGITS[row])) / 2
    assert action_loss(LOGITS, torch.tensor([2, 1])).item() == pytest.approx(slow, rel=1e-5)


def test_several_actions_at_once():
    labels = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    slow = 0.0
    for row in range(2):
        for k in range(3):
            p = 1 / (1 + exp(-LOGITS[row, k]))
            slow -= (log(p) if labels[row, k] else log(1 - p)) / 6
    assert action_loss(LOGITS, labels).item() == pytest.approx(slow, rel=1e-5)
