"""A learned method that is named in a bench is trained first: once per seed, kept in the user's cache, resumable."""

import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from filelock import FileLock

from actonym import losses, methods, nets, train
from actonym.bench.measure import Plan, Splits
from actonym.bench.result import versions
from actonym.data.base import Dataset
from actonym.data.cache import cache_dir
from actonym.data.clips import Clips
from actonym.errors import UserError
from actonym.methods.base import NETWORKS, Method, config, load, sha256
from actonym.nets.encoder import weights_hash
from actonym.nets.inflate import COLOURS
from actonym.tasks.cotraining import TaskLesson
from actonym.train.checkpoint import NAME as STATE
from actonym.train.command import check_labels, networks, recognizers
from actonym.train.history import History, PhaseHistory
from actonym.train.method import HISTORY, train_method

DONE = "training.json"  # written last: where it is, the checkpoint is whole


def train_once(
    make: Callable[[], Method],
    clips: Splits,
    dataset: Dataset,
    plan: Plan,
    seed: int,
    progress: bool = True,
    lessons: Sequence[TaskLesson] = (),
) -> tuple[Method, dict[str, Any]]:
    """The trained method, and what its training was like. It is what `actonym train` makes of the same clips and seed.

    `lessons` are tasks that it may learn with; it takes those that its settings name. Training that was stopped goes on
    where it was. Of two processes that want the same method the second one waits.
    """
    torch.manual_seed(seed)
    method = make()
    check_labels(method, dataset)
    folder = cache_dir("trained", _key(method, clips, plan, seed, lessons))
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / DONE).is_file():
            learn_with = recognizers(plan, dataset, clips["val"], method.networks)
            learn_with.lessons = lessons
            history = train_method(
                method, clips["train"], learn_with, out=folder, seed=seed, resume=True, progress=progress
            )
            _finish(folder, _about(method, history, plan))
    return load(folder), json.loads((folder / DONE).read_text())


def digest_of(clips: Clips) -> bytes:
    """All that can be learned from clips."""
    digest = hashlib.sha256()
    for part in (clips.video, clips.action, clips.privacy, clips.mask):
        if part is not None:
            digest.update(f"{tuple(part.shape)} {part.dtype}".encode())
            digest.update(part.contiguous().numpy().data)
    return digest.digest()


def _key(method: Method, clips: Splits, plan: Plan, seed: int, lessons: Sequence[TaskLesson] = ()) -> str:
    """All that decides the weights: the clips, the method and its settings, its networks, the seed and the program."""
    digest = hashlib.sha256(digest_of(clips["train"]) + digest_of(clips["val"]) + _source(method))
    for lesson in lessons:
        digest.update(repr((lesson.name, lesson.how, weights_hash(lesson.head))).encode())  # trained on its videos
    learned_with = [*networks(plan, method.networks), begun_with(plan)]
    made_with = [method.name, config(method), method.training_settings, learned_with]
    digest.update(json.dumps([made_with, seed, versions(), torch.get_num_threads()], sort_keys=True).encode())
    return digest.hexdigest()[:20]


def _source(method: Method) -> bytes:
    """What a method, and all that it learns with, is written in."""
    own = {Path(inspect.getfile(cls)) for cls in type(method).__mro__ if cls not in Method.__mro__}
    return source_of((losses, methods, nets, train), own)


def source_of(rooms: Sequence[ModuleType], more: Iterable[Path] = ()) -> bytes:
    """What some rooms of the program are written in: between two versions the equations may change."""
    places = [Path(place) for room in rooms for place in room.__path__]
    files = sorted({*more}.union(*(place.glob("*.py") for place in places)))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).digest()


def begun_with(plan: Plan) -> str | None:
    """The weights that video transformers begin with: by what they and their colours are, not by where they lie."""
    if not plan.get("images"):
        return None
    weights = Path(plan["images"])
    beside = weights.with_name(COLOURS)
    return sha256(weights) + (sha256(beside) if beside.is_file() else "")


def told(folder: Path) -> dict[str, Any] | None:
    """What a checkpoint's training was like; None where no history lies beside it."""
    if not (folder / HISTORY).is_file():
        return None
    try:
        return _path(History([PhaseHistory(**phase) for phase in json.loads((folder / HISTORY).read_text())]))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{folder / HISTORY} is damaged: mend it, or take it away to measure without it") from error


def _about(method: Method, history: History, plan: Plan) -> dict[str, Any]:
    settings = {"method": config(method), "train": method.training_settings}
    if method.networks:
        settings["networks"] = dict(zip(NETWORKS, networks(plan, method.networks), strict=True))
    return {**_path(history), "settings": settings}


def _path(history: History) -> dict[str, Any]:
    """How long each phase took, and what validation found on its way."""
    return {
        "seconds": history.seconds,
        "phases": [
            {
                "name": phase.name,
                "epochs": max(map(len, (phase.validation, *phase.losses.values()))),
                "best_epoch": phase.best_epoch,
                "points": phase.points,
                "seconds": phase.seconds,
            }
            for phase in history.phases
        ],
    }


def _finish(folder: Path, about: dict[str, Any]) -> None:
    draft = folder / f"{DONE}.part"
    draft.write_text(json.dumps(about, indent=2))
    draft.replace(folder / DONE)
    (folder / STATE).unlink(missing_ok=True)  # optimizers and recognizers, several times the size of the method
