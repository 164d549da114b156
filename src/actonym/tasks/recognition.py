"""Action recognition: one action per video, or several at once."""

from torch import Tensor, nn

from actonym.data.clips import Clips
from actonym.losses.action import action_loss
from actonym.train.fit import Fit, Fitted, fit
from actonym.train.phase import Batch
from actonym.train.score import class_mean_ap


def train_recognizer(
    net: nn.Module, train: Clips, val: Clips, how: Fit, *, seed: int = 0, progress: bool = True
) -> Fitted:
    """A network that tells the action; the checkpoint is the best on `val`."""
    return fit(net, train, val, _loss, utility, how, seed=seed, progress=progress, title="recognizer")


def utility(logits: Tensor, clips: Clips) -> float:
    """Top-1; where videos have several actions, the class-wise mean AP."""
    several = clips.action.is_floating_point()
    return class_mean_ap(logits, clips.action, clips.views) if several else top1(logits, clips)


def top1(logits: Tensor, clips: Clips) -> float:
    """Share of videos whose mean score over the views is highest for the true action."""
    scores = logits.softmax(-1).view(len(clips), clips.views, -1).mean(1)
    return (scores.argmax(-1) == clips.action).float().mean().item()


def _loss(logits: Tensor, batch: Batch) -> Tensor:
    return action_loss(logits, batch.action)
