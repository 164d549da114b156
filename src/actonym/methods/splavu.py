"""SPLAVU (Privacy Beyond Pixels): an adapter on the features of a frozen video encoder; video is never touched."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, mse_loss
from torch.optim import AdamW

from actonym.data.clips import STATIC, Clips
from actonym.errors import UserError, unknown
from actonym.losses.action import action_loss
from actonym.losses.contrastive import nt_xent
from actonym.losses.privacy import maximize
from actonym.methods.base import LatentMethod, MethodCard, register
from actonym.nets.codes import Codes
from actonym.nets.erasure import Erasure
from actonym.nets.heads import head
from actonym.nets.vit import Layer
from actonym.train.phase import Batch, Lesson, Phase, Recognizers, Update
from actonym.train.schedule import one_cycle
from actonym.train.score import action_score

BUDGETS = ("contrastive", "supervised")
AVERAGE = 0.9  # ours: decay of the moving average of the head that chooses codes, as of recognizers
WHOLE = 10**9  # videos of a batch: more than there are
FAINT = 1e-4  # by which the last matrices of each layer are scaled at the start


class SelfAttention(nn.Module):
    """The adapter of the paper: an encoder over the clips of one video, which begins as the identity.

    Layers of 8 D^2 weights fit the parameters that the paper counts: attention, and a feed-forward of twice the width.
    """

    def __init__(self, dim: int, layers: int, heads: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(dim, heads, widen=2) for _ in range(layers))
        for layer in self.layers:
            cast("Layer", layer).start_faint(FAINT)

    def forward(self, features: Tensor, present: Tensor | None) -> Tensor:
        kept = None if present is None else present.to(features.dtype)
        for layer in self.layers:
            features = layer(features, kept)
        return features


class Perceptron(nn.Module):
    """Table 10's other adapter: Linear, ReLU, batch norm, dropout; each clip by itself. It must learn the identity."""

    def __init__(self, dim: int, layers: int, heads: int) -> None:
        super().__init__()
        parts = [[nn.Linear(dim, dim), nn.ReLU(), nn.BatchNorm1d(dim), nn.Dropout(0.1)] for _ in range(layers)]
        self.layers = nn.Sequential(*(module for part in parts for module in part))

    def forward(self, features: Tensor, present: Tensor | None) -> Tensor:
        return self.layers(features.flatten(0, 1)).view_as(features)


ADAPTERS = {"attention": SelfAttention, "mlp": Perceptron}
# Ours, and no adapters of the paper, for they learn in other ways.
CODES, ERASURE = "codes", "erasure"


@register("splavu")
class SPLAVU(LatentMethod):
    """Features of the same shape, in which two still clips of a video can no longer be told to belong together."""

    card = MethodCard(
        title="SPLAVU",
        idea="An adapter on the features of a frozen encoder keeps every task and loses what still frames tell.",
        paper="Fioresi et al., Privacy Beyond Pixels, 2025",
        year=2025,
        needs=frozenset({"action"}),
        knobs={
            "train.budget": "weight of the privacy loss",
            "train.consistency": "weight of staying near the features",
        },
        reported={
            "adapter=attention": {
                "vp-hmdb51": {"top1": 0.721, "cmap": 0.705, "raw": {"top1": 0.726, "cmap": 0.764}},
                "vp-ucf101": {"top1": 0.968, "cmap": 0.696, "raw": {"top1": 0.968, "cmap": 0.759}},
            }
        },
    )

    def __init__(
        self,
        dim: int = 1024,
        adapter: str = "attention",
        layers: int = 3,
        heads: int = 8,
        codes: int = 32,
    ) -> None:
        """`codes` is how many the adapter of this name has; layers and heads are those of the paper's."""
        super().__init__()
        if adapter not in (*ADAPTERS, CODES, ERASURE):
            raise unknown("adapter", adapter, [*ADAPTERS, CODES, ERASURE])
        if dim % heads:
            raise ValueError(f"dim {dim} does not divide by {heads} heads")
        if adapter in ADAPTERS:
            self.adapter: nn.Module = ADAPTERS[adapter](dim, layers, heads)
        else:
            self.adapter = Codes(dim, codes) if adapter == CODES else Erasure(dim)

    def forward(self, features: Tensor, present: Tensor | None = None) -> Tensor:
        """Attention goes over the N clips of one video, never over the batch (a bug of the release)."""
        alone = isinstance(self.adapter, Codes | Erasure)
        return self.adapter(features) if alone else self.adapter(features, present)

    def phases(self, recognizers: Recognizers) -> list[Phase]:
        training = Training(self, recognizers, **self.training_settings)
        if isinstance(self.adapter, Codes):
            return training.coding()
        return training.erasing() if isinstance(self.adapter, Erasure) else training.phases()


@dataclass
class Training:
    """How it learns: the preset's `train` section. A batch holds the clips of each video and then two static ones."""

    method: SPLAVU
    recognizers: Recognizers
    warm: int = 100  # epochs in which it learns to be the identity
    warm_lr: float = 2e-5
    epochs: int = 100
    batch_size: int = 512
    lr: float = 1e-4
    weight_decay: float = 0.01
    utility: float = 1.0  # omega_util
    tasks: Sequence[str] | None = None  # what it is trained with (table 5); recognition and all that is given if None
    consistency: float = 100.0  # omega_lc
    budget: float = 1.0  # omega_b
    objective: str = "contrastive"  # or supervised: the budget loss knows the private attributes
    temperature: float = 0.1
    ceiling: float | None = None  # of what the budget loss counts for, per view or attribute
    attacker_steps: int = 1  # of the supervised budget
    share: float = 0.05  # of the adapter `erasure`: of the variance of stills; what agrees more is erased
    action: nn.Module = field(init=False)
    spy: nn.Module = field(init=False)
    lessons: list[Lesson] = field(init=False)

    def __post_init__(self) -> None:
        if self.objective not in BUDGETS:
            raise unknown("objective", self.objective, BUDGETS)
        dim = next(p.shape[-1] for p in self.method.parameters() if p.ndim == 2)
        self.action = nn.Linear(dim, self.recognizers.actions)  # B.2
        self.spy = head("mlp", self.recognizers.attributes, dim)
        self.lessons = self.recognizers.chosen(self.tasks)

    def phases(self) -> list[Phase]:
        both = nn.ModuleList([self.method, self.action])
        optimizers = {"method": AdamW(both.parameters(), self.lr, weight_decay=self.weight_decay)}
        modules: dict[str, nn.Module] = {"anonymizer": self.method, "action": self.action}
        for lesson in self.lessons:
            group = {"params": list(lesson.head.parameters()), "lr": lesson.lr, "weight_decay": lesson.weight_decay}
            optimizers["method"].add_param_group(group)
            modules[lesson.name] = lesson.head
        if self.objective == "supervised":
            optimizers["spy"] = AdamW(self.spy.parameters(), 10 * self.lr, weight_decay=self.weight_decay)
            modules["spy"] = self.spy
        warm = {"method": AdamW(self.method.parameters(), self.warm_lr, weight_decay=0.0)}
        phases = [
            Phase(
                "identity", self.warm, self.copy, dict(warm), {"anonymizer": self.method}, self.batch_size, augment=None
            ),
            Phase("anonymization", self.epochs, self.play, dict(optimizers), modules, self.batch_size, augment=None),
        ]
        return [phase for phase in phases if phase.epochs]

    def coding(self) -> list[Phase]:
        """Of the adapter `codes`: its head learns to tell the action, then each code becomes the mean of an action."""
        if self.recognizers.actions > len(self.adapter.codes):
            short = f"not {len(self.adapter.codes)}"
            raise UserError(f"{self.recognizers.actions} actions need at least as many codes, {short}")
        optimizer = AdamW(self.adapter.choose.parameters(), self.lr, weight_decay=self.weight_decay)
        rest: dict[str, Any] = {"modules": {"anonymizer": self.method}, "augment": None}
        learn: dict[str, Any] = {"batch_size": self.batch_size, "schedule": one_cycle, "average": AVERAGE, **rest}
        score = None if self.recognizers.validation is None else self.well_chosen
        return [
            Phase("choice", self.epochs, self.choose, {"choice": optimizer}, validate=score, **learn),
            Phase("codes", 1, self.fill, {}, batch_size=WHOLE, **rest),
        ]

    @property
    def adapter(self) -> Codes:
        assert isinstance(self.method.adapter, Codes)
        return self.method.adapter

    def choose(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        clips, actions = labelled_clips(batch)
        loss = cross_entropy(self.adapter.choose(clips), actions)
        update("choice", loss)
        return {"action": loss}

    def well_chosen(self) -> float:
        """Top-1 of the validation videos."""
        videos = cast(Clips, self.recognizers.validation)
        with torch.no_grad():
            logits = self.adapter.choose(videos.video[:, :-STATIC].flatten(0, 1).to(self.adapter.codes)).cpu()
        return action_score(logits, videos.action, len(logits) // len(videos))

    def fill(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        clips, actions = labelled_clips(batch)
        self.adapter.set(clips, actions)
        return {"consistency": consistency(clips, self.adapter.codes[actions])}

    def erasing(self) -> list[Phase]:
        """Of the adapter `erasure`: the budget in closed form. No label is read."""
        return [Phase("erasure", 1, self.erase, {}, {"anonymizer": self.method}, WHOLE, augment=None)]

    def erase(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        assert isinstance(self.method.adapter, Erasure)
        clips, still = batch.clip[:, :-STATIC], batch.clip[:, -STATIC:]
        erased = self.method.adapter.set(still[:, 0], still[:, 1], self.share)
        return {"erased": torch.tensor(float(erased)), "consistency": consistency(clips, self.method(clips))}

    def copy(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        """B.4: the features reconstructed."""
        loss = mse_loss(self.method(batch.clip), batch.clip)
        update("method", loss)
        return {"copy": loss}

    def play(self, batch: Batch, update: Update) -> dict[str, Tensor]:
        """Equation 7: omega_util L_util + omega_lc L_lc - omega_b L_b, in one step of adapter and head."""
        clips, still = batch.clip[:, :-STATIC], batch.clip[:, -STATIC:]
        shown = self.method(clips)
        useful = self.taught(shown, batch)
        logged = {**useful, "consistency": consistency(clips, shown), "budget": self.hidden(still, batch)}
        parts = (self.utility * sum(useful.values()), self.consistency * logged["consistency"])
        update("method", sum(parts) + self.budget * logged["budget"])
        if self.objective == "supervised":
            logged["spy"] = self.spied(still, batch, update)
        return logged

    def taught(self, shown: Tensor, batch: Batch) -> dict[str, Tensor]:
        """The sum of equation 4, part by part: recognition on this batch, other tasks on batches of their own."""
        asked = self.tasks is None or "recognition" in self.tasks
        told = {"action": self.useful(shown, batch)} if asked else {}
        return told | {lesson.name: lesson.loss(self.method) for lesson in self.lessons}

    def useful(self, shown: Tensor, batch: Batch) -> Tensor:
        """L_util of recognition: each clip is asked for the action."""
        logits = self.action(shown)
        return action_loss(logits.flatten(0, 1), batch.action.repeat_interleave(logits.shape[1], 0))

    def hidden(self, still: Tensor, batch: Batch) -> Tensor:
        """-L_b (equation 5), or against a spy that knows the attributes. Still clips do not see each other."""
        first, second = (self.method(one[:, None])[:, 0] for one in still.unbind(1))
        if self.objective == "supervised":
            return torch.stack([maximize(self.spy(one), batch.privacy, self.ceiling) for one in (first, second)]).mean()
        loss = nt_xent(first, second, self.temperature)
        return -(loss if self.ceiling is None else loss.clamp(max=self.ceiling)).mean()

    def spied(self, still: Tensor, batch: Batch, update: Update) -> Tensor:
        """The spy learns on what the adapter shows now."""
        with torch.no_grad():
            seen = self.method(still.reshape(-1, 1, still.shape[-1]))[:, 0]
        labels = batch.privacy.repeat_interleave(still.shape[1], 0)
        for _ in range(self.attacker_steps):
            loss = binary_cross_entropy_with_logits(self.spy(seen), labels)
            update("spy", loss)
        return loss


def labelled_clips(batch: Batch) -> tuple[Tensor, Tensor]:
    """All clips of a batch `[M, D]`, and the action of each `[M]`."""
    if batch.action.ndim > 1:
        raise UserError("codes need one action per video")
    clips = batch.clip[:, :-STATIC]
    return clips.flatten(0, 1), batch.action.repeat_interleave(clips.shape[1])


def consistency(before: Tensor, after: Tensor) -> Tensor:
    """L_lc (equation 6): the squared distance per number. A norm would outweigh all else at omega_lc = 100."""
    return mse_loss(after, before)


SPLAVU.game = Training
