"""What tubelets are worth: those are best that the action needs and that tell little of the person."""

from collections.abc import Callable
from copy import deepcopy

import torch
from torch import Tensor, nn

from actonym.losses.action import action_loss
from actonym.nets.tubelets import best_of, cut
from actonym.train.phase import Batch, Recognizers

# Log-probabilities `[B, L, N, 2]` of the tokens that are left, their places in the row and how many may stay, to which
# of them do, `[B, L, K]`, and for each of these a 1, with the slope of its probability if that has decided.
Choose = Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]]


class Worth(nn.Module):
    """Judges the places of raw clips by where two recognizers look, as those were when it was first asked.

    Later they learn from anonymized video, and of raw video they know less and less.
    """

    taken: Tensor

    def __init__(self, recognizers: Recognizers, tubelet: tuple[int, int, int], aversion: float, every: int) -> None:
        """`aversion`: how much being private counts against being needed; 0 asks the action recognizer alone. The
        privacy recognizer is shown `every` how manieth frame."""
        super().__init__()
        self.action, self.privacy = deepcopy(recognizers.action), deepcopy(recognizers.privacy)
        self.recognizers, self.tubelet, self.aversion, self.every = recognizers, tubelet, aversion, every
        self.register_buffer("taken", torch.tensor(False))  # so that a resumed run does not take them again

    def train(self, mode: bool = True) -> "Worth":
        """It never learns."""
        return super().train(False)

    def forward(self, batch: Batch) -> Tensor:
        """What each place is worth, the same at all times of a clip: `[B, L, N]`."""
        if not self.taken:
            self.action.load_state_dict(self.recognizers.action.state_dict())
            self.privacy.load_state_dict(self.recognizers.privacy.state_dict())
            self.taken.fill_(True)
        clip = batch.clip.detach()
        # The slope of the action's loss times what moves; that of what is said of the person times what stands out.
        worth = self.looked(clip, lambda seen: action_loss(self.action(seen), batch.action), (2,))
        if self.aversion:
            worth = worth - self.aversion * self.looked(clip, self.said, (3, 4))
        return worth

    def said(self, clip: Tensor) -> Tensor:
        """How much the privacy recognizer has to say, whether right or wrong."""
        logits: Tensor = self.privacy(clip[:, :, :: self.every])
        return logits.abs().sum()

    def looked(self, clip: Tensor, judge: Callable[[Tensor], Tensor], usual: tuple[int, ...]) -> Tensor:
        """The weight of each place in what `judge` says, 1 on average; a clip's mean over `usual` weighs nothing."""
        clip = clip.requires_grad_()
        (slope,) = torch.autograd.grad(judge(clip), clip)
        clip = clip.detach()
        looked = cut(slope * (clip - clip.mean(usual, keepdim=True)), self.tubelet).abs().sum(-1)
        place = looked.mean(1, keepdim=True).expand_as(looked)
        return place / place.mean(2, keepdim=True).clamp_min(torch.finfo(place.dtype).tiny)


class Guide:
    """Knows what tubelets are worth, and tells the predictors. It chooses by that, or leaves it to others."""

    def __init__(self, worth: Tensor, otherwise: Choose | None = None) -> None:
        """`otherwise`: who chooses; None: it does."""
        self.worth, self.otherwise = worth, otherwise
        self.told: list[Tensor] = []  # of each block, how far its predictor is from choosing by that: a cross-entropy

    def __call__(self, log_z: Tensor, place: Tensor, count: int) -> tuple[Tensor, Tensor]:
        best = best_of(self.worth.gather(2, place), count)
        stays = torch.zeros_like(place).scatter(2, best, 1) > 0
        self.told.append(-torch.where(stays, log_z[..., 0], log_z[..., 1]).mean())
        return self.otherwise(log_z, place, count) if self.otherwise else (best, torch.ones_like(log_z[..., :count, 0]))

    def loss(self) -> Tensor:
        return torch.stack(self.told).mean()
