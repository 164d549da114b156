"""How much of the picture comes back from a store of features, before and after a method (SPLAVU, figure 4)."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from actonym import presets
from actonym.attacks import reconstruction
from actonym.attacks.reconstruction import Pairs
from actonym.bench.metrics import closed
from actonym.bench.report import picture as draw
from actonym.data.base import SPLITS, Sample, open_dataset, shown
from actonym.data.clips import SHOW_PROGRESS, to_bytes
from actonym.data.features import Entry, Store
from actonym.data.files import some, warn
from actonym.errors import UserError
from actonym.spec import assign
from actonym.train.fit import Fit
from actonym.video.sample import views

VIDEOS = 6  # of the test split, in a picture

Anonymize = Callable[[Tensor], Tensor]  # features [1, N, D] of a video to anonymized ones
Samples = Mapping[tuple[str, str], Sample]  # by split and name


def measure_reconstruction(
    data: str,
    store: Store,
    *,
    method: Anonymize | None = None,
    changes: Sequence[str] = (),
    seed: int = 0,
    picture: Path | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """A decoder trained on raw features and, with a method, a fresh one on anonymized ones; each is tested once.

    Pixels are read from the dataset `data`, for a store has none. `picture` is where frames of test videos are shown:
    the true ones, and below them what was made of their features.
    """
    plan = assign(presets.load("reconstruction", "stage"), changes)
    how, size, clips = Fit(**plan["fit"]), plan["picture"]["size"], plan["picture"]["clips"]
    if clips < 1:
        raise UserError(f"picture.clips must be at least 1, not {clips}")
    said = store.about.get("anonymized")
    if said and (method is not None or said.get("labels") != "keep"):
        raise UserError(f"{store.folder} is anonymized: give the raw store, and what anonymizes it as --method")
    samples = _samples(data, store, size)
    ways = {"raw": _unchanged} | ({} if method is None else {"anonymized": method})
    seen = {
        split: observe(store, split, samples, size, clips if split == "train" else 1, ways, progress)
        for split in SPLITS
    }
    found: dict[str, Any] = {}
    shows = [_film(seen["test"]["raw"].pictures)]
    for way in ways:
        train, val, test = (seen[split][way] for split in SPLITS)
        fitted = reconstruction.train_decoder(train, val, how, **plan["decoder"], seed=seed, progress=progress)
        made = reconstruction.reconstruct(fitted, test)
        training = {key: value for key, value in vars(fitted).items() if key != "net"}
        found[way] = {**reconstruction.scores(made, test.pictures), "training": training}
        shows.append(_film(to_bytes(made)))
    if picture is not None:
        draw(shows, picture, VIDEOS)
    floors = _floors(seen["train"]["raw"], seen["test"]["raw"])
    about = {
        "attack": "reconstruction",
        "data": shown(data),
        "encoder": store.about.get("encoder"),
        "seed": seed,
        "videos": {split: sum(at == split for at, _ in store.names()) for split in SPLITS},
        "pairs": {split: len(seen[split]["raw"].features) for split in SPLITS},
        "floors": floors,
    }
    if method is None:
        return {**about, "scores": found["raw"]}
    gone = {
        name: closed(found["anonymized"][name], found["raw"][name], floors["chance"][name])
        for name in reconstruction.SCORES
    }
    return {**about, **found, "closed": gone}


def observe(
    store: Store,
    split: str,
    samples: Samples,
    size: int,
    clips: int,
    ways: Mapping[str, Anonymize],
    progress: bool = True,
) -> dict[str, Pairs]:
    """Of every video up to `clips` evenly spaced clips (one is the middle), with their features in each of `ways`.

    A method sees all clips of a video, as it does when it anonymizes a store.
    """
    pictures, action = [], []
    features: dict[str, list[Tensor]] = {way: [] for way in ways}
    names = [name for at, name in store.names() if at == split]
    if not names:
        raise UserError(f"{store.folder} has no videos in its {split} split")
    quiet = not progress or len(names) < SHOW_PROGRESS
    for entry in tqdm(store.entries(split), f"reading {split} pictures", len(names), unit="video", disable=quiet):
        at = _places(len(entry.features), clips)
        pictures.append(_middles(entry, at, samples[split, entry.name], size))
        action += [entry.action] * len(at)
        with torch.no_grad():
            for way, anonymize in ways.items():
                features[way].append(anonymize(entry.features[None])[0, at])
    shown_there, labels = torch.cat(pictures), torch.tensor(action)
    return {way: Pairs(torch.cat(vectors), shown_there, labels) for way, vectors in features.items()}


def _places(count: int, clips: int) -> list[int]:
    """Evenly spaced, none twice."""
    wanted = min(clips, count)
    return [(2 * n + 1) * count // (2 * wanted) for n in range(wanted)]


def _middles(entry: Entry, places: Sequence[int], sample: Sample, size: int) -> Tensor:
    """The middle frame of each clip, as much of it as an encoder sees: uint8 `[clips, 3, size, size]`."""
    frames = [(entry.first[at] + entry.last[at]) // 2 for at in places]
    try:
        video = sample.video.frames(frames)
    except IndexError as error:
        raise UserError(f"{entry.name} has fewer frames than the store says: is it the same data?") from error
    return views(video, size)[0].transpose(0, 1)


def _samples(data: str, store: Store, size: int) -> Samples:
    """The videos of the dataset; all that the store has must be there."""
    dataset, origin = open_dataset(data, size=size), store.about.get("data")
    samples = {(split, sample.name): sample for split in SPLITS for sample in dataset.samples(split)}
    names = {(split, name) for split, name in store.names() if split in SPLITS}
    if missing := sorted(name for split, name in names if (split, name) not in samples):
        few = f"{len(missing)} of {len(names)} videos of {store.folder} are not in {shown(data)} ({some(missing)})"
        raise UserError(f"{few}: give the dataset that it was made of, {origin}")
    if origin and origin != shown(data):
        warn(f"{store.folder} says that it was made of {origin}; pictures are read from {shown(data)}")
    return samples


def _floors(train: Pairs, test: Pairs) -> dict[str, dict[str, float]]:
    """Chance is the mean training picture, whatever the video; the action prior is the mean one of its action."""
    mean = reconstruction.mean_picture(train).expand(len(test.pictures), -1, -1, -1)
    guesses = {"chance": mean, "action_prior": reconstruction.action_pictures(train, test.action)}
    return {name: reconstruction.scores(made, test.pictures) for name, made in guesses.items()}


def _film(pictures: Tensor) -> Tensor:
    """Pictures `[M, 3, H, W]` one after the other, as a video `[3, M, H, W]`."""
    return pictures.transpose(0, 1)


def _unchanged(features: Tensor) -> Tensor:
    return features
