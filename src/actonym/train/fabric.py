"""Devices, precision and processes, through Lightning Fabric."""

from typing import TYPE_CHECKING

import torch

from actonym.errors import UserError, unknown

if TYPE_CHECKING:
    from lightning_fabric import Fabric

PRECISIONS = ("32-true", "bf16-mixed", "16-mixed")


def make_fabric(devices: int = 1, precision: str = "32-true", accelerator: str = "auto") -> "Fabric":
    """A Fabric for `devices` processes (on the CPU) or GPUs. With more than one, start work with `fabric.launch`.

    Processes are spawned rather than made by running the command again (`ddp`): they live only as long as the
    training, share the clips' memory, and it does not matter whether a script or a test asked for them. Under torchrun
    they exist already, on one machine or several.
    """
    # Imported here: it takes seconds, and a method that only anonymizes imports this package for its Phase.
    from lightning_fabric import Fabric

    if precision not in PRECISIONS:
        raise unknown("precision", precision, PRECISIONS)
    if devices < 1:
        raise UserError(f"devices must be at least 1, not {devices}")
    found = torch.cuda.device_count()
    if accelerator == "auto" and not found:
        accelerator = "cpu"  # Fabric's own choice may be an Apple GPU, which lacks 3-D operations
    if accelerator in ("auto", "cuda", "gpu") and devices > found:
        raise UserError(f"{devices} devices asked for, {found} GPUs found: choose fewer, or the accelerator cpu")
    strategy = "auto" if devices == 1 else "ddp_spawn" if spawns(devices) else "ddp"
    return Fabric(accelerator=accelerator, devices=devices, strategy=strategy, precision=precision)  # type: ignore[arg-type]


def spawns(devices: int) -> bool:
    """Whether so many devices get processes from here, which share the clips; under torchrun each has its own."""
    from lightning_fabric.plugins.environments import TorchElasticEnvironment

    return devices > 1 and not TorchElasticEnvironment.detect()
