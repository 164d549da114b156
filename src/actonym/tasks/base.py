"""What tasks share: the features of a video, batches of them, and what a task is.

A task works on features `[B, N, D]`, N clip embeddings of one video, anonymized or not. A method that is trained with
several tasks at once (SPLAVU's equation 4) needs no more of each than `draw` and its `loss`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from actonym.data.base import Sample, Segment
from actonym.data.clips import Clips
from actonym.errors import UserError, unknown
from actonym.train.fabric import make_fabric
from actonym.train.fit import Fitted
from actonym.train.loop import run
from actonym.train.phase import Batch, Phase, Update
from actonym.train.schedule import Schedule, constant, cosine, warm_up

OPTIMIZERS: dict[str, type[torch.optim.Optimizer]] = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}


@dataclass(frozen=True)
class VideoFeatures:
    """The clip embeddings of one video, and what is known of it. Times are seconds from its start."""

    features: Tensor  # float [N, D]
    name: str = ""
    action: int = 0
    segments: Sequence[Segment] = ()
    subject: str = ""
    frames: int = 16  # of a clip
    stride: int = 16  # frames from the start of a clip to the start of the next; `frames` where clips do not overlap
    fps: float = 30.0
    length: int | None = None  # frames of the video; as far as its clips reach if it is not known

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or not len(self.features):
            raise UserError(f"features of {self.name or 'a video'} are [N, D], not {list(self.features.shape)}")

    @cached_property
    def total(self) -> int:
        """Frames of the video."""
        return self.length or (len(self.features) - 1) * self.stride + self.frames

    def place(self, seconds: Tensor) -> Tensor:
        """Where on the grid of clips a moment is: clip n looks at what is around its middle frame, at place n."""
        return (seconds * self.fps - self.frames / 2) / self.stride

    def seconds(self, place: Tensor) -> Tensor:
        """The other way round."""
        return (place * self.stride + self.frames / 2) / self.fps


def of_sample(sample: Sample, features: Tensor, **clips: Any) -> VideoFeatures:
    """Features with the labels of the video they were made of; `clips` are `frames`, `stride`, `fps`, `length`."""
    return VideoFeatures(features, sample.name, sample.action, sample.segments, sample.subject, **clips)


@dataclass(frozen=True)
class FeatureBatch:
    """Features of several videos. A method changes `features` and leaves the rest: `replace(batch, features=...)`."""

    features: Tensor  # float [B, N, D]; zeros where a video is shorter than others
    mask: Tensor  # bool [B, N]: where it is not
    videos: Sequence[VideoFeatures]  # their labels

    def to(self, device: torch.device) -> "FeatureBatch":
        return replace(self, features=self.features.to(device), mask=self.mask.to(device))


def batch_of(videos: Sequence[VideoFeatures]) -> FeatureBatch:
    """All clips of the videos, the shorter ones filled up with zeros."""
    lengths = torch.tensor([len(video.features) for video in videos])
    features = pad_sequence([video.features for video in videos], batch_first=True)
    return FeatureBatch(features, torch.arange(features.shape[1]) < lengths[:, None], videos)


def singly(videos: Sequence[VideoFeatures]) -> list[Sequence[VideoFeatures]]:
    return [(video,) for video in videos]


@dataclass(frozen=True)
class Task:
    """What must still work: a head, what it learns by, and how well it does. Yours is as good as ours."""

    name: str
    head: Callable[[int], nn.Module]  # features of so many numbers -> a fresh head
    loss: Callable[[nn.Module, FeatureBatch], Tensor]  # differentiable in the features too
    score: Callable[[nn.Module, Sequence[VideoFeatures]], dict[str, float]]  # of whole videos; higher is better
    metric: str  # the score that counts on test
    goal: str = ""  # the score that chooses the checkpoint on validation, where it is another one
    prepare: Callable[[Sequence[VideoFeatures]], FeatureBatch] = (
        batch_of  # for training: what is cut out by lot is here
    )
    items: Callable[[Sequence[VideoFeatures]], Sequence[Sequence[VideoFeatures]]] = singly  # what is drawn together


def draw(task: Task, videos: Sequence[VideoFeatures], size: int) -> FeatureBatch:
    """A training batch of `size` items by lot, from torch's global generator."""
    items = task.items(videos)
    return _prepared(task, [items[at] for at in torch.randperm(len(items))[:size].tolist()])


def anonymized(videos: Sequence[VideoFeatures], method: Callable[[Tensor], Tensor]) -> list[VideoFeatures]:
    """The videos after a method that maps features `[1, N, D]`; one at a time, so that none can depend on another."""
    with torch.inference_mode():
        made = [method(video.features[None])[0] for video in videos]
    return [replace(video, features=features.clone()) for video, features in zip(videos, made, strict=True)]


@dataclass(frozen=True)
class Recipe:
    """How a head is trained; a preset's numbers."""

    epochs: int = 100
    batch_size: int = 16  # items
    lr: float = 1e-3
    weight_decay: float = 0.0
    decay_vectors: bool = False  # whether biases and norms decay too
    optimizer: str = "adamw"
    warm_up: float = 0.0  # share of the steps in which the learning rate rises
    decay: bool = False  # whether it falls along a cosine after that
    clip_norm: float | None = 1.0
    average: float | None = None  # decay of a moving average of the weights
    patience: int | None = None
    min_gain: float = 0.0

    def schedule(self) -> Schedule:
        then = cosine if self.decay else constant
        return warm_up(self.warm_up, then) if self.warm_up else then

    def optimizer_of(self, net: nn.Module) -> torch.optim.Optimizer:
        if self.optimizer not in OPTIMIZERS:
            raise unknown("optimizer", self.optimizer, OPTIMIZERS)
        spared = [p for p in net.parameters() if p.ndim < 2 and not self.decay_vectors]
        others = [p for p in net.parameters() if p.ndim >= 2 or self.decay_vectors]
        groups = [{"params": others, "weight_decay": self.weight_decay}, {"params": spared, "weight_decay": 0.0}]
        made: Any = OPTIMIZERS[self.optimizer]
        return made([group for group in groups if group["params"]], lr=self.lr)


def train_head(
    task: Task,
    train: Sequence[VideoFeatures],
    val: Sequence[VideoFeatures],
    how: Recipe,
    *,
    head: nn.Module | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Fitted:
    """A head for the task; the checkpoint is the best on `val`. `head` goes on from one that was trained before."""
    if not train or not val:
        raise UserError(f"{task.name} needs videos to train and to validate on: {len(train)} and {len(val)} are given")
    torch.manual_seed(seed)
    net = task.head(train[0].features.shape[1]) if head is None else head
    items = task.items(train)

    def step(batch: Batch, update: Update) -> dict[str, Tensor]:
        chosen = [items[at] for at in batch.index.tolist()]
        value = task.loss(net, _prepared(task, chosen).to(batch.index.device))
        update("net", value)
        return {"loss": value}

    phase = Phase(
        name=task.name,
        epochs=how.epochs,
        step=step,
        optimizers={"net": how.optimizer_of(net)},
        modules={"net": net},
        batch_size=how.batch_size,
        schedule=how.schedule(),
        clip_norm=how.clip_norm,
        augment=None,
        validate=lambda: task.score(net, val)[task.goal or task.metric],
        patience=how.patience,
        min_gain=how.min_gain,
        average=how.average,
    )
    history = run([phase], _places(len(items)), fabric=make_fabric(), seed=seed, progress=progress).phases[0]
    best = history.validation[history.best_epoch or 0]
    return Fitted(net, best, len(history.validation), history.converged, history.seconds)


def measure(
    task: Task,
    train: Sequence[VideoFeatures],
    val: Sequence[VideoFeatures],
    test: Sequence[VideoFeatures],
    how: Recipe,
    *,
    seed: int = 0,
    progress: bool = True,
) -> dict[str, Any]:
    """Train a fresh head, choose its checkpoint on `val`, score it on `test`, which it has not seen before."""
    fitted = train_head(task, train, val, how, seed=seed, progress=progress)
    training = {key: value for key, value in vars(fitted).items() if key != "net"}
    return {**task.score(fitted.net, test), "metric": task.metric, "training": training}


def _prepared(task: Task, items: Sequence[Sequence[VideoFeatures]]) -> FeatureBatch:
    return task.prepare([video for item in items for video in item])


def _places(count: int) -> Clips:
    """The loop draws positions; a step looks up what is there, for videos have different lengths."""
    return Clips(torch.zeros(count, 1), torch.zeros(count, dtype=torch.long), torch.zeros(count, 0), [""] * count)
