"""The attribute attack: a network learns the private attributes from anonymized clips (video level)."""

from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torchmetrics.functional.classification import multilabel_average_precision

from actonym.data.clips import Clips
from actonym.train.fit import Fit, Fitted, fit
from actonym.train.phase import Batch


def train_attacker(
    net: nn.Module, train: Clips, val: Clips, how: Fit, *, seed: int = 0, progress: bool = True
) -> Fitted:
    """A network that tells the attributes; the checkpoint is the best on `val`."""
    return fit(net, train, val, attribute_loss, mean_ap, how, seed=seed, progress=progress, title="attacker")


def attribute_loss(logits: Tensor, batch: Batch) -> Tensor:
    return binary_cross_entropy_with_logits(logits, batch.privacy)


def mean_ap(logits: Tensor, clips: Clips) -> float:
    """Class-wise mean AP of the mean score over the views."""
    scores = logits.sigmoid().view(len(clips), clips.views, -1).mean(1)
    return multilabel_average_precision(scores, clips.privacy.long(), scores.shape[-1], average="macro").item()
