"""`actonym train`: from names to a trained method in a folder."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch

from actonym import methods, presets
from actonym.data import load_clips, open_dataset
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
    action = partial(build, plan["recognizer"]["net"], len(dataset.actions), clip["frames"], clip["size"])
    attacker = plan["attackers"][0].split("/")[1]
    privacy = partial(build, attacker, len(dataset.attributes), clip["frames"], clip["size"])
    return train_method(
        anonymizer,
        load_clips(dataset, "train", **clip),
        Recognizers(
            action(),
            privacy(),
            action,
            privacy,
            actions=len(dataset.actions),
            attributes=len(dataset.attributes),
            validation=load_clips(dataset, "val", **clip),
        ),
        out=out,
        seed=seed,
        devices=devices,
        precision=precision,
        resume=resume,
        settings={"data": data, "preset": preset, "set": list(assignments)},
    )
