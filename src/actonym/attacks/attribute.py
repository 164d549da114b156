"""The attribute attack: a network learns the private attributes from anonymized clips (video level)."""

from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from actonym.data.clips import Clips
from actonym.train.fit import Fit, Fitted, fit
from actonym.train.phase import Batch
from actonym.train.score import class_mean_ap


def train_attacker(
    net: nn.Module, train: Clips, val: Clips, how: Fit, *, seed: int = 0, progress: bool = True
) -> Fitted:
    """A network that tells the attributes; the checkpoint is the best on `val`."""
    return fit(net, train, val, attribute_loss, mean_ap, how, seed=seed, progress=progress, title="attacker")


def attribute_loss(logits: Tensor, batch: Batch) -> Tensor:
    return binary_cross_entropy_with_logits(logits, batch.privacy)


def mean_ap(logits: Tensor, clips: Clips) -> float:
    """Class-wise mean AP of the attributes."""
    return class_mean_ap(logits, clips.privacy, clips.views)
