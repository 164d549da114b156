"""Temporal action detection: which actions begin and end when, in a long video. The head is TriDet.

Differences from TriDet's release, beside those in `nets/tridet.py`: the IoU that weights a positive's classification
loss is a constant there, not a way for the gradient to pull segments away from the truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from actonym.data.base import Segment
from actonym.losses.detection import diou_loss, focal, iou
from actonym.nets.tridet import Level, TriDet
from actonym.tasks.base import FeatureBatch, Task, VideoFeatures, batch_of
from actonym.tasks.segments import THRESHOLDS, Found, join, mean_ap, soft_nms

MOMENTUM = 0.9  # TriDet's release: of the moving average of positives
TRIES = 100  # cuts of a video until one shows an action
LIKE = 1e-3  # clips; of two segments around a moment that differ by less in length both actions count


@dataclass(frozen=True)
class Detection:
    """Numbers of the loss and of what comes after the head."""

    ranges: Sequence[Sequence[float]] = ((0, 4), (4, 8), (8, 16), (16, 32), (32, 64), (64, 10000))  # clips, per level
    radius: float = 1.5  # strides around its middle in which a segment has positives
    iou_power: float = 0.2
    longest: int = 2304  # clips of a training video; longer ones are cut
    crop: Sequence[float] = (0.9, 1.0)  # shares of a training video that are shown
    truncated: float = 0.5  # share of a segment that must be left in a cut for it to count
    noise: float = 5e-4  # added to training features
    least_score: float = 1e-3
    before_nms: int = 2000  # candidates per level
    shortest: float = 0.05  # clips
    sigma: float = 0.5  # of soft-NMS
    most: int = 2000  # segments per video
    thresholds: Sequence[float] = THRESHOLDS


def detection(classes: int, settings: Detection | None = None, **net: Any) -> Task:
    """TriDet for `classes` actions; `net` are the sizes of the head."""
    how = settings or Detection()
    levels = len(how.ranges)
    return Task(
        name="detection",
        head=lambda dim: TriDet(dim, classes, levels=levels, **net),
        loss=lambda head, batch: detection_loss(head, batch, how),
        score=lambda head, videos: mean_ap(
            [detect(head, video, how) for video in videos], [video.segments for video in videos], how.thresholds
        ),
        metric="map",
        prepare=lambda videos: prepare(videos, how),
    )


def prepare(videos: Sequence[VideoFeatures], how: Detection) -> FeatureBatch:
    """A batch to train on: random cuts of the videos, with a little noise."""
    batch = batch_of([cut(video, how) for video in videos])
    noise = how.noise * torch.randn_like(batch.features)
    return replace(batch, features=batch.features + noise * batch.mask[..., None])


def cut(video: VideoFeatures, how: Detection) -> VideoFeatures:
    """A random stretch of a video, with the segments of which enough is left, cut where it ends.

    A stretch without any is tried again, if the video has segments at all.
    """
    whole = len(video.features)
    least, most = (max(1, round(share * min(whole, how.longest))) for share in how.crop)
    for _ in range(TRIES):
        length = int(torch.randint(least, most + 1, ()))
        first = int(torch.randint(0, whole - length + 1, ()))
        segments = _within(video, first, length, how.truncated)
        if segments or not video.segments:
            break
    features = video.features[first : first + length]
    total = (length - 1) * video.stride + video.frames
    return replace(video, features=features, segments=segments, length=total)


def _within(video: VideoFeatures, first: int, length: int, share: float) -> list[Segment]:
    kept = []
    for segment in video.segments:
        times = video.place(torch.tensor([segment.start, segment.end]))
        inside = times.clamp(first, first + length)
        if inside[1] > inside[0] and inside[1] - inside[0] >= share * (times[1] - times[0]):
            start, end = video.seconds(inside - first).tolist()
            kept.append(Segment(start, end, segment.label))
    return kept


def detection_loss(head: nn.Module, batch: FeatureBatch, how: Detection) -> Tensor:
    """Equation 9 of TriDet, 8 of SPLAVU: focal loss of every moment and action, times a power of the IoU where it is
    positive, and DIoU loss of the positives; both over a moving average of the number of positives (the release; the
    printed equation divides the negatives by their own number).
    """
    total = batch.features.new_zeros(())
    positives = 0
    for level, reach in zip(head(batch.features, batch.mask), how.ranges, strict=True):
        wanted, distance = targets(batch.videos, level, reach, how.radius)
        video, moment, label = (wanted.bool() & level.mask[..., None]).nonzero(as_tuple=True)
        found, true = level.distances(video, moment, label), distance[video, moment]
        loss = focal(level.action, wanted) * level.mask[..., None]
        weight = torch.ones_like(loss)
        weight[video, moment, label] = iou(found, true).detach() ** how.iou_power
        total = total + (weight * loss).sum() + diou_loss(found, true).sum()
        positives += int(((wanted.sum(-1) > 0) & level.mask).sum())
    average: Any = head.positives
    if head.training:
        average.mul_(MOMENTUM).add_((1 - MOMENTUM) * max(positives, 1))
    return total / average


@torch.no_grad()
def targets(
    videos: Sequence[VideoFeatures], level: Level, reach: Sequence[float], radius: float
) -> tuple[Tensor, Tensor]:
    """Which actions each moment of a level shall tell, `[B, T, K]` of 0 and 1, and how far their ends are, `[B, T, 2]`
    in strides.

    A moment is positive if it is inside a segment, at most `radius` strides from its middle (centre sampling), and the
    farther end is within `reach` clips; of several such segments the shortest counts.
    """
    moments, classes = level.action.shape[1:]
    points = torch.arange(moments, device=level.action.device, dtype=torch.float) * level.stride
    parts = [_targets(video, points, level.stride, reach, radius, classes) for video in videos]
    wanted, distance = zip(*parts, strict=True)
    return torch.stack(wanted), torch.stack(distance)


def _targets(
    video: VideoFeatures, points: Tensor, stride: int, reach: Sequence[float], radius: float, classes: int
) -> tuple[Tensor, Tensor]:
    if not video.segments:
        return points.new_zeros(len(points), classes), points.new_zeros(len(points), 2)
    times = video.place(torch.tensor([(s.start, s.end) for s in video.segments])).to(points)
    labels = one_hot(torch.tensor([s.label for s in video.segments]), classes).to(points)
    distance = torch.stack([points[:, None] - times[:, 0], times[:, 1] - points[:, None]], -1)  # [T, S, 2]
    near = (points[:, None] - times.mean(1)).abs() < radius * stride
    far = distance.amax(-1)
    fits = near & (distance.amin(-1) > 0) & (far >= reach[0]) & (far <= reach[1])
    lengths = (times[:, 1] - times[:, 0]).expand_as(far).masked_fill(~fits, torch.inf)
    shortest, which = lengths.min(1)
    chosen = fits & (lengths <= shortest[:, None] + LIKE)
    ends = distance[torch.arange(len(points)), which] / stride
    return (chosen.to(points) @ labels).clamp(max=1), ends


@torch.inference_mode()
def detect(head: nn.Module, video: VideoFeatures, how: Detection) -> Found:
    """The segments of a video in seconds, the surest first."""
    head.eval()
    device = next(head.parameters()).device
    batch = batch_of([video]).to(device)
    parts = [_candidates(level, how) for level in head(batch.features, batch.mask)]
    kept = soft_nms(join(parts), how.sigma, how.least_score, how.most)
    times = video.seconds(kept.times.cpu()).clamp(0, video.total / video.fps)
    return Found(times, kept.label.cpu(), kept.score.cpu())


def _candidates(level: Level, how: Detection) -> Found:
    """The likeliest actions of a level, in clips."""
    likely = (level.action.sigmoid() * level.mask[..., None])[0].flatten()
    score, at = likely.topk(min(how.before_nms, len(likely)))
    score, at = (values[score > how.least_score] for values in (score, at))
    classes = level.action.shape[-1]
    moment, label = at // classes, at % classes
    distance = level.distances(torch.zeros_like(at), moment, label)
    middle = moment.to(distance)[:, None]
    times = (middle + distance * distance.new_tensor([-1, 1])) * level.stride
    return Found(times, label, score)[times[:, 1] - times[:, 0] > how.shortest]
