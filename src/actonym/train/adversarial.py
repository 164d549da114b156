"""The game that most learned methods play: an anonymizer with an action recognizer and against a privacy network.

First both networks rehearse on raw clips, and the anonymizer learns to show the video as it is. Then it keeps what the
action recognizer needs and takes from the privacy network what it can, while both learn on. A method derives from
`Adversarial` and says what its privacy network learns, and what the anonymizer does about it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, l1_loss
from torch.optim import SGD, Adam, AdamW, Optimizer

from actonym.data.clips import Clips, to_bytes, to_floats
from actonym.errors import UserError, unknown
from actonym.losses.action import action_loss
from actonym.losses.privacy import certainty, maximize, uninformed
from actonym.train.phase import Batch, Phase, Point, Recognizers, Update
from actonym.train.rule import attribute_leak, find_rule, judged
from actonym.train.schedule import Schedule, cosine, one_cycle, warm_up
from actonym.train.score import action_score

OPTIMIZERS = ("adam", "adamw", "sgd")
OBJECTIVES = ("maximize", "uninformed", "certainty")
VALIDATED = 16  # clips that are validated at once
STILLS = 2  # frames of a clip that the crowd is shown


@dataclass
class Adversarial:
    """How a method learns: the preset's `train` section. Equal for all methods but for what they override."""

    method: nn.Module
    recognizers: Recognizers
    rehearsal: int = 8  # epochs in which the networks learn on raw video, before all else
    drill: int = 0  # epochs in which the privacy network then goes on alone: nobody learns from a weak one
    drill_lr: float = 3e-3
    initialization: int = 1  # epochs
    initialization_frames: int | None = None  # as many of a clip, drawn anew in each step, are learned from; None: all
    adversarial: int = 4  # epochs
    window: int | None = None  # consecutive frames, drawn anew in each step, on which all but that is played; None: all
    batch_size: int = 8
    optimizer: str = "adam"
    initialization_lr: float = 1e-3  # of the anonymizer, while it learns to show the video as it is
    lr: float = 5e-4  # of the anonymizer
    recognizer_lr: float = 1e-3
    privacy_lr: float | None = None  # of the privacy network; None: as the recognizer's
    betas: Sequence[float] = (0.9, 0.999)  # of the anonymizer's Adam
    weight_decay: float = 0.0
    warm_up: float = 0.05  # share of a phase in which learning rates rise; then they fall along a cosine
    clip_norm: float | None = 1.0
    reconstruction: float = 1.0  # weight of the pixels' L1 error in the initialization; 0: there is none
    action: float = 1.0  # weight of the action in the anonymizer's loss
    privacy: float = 1.0  # weight of what is hidden
    attacker_steps: int = 1  # of the privacy network for one of the anonymizer
    crowd: int = 1  # times as many clips are shown to the privacy network, two frames of each
    alert: bool = False  # the learning rate of the privacy network stays while the anonymizer's falls
    rule: str = "action_minus_leak"  # which epoch is kept: see rule.py
    leak_weight: float = 1.0  # of the rule action_minus_leak
    action_floor: float = 0.0  # of the rule least_leak
    spy: nn.Module = field(init=False)  # the privacy network

    counted: ClassVar[tuple[str, ...]] = ("batch_size", "crowd")  # settings of which there must be one at least
    raw_rehearsal: ClassVar[bool] = True  # False: rehearse on the anonymizer's output, where that is never like raw

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            raise unknown("optimizer", self.optimizer, OPTIMIZERS)
        for name in self.counted:
            check_count(name, getattr(self, name))
        find_rule(self.rule)
        self.spy = self.make_spy()

    # What a method says.

    def make_spy(self) -> nn.Module:
        """The privacy network."""
        return self.recognizers.privacy

    def told(self, clip: Tensor, batch: Batch) -> Tensor:
        """What the privacy network minimizes."""
        raise NotImplementedError

    def hidden(self, clip: Tensor, batch: Batch) -> Tensor:
        """What the anonymizer minimizes so that the privacy network fails."""
        raise NotImplementedError

    def leak(self, clips: Clips) -> float:
        """What the privacy network still gets out of anonymized validation clips, 0..1."""
        raise NotImplementedError

    def useful(self, clip: Tensor, batch: Batch) -> Tensor:
        """What the action recognizer minimizes."""
        return action_loss(self.recognizers.action(clip), batch.action)

    def kept(self, clip: Tensor, batch: Batch) -> Tensor:
        """What the anonymizer minimizes so that the action stays: the same, but where a method says otherwise."""
        return self.useful(clip, batch)

    # The phases.

    def phases(self) -> list[Phase]:
        """Those that have something to do."""
        nets = self.phase("rehearsal", self.rehearsal, self.rehearse, one_cycle)
        alone = self.phase("drill", self.drill, self.drilled, one_cycle)
        alone.optimizers = {"privacy": self.make_optimizer(self.spy, self.drill_lr)} if self.drill else {}
        for phase in (nets, alone):
            phase.batch_size *= 2  # quick work, and steadier
        pixels = self.phase("initialization", self.initialization if self.reconstruction else 0, self.initialize)
        pixels.optimizers["anonymizer"] = self.make_optimizer(self.method, self.initialization_lr)
        game = self.phase("adversarial", self.adversarial, self.play)
        game.batch_size *= self.crowd
        game.steady = frozenset({"privacy"} if self.alert else ())
        game.validate = self.validate if self.recognizers.validation is not None else None
        return [phase for phase in (nets, alone, pixels, game) if phase.epochs]

    def phase(
        self,
        name: str,
        epochs: int,
        step: Callable[[Batch, Update], dict[str, Tensor]],
        schedule: Schedule | None = None,
    ) -> Phase:
        """With everybody who may learn; a step leaves alone whom it likes."""
        privacy_lr = self.recognizer_lr if self.privacy_lr is None else self.privacy_lr
        optimizers = {"anonymizer": self.make_optimizer(self.method, self.lr, self.betas)}
        optimizers["action"] = self.make_optimizer(self.recognizers.action, self.recognizer_lr)
        if any(weight.requires_grad for weight in self.spy.parameters()):
            optimizers["privacy"] = self.make_optimizer(self.spy, privacy_lr)
        modules = {"anonymizer": self.method, "action": self.recognizers.action, "privacy": self.spy}
        schedule = schedule or (warm_up(self.warm_up, cosine) if self.warm_up else cosine)
        return Phase(name, epochs, step, optimizers, modules, self.batch_size, schedule, clip_norm=self.clip_norm)

    def make_optimizer(self, module: nn.Module, lr: float, betas: Sequence[float] = (0.9, 0.999)) -> Optimizer:
        weights = list(module.parameters())
        if self.optimizer == "sgd":
            return SGD(weights, lr, momentum=0.9, weight_decay=self.weight_decay)
        kind = Adam if self.optimizer == "adam" else AdamW
        return kind(weights, lr, betas=(betas[0], betas[1]), weight_decay=self.weight_decay)

    def rehearse(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        """Networks that know nothing yet would lead the anonymizer nowhere."""
        batch = self.windowed(batch)
        return self.learn(self.rehearsed(batch), batch, update)

    def drilled(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        """As in the rehearsal, without the action recognizer."""
        batch = self.windowed(batch)
        told = self.told(self.rehearsed(batch), batch)
        update("privacy", told)
        return {"privacy": told}

    def rehearsed(self, batch: Batch) -> Tensor:
        """What networks that rehearse are shown."""
        with torch.no_grad():
            return batch.clip if self.raw_rehearsal else self.method(batch.clip)

    def windowed(self, batch: Batch) -> Batch:
        """Some consecutive frames of the clips, the same of all."""
        if self.window is None:
            return batch
        first = int(torch.randint(max(1, batch.clip.shape[2] - self.window + 1), ()))
        return replace(batch, clip=batch.clip[:, :, first : first + self.window])

    def initialize(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        """The anonymizer learns to show the video as it is."""
        clip = some_frames(batch.clip, self.initialization_frames)
        loss = self.reconstruction * l1_loss(self.method(clip), clip)
        update("anonymizer", loss)
        return {"pixels": loss}

    def play(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        """One step of the anonymizer, then of both networks: on the same clips, or the privacy network on the crowd."""
        crowd = batch if self.crowd > 1 else None
        batch = self.windowed(first_of(batch, self.crowd))
        out = self.method(batch.clip)
        loss, logged = self.anonymizers_loss(out, batch)
        update("anonymizer", loss)
        return {**logged, **self.learn(out.detach(), batch, update, crowd)}

    def anonymizers_loss(self, out: Tensor, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Of what it shows; and what to log. Contrast that goes to 0 tells of a collapse to grey."""
        hidden = self.hidden(out, batch)
        loss = self.action * self.kept(out, batch) + self.privacy * hidden
        return loss, {"hidden": hidden, "contrast": out.detach().std()}

    def learn(self, clip: Tensor, batch: Batch, update: Update, crowd: Batch | None = None) -> dict[str, Tensor]:
        """One step of the action recognizer, some of the privacy network; of a crowd it sees new frames each time."""
        logged = {"action": self.useful(clip, batch)}
        update("action", logged["action"])
        for _ in range(self.attacker_steps):
            if crowd is not None:
                batch = crowd
                with torch.no_grad():
                    clip = self.method(some_frames(crowd.clip, STILLS))
            logged["privacy"] = self.told(clip, batch)
            update("privacy", logged["privacy"])
        return logged

    # The rule that chooses the epoch.

    def validate(self) -> Point:
        clips = self.recognizers.validation
        assert clips is not None
        anonymized = self.anonymized(clips)
        action = action_score(self.answers(self.recognizers.action, anonymized), clips.action)
        return judged(self.rule, action, self.leak(anonymized), self.leak_weight, self.action_floor)

    def anonymized(self, clips: Clips) -> Clips:
        """Clips as a video file of the method's output would hold them."""
        shown = torch.cat([to_bytes(self.method(part)).cpu() for part in self.parts(clips)])
        return Clips(shown, clips.action, clips.privacy, clips.subject, views=clips.views, source=clips.source)

    def answers(self, net: Callable[[Tensor], Tensor], clips: Clips) -> Tensor:
        """The mean answers over the views of each video, `[N, K]`."""
        logits = torch.cat([net(part).cpu() for part in self.parts(clips)])
        return logits.view(len(clips), clips.views, -1).mean(1)

    def parts(self, clips: Clips) -> Iterator[Tensor]:
        """Some clips after the others, as floats, where the method is."""
        device = next(self.method.parameters()).device
        return (to_floats(part.to(device)) for part in clips.video.split(VALIDATED))


@dataclass
class Supervised(Adversarial):
    """The privacy network knows the private attributes of the training clips."""

    objective: str = "maximize"  # what the anonymizer wants of it: see losses/privacy.py
    ceiling: float | None = None  # of maximize
    frames: int | None = None  # as many, drawn anew in each step, are what it sees of a clip; None: all

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.frames is not None:
            check_count("frames", self.frames)
        if self.objective not in OBJECTIVES:
            raise unknown("objective", self.objective, OBJECTIVES)

    def told(self, clip: Tensor, batch: Batch) -> Tensor:
        return binary_cross_entropy_with_logits(self.spy(self.seen(clip)), batch.privacy)

    def hidden(self, clip: Tensor, batch: Batch) -> Tensor:
        return self.against(self.spy(self.seen(clip)), batch.privacy).mean()

    def against(self, logits: Tensor, labels: Tensor) -> Tensor:
        """What the anonymizer minimizes, of every clip, `[B]`."""
        if self.objective == "certainty":
            return certainty(logits)
        rows = zip(logits.split(1), labels.split(1), strict=True)
        if self.objective == "maximize":
            return torch.stack([maximize(row, label, self.ceiling) for row, label in rows])
        return torch.stack([uninformed(row) for row, _ in rows])

    def leak(self, clips: Clips) -> float:
        """See `rule.attribute_leak`."""
        seen = clips if self.frames is None else clips.thinned(self.frames)
        return attribute_leak(self.answers(self.spy, seen), clips.privacy)

    def seen(self, clip: Tensor) -> Tensor:
        return some_frames(clip, self.frames)


def check_count(name: str, value: Any) -> None:
    """A setting of which there must be one at least."""
    if not isinstance(value, int) or value < 1:
        raise UserError(f"train.{name} is a number from 1 up, not {value!r}")


def first_of(batch: Batch, parts: int) -> Batch:
    """The first of so many equal parts of a batch; at least one clip."""
    count = max(1, len(batch.clip) // parts)
    mask = None if batch.mask is None else batch.mask[:count]
    own = {name: getattr(batch, name)[:count] for name in ("clip", "action", "privacy", "index")}
    return replace(batch, mask=mask, **own)


def some_frames(clip: Tensor, count: int | None) -> Tensor:
    """`count` frames, drawn anew each time, in their order; None: all."""
    return clip if count is None else clip[:, :, torch.randperm(clip.shape[2])[:count].sort().values]


def need_target(method: str, recognizers: Recognizers) -> Clips:
    """The clips of the target domain; a method that adapts cannot do without."""
    if recognizers.target is None:
        raise UserError(f"{method} needs unlabelled videos of another world: train it with actonym train --target NAME")
    return recognizers.target
