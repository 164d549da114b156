"""Both objectives against slow twins, and what they want of a recognizer."""

from math import log

import pytest
import torch

from actonym.losses.privacy import certainty, maximize, uninformed


def slow_bce(logit, label):
    p = 1 / (1 + torch.exp(-logit))
    return -(label * torch.log(p) + (1 - label) * torch.log(1 - p))


@pytest.mark.parametrize("ceiling", [None, 0.5, 3.0])
@pytest.mark.parametrize("size", [(1, 1), (4, 5)])
def test_maximize_is_the_negative_loss_up_to_a_ceiling(size, ceiling):
    torch.manual_seed(0)
    logits, labels = 3 * torch.randn(size), torch.randint(0, 2, size).float()
    slow = [min(float(slow_bce(a, b)), ceiling or 1e9) for a, b in zip(logits.flatten(), labels.flatten(), strict=True)]
    assert float(maximize(logits, labels, ceiling)) == pytest.approx(-sum(slow) / len(slow), rel=1e-4)


def test_beyond_the_ceiling_there_is_nothing_to_gain():
    logits = torch.tensor([[-9.0, 0.5]], requires_grad=True)
    maximize(logits, torch.ones(1, 2), ceiling=3.0).backward()
    assert logits.grad[0, 0] == 0 and logits.grad[0, 1] != 0


@pytest.mark.parametrize("prevalence", [None, torch.tensor([0.2, 0.5, 0.9])])
def test_uninformed_is_a_divergence(prevalence):
    torch.manual_seed(1)
    logits = torch.randn(4, 3)
    wanted = torch.full((3,), 0.5) if prevalence is None else prevalence
    slow = 0.0
    for row in logits:
        for logit, q in zip(row, wanted, strict=True):
            p = float(torch.sigmoid(logit))
            slow += float(q) * log(float(q) / p) + (1 - float(q)) * log((1 - float(q)) / (1 - p))
    assert float(uninformed(logits, prevalence)) == pytest.approx(slow / 12, rel=1e-4)
    assert float(uninformed(torch.logit(wanted).expand(4, 3), prevalence)) == pytest.approx(0, abs=1e-6)


def test_a_surely_wrong_recognizer_suits_one_and_not_the_other():
    """An attacker who is trained anew would turn such answers round: `uninformed` does not reward them."""
    labels = torch.tensor([[1.0, 0.0]])
    wrong, unsure = torch.tensor([[-5.0, 5.0]]), torch.zeros(1, 2)
    assert maximize(wrong, labels) < maximize(unsure, labels)
    assert uninformed(wrong) > uninformed(unsure)


@pytest.mark.parametrize("size", [(1, 1), (3, 5)])
def test_certainty_is_the_negative_entropy(size):
    torch.manual_seed(2)
    logits = (2 * torch.randn(size)).requires_grad_()
    p = 1 / (1 + torch.exp(-logits))
    slow = (p * p.log() + (1 - p) * (1 - p).log()).mean(1)
    assert torch.allclose(certainty(logits), slow, atol=1e-5)
    fast, twin = (torch.autograd.grad(loss.sum(), logits)[0] for loss in (certainty(logits), slow))
    assert torch.allclose(fast, twin, atol=1e-5)
    assert float(certainty(torch.zeros(1, 4))) == pytest.approx(-log(2)), "least where the recognizer knows nothing"
