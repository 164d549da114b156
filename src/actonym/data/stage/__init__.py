"""The stage: a synthetic world of puppets in which every label of every protocol is known."""

from actonym.data.stage.dataset import Stage

__all__ = ["Stage"]
