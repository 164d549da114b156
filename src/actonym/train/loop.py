"""The loop: runs phases in order, and can be killed and resumed at any moment without changing the result."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from torch import nn

from actonym.errors import UserError
from actonym.train import checkpoint, log
from actonym.train.batches import Batches, Data
from actonym.train.checkpoint import Tree
from actonym.train.distributed import share_weights
from actonym.train.fingerprint import check, fingerprint
from actonym.train.history import History, PhaseHistory
from actonym.train.phase import Phase
from actonym.train.running import Running

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def run(
    phases: Sequence[Phase],
    data: Data,
    *,
    fabric: "Fabric",
    seed: int,
    out: Path | None = None,
    resume: bool = False,
    progress: bool = True,
    checkpoint_every: float = 60.0,
    workers: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> History:
    """Train. The modules of the phases end with their final weights, in eval mode.

    With `out`, log.csv and the state of the run are written there, the latter every `checkpoint_every` seconds; with
    `resume` a run that was stopped goes on to the very weights it would have reached. `workers` read a Dataset ahead
    (clips in memory need none). `settings` are what else must be the same when the run is resumed.
    """
    modules = _modules(phases)
    batches = [Batches(data, phase, number, seed, fabric, workers) for number, phase in enumerate(phases)]
    now = fingerprint(phases, data, fabric, seed, settings or {})
    saved = checkpoint.begin(out, resume)
    if saved is not None:
        check(out, saved["fingerprint"], now)
    fabric.barrier()  # every process has read the folder before one writes to it
    _place(modules, saved, fabric)
    keeper = Keeper(out if fabric.is_global_zero else None, now, modules, checkpoint_every, saved or {})
    first = 0 if saved is None else saved["position"]
    if saved is not None and first == len(phases) and fabric.is_global_zero:
        print(f"{out} is finished: nothing to resume", file=sys.stderr)
    for position in range(first, len(phases)):
        running = Running(phases[position], position, batches[position], fabric, seed)
        if saved is not None and position == first:
            running.load_state(saved["running"])
        before = sum(phase.epochs * part.steps for phase, part in zip(phases[:position], batches, strict=False))
        _run_phase(running, keeper, f"{position + 1}/{len(phases)} {running.phase.name}", before, progress)
    if first < len(phases):
        keeper.write(len(phases), {})
    keeper.log.close()
    return History(keeper.done)


def _modules(phases: Sequence[Phase]) -> dict[str, nn.Module]:
    """The modules of all phases by name; a checkpoint holds them all, since a later phase builds on an earlier one."""
    modules: dict[str, nn.Module] = {}
    for phase in phases:
        for name, module in phase.modules.items():
            if modules.setdefault(name, module) is not module:
                raise ValueError(f"two modules are called {name!r}")
    return modules


def _place(modules: dict[str, nn.Module], saved: Tree | None, fabric: "Fabric") -> None:
    """Every process starts from the same weights: those saved, or rank 0's."""
    for name, module in modules.items():
        if saved is not None:
            module.load_state_dict(saved["modules"].get(name, {}))
        fabric.to_device(module)
        share_weights(fabric, module)
        module.eval()


class Keeper:
    """Keeps the log and the state of the run on disk. Without a folder it keeps nothing but the histories."""

    def __init__(
        self, folder: Path | None, fingerprint: Tree, modules: dict[str, nn.Module], every: float, saved: Tree
    ) -> None:
        self.folder, self.fingerprint, self.modules, self.every = folder, fingerprint, modules, every
        self.done = [PhaseHistory(**history) for history in saved.get("done", [])]
        self.written = perf_counter()
        if folder is not None:
            _make(folder)
        self.log = log.Log(folder, saved.get("log", 0), saved.get("total", 0))

    @property
    def due(self) -> bool:
        return perf_counter() - self.written >= self.every

    def write(self, position: int, running: Tree, total: int = 0) -> None:
        if self.folder is None:
            return
        tree = {
            "fingerprint": self.fingerprint,
            "position": position,
            "running": running,
            "modules": {name: module.state_dict() for name, module in self.modules.items()},
            "done": [asdict(history) for history in self.done],
            "log": self.log.sync(),
            "total": total,
        }
        checkpoint.write(self.folder / checkpoint.NAME, tree)
        self.written = perf_counter()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder}: {error}") from error


def _run_phase(running: Running, keeper: Keeper, title: str, before: int, progress: bool) -> None:
    """`before`: steps of the phases before this one."""
    phase, steps = running.phase, running.batches.steps
    bar = log.Bar(title, phase.epochs, steps, running.step, progress and running.fabric.is_global_zero)
    window = log.Window(running.fabric)
    keeper.write(running.position, running.state(), before + running.step)
    clock = perf_counter()
    while not running.finished:
        epoch = running.step // steps
        for batch in running.batches.epoch(epoch, running.step % steps):
            window.add(running.advance(batch))
            bar.step()
            if running.step % steps % log.EVERY:
                continue
            values = window.take()
            if running.step % steps == 0:
                values |= running.end_epoch(values)
            keeper.log.write(phase.name, epoch, running.step, before, {**values, "lr": running.rate})
            bar.show(values)
            clock, passed = perf_counter(), perf_counter() - clock
            running.history.seconds += passed
            # Here and nowhere else: between two entries of the log, so that resuming changes none of its lines.
            if keeper.due:
                keeper.write(running.position, running.state(), before + running.step)
    running.finish()
    keeper.done.append(running.history)
    bar.close()
