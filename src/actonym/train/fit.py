"""Train one network on labelled clips until it gets no better: every recognizer and attacker is made here."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from actonym.data.clips import Clips, to_floats
from actonym.train.augment import SHIFT, flip_and_shift
from actonym.train.batches import derive
from actonym.train.fabric import make_fabric
from actonym.train.history import PhaseHistory, flat_at_end
from actonym.train.loop import run
from actonym.train.phase import Batch, Phase, Update
from actonym.train.schedule import one_cycle


@dataclass(frozen=True)
class Fit:
    """How a network is trained; a preset's numbers."""

    epochs: int = 24
    rounds: int = 3  # while the score still rises: another round of as many epochs, at half the learning rate
    patience: int | None = None
    min_gain: float = 0.02  # of the validation score: no more than this in the last quarter counts as converged
    batch_size: int = 16
    lr: float = 3e-3
    weight_decay: float = 0.02
    rise: float = 0.3  # share of the steps in which the learning rate goes up; it comes down in the rest
    average: float | None = None  # decay of a moving average of the weights
    flip: bool = True  # mirror clips at random; off where left and right are different classes
    shift: float = SHIFT  # share of a clip's size by which it is moved at random; 0: it stays in place


@dataclass(frozen=True)
class Fitted:
    """A trained network and what its training was like."""

    net: nn.Module
    validation: float
    epochs: int
    converged: bool
    seconds: float


def fit(
    net: nn.Module,
    train: Clips,
    val: Clips,
    loss: Callable[[Tensor, Batch], Tensor],
    score: Callable[[Tensor, Clips], float],
    how: Fit,
    *,
    seed: int = 0,
    progress: bool = True,
    title: str = "fit",
) -> Fitted:
    """`loss` compares logits with a batch, `score` (higher is better) with `val`; the best epoch is kept."""

    def step(batch: Batch, update: Update) -> dict[str, Tensor]:
        value = loss(net(batch.clip), batch)
        update("net", value)
        return {"loss": value}

    augment = partial(flip_and_shift, shift=how.shift, flip=how.flip)

    def train_on(number: int) -> PhaseHistory:
        lr = how.lr / 2**number
        phase = Phase(
            name=title if number == 0 else f"{title}, round {number + 1}",
            epochs=how.epochs,
            step=step,
            optimizers={"net": torch.optim.AdamW(net.parameters(), lr, weight_decay=how.weight_decay)},
            modules={"net": net},
            batch_size=how.batch_size,
            schedule=partial(one_cycle, rise=how.rise),
            validate=lambda: score(predict(net, val), val),
            patience=how.patience,
            min_gain=how.min_gain,
            average=how.average,
            augment=augment if train.video.ndim == 5 else None,  # features have no sides
        )
        clips, own = replace(train, mask=None), seed if number == 0 else derive("round", seed, number)
        return run([phase], clips, fabric=make_fabric(), seed=own, progress=progress).phases[0]

    curve: list[float] = []
    seconds, converged = 0.0, False
    for number in range(how.rounds):
        before = {name: value.clone() for name, value in net.state_dict().items()}
        part = train_on(number)
        if curve and max(part.validation) <= max(curve):
            net.load_state_dict(before)  # the best epoch was an earlier one
        curve += part.validation
        seconds += part.seconds
        converged = part.converged if number == 0 else flat_at_end(curve, how.min_gain)
        if converged:
            break
    return Fitted(net, max(curve), len(curve), converged, seconds)


@torch.inference_mode()
def predict(net: nn.Module, clips: Clips, batch: int = 32) -> Tensor:
    """Logits `[N * views, K]`, on the processor, wherever the network is."""
    net.eval()
    device = next(net.parameters()).device
    return torch.cat([net(to_floats(part.to(device))).cpu() for part in clips.video.split(batch)])
