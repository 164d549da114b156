"""Action recognition: one label per video."""

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from actonym.data.clips import Clips
from actonym.train.fit import Fit, Fitted, fit
from actonym.train.phase import Batch


def train_recognizer(
    net: nn.Module, train: Clips, val: Clips, how: Fit, *, seed: int = 0, progress: bool = True
) -> Fitted:
    """A network that tells the action; the checkpoint is the best on `val`."""
    return fit(net, train, val, action_loss, top1, how, seed=seed, progress=progress, title="recognizer")


def action_loss(logits: Tensor, batch: Batch) -> Tensor:
    return cross_entropy(logits, batch.action)


def top1(logits: Tensor, clips: Clips) -> float:
    """Share of videos whose mean score over the views is highest for the true action."""
    scores = logits.softmax(-1).view(len(clips), clips.views, -1).mean(1)
    return (scores.argmax(-1) == clips.action).float().mean().item()
