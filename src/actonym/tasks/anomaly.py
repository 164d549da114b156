"""Weakly supervised anomaly detection: when does something odd happen, learned from videos that only say whether.

The head is MGFN. Its release keeps the epoch that is best on test; ours is chosen on validation videos, by how well
their scores tell videos apart, since training videos have no times.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice, pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torchmetrics.functional.classification import binary_auroc

from actonym.errors import UserError
from actonym.losses.anomaly import magnitude_contrast, smoothness, sparsity
from actonym.nets.mgfn import MGFN, most_marked
from actonym.tasks.base import FeatureBatch, Task, VideoFeatures, batch_of


@dataclass(frozen=True)
class Anomaly:
    """Numbers of the loss."""

    segments: int = 32
    marked: int = 3  # k: segments that stand for their video
    drop: float = 0.7  # of the segments when these are chosen
    contrast: float = 0.001
    margin: float = 200.0
    apart: float = 0.001
    sparse: float = 8e-3
    smooth: float = 8e-4


def anomaly(normal: int, settings: Anomaly | None = None, **net: Any) -> Task:
    """MGFN, where the action `normal` says that nothing is odd; `net` are the sizes of the head."""
    how = settings or Anomaly()
    return Task(
        name="anomaly",
        head=lambda dim: MGFN(dim, **net),
        loss=lambda head, batch: anomaly_loss(head, batch, normal, how),
        score=lambda head, videos: anomaly_scores(head, videos, normal, how.marked),
        metric="auc",
        goal="video_auc",
        prepare=lambda videos: batch_of([in_segments(video, how.segments) for video in videos]),
        items=lambda videos: pairs(videos, normal),
    )


def pairs(videos: Sequence[VideoFeatures], normal: int) -> list[Sequence[VideoFeatures]]:
    """Each video once or more, always a normal and an anomalous one together."""
    usual = [video for video in videos if video.action == normal]
    odd = [video for video in videos if video.action != normal]
    if not usual or not odd:
        raise UserError(f"anomaly needs normal and anomalous videos; there are {len(usual)} and {len(odd)}")
    count = max(len(usual), len(odd))
    return list(zip(islice(cycle(usual), count), islice(cycle(odd), count), strict=True))


def in_segments(video: VideoFeatures, count: int) -> VideoFeatures:
    """The video as `count` segments: means over equal parts of its clips; a shorter one repeats its clips."""
    length = len(video.features)
    bounds = [n * length // count for n in range(count + 1)]
    parts = [video.features[a : max(b, a + 1)].mean(0) for a, b in pairwise(bounds)]
    return replace(video, features=torch.stack(parts), length=video.total)


def anomaly_loss(head: nn.Module, batch: FeatureBatch, normal: int, how: Anomaly) -> Tensor:
    """SPLAVU's equation 9: cross-entropy of a video's most marked segments, sparsity, smoothness, contrast."""
    odd = torch.tensor([video.action != normal for video in batch.videos], device=batch.features.device)
    if odd.all() or not odd.any():
        raise UserError("a batch of the anomaly task needs normal and anomalous videos")
    scores, seen = head(batch.features)
    said, magnitude = most_marked(scores, seen, how.marked, how.drop if head.training else 0.0)
    return (
        cross_entropy(said, odd)
        + how.contrast * magnitude_contrast(magnitude[~odd], magnitude[odd], how.margin, how.apart)
        + how.sparse * sparsity(scores[odd])
        + how.smooth * smoothness(scores[odd])
    )


def cross_entropy(said: Tensor, odd: Tensor) -> Tensor:
    """Equation 10, of scores that are probabilities already; torch refuses its own in mixed precision."""
    right = torch.where(odd, said, 1 - said).float()
    return -right.clamp(min=torch.finfo(right.dtype).tiny).log().mean()


@torch.inference_mode()
def clip_scores(head: nn.Module, video: VideoFeatures) -> tuple[Tensor, Tensor]:
    """The score of each clip `[N]`, and the norms of what they are judged by. The video is seen whole, as released."""
    head.eval()
    device = next(head.parameters()).device
    scores, seen = head(video.features[None].to(device))
    return scores[0].cpu(), seen[0].cpu()


def anomaly_scores(head: nn.Module, videos: Sequence[VideoFeatures], normal: int, marked: int = 3) -> dict[str, float]:
    """`video_auc`: how well the most marked clips tell odd videos from normal ones. `auc`: of all frames of all videos
    together, where every odd video says when it is odd."""
    judged = [clip_scores(head, video) for video in videos]
    odd = torch.tensor([video.action != normal for video in videos]).long()
    whole = torch.stack([most_marked(scores[None], seen[None], marked)[0][0] for scores, seen in judged])
    found = {"video_auc": area(whole, odd)}
    if all(video.segments for video in videos if video.action != normal):
        spread = [over_frames(scores, video) for (scores, _), video in zip(judged, videos, strict=True)]
        found["auc"] = area(torch.cat(spread), torch.cat([odd_frames(video) for video in videos]))
    return found


def over_frames(scores: Tensor, video: VideoFeatures) -> Tensor:
    """Scores of clips `[N]` as scores of frames: that of the last clip that has begun."""
    clip = torch.arange(video.total) // video.stride
    return scores[clip.clamp(max=len(scores) - 1)]


def odd_frames(video: VideoFeatures) -> Tensor:
    """1 for the frames of the video's segments, 0 for the others."""
    frame = torch.arange(video.total)
    inside = torch.zeros(video.total, dtype=torch.long)
    for segment in video.segments:
        inside[(frame >= round(segment.start * video.fps)) & (frame <= round(segment.end * video.fps))] = 1
    return inside


def area(scores: Tensor, labels: Tensor) -> float:
    """Area under the ROC curve."""
    if labels.unique().numel() < 2:
        raise UserError("the anomaly task needs both normal and anomalous videos to be scored on")
    return binary_auroc(scores.float(), labels).item()
