"""Datasets of the field, one file each; all yield the same Sample."""

from actonym.data.base import ATTRIBUTES, Dataset, Sample, open_dataset, registry
from actonym.data.clips import Clips, load_clips
from actonym.data.stage import Stage

__all__ = ["ATTRIBUTES", "Clips", "Dataset", "Sample", "Stage", "load_clips", "open_dataset", "registry"]
