"""Learning-rate schedules: functions from progress, 0 at a phase's start and 1 at its end, to a factor."""

from collections.abc import Callable
from math import cos, pi

Schedule = Callable[[float], float]


def constant(progress: float) -> float:
    return 1.0


def cosine(progress: float) -> float:
    """From 1 down to 0 along half a cosine."""
    return 0.5 * (1 + cos(pi * progress))


def one_cycle(progress: float, rise: float = 0.3, start: float = 0.04, end: float = 4e-6) -> float:
    """Up from `start` to 1 in the first `rise` of the phase, then down to `end`; both along half a cosine.

    The defaults are those of `torch.optim.lr_scheduler.OneCycleLR` (div_factor 25, final_div_factor 1e4).
    """
    if progress < rise:
        return 1 + (start - 1) * cosine(progress / rise)
    return end + (1 - end) * cosine((progress - rise) / (1 - rise))


def warm_up(share: float, then: Schedule = constant) -> Schedule:
    """Linear from 0 in the first `share` of the phase, then `then` over the rest of it."""

    def schedule(progress: float) -> float:
        return progress / share if progress < share else then((progress - share) / (1 - share))

    return schedule
