"""From a store of features to the videos that tasks work on, and any task measured on it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor

from actonym import presets
from actonym.data.base import SPLITS
from actonym.data.features import Entry, Store
from actonym.errors import UserError, unknown
from actonym.spec import assign
from actonym.tasks.base import Recipe, Task, VideoFeatures, anonymized, measure
from actonym.tasks.gait import gait
from actonym.tasks.presets import TASKS, from_preset
from actonym.tasks.retrieval import retrieval

NORMAL = "normal"
UNTRAINED = {"retrieval": ("train", "test"), "gait": ("test",)}  # tasks without a head, and the splits they need
METRICS = {"retrieval": "map", "gait": "rank1"}
Splits = Mapping[str, Sequence[VideoFeatures]]


def of_entry(entry: Entry) -> VideoFeatures:
    frames = entry.last[0] - entry.first[0] + 1
    stride = entry.first[1] - entry.first[0] if len(entry.first) > 1 else frames
    labels = entry.name, entry.action, entry.segments, entry.subject
    return VideoFeatures(entry.features, *labels, frames, stride, entry.fps, entry.length)


def videos_of(store: Store, split: str) -> list[VideoFeatures]:
    """The videos of a split, for any task."""
    found = [of_entry(entry) for entry in store.entries(split)]
    if not found:
        raise UserError(f"{store.folder} has no videos in its {split} split")
    return found


def task_of(name: str, store: Store, preset: str = "stage", changes: Sequence[str] = ()) -> tuple[Task, Recipe]:
    """A task for the actions of a store, and how its head is trained; `changes` are those of `--set`."""
    actions: list[str] = store.about["actions"]
    plan = assign(presets.load(name, preset), changes)
    if name != "anomaly":
        return from_preset(name, len(actions), plan=plan)
    normal = [place for place, action in enumerate(actions) if action.lower() == NORMAL]
    if not normal:
        raise UserError(f"anomaly needs an action called {NORMAL!r}; {store.folder} has {', '.join(actions)}")
    return from_preset(name, normal[0], plan=plan)


def measure_store(
    name: str,
    store: Store,
    *,
    method: Callable[[Tensor], Tensor] | None = None,
    preset: str = "stage",
    changes: Sequence[str] = (),
    seed: int = 0,
    progress: bool = True,
) -> dict[str, Any]:
    """How well a task does on a store; with a method before and after it, and how much of it is kept."""
    scores, metric, splits = _scorer(name, store, preset, changes, seed, progress)
    videos = {split: videos_of(store, split) for split in splits}
    about = {"task": name, "metric": metric, "seed": seed, "videos": {split: len(videos[split]) for split in splits}}
    if method is None:
        return {**about, "scores": scores(videos)}
    raw, after = scores(videos), scores({split: anonymized(given, method) for split, given in videos.items()})
    return {**about, "raw": raw, "anonymized": after, "kept": after[metric] / raw[metric] if raw[metric] else None}


def score_untrained(name: str, videos: Splits, seed: int) -> dict[str, Any]:
    """Retrieval or gait: what the features reach as they are."""
    found = retrieval(videos["test"], videos["train"], seed=seed) if name == "retrieval" else gait(videos["test"])
    return {**found, "metric": METRICS[name]}


def _scorer(
    name: str, store: Store, preset: str, changes: Sequence[str], seed: int, progress: bool
) -> tuple[Callable[[Splits], dict[str, Any]], str, Sequence[str]]:
    """What scores the videos of some splits, the score that counts, and which splits it needs."""
    if name not in (*TASKS, *UNTRAINED):
        raise unknown("task", name, (*TASKS, *UNTRAINED))
    if name in UNTRAINED and changes:
        raise UserError(f"{name} trains nothing, so there is nothing to --set")
    if name in UNTRAINED:
        return lambda given: score_untrained(name, given, seed), METRICS[name], UNTRAINED[name]
    task, how = task_of(name, store, preset, changes)

    def trained(given: Splits) -> dict[str, Any]:
        return measure(task, given["train"], given["val"], given["test"], how, seed=seed, progress=progress)

    return trained, task.metric, SPLITS
