"""The loop: runs phases in order, and can be killed and resumed at any moment without changing the result."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from actonym.train import log
from actonym.train.batches import Batches, Data, reseed
from actonym.train.distributed import average_gradients, share_buffers, share_weights
from actonym.train.history import History, PhaseHistory, best, flat_at_end, stalled
from actonym.train.phase import Batch, Phase

Weights = dict[str, Tensor]


def run(
    phases: Sequence[Phase],
    data: Data,
    *,
    fabric: Fabric,
    seed: int,
    out: Path | None = None,
    progress: bool = True,
    workers: int = 0,
) -> History:
    """Train. The modules of the phases end with their final weights, in eval mode."""
    history = History()
    for module in _modules(phases).values():
        fabric.to_device(module)
        share_weights(fabric, module)
    logger = log.Log(out if fabric.is_global_zero else None)
    for position, phase in enumerate(phases):
        running = Running(phase, position, data, fabric, seed, workers)
        history.phases.append(running.history)
        _run_phase(running, logger, f"{position + 1}/{len(phases)} {phase.name}", progress)
    logger.close()
    return history


def _modules(phases: Sequence[Phase]) -> dict[str, nn.Module]:
    """The modules of all phases by name; a checkpoint holds them all, since a later phase builds on an earlier one."""
    modules: dict[str, nn.Module] = {}
    for phase in phases:
        for name, module in phase.modules.items():
            if modules.setdefault(name, module) is not module:
                raise ValueError(f"two modules are called {name!r}")
    return modules


def _run_phase(running: "Running", logger: log.Log, title: str, progress: bool) -> None:
    steps, phase, fabric = running.batches.steps, running.phase, running.fabric
    bar = log.Bar(title, phase.epochs, steps, running.step, progress and fabric.is_global_zero)
    window = log.Window(fabric)
    while not running.finished:
        began = perf_counter()
        epoch = running.step // steps
        for batch in running.batches.epoch(epoch, running.step % steps):
            window.add(running.advance(batch))
            bar.step()
            at_end = running.step % steps == 0
            if at_end or running.step % steps % log.EVERY == 0:
                values = {**window.take(), "lr": running.rate}
                if at_end:
                    values |= running.end_epoch(values)
                logger.write(phase.name, epoch, running.step, running.step, values)
                bar.show(values)
        running.history.seconds += perf_counter() - began
    running.finish()
    bar.close()


class Running:
    """A phase under way: its state, and what a step, the end of an epoch and the end of the phase do to it."""

    def __init__(self, phase: Phase, position: int, data: Data, fabric: Fabric, seed: int, workers: int) -> None:
        self.phase, self.position, self.fabric, self.seed = phase, position, fabric, seed
        self.batches = Batches(data, phase, position, seed, fabric, workers)
        self.networks = nn.ModuleDict(phase.modules)
        self.optimizers: dict[str, Any] = {name: fabric.setup_optimizers(o) for name, o in phase.optimizers.items()}
        self.rates = {name: [group["lr"] for group in o.param_groups] for name, o in self.optimizers.items()}
        self.averaged = _averaged(self.networks, phase.average)
        self.best: Weights | None = None
        self.history = PhaseHistory(phase.name)
        self.step = 0

    @property
    def finished(self) -> bool:
        patience = stalled(self.history.validation, self.phase.patience, self.phase.min_gain)
        return patience or self.step >= self.phase.epochs * self.batches.steps

    @property
    def rate(self) -> float:
        """The learning rate of the first group of the first optimizer: what a log shows."""
        return next((o.param_groups[0]["lr"] for o in self.optimizers.values()), 0.0)

    def advance(self, batch: Batch) -> dict[str, Tensor]:
        """One step of the phase. It depends on the weights, the optimizers, the seed and the step's number only."""
        self._set_rates(self.phase.schedule(self.step / (self.phase.epochs * self.batches.steps)))
        self.networks.train()
        reseed("step", self.seed, self.position, self.step, self.fabric.global_rank)
        with self.fabric.autocast():
            values = self.phase.step(batch, self.update)
        share_buffers(self.fabric, self.networks)
        if self.averaged is not None:
            self.averaged.update_parameters(self.networks)
        self.step += 1
        return values

    def update(self, optimizer: str, loss: Tensor, retain_graph: bool = False) -> None:
        """See `phase.Update`."""
        chosen = self.optimizers[optimizer]
        own = [p for group in chosen.param_groups for p in group["params"] if p.requires_grad]
        with torch.autocast(self.fabric.device.type, enabled=False):
            chosen.zero_grad()
            # `inputs`: no gradient is left in another optimizer's parameters for it to step along later.
            self.fabric.backward(loss, inputs=own, retain_graph=retain_graph)
            average_gradients(self.fabric, own)
            if self.phase.clip_norm is not None:
                self.fabric.clip_gradients(
                    self.networks, chosen, max_norm=self.phase.clip_norm, error_if_nonfinite=False
                )
            chosen.step()
        # Autocast remembers the low-precision copies of weights it made in this step; these weights have just changed.
        torch.clear_autocast_cache()

    def end_epoch(self, values: dict[str, float]) -> dict[str, float]:
        """Keep the curves and the best weights; returns what validation adds to the log."""
        for name, value in values.items():
            if name != "lr":
                self.history.losses.setdefault(name, []).append(value)
        if self.phase.validate is None:
            return {}
        with self._final_weights():
            curve = self.history.validation
            curve.append(self._validate(len(curve)))
            if best(curve) == len(curve) - 1:
                self.best = _copy(self.networks)
        return {"validation": curve[-1]}

    def finish(self) -> None:
        """Put the final weights in place: the best ones, or the averaged ones, or the last."""
        curve, phase = self.history.validation, self.phase
        if self.best is not None:
            self.networks.load_state_dict(self.best)
            self.history.best_epoch = best(curve)
        elif self.averaged is not None and self.step:
            self.networks.load_state_dict(self.averaged.module.state_dict())
        self.history.converged = stalled(curve, phase.patience, phase.min_gain) or flat_at_end(curve, phase.min_gain)
        self._set_rates(1.0)  # an optimizer may go on in the next phase
        self.networks.eval()

    def _set_rates(self, factor: float) -> None:
        for name, optimizer in self.optimizers.items():
            for group, rate in zip(optimizer.param_groups, self.rates[name], strict=True):
                group["lr"] = rate * factor

    def _validate(self, epoch: int) -> float:
        """Rank 0 validates for all."""
        assert self.phase.validate is not None
        value = 0.0
        if self.fabric.is_global_zero:
            reseed("validate", self.seed, self.position, epoch)
            self.networks.eval()
            with torch.no_grad():
                value = float(self.phase.validate())
        return self.fabric.broadcast(value)

    @contextmanager
    def _final_weights(self) -> Iterator[None]:
        """The averaged weights in the modules, for as long as it lasts."""
        if self.averaged is None:
            yield
            return
        current = _copy(self.networks)
        self.networks.load_state_dict(self.averaged.module.state_dict())
        yield
        self.networks.load_state_dict(current)


def _averaged(networks: nn.Module, decay: float | None) -> AveragedModel | None:
    if decay is None:
        return None
    return AveragedModel(networks, multi_avg_fn=get_ema_multi_avg_fn(decay), use_buffers=True)


def _copy(networks: nn.Module) -> Weights:
    return {name: tensor.detach().clone() for name, tensor in networks.state_dict().items()}
