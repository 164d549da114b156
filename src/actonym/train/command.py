"""`actonym train`: from names to a trained method in a folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from actonym import methods, presets
from actonym.data import Clips, Dataset, load_clips, open_dataset
from actonym.data.base import shown
from actonym.data.features import KIND, Store, Stored, is_stored, load_features
from actonym.errors import UserError
from actonym.methods import LatentMethod, Method
from actonym.nets.recognizers import build
from actonym.spec import assign
from actonym.tasks.cotraining import lessons, parse_tasks
from actonym.train import checkpoint
from actonym.train.history import History
from actonym.train.method import phases_of, train_method
from actonym.train.phase import Recognizers

PLANNED = ("clip", "images")  # sections of an evaluation preset that can be set here
# What a plan counts, in any of its sections.
COUNTS = tuple(
    f".{name}" for name in ("frames", "size", "rate", "clips", "crops", "rounds", "epochs", "steps", "batch_size")
)
CLIPS = 5  # of a video that a latent method sees at once (SPLAVU 4.2)


def train(
    method: str,
    data: str,
    preset: str,
    out: Path,
    seed: int = 0,
    resume: bool = False,
    assignments: Sequence[str] = (),
    devices: int = 1,
    precision: str = "32-true",
    target: str | None = None,
    tasks: str = "",
) -> History:
    """The clips that a method learns from are those of the evaluation preset of the same name, and so are the networks
    that it learns with, unless its own preset names others. `clip.rate=3` and `images=FILE` among the assignments
    change that preset, as they do in `evaluate`.

    A latent method learns from a store of features, `features:FOLDER`. `target` names the world that a method adapts
    to; of its training videos the labels are not looked at. `tasks` are stores of other tasks that a latent method
    learns with, `detection=FOLDER,anomaly=FOLDER`.
    """
    torch.manual_seed(seed)
    run: dict[str, Any] = {"out": out, "seed": seed, "devices": devices, "precision": precision, "resume": resume}
    names = {"data": _named(data), "target": None if target is None else _named(target)}
    run["settings"] = {**names, "preset": preset, "set": list(assignments)}
    stores = parse_tasks(tasks)
    if stores:
        run["settings"]["tasks"] = sorted(stores)
    if stores and devices > 1:
        raise UserError("a method learns with --tasks in one process: leave --devices out")
    planned = [text for text in assignments if text.partition("=")[0].split(".")[0].strip() in PLANNED]
    assignments = [text for text in assignments if text not in planned]
    anonymizer = methods.create(method, preset, assignments)
    check_target(anonymizer, target)
    if isinstance(anonymizer, LatentMethod):
        if planned:
            raise UserError(f"{anonymizer.name} learns from features, which no {planned[0]} changes: leave it out")
        stored = _stored(anonymizer, data)
        store = stored.store
        anonymizer = methods.create(method, preset, [f"method.dim={store.dim}", *assignments])
        validation = load_features(store, "val", CLIPS) if any(split == "val" for split, _ in store.names()) else None
        learn_with = heads(stored, validation)
        others = {name: Store.open(place) for name, place in stores.items()}
        learn_with.lessons = lessons(others, store.dim, preset, seed)
        return train_method(anonymizer, load_features(store, "train", CLIPS), learn_with, **run)
    if stores:
        raise UserError(f"{anonymizer.name} learns from video, not from features of other tasks: leave --tasks out")
    plan = assign({"images": None, **presets.load("evaluation", preset)}, planned)
    check_plan(plan)
    clip = {**plan["clip"], "clips": 1, "crops": 1}
    dataset = open_dataset(data, size=clip["size"], frames=clip["frames"])
    check_labels(anonymizer, dataset)
    check_start(anonymizer, partial(recognizers, plan, dataset, None, anonymizer.networks), out, resume)
    clips = {split: load_clips(dataset, split, **clip) for split in ("train", "val")}
    learn_with = recognizers(plan, dataset, clips["val"], anonymizer.networks)
    if target is not None:
        world = open_dataset(target, size=clip["size"], frames=clip["frames"])
        learn_with.target = load_clips(world, "train", **clip)
    return train_method(anonymizer, clips["train"], learn_with, **run)


def heads(dataset: Dataset | Stored, validation: Clips | None) -> Recognizers:
    """Of a latent method, which makes its own networks: how many classes and attributes there are."""
    none = nn.Identity()
    actions, attributes = len(dataset.actions), len(dataset.attributes)
    return Recognizers(none, none, actions=actions, attributes=attributes, validation=validation)


def _named(data: str) -> str:
    """A dataset or a store of features, without its place on this machine."""
    return KIND if is_stored(data) else shown(data)


def _stored(method: Method, data: str) -> Stored:
    if not is_stored(data):
        raise UserError(
            f"{method.name} learns from features, not video: actonym features extract DATA FOLDER, "
            "then --data features:FOLDER"
        )
    return Stored(data)


def recognizers(
    plan: Mapping[str, Any], dataset: Dataset, validation: Clips | None, chosen: Mapping[str, str | None] | None = None
) -> Recognizers:
    """Fresh networks: those that a method has `chosen`, else an evaluation plan's recognizer and first attacker."""
    if validation is not None and validation.video.is_floating_point():
        return heads(dataset, validation)
    action, privacy = networks(plan, chosen or {})
    shape = plan["clip"]["frames"], plan["clip"]["size"], plan.get("images")
    make_action = partial(build, action, len(dataset.actions), *shape)
    make_privacy = partial(build, privacy, len(dataset.attributes), *shape)
    return Recognizers(
        make_action(),
        make_privacy(),
        make_action,
        make_privacy,
        actions=len(dataset.actions),
        attributes=len(dataset.attributes),
        validation=validation,
        images=plan.get("images"),
    )


def networks(plan: Mapping[str, Any], chosen: Mapping[str, str | None]) -> tuple[str, str]:
    """The names of the networks that a method learns with and against."""
    attacker: str = plan["attackers"][0].split("/")[1]
    return chosen.get("action") or plan["recognizer"]["net"], chosen.get("privacy") or attacker


def check_labels(method: Method, dataset: Dataset) -> None:
    """Told before hours of work: whether the data has the labels that a method learns from."""
    if "privacy" in method.card.needs and not dataset.attributes:
        raise UserError(f"{method.name} learns from private attributes, and {dataset.name} has none; take other data")


def check_start(method: Method, learn_with: Callable[[], Recognizers], out: Path, resume: bool) -> None:
    """Told before the videos are read: whether the folder is free and the settings can be. Nothing is changed by it.

    What a method that adapts will do can be told only beside the videos of its target.
    """
    checkpoint.begin(out, resume)
    if "domain" not in method.card.needs:
        with torch.random.fork_rng():
            phases_of(deepcopy(method), learn_with())


def check_plan(plan: Mapping[str, Any]) -> None:
    """Told at once: numbers that no network can learn with, and whether the weights are there that it begins with."""
    for path, value in _numbers(plan):
        if path.endswith(".lr") and value <= 0:
            raise UserError(f"{path} must be above 0, not {value}")
        if path.endswith(COUNTS) and not (isinstance(value, int) and value >= 1):
            raise UserError(f"{path} must be a whole number from 1 up, not {value}")
    rate = plan["clip"].get("rate")
    if not (rate is None or (isinstance(rate, int) and not isinstance(rate, bool))):
        raise UserError(f"clip.rate must be a whole number from 1 up, or null for the papers' own, not {rate!r}")
    if not plan["attackers"]:
        raise UserError("attackers: name at least one, or nobody knows what leaks")
    if plan["images"] is not None and not Path(plan["images"]).is_file():
        raise UserError(f"images: there is no file {plan['images']} with the weights of an image transformer")


def _numbers(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a nested dictionary, with its path."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{above}{key}.")
        elif isinstance(value, int | float):
            yield above + key, value


def check_target(method: Method, target: str | None) -> None:
    """A method that adapts needs another world, and no other method does."""
    if "domain" in method.card.needs and target is None:
        raise UserError(f"{method.name} adapts to a world of which it needs unlabelled videos: add --target NAME:PATH")
    if "domain" not in method.card.needs and target is not None:
        raise UserError(f"{method.name} does not adapt to another world: leave --target out")
