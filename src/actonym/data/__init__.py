"""Datasets of the field, one file each; all yield the same Sample. A file dropped here is found."""

from importlib import import_module
from pkgutil import iter_modules

from actonym.data.base import ATTRIBUTES, Dataset, Sample, open_dataset, registry
from actonym.data.clips import Clips, load_clips
from actonym.data.stage import Stage

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["ATTRIBUTES", "Clips", "Dataset", "Sample", "Stage", "load_clips", "open_dataset", "registry"]
