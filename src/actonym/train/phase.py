"""What a method, a recognizer or an attacker hands to the loop: phases, each with a step of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor, nn
from torch.optim import Optimizer

from actonym.data.clips import Clips
from actonym.errors import UserError
from actonym.train.augment import Augment, flip_and_shift
from actonym.train.schedule import Schedule, constant


@dataclass(frozen=True)
class Batch:
    """What a step sees, on the device. With several processes each sees its part of the global batch."""

    clip: Tensor  # float [B, 3, T, H, W] in 0..1, augmented
    action: Tensor  # int64 [B]; or float [B, A], 0 and 1, where videos have several at once: see losses/action.py
    privacy: Tensor  # float [B, P]
    mask: Tensor | None  # float 0/1 [B, 1, T, H, W], moved along with the clip
    index: Tensor  # int64 [B], positions in the dataset
    progress: float = 0.0  # of the phase: 0 at its start, 1 at its end


class Update(Protocol):
    """`update("attacker", loss)`: one step of that optimizer, down the gradient of `loss`.

    Only the optimizer's own parameters get gradients, whatever else the loss depends on. The graph is freed unless
    `retain_graph`; a graph in which weights have since changed cannot be used again, so most updates compute their
    own forward pass or detach what they share.
    """

    def __call__(self, optimizer: str, loss: Tensor, retain_graph: bool = False) -> None: ...


# What validation found after an epoch: a `score` (the weights with the highest are kept) and what else the history
# should hold. A plain number is a score. Without a score the last weights are kept.
Point = dict[str, float]


@dataclass
class Phase:
    """A stretch of training. Its `step` calls `update` for as many optimizers, as often and in what order it likes.

    Modules are in train mode when `step` is called and in eval mode when `validate` is. All that is random in a step
    must come from torch's, numpy's or Python's global generators: they are seeded anew before each step.
    """

    name: str
    epochs: int
    step: Callable[[Batch, Update], dict[str, Tensor]]  # returns what to log
    optimizers: dict[str, Optimizer]
    modules: dict[str, nn.Module]  # whose weights this phase changes: what a checkpoint must hold
    batch_size: int = 16  # over all processes
    schedule: Schedule = constant  # progress 0..1 -> factor on each parameter group's own learning rate
    steady: frozenset[str] = frozenset()  # optimizers that the schedule leaves alone
    clip_norm: float | None = 1.0
    augment: Augment | None = flip_and_shift
    validate: Callable[[], float | Point] | None = None  # after each epoch; see Point
    patience: int | None = None  # stop after so many epochs without a gain of more than `min_gain`
    min_gain: float = 0.0
    average: float | None = None  # decay of a moving average of the weights, then the ones validated and kept

    def __post_init__(self) -> None:
        for name, least in (("epochs", 0), ("batch_size", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{name} of {self.name} must be a whole number from {least} up, not {value!r}")

    def check_rates(self) -> None:
        """Who takes part must learn something; a part of a network may be held still."""
        for name, optimizer in self.optimizers.items():
            if not any(group["lr"] > 0 for group in optimizer.param_groups):
                raise ValueError(f"the learning rate of {name} in {self.name} must be above 0")


class Lesson(Protocol):
    """A task that a method may be trained with, on data of its own: its head, and the loss of a batch drawn by lot."""

    @property
    def name(self) -> str: ...

    @property
    def lr(self) -> float: ...

    @property
    def weight_decay(self) -> float: ...

    head: nn.Module

    def loss(self, method: Callable[[Tensor, Tensor], Tensor]) -> Tensor: ...


@dataclass
class Recognizers:
    """The networks a method learns with and against, and how to make fresh ones of the same kind."""

    action: nn.Module
    privacy: nn.Module
    make_action: Callable[[], nn.Module] | None = None
    make_privacy: Callable[[], nn.Module] | None = None
    actions: int = 0  # how many there are to tell apart
    attributes: int = 0
    validation: Clips | None = None  # clips of the validation split, to choose weights by; never of the test split
    target: Clips | None = None  # clips of another world to adapt to; nothing but the video may be looked at
    lessons: Sequence[Lesson] = ()  # tasks to learn with, beside the action
    images: str | None = None  # a file with the weights of an image transformer, with which video transformers begin

    def chosen(self, tasks: Sequence[str] | None) -> list[Lesson]:
        """The lessons of these tasks, without recognition, which needs none; all there are if none are named."""
        given = {lesson.name: lesson for lesson in self.lessons}
        wanted = list(given) if tasks is None else [name for name in tasks if name != "recognition"]
        for name in wanted:
            if name not in given:
                raise UserError(f"the task {name} needs features to learn from: add --tasks {name}=FOLDER")
        return [given[name] for name in wanted]
