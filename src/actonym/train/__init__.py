"""The loop that trains every method, recognizer and attacker: phases, optimizers, checkpoints, resume, devices."""

from actonym.train.fabric import make_fabric
from actonym.train.history import History, PhaseHistory
from actonym.train.loop import run
from actonym.train.phase import Batch, Phase, Recognizers, Update

__all__ = ["Batch", "History", "Phase", "PhaseHistory", "Recognizers", "Update", "make_fabric", "run"]
