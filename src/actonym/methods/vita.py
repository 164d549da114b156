"""VITA (Wu et al., ECCV 2018 and TPAMI 2022): learned degradation against an ensemble of privacy networks."""

from dataclasses import dataclass, replace
from typing import ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.optim import Optimizer

from actonym.data.clips import Clips
from actonym.errors import unknown
from actonym.methods.base import MethodCard, register
from actonym.methods.per_frame import PerFrame
from actonym.nets.itnet import MULTIPLE, ITNet
from actonym.train.adversarial import Supervised, first_of
from actonym.train.batches import derive
from actonym.train.phase import Batch, Phase, Update
from actonym.train.rule import attribute_leak
from actonym.train.score import action_score


class Budget(nn.Module):
    """The ensemble of privacy networks, and where the game stands: a resumed run must go on from there."""

    steps: Tensor
    waited: Tensor
    waiting: Tensor

    def __init__(self, members: list[nn.Module]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("waited", torch.tensor(0))  # steps in a row in which the anonymizer stood still
        self.register_buffer("waiting", torch.tensor(False))

    def forward(self, clip: Tensor) -> Tensor:
        """Answers of all members, `[M, B, P]`."""
        return torch.stack([member(clip) for member in self.members])


@dataclass
class VITAGame(Supervised):
    """One step of the anonymizer; then the action recognizer learns until it is good enough again; then the budget."""

    members: int = 4  # M
    restart_every: int = 200  # steps after which privacy networks start from nothing again; 0: never
    restarted: int = 4  # how many at a time, in turn
    threshold: float = 0.7  # validation accuracy below which the anonymizer waits for the action recognizer
    monitor_every: int = 20  # steps between two looks at the validation accuracy
    monitored: int = 64  # validation clips in a look, the next ones each time
    patience: int = 100  # steps after which the anonymizer waits no longer
    start: str | None = None  # `identity`: see ITNet.start_as_identity

    counted: ClassVar[tuple[str, ...]] = (*Supervised.counted, "members", "monitor_every", "monitored")

    def make_spy(self) -> Budget:
        make = self.recognizers.make_privacy
        if self.members > 1 and make is None:
            raise ValueError("an ensemble needs a way to make more privacy networks: Recognizers.make_privacy")
        others = [make() for _ in range(self.members - 1)] if make else []
        return Budget([self.recognizers.privacy, *others])

    @property
    def budget(self) -> Budget:
        assert isinstance(self.spy, Budget)
        return self.spy

    def told(self, clip: Tensor, batch: Batch) -> Tensor:
        """Each member learns by itself."""
        answers = self.budget(self.seen(clip))
        return len(answers) * binary_cross_entropy_with_logits(answers, batch.privacy.expand_as(answers))

    def hidden(self, clip: Tensor, batch: Batch) -> Tensor:
        """The worst case: of every clip the member that the anonymizer has deceived least."""
        answers = self.budget(self.seen(clip))
        return torch.stack([self.against(logits, batch.privacy) for logits in answers]).amax(0).mean()

    def leak(self, clips: Clips) -> float:
        seen = clips if self.frames is None else clips.thinned(self.frames)
        return max(attribute_leak(self.answers(member, seen), clips.privacy) for member in self.budget.members)

    def phases(self) -> list[Phase]:
        if self.start not in (None, "identity"):
            raise unknown("start", self.start, ["identity"])
        if self.start and isinstance(self.method, VITA):
            cast("ITNet", self.method.net).start_as_identity()
        phases = super().phases()
        self.budget_optimizer: Optimizer = phases[-1].optimizers["privacy"]
        return phases

    def play(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        """A step in which the anonymizer waits is one for the action recognizer alone."""
        budget = self.budget
        if budget.steps % self.monitor_every == 0:
            self.monitor()
        if budget.waiting:
            batch = self.windowed(first_of(batch, self.crowd))
            with torch.no_grad():
                out = self.method(batch.clip)
            logged = {"action": self.useful(out, batch)}
            update("action", logged["action"])
            budget.waited += 1
            if budget.waited >= self.patience:
                budget.waiting.fill_(False)
        else:
            budget.waited.zero_()
            logged = super().play(batch, update)
        budget.steps += 1
        if self.restart_every and budget.steps % self.restart_every == 0:
            self.restart()
        return {**logged, "waiting": budget.waiting.float()}

    def monitor(self) -> None:
        """Look at the action recognizer on some validation clips. All processes see the same."""
        clips = self.recognizers.validation
        if clips is None:
            return
        count = min(self.monitored, len(clips))
        first = int(self.budget.steps) // self.monitor_every * count
        chosen = (first + torch.arange(count)) % len(clips)
        some = replace(clips, video=clips.video[chosen * clips.views], action=clips.action[chosen], mask=None, views=1)
        nets = nn.ModuleList([self.method, self.recognizers.action]).eval()
        with torch.no_grad():
            right = action_score(self.answers(self.recognizers.action, self.anonymized(some)), some.action)
        nets.train()
        tired = self.budget.waited >= self.patience
        self.budget.waiting.fill_(right < self.threshold and not tired)

    def restart(self) -> None:
        """Some members start from new weights: an anonymizer must not learn to deceive one set of networks."""
        if self.recognizers.make_privacy is None:
            raise ValueError("a restart needs a way to make new privacy networks: Recognizers.make_privacy")
        number = int(self.budget.steps) // self.restart_every
        # The same in all processes, and another in every run: the weights are the same in all and differ between runs.
        mark = next(self.recognizers.action.parameters()).detach().flatten()[0].item()
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(derive("restart", number, repr(mark)))
            for turn in range(self.restarted):
                member = self.budget.members[((number - 1) * self.restarted + turn) % self.members]
                member.load_state_dict(self.recognizers.make_privacy().state_dict())
                for weight in member.parameters():
                    self.budget_optimizer.state.pop(weight, None)


@register("vita")
class VITA(PerFrame):
    """A style-transfer network on every frame, against the strongest of an ensemble that is renewed again and again."""

    card = MethodCard(
        title="VITA",
        idea="A style-transfer network rewrites every frame, against the strongest of several privacy networks, which "
        "are restarted now and then.",
        paper="Wu et al., Privacy-Preserving Deep Action Recognition, TPAMI 2022 (ECCV 2018)",
        year=2018,
        needs=frozenset({"action", "privacy"}),
        knobs={"train.privacy": "weight of what is hidden against the action"},
        reported={
            "": {
                "vp-hmdb51": {"top1": 0.4811, "f1": 0.638, "cmap": 0.7389},
                "vp-ucf101": {"top1": 0.7849, "f1": 0.657, "cmap": 0.7536},
            }
        },
    )
    game = VITAGame

    def __init__(self, width: int = 32, blocks: int = 5, side: int = 112, kernel: int = 9, grey: bool = True) -> None:
        """`width`: channels of the first layer, of `kernel` x `kernel` pixels; `grey`: no colours come out."""
        super().__init__(ITNet(width, blocks, kernel), MULTIPLE, side)
        self.grey = grey

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        out = super().forward(clip)
        return out.mean(1, keepdim=True).expand_as(out) if self.grey else out
