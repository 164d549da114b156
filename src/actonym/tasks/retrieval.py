"""Retrieval: find videos of the same action by their features. Nothing is trained."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from actonym.errors import UserError
from actonym.tasks.base import VideoFeatures

RANKS = (1, 5, 10)
PART = 1024  # queries at once


def retrieval(
    queries: Sequence[VideoFeatures], gallery: Sequence[VideoFeatures], ranks: Sequence[int] = RANKS, seed: int = 0
) -> dict[str, Any]:
    """Test videos look for training videos by the cosine of their mean features (SPLAVU, table 13).

    `r@k`: share of queries with a video of their action among the k nearest. `map`: mean over queries of the average
    precision of the whole ranking. Queries whose action the gallery does not have are left out and counted. Videos that
    are equally near come in an order by lot, not in that of the files.
    """
    if not queries or not gallery:
        raise UserError(f"retrieval needs queries and a gallery; there are {len(queries)} and {len(gallery)} videos")
    lot = torch.randperm(len(gallery), generator=torch.Generator().manual_seed(seed))
    known = torch.tensor([video.action for video in gallery])[lot]
    action = torch.tensor([video.action for video in queries])
    asked = torch.isin(action, known)
    if not asked.any():
        raise UserError("retrieval: the gallery has no video of any query's action")
    order = neighbours(whole(queries)[asked], whole(gallery)[lot])
    hits = known[order] == action[asked][:, None]
    found = {f"r@{k}": hits[:, :k].any(1).double().mean().item() for k in ranks}
    return {
        **found,
        "map": average_precision(hits).mean().item(),
        "queries": len(hits),
        "left_out": int((~asked).sum()),
    }


def whole(videos: Sequence[VideoFeatures]) -> Tensor:
    """One feature for each video, `[V, D]`: the mean of its clips', of length 1."""
    return normalize(torch.stack([video.features.float().mean(0) for video in videos]), dim=1)


def neighbours(queries: Tensor, gallery: Tensor, count: int | None = None) -> Tensor:
    """Places in the gallery of the `count` most similar (all if none is given) of each query, the nearest first.

    Features `[Q, D]` and `[G, D]` of length 1. With faiss (`actonym[retrieval]`) or without: both are exact.
    """
    count = len(gallery) if count is None else min(count, len(gallery))
    if find_spec("faiss") is None:
        return torch.cat([(part @ gallery.T).topk(count).indices for part in queries.split(PART)])
    import faiss

    index = faiss.IndexFlatIP(gallery.shape[1])
    index.add(gallery.contiguous().numpy())
    return torch.cat([torch.from_numpy(index.search(part.numpy(), count)[1]) for part in queries.split(PART)])


def average_precision(hits: Tensor) -> Tensor:
    """Of rankings `[Q, G]` of true and false: the mean precision at the places of the true ones."""
    found = hits.double().cumsum(1)
    precision = found / torch.arange(1, hits.shape[1] + 1)
    return (precision * hits).sum(1) / hits.sum(1)
