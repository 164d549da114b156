"""Tasks with the sizes and the training of a preset."""

from collections.abc import Callable
from typing import Any

from actonym import presets
from actonym.errors import unknown
from actonym.spec import check
from actonym.tasks.anomaly import Anomaly, anomaly
from actonym.tasks.base import Recipe, Task
from actonym.tasks.detection import Detection, detection
from actonym.tasks.recognition import recognition

Plan = dict[str, Any]

# What each takes: the number of actions, or for `anomaly` which of them is the normal one.
TASKS: dict[str, Callable[[int, Plan], Task]] = {
    "recognition": lambda classes, plan: recognition(classes, **plan["settings"]),
    "detection": lambda classes, plan: detection(classes, Detection(**plan["settings"]), **plan["net"]),
    "anomaly": lambda normal, plan: anomaly(normal, Anomaly(**plan["settings"]), **plan["net"]),
}


def from_preset(name: str, actions: int, preset: str = "paper", plan: Plan | None = None) -> tuple[Task, Recipe]:
    """A task by name, and how its head is trained. `actions` is how many there are; for `anomaly`, the normal one.

    `plan` is a preset that was changed by hand.
    """
    if name not in TASKS:
        raise unknown("task", name, TASKS)
    chosen = presets.load(name, preset) if plan is None else plan
    check(f"{name}'s recipe", chosen["recipe"], Recipe)
    return TASKS[name](actions, chosen), Recipe(**chosen["recipe"])
