"""Against slow twins over a grid of sizes."""

from math import exp, log, sqrt

import pytest
import torch

from actonym.losses.contrastive import found, lost, nt_xent, triplet


def cosine(a, b):
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / sqrt(sum(x * x for x in a) * sum(y * y for y in b))


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("dim", [1, 3, 8])
@pytest.mark.parametrize("temperature", [0.1, 0.5])
def test_nt_xent(count, dim, temperature):
    torch.manual_seed(count * 10 + dim)
    first, second = torch.randn(count, dim), torch.randn(count, dim)
    views = [*first.tolist(), *second.tolist()]
    for i, loss in enumerate(nt_xent(first, second, temperature).tolist()):
        shares = [exp(cosine(views[i], views[j]) / temperature) if j != i else 0.0 for j in range(2 * count)]
        assert loss == pytest.approx(-log(shares[(i + count) % (2 * count)] / sum(shares)), rel=1e-4, abs=1e-5)


def test_nt_xent_of_views_that_tell_nothing_is_that_of_a_guess():
    same = torch.ones(4, 3)
    assert nt_xent(same, same).tolist() == pytest.approx([log(7)] * 8)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("temperature", [0.1, 0.5])
def test_lost(count, temperature):
    torch.manual_seed(count)
    first, second = torch.randn(count, 4), torch.randn(count, 4)
    views = [*first.tolist(), *second.tolist()]
    others = 2 * count - 1
    for i, loss in enumerate(lost(first, second, temperature).tolist()):
        raw = [exp(cosine(views[i], views[j]) / temperature) for j in range(2 * count) if j != i]
        slow = sum(log(1 / others) - log(share / sum(raw)) for share in raw) / others
        assert loss == pytest.approx(slow, rel=1e-4, abs=1e-5)


def test_lost_has_a_slope_where_a_twin_is_found_for_sure():
    views = torch.eye(4, requires_grad=True)
    slopes = [torch.autograd.grad(loss(views, views + 0.1).mean(), views)[0].norm() for loss in (nt_xent, lost)]
    assert slopes[1] > 10 * slopes[0] > 0
    same = torch.ones(4, 3)
    assert lost(same, same).tolist() == pytest.approx([0.0] * 8, abs=1e-6)


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("margin", [0.2, 1.0])
def test_triplet(count, margin):
    torch.manual_seed(count)
    a, p, n = torch.randn(3, count, 6)
    slow = [max(0.0, float((x - y).norm() - (x - z).norm()) + margin) for x, y, z in zip(a, p, n, strict=True)]
    assert triplet(a, p, n, margin).tolist() == pytest.approx(slow, rel=1e-4)


def test_triplet_of_equal_embeddings_has_a_finite_gradient():
    a = torch.zeros(2, 3, requires_grad=True)
    triplet(a, a.detach(), a.detach()).sum().backward()
    assert a.grad.isfinite().all()


def test_found_counts_twins():
    first = torch.eye(4)
    assert found(first, first) == 1.0
    assert found(first, first.roll(1, 0)) == 0.0
    # twins of two and three are exchanged
    assert found(first, first[[0, 1, 3, 2]]) == 0.5
