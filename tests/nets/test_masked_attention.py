"""Masked attention against equations 8 to 10 written out, and against attention over the kept tokens alone."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from actonym.nets.masked_attention import masked_attention

KEPT = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1]], dtype=torch.double)


def heads(*, grad=False):
    torch.manual_seed(0)
    return [torch.randn(2, 2, 5, 3, dtype=torch.double, requires_grad=grad) for _ in range(3)]


def slow(q, k, v, kept):
    out = torch.zeros_like(q)
    for b in range(2):
        for h in range(2):
            for i in range(5):
                s = [float(q[b, h, i] @ k[b, h, j]) / 3**0.5 for j in range(5)]  # 8
                m = [1.0 if i == j else float(kept[b, j]) for j in range(5)]  # 9
                e = [torch.tensor(s[j], dtype=torch.double).exp() * m[j] for j in range(5)]
                for j in range(5):
                    out[b, h, i] += e[j] / sum(e) * v[b, h, j]  # 10
    return out


def test_equations_8_to_10():
    q, k, v = heads()
    assert torch.allclose(masked_attention(q, k, v, KEPT), slow(q, k, v, KEPT))


def test_equals_attention_over_the_kept_tokens_alone():
    q, k, v = heads()
    out = masked_attention(q, k, v, KEPT)
    for b in range(2):
        own = KEPT[b].bool()
        assert torch.allclose(out[b][:, own], scaled_dot_product_attention(*(x[b][:, own] for x in (q, k, v))))


def test_gradients_of_tokens_and_decisions():
    """Also of decisions against a token: that is how it may come back."""
    assert torch.autograd.gradcheck(masked_attention, (*heads(grad=True), KEPT.clone().requires_grad_()))


def test_large_scores_do_not_overflow():
    q, k, v = (100 * x for x in heads())
    assert masked_attention(q, k, v, KEPT).isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_loses_nothing_that_is_faint(dtype):
    """All that may be looked at is outshone by what may not: in half precision the sum would be zero."""
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 5, 4) for _ in range(3))
    kept = torch.tensor([[1.0, 0, 0, 0, 0]])
    q, k = 12 * q.abs(), 12 * k.abs()
    k[:, :, 0] = 0
    halves = [x.to(dtype).requires_grad_() for x in (q, k, v)]
    with torch.autocast("cpu", torch.bfloat16):
        out = masked_attention(*halves, kept)
    wanted = masked_attention(*(x.detach().float() for x in halves), kept)
    assert out.dtype == dtype and torch.allclose(out.float(), wanted, atol=2e-2)
    out.float().sum().backward()
    assert all(x.grad.isfinite().all() for x in halves)
