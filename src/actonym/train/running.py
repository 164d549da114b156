"""A phase under way: its state, and what a step, the end of an epoch and the end of the phase do to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from actonym.errors import ActonymError
from actonym.train.batches import Batches, reseed
from actonym.train.checkpoint import Tree
from actonym.train.distributed import average_gradients, share_buffers
from actonym.train.history import PhaseHistory, best, flat_at_end, stalled
from actonym.train.phase import Batch, Phase, Point

if TYPE_CHECKING:
    from lightning_fabric import Fabric

Weights = dict[str, Tensor]
SCORE = "score"


class Running:
    """Between two steps all of it is in `state`, and the weights in the modules themselves."""

    def __init__(self, phase: Phase, position: int, batches: Batches, fabric: "Fabric", seed: int) -> None:
        self.phase, self.position, self.batches, self.fabric, self.seed = phase, position, batches, fabric, seed
        self.networks = nn.ModuleDict(phase.modules)
        self.optimizers: dict[str, Any] = {name: fabric.setup_optimizers(o) for name, o in phase.optimizers.items()}
        self.rates = {name: [group["lr"] for group in o.param_groups] for name, o in self.optimizers.items()}
        self.averaged = _averaged(self.networks, phase.average)
        self.best: Weights | None = None
        self.history = PhaseHistory(phase.name)
        self.step = 0

    @property
    def finished(self) -> bool:
        return self._stalled or self.step >= self.phase.epochs * self.batches.steps

    @property
    def rate(self) -> float:
        """The learning rate of the first group of the first optimizer: what a log shows."""
        return next((o.param_groups[0]["lr"] for o in self.optimizers.values()), 0.0)

    def advance(self, batch: Batch) -> dict[str, Tensor]:
        """One step of the phase. It depends on the state, the weights, the seed and the step's number only."""
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
                norm = self.phase.clip_norm
                self.fabric.clip_gradients(self.networks, chosen, max_norm=norm, error_if_nonfinite=False)
            chosen.step()
        # Autocast remembers the low-precision copies of weights it made in this step; these weights have just changed.
        torch.clear_autocast_cache()

    def end_epoch(self, values: dict[str, float]) -> dict[str, float]:
        """Keep the curves and the best weights; returns what validation adds to the log."""
        for name, value in values.items():
            self.history.losses.setdefault(name, []).append(value)
        if self.phase.validate is None:
            return {}
        with self._final_weights():
            point = self._validate(self.step // self.batches.steps - 1)
            if SCORE in point:
                curve = self.history.validation
                curve.append(point[SCORE])
                if best(curve) == len(curve) - 1:
                    self.best = _copy(self.networks)
        for name, value in point.items():
            if name != SCORE:
                self.history.points.setdefault(name, []).append(value)
        return {"validation" if name == SCORE else f"validation {name}": value for name, value in point.items()}

    def finish(self) -> None:
        """Put the final weights in place: the best ones, or the averaged ones, or the last."""
        curve = self.history.validation
        if self.best is not None:
            self.networks.load_state_dict(self.best)
            self.history.best_epoch = best(curve)
        elif self.averaged is not None and self.step:
            self.networks.load_state_dict(self.averaged.module.state_dict())
        self.history.converged = self._stalled or flat_at_end(curve, self.phase.min_gain)
        self._set_rates(1.0)  # an optimizer may go on in the next phase
        self.networks.eval()

    def state(self) -> Tree:
        """What resuming needs beside the modules' weights."""
        return {
            "step": self.step,
            "history": asdict(self.history),
            "optimizers": {name: optimizer.state_dict()["state"] for name, optimizer in self.optimizers.items()},
            "averaged": {} if self.averaged is None else self.averaged.state_dict(),
            "best": self.best or {},
            "precision": self.fabric.strategy.precision.state_dict(),
        }

    def load_state(self, state: Tree) -> None:
        self.step = state["step"]
        self.history = PhaseHistory(**state["history"])
        for name, optimizer in self.optimizers.items():
            # The groups' settings are those given now: the fingerprint has made sure that they are the same.
            kept = {int(number): value for number, value in state.get("optimizers", {}).get(name, {}).items()}
            optimizer.load_state_dict({"state": kept, "param_groups": optimizer.state_dict()["param_groups"]})
        if self.averaged is not None:
            self.averaged.load_state_dict(state["averaged"])
        if "best" in state:
            self.best = {name: self.fabric.to_device(tensor) for name, tensor in state["best"].items()}
        self.fabric.strategy.precision.load_state_dict(state.get("precision", {}))

    @property
    def _stalled(self) -> bool:
        return stalled(self.history.validation, self.phase.patience, self.phase.min_gain)

    def _set_rates(self, factor: float) -> None:
        for name, optimizer in self.optimizers.items():
            for group, rate in zip(optimizer.param_groups, self.rates[name], strict=True):
                group["lr"] = rate if name in self.phase.steady else rate * factor

    def _validate(self, epoch: int) -> Point:
        """Rank 0 validates for all."""
        assert self.phase.validate is not None
        point: Point = {}
        if self.fabric.is_global_zero:
            reseed("validate", self.seed, self.position, epoch)
            self.networks.eval()
            with torch.no_grad():
                found = self.phase.validate()
            point = {name: float(value) for name, value in found.items()} if isinstance(found, dict) else {SCORE: found}
        point = self.fabric.broadcast(point)
        if any(map(isnan, point.values())):
            raise ActonymError(f"training diverged: validation of {self.phase.name} is nan")
        return point

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
