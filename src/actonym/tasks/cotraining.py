"""Tasks that a method is trained with, each on videos of its own (SPLAVU 3.2, equation 4)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor, nn

from actonym.data.features import Store
from actonym.errors import UserError, unknown
from actonym.tasks.base import Recipe, Task, VideoFeatures, draw, train_head
from actonym.tasks.presets import TASKS
from actonym.tasks.stores import task_of, videos_of


@dataclass
class TaskLesson:
    """One task: its head, which learns on, and the videos that batches are drawn from."""

    task: Task
    head: nn.Module
    videos: Sequence[VideoFeatures]
    how: Recipe

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def lr(self) -> float:
        return self.how.lr

    @property
    def weight_decay(self) -> float:
        return self.how.weight_decay

    def loss(self, method: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """L_T of a batch drawn by lot, after a method that maps features and knows which of them are there."""
        batch = draw(self.task, self.videos, self.how.batch_size).to(next(self.head.parameters()).device)
        return self.task.loss(self.head, replace(batch, features=method(batch.features, batch.mask)))


def parse_tasks(text: str, known: Collection[str] = tuple(TASKS)) -> dict[str, str]:
    """`detection=FOLDER,anomaly=FOLDER` as a dictionary; `features:FOLDER` is a folder too."""
    pairs = [part.strip().partition("=") for part in text.split(",") if part.strip()]
    for name, equals, folder in pairs:
        if name not in known:
            raise unknown("task", name, known)
        if not equals or not folder:
            raise UserError(f"cannot read --tasks {text!r}: write --tasks {name}=FOLDER, a store of features")
    return {name: folder.removeprefix("features:") for name, _, folder in pairs}


def lessons(
    stores: Mapping[str, Store], dim: int, preset: str = "stage", seed: int = 0, progress: bool = True
) -> list[TaskLesson]:
    """Of every task a lesson on its store. Heads begin trained on raw features, for stability (SPLAVU 3.2)."""
    made = []
    for name, store in stores.items():
        store.check_dim(dim)
        task, how = task_of(name, store, preset)
        train, val = (videos_of(store, split) for split in ("train", "val"))
        made.append(TaskLesson(task, train_head(task, train, val, how, seed=seed, progress=progress).net, train, how))
    return made
