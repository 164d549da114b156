"""Segments that a detector found: thinned out, and scored as ActivityNet and THUMOS14 do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from actonym.data.base import Segment
from actonym.errors import UserError

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)  # of the IoU; THUMOS14's
Times = NDArray[np.float64]

SAME = 1e-3  # seconds; two true segments of one action that differ by less are one


@dataclass(frozen=True)
class Found:
    """M segments of one video."""

    times: Tensor  # [M, 2]: start and end
    label: Tensor  # int64 [M]
    score: Tensor  # [M]

    def __len__(self) -> int:
        return len(self.score)

    def __getitem__(self, which: Tensor) -> "Found":
        return Found(self.times[which], self.label[which], self.score[which])


def join(parts: Sequence[Found]) -> Found:
    return Found(*(torch.cat([getattr(part, key) for part in parts]) for key in ("times", "label", "score")))


def _overlap(one: Times, others: Times) -> Times:
    """IoU of one segment `[2]` with each of others `[M, 2]`."""
    both = (np.minimum(one[1], others[:, 1]) - np.maximum(one[0], others[:, 0])).clip(0)
    union = (one[1] - one[0]) + (others[:, 1] - others[:, 0]) - both
    return both / union.clip(1e-12)


def soft_nms(found: Found, sigma: float = 0.5, least: float = 1e-3, most: int = 2000) -> Found:
    """Gaussian soft-NMS (Bodla et al., ICCV 2017) within each action, the surest first.

    The best segment is taken and the others lose by how much they overlap it, `score * exp(-IoU^2 / sigma)`; those
    below `least` are dropped. Of all actions together the best `most` stay.
    """
    parts = [_thinned(found[found.label == label], sigma, least, most) for label in found.label.unique()]
    kept = join(parts) if parts else found
    return kept[kept.score.argsort(descending=True, stable=True)[:most]]


def _thinned(found: Found, sigma: float, least: float, most: int) -> Found:
    # Thousands of tiny steps: numpy has less to do around each than torch.
    times, score = found.times.cpu().double().numpy(), found.score.cpu().double().numpy().copy()
    taken: list[int] = []
    scores: list[float] = []
    while len(taken) < min(most, len(score)):
        best = int(score.argmax())
        if score[best] < least:
            break
        taken.append(best)
        scores.append(float(score[best]))
        score *= np.exp(-(_overlap(times[best], times) ** 2) / sigma)
        score[best] = -np.inf
    kept = found[torch.tensor(taken, dtype=torch.long, device=found.score.device)]
    return Found(kept.times, kept.label, kept.score.new_tensor(scores))


def mean_ap(
    found: Sequence[Found], truth: Sequence[Sequence[Segment]], thresholds: Sequence[float] = THRESHOLDS
) -> dict[str, float]:
    """Mean over actions of the interpolated average precision, at each threshold and, as `map`, over all of them.

    Found segments are taken by falling score; each takes the true segment of its video and action that it overlaps
    most and that is still free, if the IoU reaches the threshold, and is wrong otherwise. Actions that are nowhere true
    do not count.
    """
    if len(found) != len(truth):
        raise ValueError(f"segments found in {len(found)} videos, true ones in {len(truth)}")
    true = [_distinct(segments) for segments in truth]
    labels = sorted({segment.label for segments in true for segment in segments})
    if not labels:
        raise UserError("detection needs videos with true segments to be scored on; there are none")
    table = torch.stack([_average_precisions(label, found, true, thresholds) for label in labels]).mean(0)
    each = {f"map@{threshold:g}": value for threshold, value in zip(thresholds, table.tolist(), strict=True)}
    return {"map": table.mean().item(), **each}


def _average_precisions(
    label: int, found: Sequence[Found], true: Sequence[Sequence[Segment]], thresholds: Sequence[float]
) -> Tensor:
    """Of one action, at each threshold."""
    own = [video[video.label == label] for video in found]
    videos = [number for number, video in enumerate(own) for _ in range(len(video))]
    order = torch.cat([video.score for video in own]).argsort(descending=True, stable=True)
    times = torch.cat([video.times for video in own]).double().cpu().numpy()
    wanted = [np.array([(s.start, s.end) for s in video if s.label == label]).reshape(-1, 2) for video in true]
    free = [np.ones((len(thresholds), len(video)), dtype=bool) for video in wanted]
    right = torch.zeros(len(thresholds), len(order), dtype=torch.bool)
    for rank, at in enumerate(order.tolist()):
        video = videos[at]
        near = _overlap(times[at], wanted[video])
        if not len(near) or near.max() < min(thresholds):
            continue
        for row, threshold in enumerate(thresholds):
            still = np.where(free[video][row], near, -1)
            best = int(still.argmax())
            if still[best] >= threshold:
                free[video][row, best] = False
                right[row, rank] = True
    return interpolated(right, sum(map(len, wanted)))


def interpolated(right: Tensor, total: int) -> Tensor:
    """Average precision `[R]` of rankings `[R, M]` with `total` to be found: the area under the precision, which at
    each recall is the best at that recall or beyond."""
    hits = right.double().cumsum(1)
    precision = hits / torch.arange(1, right.shape[1] + 1)
    best = precision.flip(1).cummax(1).values.flip(1) if right.shape[1] else precision
    return (best * right).sum(1) / total


def _distinct(segments: Sequence[Segment]) -> list[Segment]:
    """Without those of no length and those that are there twice."""
    kept: list[Segment] = []
    for one in segments:
        twice = any(
            one.label == other.label and abs(one.start - other.start) <= SAME and abs(one.end - other.end) <= SAME
            for other in kept
        )
        if one.end > one.start and not twice:
            kept.append(one)
    return kept
