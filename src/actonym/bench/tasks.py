"""Tasks of a bench: what must still work on stores of their own, before and after a latent method (SPLAVU, table 5)."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

from actonym.data.base import SPLITS
from actonym.data.features import Store
from actonym.methods.base import Method
from actonym.tasks.base import VideoFeatures, anonymized, measure
from actonym.tasks.cotraining import TaskLesson, lessons, parse_tasks
from actonym.tasks.presets import TASKS
from actonym.tasks.stores import UNTRAINED, score_untrained, videos_of

Videos = Mapping[str, Sequence[VideoFeatures]]  # by split


class Tasks:
    """What is known of raw features is found once per seed: a head of each task, and what it reaches."""

    def __init__(self, text: str, dim: int, preset: str = "stage", progress: bool = True) -> None:
        """`text` is `detection=FOLDER,gait=FOLDER`: the store of each task, with features of `dim` numbers."""
        self.stores = {name: Store.open(folder) for name, folder in parse_tasks(text, (*TASKS, *UNTRAINED)).items()}
        self.dim, self.preset, self.progress = dim, preset, progress
        self._taught = cache(self._teach)
        self._raw = cache(self._score_raw)
        for store in self.stores.values():
            store.check_dim(dim)

    def lessons(self, seed: int) -> list[TaskLesson]:
        """What a method can learn with; each gets heads of its own, which learn on."""
        return [replace(lesson, head=deepcopy(lesson.head)) for lesson in self._taught(seed).values()]

    def run(self, method: Method, seed: int) -> dict[str, Any]:
        """Of every task the scores on raw and on anonymized features, and how much is kept."""
        found = {}
        for name in self.stores:
            raw = self._raw(name, seed)
            after = raw if method.name == "raw" else self._after(name, method, seed)
            metric = raw["metric"]
            share = after[metric] / raw[metric] if raw[metric] else None
            found[name] = {"metric": metric, "raw": raw, "anonymized": after, "kept": share}
        return found

    def _teach(self, seed: int) -> dict[str, TaskLesson]:
        trained = {name: store for name, store in self.stores.items() if name in TASKS}
        made = lessons(trained, self.dim, self.preset, seed, self.progress)
        return {lesson.name: lesson for lesson in made}

    def _score_raw(self, name: str, seed: int) -> dict[str, Any]:
        if name in UNTRAINED:
            return score_untrained(name, self._videos(name), seed)
        lesson = self._taught(seed)[name]
        scores = lesson.task.score(lesson.head, videos_of(self.stores[name], "test"))
        return {**scores, "metric": lesson.task.metric}

    def _after(self, name: str, method: Method, seed: int) -> dict[str, Any]:
        """A fresh head on anonymized features, as on raw ones."""
        videos = {split: anonymized(given, method) for split, given in self._videos(name).items()}
        if name in UNTRAINED:
            return score_untrained(name, videos, seed)
        lesson = self._taught(seed)[name]
        train, val, test = (videos[split] for split in SPLITS)
        return measure(lesson.task, train, val, test, lesson.how, seed=seed, progress=self.progress)

    def _videos(self, name: str) -> Videos:
        return {split: videos_of(self.stores[name], split) for split in UNTRAINED.get(name, SPLITS)}
