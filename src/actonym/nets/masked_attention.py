"""Attention to some of the tokens, with gradients to the decision which ones (STPrivacy, equations 8-10)."""

from typing import Any

import torch
from torch import Tensor

FAINT = -30.0  # exp of it; where dropped tokens outshine a token by more, what is left must not vanish


def masked_attention(q: Tensor, k: Tensor, v: Tensor, kept: Tensor) -> Tensor:
    """Heads `[B, h, N, d]` that attend to the tokens with `kept` `[B, N]` 1 (not 0), and each to itself.

    The decisions are factors, as in equation 10, so gradients reach those of dropped tokens too. Queries and keys are
    scaled by the width of a head, as everywhere; equation 8 has D, the width where there is one head. Half precision
    would lose what is faint, so it is left here and taken up again behind.
    """
    wide = torch.promote_types(q.dtype, torch.float32)
    with torch.autocast(q.device.type, enabled=False):
        return MaskedAttention.apply(q.to(wide), k.to(wide), v.to(wide), kept.to(wide)).to(q.dtype)


class MaskedAttention(torch.autograd.Function):
    """Written out because matrices of N x N are as slow as the memory: on a processor one clip at a time stays in its
    cache, and the way back computes them anew. Several times as fast as letting autograd keep them."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, kept: Tensor) -> Tensor:
        out = torch.empty_like(q)
        most = q.new_empty(*q.shape[:-1], 1)
        total = torch.empty_like(most)
        for part in _parts(q):
            scores = _scores(q[part], k[part])
            most[part] = scores.amax(-1, keepdim=True)
            weights = masked_(scores.sub_(most[part]).clamp_(min=FAINT).exp_(), kept[part])
            total[part] = weights.sum(-1, keepdim=True)
            out[part] = weights @ v[part] / total[part]
        ctx.save_for_backward(q, k, v, kept, out, most, total)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        q, k, v, kept, out, most, total = ctx.saved_tensors
        (grad,) = grads
        dq, dk, dv, dkept = (torch.empty_like(x) for x in (q, k, v, kept))
        for part in _parts(q):
            free = _scores(q[part], k[part]).sub_(most[part]).clamp_(min=FAINT).exp_()
            free.div_(total[part])  # exp(S) over the masked sum
            slope = grad[part] @ v[part].transpose(-2, -1)
            slope.sub_((grad[part] * out[part]).sum(-1, keepdim=True)).mul_(free)  # with respect to the mask
            dkept[part] = (slope.sum(-2) - slope.diagonal(dim1=-2, dim2=-1)).sum(1)  # a token's own place is fixed
            dv[part] = masked_(free, kept[part]).transpose(-2, -1) @ grad[part]
            masked_(slope, kept[part]).mul_(q.shape[-1] ** -0.5)
            dq[part] = slope @ k[part]
            dk[part] = slope.transpose(-2, -1) @ q[part]
        return dq, dk, dv, dkept


def _parts(q: Tensor) -> list[slice]:
    step = 1 if q.device.type == "cpu" else len(q)
    return [slice(first, first + step) for first in range(0, len(q), step)]


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return (q @ k.transpose(-2, -1)).mul_(q.shape[-1] ** -0.5)


def masked_(matrix: Tensor, kept: Tensor) -> Tensor:
    """`matrix` `[B, h, N, N]` times the mask of equation 9, in place: columns by `kept`, the diagonal as it was."""
    diagonal = matrix.diagonal(dim1=-2, dim2=-1)
    own = diagonal.clone()
    matrix.mul_(kept[:, None, None, :])
    diagonal.copy_(own)
    return matrix
