"""A plausible result to start from; each test changes what it is about."""

from collections.abc import Callable
from typing import Any

import pytest

from actonym.bench.metrics import closed, kept
from actonym.bench.result import Result, flags

ATTRIBUTES = ("face", "gender")
PREVALENCE = 0.5


def make_result(
    method: str = "raw", seed: int = 0, top1: float = 0.9, cmap: float = 0.8, f1: float = 0.7, **changes: Any
) -> Result:
    """A result on raw video with top-1 .9 and cMAP .8 by default, chance .5 and action prior .52."""
    training = {"net": "d3d", "start": "scratch", "validation": 0.8, "epochs": 30, "converged": True, "seconds": 12.5}
    attackers = [
        {"name": "attribute/d3d/scratch", "attack": "attribute", "cmap": cmap, "f1": f1, **training},
        {
            "name": "frame/cnn/tuned",
            "attack": "frame",
            "cmap": cmap - 0.1,
            "f1": f1 - 0.1,
            **training,
            "start": "tuned",
        },
    ]
    each = {"ap": cmap, "f1": f1, "ap_gain": cmap - 0.5, "f1_gain": f1 - 0.5, "prevalence": PREVALENCE}
    result: Result = {
        "schema": 1,
        "method": method,
        "data": "stage",
        "protocol": "known",
        "preset": "stage",
        "seed": seed,
        "utility": {"top1": top1, "top5": 1.0, "recognizer": dict(training)},
        "privacy": {
            "cmap": cmap,
            "f1": f1,
            "cmap_gain": cmap - PREVALENCE,
            "f1_gain": f1 - PREVALENCE,
            "per_attribute": {name: dict(each) for name in ATTRIBUTES},
        },
        "attacker": {"strongest": attackers[0]["name"], "tried": attackers},
        "floors": {
            "chance": 0.5,
            "action_prior": 0.52,
            "f1": {"chance": 0.5, "action_prior": 0.51},
            "per_attribute": {name: {"chance": 0.5, "action_prior": 0.52} for name in ATTRIBUTES},
        },
        "raw": {"top1": 0.9, "cmap": 0.8, "f1": 0.7},
        "kept": kept(top1, 0.9),
        "closed": closed(cmap, 0.8, 0.5),
        "reported": None,
        "flags": [],
        "clips": {"train": 400, "val": 100, "test": 200},
        "settings": {},
        "seconds": 60.0,
        "versions": {"actonym": "0.1.0", "torch": "2.13.0"},
        "picture": None,
    }
    result.update(changes)
    if "flags" not in changes:
        result["flags"] = flags(result)
    return result


@pytest.fixture
def make() -> Callable[..., Result]:
    return make_result
