"""What must be the same for a run to be resumed: everything that decides its result and can be read off."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from torch import nn
from torch.optim import Optimizer

from actonym.data.clips import Clips
from actonym.errors import UserError
from actonym.train.batches import Data
from actonym.train.checkpoint import JOIN, Tree, flatten
from actonym.train.phase import Phase

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def fingerprint(phases: Sequence[Phase], data: Data, fabric: "Fabric", seed: int, settings: Mapping[str, Any]) -> Tree:
    return {
        "seed": seed,
        "processes": fabric.world_size,
        "precision": str(getattr(fabric.strategy.precision, "precision", "")),
        "data": _data(data),
        "settings": {key: repr(value) for key, value in settings.items()},
        "phases": " ".join(phase.name for phase in phases),
        **{phase.name: _phase(phase) for phase in phases},
    }


def check(folder: Path | None, before: Tree, now: Tree) -> None:
    """Refuse to go on with other settings, naming the first that differs."""
    old, new = flatten(before), flatten(now)
    for key in [*new, *old]:
        if old.get(key) != new.get(key):
            name = key.replace(JOIN, " ")
            raise UserError(
                f"cannot resume {folder}: {name} was {old.get(key)} and is {new.get(key)} now; "
                "use the same settings, or another folder"
            )


def _data(data: Data) -> Tree:
    if not isinstance(data, Clips):
        return {"clips": len(data)}  # type: ignore[arg-type]
    labels = data.action.numpy().tobytes() + data.privacy.numpy().tobytes()
    return {"clips": len(data), "shape": str(list(data.video.shape[1:])), "labels": crc32(labels)}


def _phase(phase: Phase) -> Tree:
    return {
        "epochs": phase.epochs,
        "batch_size": phase.batch_size,
        "schedule": [round(phase.schedule(progress / 8), 9) for progress in range(9)],
        "steady": sorted(phase.steady),
        "clip_norm": phase.clip_norm,
        "augment": phase.augment is not None,
        "validate": phase.validate is not None,
        "patience": phase.patience,
        "min_gain": phase.min_gain,
        "average": phase.average,
        "optimizers": {name: _optimizer(optimizer) for name, optimizer in phase.optimizers.items()},
        "modules": {name: _shapes(module) for name, module in phase.modules.items()},
    }


def _optimizer(optimizer: Optimizer) -> Tree:
    groups = ({key: repr(value) for key, value in group.items() if key != "params"} for group in optimizer.param_groups)
    return {"class": type(optimizer).__name__, **{f"group {number}": group for number, group in enumerate(groups)}}


def _shapes(module: nn.Module) -> int:
    return crc32(repr([(name, list(tensor.shape)) for name, tensor in module.state_dict().items()]).encode())
