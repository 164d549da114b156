"""Look through a dataset before hours of work: what is there, what is missing, and both floors."""

from collections import Counter
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import torch

from actonym.bench.floors import floors
from actonym.data.base import SPLITS, Dataset, Sample, open_dataset
from actonym.data.clips import action_labels
from actonym.data.files import Problems, some
from actonym.errors import UserError

Found = dict[str, Any]


def check(spec: str) -> Found:
    """What a dataset has, as a program would want it; a folder that is half there is opened as far as it goes."""
    dataset = open_dataset(spec, partial=True)
    problems: Problems = getattr(dataset, "problems", Problems())
    samples = {split: dataset.samples(split) for split in SPLITS}
    return {
        "name": dataset.name,
        "data": spec,
        "whole": problems.whole,
        "splits": {split: _counts(dataset, part) for split, part in samples.items()},
        "missing": {
            "files": list(problems.missing),
            "attributes": list(problems.bare),
            "labels": list(problems.unlabelled),
        },
        "duplicates": list(problems.duplicates),
        "floors": _floors(dataset, samples["train"], samples["test"]),
    }


def _counts(dataset: Dataset, samples: Sequence[Sample]) -> Found:
    several = len(samples) > 0 and action_labels(samples, len(dataset.actions)).ndim == 2
    actions = Counter(action for sample in samples for action in (sample.actions if several else [sample.action]))
    return {
        "videos": len(samples),
        "subjects": len({sample.subject for sample in samples if sample.subject}),
        "sources": len({sample.source for sample in samples if sample.source}),
        "actions": {name: actions[place] for place, name in enumerate(dataset.actions)},
        "attributes": {
            name: sum(sample.privacy[place] for sample in samples) for place, name in enumerate(dataset.attributes)
        },
    }


def _floors(dataset: Dataset, train: Sequence[Sample], test: Sequence[Sample]) -> Found | None:
    """None where there is no attribute, or none with both classes in the test labels."""
    if not (dataset.attributes and train and test):
        return None
    action = [action_labels(part, len(dataset.actions)) for part in (train, test)]
    labels = [torch.tensor([sample.privacy for sample in part], dtype=torch.float32) for part in (train, test)]
    try:
        return floors(action[0], labels[0], action[1], labels[1], dataset.attributes)
    except UserError:
        return None


def text(found: Found) -> str:
    """The same for people."""
    lines = [f"{found['name']}: {'whole' if found['whole'] else 'not whole'}"]
    for split, part in found["splits"].items():
        kinds = [f"{part[kind]} {kind}" for kind in ("sources", "subjects") if part[kind]]
        counts = [count for count in part["actions"].values() if count]
        each = f" ({min(counts)} to {max(counts)} videos each)" if counts else ""
        lines.append(f"  {split:5} " + ", ".join([f"{part['videos']} videos", *kinds, f"{len(counts)} actions{each}"]))
        if part["attributes"]:
            lines.append("        " + ", ".join(f"{name} {count}" for name, count in part["attributes"].items()))
    lines += _action_lines(found)
    for what, names in {**found["missing"], "(named twice)": found["duplicates"]}.items():
        if names:
            lines.append(f"  {'missing ' if what in found['missing'] else ''}{what}: {len(names)} ({some(names)})")
    if found["floors"]:
        floor = found["floors"]
        lines.append(f"  floors (cMAP): chance {floor['chance']:.3f}, action prior {floor['action_prior']:.3f}")
    return "\n".join(lines)


def _action_lines(found: Found) -> list[str]:
    """How many videos each action has in training, validation and test."""
    counts = [part["actions"] for part in found["splits"].values()]
    said = ", ".join(f"{name} {'/'.join(str(each[name]) for each in counts)}" for name in counts[0])
    lines = wrap(f"videos by action ({'/'.join(found['splits'])}): {said}", 116, subsequent_indent="  ")
    return [f"  {line}" for line in lines]
