"""What a run tells while it goes: a progress bar, log.csv, and TensorBoard where it is installed."""

import csv
import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from tqdm import tqdm

from actonym.errors import ActonymError
from actonym.train.distributed import mean

if TYPE_CHECKING:
    from lightning_fabric import Fabric

EVERY = 10  # steps between two entries: reading a value makes the device wait
NAME = "log.csv"
BOARD = "tensorboard"
COLUMNS = ("phase", "epoch", "step", "name", "value")


class Window:
    """Sums of what the steps since the last entry returned, left on the device until they are read."""

    def __init__(self, fabric: "Fabric") -> None:
        self.fabric = fabric
        self.sums: dict[str, Tensor] = {}
        self.counts: dict[str, int] = {}

    def add(self, values: Mapping[str, Tensor]) -> None:
        for name, value in values.items():
            value = value.detach().float()
            self.sums[name] = self.sums[name] + value if name in self.sums else value
            self.counts[name] = self.counts.get(name, 0) + 1

    def take(self) -> dict[str, float]:
        """The means over the steps and the processes; starts anew."""
        if not self.sums:
            return {}
        means = mean(self.fabric, torch.stack(list(self.sums.values())))
        result = {name: value / self.counts[name] for name, value in zip(self.sums, means.tolist(), strict=True)}
        self.sums, self.counts = {}, {}
        for name, value in result.items():
            if not isfinite(value):
                raise ActonymError(f"training diverged: {name} is {value}; try a lower learning rate")
        return result


class Log:
    """log.csv, one value per line, so that every phase can have its own losses. Rank 0 alone writes."""

    def __init__(self, folder: Path | None, length: int = 0, step: int = 0) -> None:
        """Lines after the first `length` bytes are cut off: steps after the checkpoint, which will be done again."""
        self.file: Any = None
        self.board: Any = None
        if folder is None:
            return
        self.file = (folder / NAME).open("a", newline="")
        length = min(length, os.fstat(self.file.fileno()).st_size)
        self.file.truncate(length)
        self.rows = csv.writer(self.file, lineterminator="\n")
        if length == 0:
            self.rows.writerow(COLUMNS)
        self.board = _tensorboard(folder, step)

    def write(self, phase: str, epoch: int, step: int, before: int, values: Mapping[str, float]) -> None:
        """`step` counts within the phase; `before` are the steps of earlier ones (TensorBoard wants one axis)."""
        if self.file is None:
            return
        self.rows.writerows((phase, epoch, step, name, f"{value:.6g}") for name, value in values.items())
        if self.board is not None:
            for name, value in values.items():
                self.board.add_scalar(f"{phase}/{name}", value, before + step)

    def sync(self) -> int:
        """The length in bytes, once they are safely on disk."""
        if self.file is None:
            return 0
        self.file.flush()
        os.fsync(self.file.fileno())
        return os.fstat(self.file.fileno()).st_size

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
        if self.board is not None:
            self.board.close()


def _tensorboard(folder: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(folder / BOARD, purge_step=step)


class Bar:
    """The progress bar of one phase, with smoothed losses and the time left."""

    def __init__(self, title: str, epochs: int, steps: int, done: int, show: bool) -> None:
        self.epochs, self.steps = epochs, steps
        self.smooth: dict[str, float] = {}
        self.bar = tqdm(
            total=epochs * steps, initial=done, desc=title, unit="step", disable=not show, mininterval=0.5, leave=False
        )

    def step(self) -> None:
        self.bar.update()

    def show(self, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self.smooth[name] = 0.7 * self.smooth.get(name, value) + 0.3 * value
        epoch = min(self.epochs, self.bar.n // self.steps + 1)
        shown = {name: f"{value:.3g}" for name, value in self.smooth.items()}
        self.bar.set_postfix({"epoch": f"{epoch}/{self.epochs}", **shown}, refresh=False)

    def close(self) -> None:
        self.bar.close()
