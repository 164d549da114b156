"""`actonym train`: from names to a trained method in a folder."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from actonym import methods, presets
from actonym.data import Clips, Dataset, load_clips, open_dataset
from actonym.errors import UserError
from actonym.methods import Method
from actonym.nets.recognizers import build
from actonym.train.history import History
from actonym.train.method import train_method
from actonym.train.phase import Recognizers


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
) -> History:
    """The clips and the networks that a method learns with are those of the evaluation preset of the same name."""
    torch.manual_seed(seed)
    anonymizer = methods.create(method, preset, assignments)
    plan = presets.load("evaluation", preset)
    clip = {**plan["clip"], "clips": 1, "crops": 1}
    dataset = open_dataset(data, size=clip["size"], frames=clip["frames"])
    check_labels(anonymizer, dataset)
    clips = {split: load_clips(dataset, split, **clip) for split in ("train", "val")}
    return train_method(
        anonymizer,
        clips["train"],
        recognizers(plan, dataset, clips["val"]),
        out=out,
        seed=seed,
        devices=devices,
        precision=precision,
        resume=resume,
        settings={"data": data, "preset": preset, "set": list(assignments)},
    )


def recognizers(plan: Mapping[str, Any], dataset: Dataset, validation: Clips) -> Recognizers:
    """The networks of an evaluation plan, fresh: its recognizer, and the network of its first attacker."""
    frames, size = plan["clip"]["frames"], plan["clip"]["size"]
    attacker = plan["attackers"][0].split("/")[1]
    action = partial(build, plan["recognizer"]["net"], len(dataset.actions), frames, size)
    privacy = partial(build, attacker, len(dataset.attributes), frames, size)
    return Recognizers(
        action(),
        privacy(),
        action,
        privacy,
        actions=len(dataset.actions),
        attributes=len(dataset.attributes),
        validation=validation,
    )


def check_labels(method: Method, dataset: Dataset) -> None:
    """Told before hours of work: whether the data has the labels that a method learns from."""
    if "privacy" in method.card.needs and not dataset.attributes:
        raise UserError(f"{method.name} learns from private attributes, and {dataset.name} has none; take other data")
