"""What an anonymizer does to a privacy recognizer: the two objectives of the field.

`maximize` is the game as it is written in most papers (STPrivacy equation 13, SPAct and TeD-SPAD with their contrastive
loss): the anonymizer climbs the recognizer's loss. It has no upper end: an anonymizer gains most by making a recognizer
surely *wrong*, and an attacker who is trained anew just turns the answer round. `uninformed` asks for the answer of
somebody who has not seen the video. It is bounded and cannot be turned round, but its gradient vanishes as soon as the
recognizer is unsure, so the recognizer must be kept strong. VITA and BDQ have it as the negative entropy, `certainty`.

The `paper` presets use what their papers do. On the stage VITA takes `maximize` with a ceiling: its networks are sure,
and there `certainty` has no slope. STPrivacy, SPAct and TeD-SPAD take `uninformed` (of views: `contrastive.lost`): paid
for wrong answers the first covers the video with noise, and the others find nothing to climb where every twin is found.
"""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits


def maximize(logits: Tensor, labels: Tensor, ceiling: float | None = None) -> Tensor:
    """The negative of the recognizer's binary cross-entropy.

    What an attribute of a clip loses beyond `ceiling` counts no more: such an answer is as wrong as need be.
    """
    loss = binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return -(loss if ceiling is None else loss.clamp(max=ceiling)).mean()


def uninformed(logits: Tensor, prevalence: Tensor | None = None) -> Tensor:
    """How far the recognizer's answers are from each attribute's prevalence, `[P]`; from one half if none is given.

    The Kullback-Leibler divergence of two yes-or-no distributions; zero where the recognizer knows nothing.
    """
    wanted = torch.full_like(logits, 0.5) if prevalence is None else prevalence.to(logits).expand_as(logits)
    entropy = binary_cross_entropy_with_logits(torch.logit(wanted), wanted)
    return binary_cross_entropy_with_logits(logits, wanted) - entropy


def certainty(logits: Tensor) -> Tensor:
    """Of every clip, `[B]`: the negative entropy of the recognizer's answers, mean over its yes-or-no attributes.

    VITA's and BDQ's own form of `uninformed`. Its gradient vanishes where the recognizer is sure as well.
    """
    answer = logits.sigmoid()
    return -binary_cross_entropy_with_logits(logits, answer, reduction="none").mean(1)
