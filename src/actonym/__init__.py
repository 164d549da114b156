"""Actonym: keep the action, drop the identity."""

__version__ = "0.1.0"
