"""VITA and SPAct, then DANN (Ganin et al., JMLR 2016): the baselines of GenPriv for another world than the labels'.

GenPriv applies DANN "on privacy-preserved data": a second stage, in which a domain classifier behind a gradient
reversal makes the recognizer's features of anonymized source and target videos alike.
"""

from dataclasses import dataclass, field, replace
from math import exp

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from actonym.data.clips import Clips, to_floats
from actonym.errors import unknown
from actonym.losses.action import action_loss
from actonym.methods.base import register
from actonym.methods.spact import SPAct
from actonym.methods.vita import VITA
from actonym.nets.heads import features_and_answers, last_linear
from actonym.nets.reversal import reverse
from actonym.train.adversarial import Adversarial, need_target
from actonym.train.augment import NOISE, flip_and_shift
from actonym.train.phase import Batch, Phase, Recognizers, Update

ADAPTED = ("recognizer", "anonymizer")


class DomainClassifier(nn.Module):
    """Features to one logit: above 0 where they are thought to come from the source."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(inplace=True), nn.Linear(hidden, 1))

    def forward(self, features: Tensor) -> Tensor:
        return self.layers(features).squeeze(1)


@dataclass
class Adaptation:
    """The second stage: the preset's `train.domain` section.

    GenPriv adapts the recognizer and leaves the anonymizer as it is. That helps only who keeps this recognizer: what a
    method ships is its anonymizer, and the evaluation trains recognizers anew. With `adapt: anonymizer` the game goes
    on, and the reversed gradient reaches the anonymizer too, which then shows both worlds alike.
    """

    game: Adversarial
    target: Clips
    epochs: int = 2
    adapt: str = "recognizer"
    weight: float = 1.0  # of the domain loss
    hidden_layer: int = 256
    classifier: DomainClassifier = field(init=False)

    def __post_init__(self) -> None:
        if self.adapt not in ADAPTED:
            raise unknown("thing to adapt", self.adapt, ADAPTED)
        self.classifier = DomainClassifier(last_linear(self.action)[1].in_features, self.hidden_layer)

    @property
    def action(self) -> nn.Module:
        return self.game.recognizers.action

    def phase(self) -> Phase:
        phase = self.game.phase("domain", self.epochs, self.step)
        optimizers = {**phase.optimizers, "domain": self.game.make_optimizer(self.classifier, self.game.recognizer_lr)}
        return replace(
            phase,
            optimizers=optimizers,
            modules={**phase.modules, "domain": self.classifier},
            validate=None if self.game.recognizers.validation is None else self.game.validate,
        )

    def step(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        target = self.draw(len(batch.clip), batch.clip.device)
        logged = self.play(batch, target, update) if self.adapt == "anonymizer" else {}
        with torch.no_grad():
            shown = self.shown(torch.cat([batch.clip, target]))
        features, answers = features_and_answers(self.action, shown)
        action = action_loss(answers[: len(batch.clip)], batch.action)
        update("action", action + self.weight * self.domain(reverse(features, growing(batch.progress))))
        told = self.domain(features.detach())
        update("domain", told)
        return {**logged, "action": action, "domain": told}

    def play(self, batch: Batch, target: Tensor, update: Update) -> dict[str, Tensor]:
        """The anonymizer's part: the game on the source, and that its target clips cannot be told from them."""
        shown = self.game.method(torch.cat([batch.clip, target]))
        source = shown[: len(batch.clip)]
        loss, logged = self.game.anonymizers_loss(source, batch)
        features, _ = features_and_answers(self.action, shown)
        update("anonymizer", loss + self.weight * self.domain(reverse(features, growing(batch.progress))))
        for _ in range(self.game.attacker_steps):
            logged["privacy"] = self.game.told(source.detach(), batch)
            update("privacy", logged["privacy"])
        return logged

    def shown(self, clip: Tensor) -> Tensor:
        """By an anonymizer that must stay as it is: in train mode its batch norm would take up the target's ways."""
        method = self.game.method
        if self.adapt == "recognizer":
            method.eval()
        return method(clip)

    def domain(self, features: Tensor) -> Tensor:
        """The classifier's loss; the first half of the features is of the source."""
        logits = self.classifier(features)
        truth = torch.zeros_like(logits)
        truth[: len(logits) // 2] = 1
        return binary_cross_entropy_with_logits(logits, truth)

    def draw(self, count: int, device: torch.device) -> Tensor:
        """Target clips at random: their videos and nothing else of them."""
        some = self.target.video[torch.randint(len(self.target.video), (count,))]
        return to_floats(flip_and_shift(some, None, torch.rand(count, NOISE))[0].to(device))


def growing(progress: float) -> float:
    """DANN's lambda: from 0 at the start of the phase to nearly 1."""
    return 2 / (1 + exp(-10 * progress)) - 1


def adapted(method: "VITADANN | SPActDANN", recognizers: Recognizers) -> list[Phase]:
    """The phases of the method itself, then the second stage."""
    target = need_target(method.name, recognizers)
    settings = dict(method.training_settings)
    domain = settings.pop("domain", {})
    game = method.game(method, recognizers, **settings)
    return [*game.phases(), Adaptation(game, target, **domain).phase()]


@register("vita+dann")
class VITADANN(VITA):
    """VITA, adapted to unlabelled videos of another world."""

    card = replace(
        VITA.card,
        title="VITA+DANN",
        idea="VITA; then a domain classifier makes anonymized videos of two worlds look alike to the recognizer.",
        paper="Wu et al. (VITA) with Ganin et al. (DANN), as a baseline of GenPriv",
        needs=VITA.card.needs | {"domain"},
        reported={
            "": {
                "tp-ucf": {"top1": 0.6737, "f1": 0.517, "cmap": 0.7065},
                "tp-hmdb": {"top1": 0.7181, "f1": 0.475, "cmap": 0.6332},
            }
        },
    )

    def phases(self, recognizers: Recognizers) -> list[Phase]:
        return adapted(self, recognizers)


@register("spact+dann")
class SPActDANN(SPAct):
    """SPAct, adapted to unlabelled videos of another world."""

    card = replace(
        SPAct.card,
        title="SPAct+DANN",
        idea="SPAct; then a domain classifier makes anonymized videos of two worlds look alike to the recognizer.",
        paper="Dave et al. (SPAct) with Ganin et al. (DANN), as a baseline of GenPriv",
        needs=SPAct.card.needs | {"domain"},
        reported={
            "": {
                "tp-ucf": {"top1": 0.6339, "f1": 0.563, "cmap": 0.6787},
                "tp-hmdb": {"top1": 0.6525, "f1": 0.517, "cmap": 0.6444},
            }
        },
    )

    def phases(self, recognizers: Recognizers) -> list[Phase]:
        return adapted(self, recognizers)
