"""TeD-SPAD (Fioresi et al., ICCV 2023): SPAct with features that tell apart what happens at different times."""

from dataclasses import dataclass

import torch
from torch import Tensor

from actonym.losses.action import action_loss
from actonym.losses.contrastive import triplet
from actonym.methods.base import MethodCard, register
from actonym.methods.per_frame import PerFrame
from actonym.methods.spact import SPActGame
from actonym.nets.heads import features_and_answers
from actonym.nets.unet import MULTIPLE, UNetPlusPlus
from actonym.train.augment import NOISE, flip_and_shift
from actonym.train.phase import Batch


@dataclass
class TeDSPADGame(SPActGame):
    """SPAct's privacy network; the action recognizer must also be temporally distinct."""

    temporal: float = 0.1  # weight of the triplet loss beside the cross-entropy
    margin: float = 1.0

    def useful(self, clip: Tensor, batch: Batch) -> Tensor:
        """L_T + temporal * L_D: both the anonymizer and the recognizer lower it."""
        loss = action_loss(self.recognizers.action(clip), batch.action)
        return loss + self.temporal * self.distinctiveness(clip)

    def distinctiveness(self, clip: Tensor) -> Tensor:
        """L_D, a triplet loss: the same frames in another crop are near, the frames of another time are far.

        The paper takes two clips of a video. A step sees one, so the two times are its halves, each played there and
        back, so that it is as long as the recognizer expects.
        """
        anchor, negative = halves(clip)
        positive = flip_and_shift(anchor, None, torch.rand(len(clip), NOISE), flip=False)[0]
        played = there_and_back(torch.cat([anchor, positive, negative]), clip.shape[2])
        near, same, far = features_and_answers(self.recognizers.action, played)[0].chunk(3)
        return triplet(near, same, far, self.margin).mean()


def halves(clip: Tensor) -> tuple[Tensor, Tensor]:
    """The first and the last half of the frames, in either order."""
    length = max(1, clip.shape[2] // 2)
    first, last = clip[:, :, :length], clip[:, :, -length:]
    return (first, last) if torch.rand(()) < 0.5 else (last, first)


def there_and_back(clip: Tensor, frames: int) -> Tensor:
    """`frames` frames: forwards, backwards, forwards, ..."""
    forwards = list(range(clip.shape[2]))
    both = forwards + forwards[::-1]
    return clip[:, :, [both[k % len(both)] for k in range(frames)]]


@register("ted-spad")
class TeDSPAD(PerFrame):
    """A UNet++ on every frame, against SPAct's privacy network, with a temporally distinct recognizer."""

    card = MethodCard(
        title="TeD-SPAD",
        idea="A UNet++ rewrites every frame as in SPAct, and features of different times must stay apart.",
        paper="Fioresi et al., TeD-SPAD: Temporal Distinctiveness for Self-supervised Privacy-preservation, ICCV 2023",
        year=2023,
        needs=frozenset({"action"}),
        knobs={"train.privacy": "weight of what is hidden against the action"},
    )
    game = TeDSPADGame

    def __init__(self, width: int = 32, side: int = 224, fold: int = 1) -> None:
        """`width`: channels of the first level; `fold`: side of the squares of pixels that are taken as one."""
        super().__init__(UNetPlusPlus(width, fold), fold * MULTIPLE, side)
