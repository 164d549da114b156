"""`actonym features`: from videos to a store of features, and from a store to an anonymized one."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import av
import torch
from torch import Tensor
from tqdm import tqdm

import actonym
from actonym.data.base import SPLITS, Dataset, Sample
from actonym.data.clips import STATIC, to_floats
from actonym.data.features import Entry, Store
from actonym.data.files import warn
from actonym.errors import ActonymError, UserError
from actonym.methods.base import LatentMethod
from actonym.nets.encoder import Encoder, weights_hash
from actonym.run.atomic import part_name

PART = 32  # videos of a part: what is lost when a run is killed, at most
BATCH = 4  # clips that go through the encoder at once


def extract(
    dataset: Dataset,
    encoder: Encoder,
    out: str | Path,
    *,
    data: str,
    name: str,
    splits: Sequence[str] = SPLITS,
    frames: int | None = None,
    resume: bool = False,
    progress: bool = True,
) -> Store:
    """All clips of `frames` frames that do not overlap, of every video, and as many static clips, at least two.

    `data` and `name` are what dataset and encoder are called in the store. A video that cannot be read is named, left
    out and counted.
    """
    frames = frames or encoder.frames
    about = {
        "encoder": name,
        "weights": weights_hash(encoder),
        "precision": encoder.precision,
        "dim": encoder.dim,
        "frames": frames,
        "data": data,
        "actions": list(dataset.actions),
        "attributes": list(dataset.attributes),
        "splits": list(splits),
        "anonymized": None,
        "actonym": actonym.__version__,
    }
    store = Store.make(out, about, resume)
    if store.about["complete"]:
        return store
    done = store.names()
    todo = [
        (split, sample) for split in splits for sample in dataset.samples(split) if (split, sample.name) not in done
    ]
    skipped = []
    waiting: list[Entry] = []
    for split, sample in tqdm(todo, f"features of {data}", unit="video", disable=not progress):
        try:
            waiting.append(_entry(sample, split, encoder, frames))
        except (UserError, OSError, av.FFmpegError) as error:
            skipped.append(sample.name)
            warn(f"skipped {sample.name}, which cannot be read: {str(error).strip() or type(error).__name__}")
        if len(waiting) == PART:
            store.append(waiting)
            waiting = []
    store.append(waiting)
    if not store.names():
        raise UserError(f"no video of {data} could be read, so there are no features")
    store.about["skipped"] = [*store.about.get("skipped", []), *skipped]
    store.finish()
    return store


@torch.inference_mode()
def _entry(sample: Sample, split: str, encoder: Encoder, frames: int) -> Entry:
    length = sample.video.length
    first = list(range(0, max(1, length - frames + 1), frames))
    last = [min(start + frames, length) - 1 for start in first]
    count = max(STATIC, len(first))
    still = [round((k + 0.5) * length / count - 0.5) for k in range(count)]
    clips = (sample.video.frames(range(a, b + 1)) for a, b in zip(first, last, strict=True))
    stills = (sample.video.frames([place]).expand(-1, frames, -1, -1) for place in still)
    found = {"features": _encode(clips, encoder), "static": _encode(stills, encoder)}
    return Entry.of(sample, split, length, first=first, last=last, frames=still, **found)


def _encode(clips: Iterator[Tensor], encoder: Encoder) -> Tensor:
    """One batch of clips is in memory at a time."""
    batches = iter(lambda: list(islice(clips, BATCH)), [])
    return torch.cat([encoder.encode(to_floats(torch.stack(batch))) for batch in batches]).cpu()


def anonymize(
    source: str | Path, out: str | Path, method: LatentMethod, *, labels: str = "drop", progress: bool = True
) -> Store:
    """A store after a latent method. It appears whole or not at all: no raw feature is ever left in it.

    With labels `drop` private attributes, subjects and films are left out, for they tell what the features no longer
    do, and so may names: videos are numbered, in the order of the source. `keep` is for measuring.
    """
    if labels not in ("drop", "keep"):
        raise UserError(f"labels must be drop or keep, not {labels!r}")
    raw, out = Store.open(source), Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} exists; choose another folder")
    draft = part_name(out)
    shutil.rmtree(draft, ignore_errors=True)
    try:
        about: dict[str, Any] = {key: value for key, value in raw.about.items() if key not in ("version", "complete")}
        store = Store.make(draft, about | {"anonymized": _said(method, labels)})
        waiting: list[Entry] = []
        entries = tqdm(raw.entries(), "anonymizing", total=len(raw.names()), unit="video", disable=not progress)
        for number, entry in enumerate(entries):
            waiting.append(_anonymized(entry, method, labels, number))
            if len(waiting) == PART:
                store.append(waiting)
                waiting = []
        store.append(waiting)
        store.finish()
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.is_dir():
            out.rmdir()
        draft.rename(out)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, ValueError | RuntimeError):
            raise ActonymError(f"{method.name} failed on {source}: {error}") from error
        raise
    return Store.open(out)


@torch.inference_mode()
def _anonymized(entry: Entry, method: LatentMethod, labels: str, number: int) -> Entry:
    """A static clip stands for a picture, so each is a video of its own."""
    shown = {"features": method.eval()(entry.features[None])[0], "static": method(entry.static[:, None])[:, 0]}
    made = replace(entry, **shown)
    return made if labels == "keep" else replace(made, name=f"{number:06}", privacy=[], subject="", source="")


def _said(method: LatentMethod, labels: str) -> dict[str, Any]:
    return {"method": method.name, "weights": weights_hash(method), "labels": labels}
