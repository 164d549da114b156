"""Action recognition: one action per video, or several at once."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from actonym.data.clips import Clips
from actonym.losses.action import action_loss
from actonym.nets.heads import head
from actonym.tasks.base import FeatureBatch, Task, VideoFeatures, batch_of
from actonym.train.fit import Fit, Fitted, fit, predict
from actonym.train.phase import Batch
from actonym.train.score import action_score

CLIPS = 5  # SPLAVU 4.2: evenly spaced clips of a test video


def train_recognizer(
    net: nn.Module, train: Clips, val: Clips, how: Fit, *, seed: int = 0, progress: bool = True
) -> Fitted:
    """A network that tells the action; the checkpoint is the best on `val`."""
    return fit(net, train, val, _loss, utility, how, seed=seed, progress=progress, title="recognizer")


def utility(logits: Tensor, clips: Clips) -> float:
    """Top-1; where videos have several actions, the class-wise mean AP."""
    return action_score(logits, clips.action, clips.views)


def _loss(logits: Tensor, batch: Batch) -> Tensor:
    return action_loss(logits, batch.action)


def recognition(classes: int, net: str = "linear", clips: int = CLIPS) -> Task:
    """Recognition on features: learns from one clip of each video by lot, is scored on the mean of `clips`."""

    def score(trained: nn.Module, videos: Sequence[VideoFeatures]) -> dict[str, float]:
        spaced = evenly(videos, clips)
        return {"top1": utility(predict(trained, spaced), spaced)}

    return Task("recognition", lambda dim: head(net, classes, dim), feature_loss, score, "top1", prepare=any_clip)


def feature_loss(net: nn.Module, batch: FeatureBatch) -> Tensor:
    """Cross-entropy of every clip there is."""
    action = torch.tensor([video.action for video in batch.videos], device=batch.features.device)
    return action_loss(net(batch.features[batch.mask]), action[:, None].expand_as(batch.mask)[batch.mask])


def any_clip(videos: Sequence[VideoFeatures]) -> FeatureBatch:
    """One clip of each video by lot (SPLAVU, C.2.2)."""
    chosen = [int(torch.randint(len(video.features), ())) for video in videos]
    return batch_of(
        [replace(video, features=video.features[at, None]) for video, at in zip(videos, chosen, strict=True)]
    )


def evenly(videos: Sequence[VideoFeatures], clips: int = CLIPS) -> Clips:
    """`clips` evenly spaced clips of each video, as views of it; a shorter one repeats its own."""
    places = [[(2 * n + 1) * len(video.features) // (2 * clips) for n in range(clips)] for video in videos]
    return Clips(
        video=torch.cat([video.features[at] for video, at in zip(videos, places, strict=True)]),
        action=torch.tensor([video.action for video in videos]),
        privacy=torch.zeros(len(videos), 0),
        subject=[video.subject for video in videos],
        views=clips,
    )
