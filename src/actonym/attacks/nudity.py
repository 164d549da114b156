"""The nudity attack: a filter for nude pictures, looking at the anonymized video."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torchmetrics.functional import pearson_corrcoef, spearman_corrcoef
from torchmetrics.functional.classification import binary_auroc, binary_average_precision

from actonym.attacks.faces import Footage, both
from actonym.nets import open_nsfw

FRAMES = 8  # of a video, evenly spaced; their mean is its score


def nudity(
    pairs: Iterable[tuple[Footage, Footage]],
    labels: Sequence[int] | None = None,
    *,
    count: int = FRAMES,
    score: Callable[[Tensor], Tensor] = open_nsfw.nudity,
) -> dict[str, Any]:
    """`nudity_leak` of pairs of raw and anonymized videos."""
    means = [[score(frames).mean().item() for frames in both(*pair, count)] for pair in pairs]
    return nudity_leak([raw for raw, _ in means], [anonymized for _, anonymized in means], labels)


def nudity_leak(
    raw: Sequence[float], anonymized: Sequence[float], labels: Sequence[int] | None = None
) -> dict[str, Any]:
    """What the scores of the anonymized videos tell.

    `correlation` and `rank_correlation` (None where one of them is constant) are with the raw videos' scores. With
    labels of both classes, `auc` and `ap` are of the anonymized videos' scores, beside those of raw and the floors.
    """
    before, after = torch.tensor(raw), torch.tensor(anonymized)
    varies = len(before) > 1 and before.unique().numel() > 1 and after.unique().numel() > 1
    leak: dict[str, Any] = {
        "correlation": pearson_corrcoef(after, before).item() if varies else None,
        "rank_correlation": spearman_corrcoef(after, before).item() if varies else None,
        "videos": len(before),
    }
    if labels is None or len(set(labels)) < 2:
        return leak
    target = torch.tensor(labels, dtype=torch.long)
    return {
        **leak,
        **_ranked(after, target),
        "raw": _ranked(before, target),
        "chance": {"auc": 0.5, "ap": target.double().mean().item()},
    }


def _ranked(scores: Tensor, labels: Tensor) -> dict[str, float]:
    return {
        "auc": binary_auroc(scores, labels).item(),
        "ap": binary_average_precision(scores, labels).item(),
    }
