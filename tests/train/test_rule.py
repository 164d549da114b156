import pytest
import torch

from actonym.errors import UserError
from actonym.train.rule import RULES, attribute_leak, find_rule, judged

PATH = [(0.9, 0.8), (0.7, 0.3), (0.4, 0.0), (0.69, 0.1)]  # action, leak


def kept(rule, weight=1.0, floor=0.0):
    scores = [judged(rule, action, leak, weight, floor)["score"] for action, leak in PATH]
    return max(range(len(PATH)), key=lambda epoch: scores[epoch])


def test_what_the_rules_keep():
    assert kept("action_minus_leak") == 3
    assert kept("action_minus_leak", weight=0.1) == 0 and kept("action_minus_leak", weight=5.0) == 2
    assert kept("least_leak", floor=0.7) == 1
    assert kept("least_leak", floor=0.0) == 2
    assert kept("least_leak", floor=0.95) == 0, "where none is above the floor, the one with the best action"


def test_the_last_epoch_has_a_point_and_no_score():
    assert judged("last", 0.5, 0.2, 1.0, 0.0) == {"action": 0.5, "leak": 0.2}


def test_unknown_rules_are_refused():
    assert {"action_minus_leak", "least_leak", "last"} == set(RULES)
    with pytest.raises(UserError, match="did you mean 'least_leak'"):
        find_rule("least_leek")


def test_leak_is_what_can_be_told_either_way():
    labels = torch.tensor([[0.0, 0, 1], [1.0, 1, 1], [0.0, 1, 1], [1.0, 0, 1]])
    sure = 2 * labels - 1
    assert attribute_leak(sure, labels) == 1.0, "the third attribute never varies and does not count"
    assert attribute_leak(-sure, labels) == 1.0, "an answer that is always wrong tells as much"
    assert attribute_leak(torch.zeros_like(labels), labels) == 0.0
    assert attribute_leak(torch.randn(4, 1), torch.ones(4, 1)) == 0.0
