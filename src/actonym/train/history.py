"""What a training run was like: its curves, and whether it had converged."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class PhaseHistory:
    """One phase. The lists have one entry per epoch."""

    name: str
    validation: list[float] = field(default_factory=list)  # the score by which weights are chosen
    points: dict[str, list[float]] = field(default_factory=dict)  # what else validation found: the path of a trade-off
    losses: dict[str, list[float]] = field(default_factory=dict)  # mean over the last logged steps of the epoch
    best_epoch: int | None = None  # counted from 0; None without validation
    converged: bool = False  # validation had stopped rising: by patience, or over the last quarter of the epochs
    seconds: float = 0.0


@dataclass
class History:
    phases: list[PhaseHistory] = field(default_factory=list)

    @property
    def converged(self) -> bool:
        """Whether every phase that was validated had converged, and there was one."""
        validated = [phase.converged for phase in self.phases if phase.validation]
        return bool(validated) and all(validated)

    @property
    def seconds(self) -> float:
        return sum(phase.seconds for phase in self.phases)


def best(curve: Sequence[float]) -> int:
    """The first epoch with the highest value."""
    return max(range(len(curve)), key=lambda epoch: curve[epoch])


def stalled(curve: Sequence[float], patience: int | None, min_gain: float) -> bool:
    """Whether the last `patience` epochs brought no gain of more than `min_gain`."""
    if patience is None or len(curve) <= patience:
        return False
    reference, last = curve[0], 0
    for epoch, value in enumerate(curve):
        if value > reference + min_gain:
            reference, last = value, epoch
    return len(curve) - 1 - last >= patience


def flat_at_end(curve: Sequence[float], min_gain: float) -> bool:
    """Whether the last quarter of the epochs brought no gain of more than `min_gain` over those before."""
    cut = len(curve) - len(curve) // 4
    return cut < len(curve) and max(curve[cut:]) <= max(curve[:cut]) + min_gain
