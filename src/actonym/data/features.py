"""A store of features: a folder of Parquet files, one row per video, with what made them.

`store.json` says which encoder, with which weights, made the features of which data, and whether the store is complete.
Each Parquet file carries the same, so that one that is passed on alone still says where it is from.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from actonym.data.base import DatasetCard, Sample, Segment
from actonym.data.clips import STATIC, Clips, action_labels
from actonym.errors import UserError

ABOUT = "store.json"
KIND = "features"  # of data that is a store: features:FOLDER
VERSION = 1
FPS = 30.0  # where a video does not say


@dataclass(frozen=True)
class Entry:
    """The features of one video, and its labels."""

    name: str
    split: str
    features: Tensor  # float32 [N, D]: its clips, first to last
    first: list[int]  # frames of each clip
    last: list[int]
    static: Tensor  # float32 [M, D]: single frames, repeated to a clip each
    frames: list[int]  # these frames
    length: int  # of the video, in frames
    action: int
    actions: list[int] = field(default_factory=list)
    privacy: list[int] = field(default_factory=list)
    subject: str = ""
    source: str = ""
    domain: str = ""
    text: str = ""
    segments: list[Segment] = field(default_factory=list)
    fps: float = FPS  # frames per second of the video, in which segments are counted

    @classmethod
    def of(cls, sample: Sample, split: str, length: int, **features: Any) -> "Entry":
        """A sample's labels with its features."""
        words = {name: getattr(sample, name) for name in ("name", "subject", "source", "domain", "text")}
        numbers = {"actions": list(sample.actions), "privacy": list(map(int, sample.privacy))}
        labels: dict[str, Any] = {**words, **numbers, "action": sample.action, "segments": list(sample.segments)}
        fps = float(getattr(sample.video, "fps", None) or FPS)
        return cls(split=split, length=length, fps=fps, **labels, **features)


class Store:
    """Entries go in by parts and come out one by one, so that it may be larger than the memory."""

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        self.folder, self.about = folder, about

    @classmethod
    def make(cls, folder: str | Path, about: dict[str, Any], resume: bool = False) -> "Store":
        """A new store in an empty or new folder; with `resume` one that was begun with the same `about`."""
        folder = Path(folder)
        about = {"version": VERSION, **about, "complete": False}
        if folder.is_dir() and any(folder.iterdir()):
            if not resume:
                raise UserError(f"{folder} is not empty; choose another folder, or go on with what is there: --resume")
            begun = cls.open(folder, whole=False)
            differs = [key for key in about if key != "complete" and about[key] != begun.about.get(key)]
            if differs:
                raise UserError(f"{folder} was begun differently ({', '.join(differs)}): choose another folder")
            return begun
        folder.mkdir(parents=True, exist_ok=True)
        store = cls(folder, about)
        store._say()
        return store

    @classmethod
    def open(cls, folder: str | Path, whole: bool = True) -> "Store":
        """A store to read from; one that is not complete is refused unless `whole` is false."""
        folder = Path(folder)
        try:
            about = json.loads((folder / ABOUT).read_text())
            version, complete = about["version"], about["complete"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{folder} is no store of features: its {ABOUT} is missing or damaged") from error
        if version != VERSION:
            raise UserError(f"{folder} is a store of version {version}; this program reads version {VERSION}")
        if whole and not complete:
            raise UserError(f"{folder} is not complete: its extraction was stopped; go on with --resume")
        return cls(folder, about)

    @property
    def dim(self) -> int:
        return int(self.about["dim"])

    def check_dim(self, dim: int) -> None:
        """Whether it has features of `dim` numbers, as another store of the same job."""
        if self.dim != dim:
            raise UserError(f"{self.folder} has features of {self.dim} numbers, not {dim}: take the same encoder")

    def names(self) -> set[tuple[str, str]]:
        """Split and name of every video that is there."""
        tables = (_parquet().read_table(part, columns=["split", "name"]) for part in self._parts())
        return {(row["split"], row["name"]) for table in tables for row in table.to_pylist()}

    def append(self, entries: Iterable[Entry]) -> None:
        """One more part; it appears whole or not at all."""
        rows = [self._row(entry) for entry in entries]
        if not rows:
            return
        arrow, parquet = _arrow(), _parquet()
        table = arrow.Table.from_pylist(rows, schema=self._schema())
        path = self.folder / f"part-{len(self._parts()):05d}.parquet"
        draft = path.with_name(f".{path.name}.part")
        parquet.write_table(table, draft, compression="zstd")
        os.replace(draft, path)

    def finish(self) -> None:
        """From now on it can be read."""
        self.about["complete"] = True
        self._say()

    def entries(self, split: str | None = None) -> Iterator[Entry]:
        """In the order in which they were put in."""
        for part in self._parts():
            for batch in _parquet().ParquetFile(part).iter_batches(16):
                for row in batch.to_pylist():
                    if split is None or row["split"] == split:
                        yield self._entry(row)

    def _parts(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"))

    def _say(self) -> None:
        draft = self.folder / f".{ABOUT}.part"
        draft.write_text(json.dumps(self.about, indent=2) + "\n")
        os.replace(draft, self.folder / ABOUT)

    def _row(self, entry: Entry) -> dict[str, Any]:
        for vectors in (entry.features, entry.static):
            if vectors.ndim != 2 or vectors.shape[1] != self.dim:
                raise ValueError(f"{entry.name} has features {tuple(vectors.shape)}; the store holds [N, {self.dim}]")
            if not vectors.isfinite().all():
                raise ValueError(f"{entry.name} has features that are not finite")
        flat = {name: getattr(entry, name).float().cpu().numpy().ravel() for name in ("features", "static")}
        own = {f.name: getattr(entry, f.name) for f in fields(Entry)}
        return {**own, **flat, "segments": [asdict(segment) for segment in entry.segments]}

    def _entry(self, row: dict[str, Any]) -> Entry:
        vectors = {name: torch.tensor(row[name]).view(-1, self.dim) for name in ("features", "static")}
        return Entry(**{**row, **vectors, "segments": [Segment(**segment) for segment in row["segments"]]})

    def _schema(self) -> Any:
        arrow = _arrow()
        whole, words = arrow.int32(), arrow.string()
        segment = arrow.struct([("start", arrow.float64()), ("end", arrow.float64()), ("label", whole)])
        kinds = [
            (words, ("name", "split", "subject", "source", "domain", "text")),
            (whole, ("length", "action")),
            (arrow.float64(), ("fps",)),
            (arrow.list_(whole), ("first", "last", "frames", "actions", "privacy")),
            (arrow.list_(arrow.float32()), ("features", "static")),
            (arrow.list_(segment), ("segments",)),
        ]
        columns = [(name, kind) for kind, names in kinds for name in names]
        about = {"actonym": json.dumps({key: value for key, value in self.about.items() if key != "complete"})}
        return arrow.schema(columns, metadata=about)


class Stored:
    """A store as the data of training and measuring: labels as a dataset has them, and no video."""

    card = DatasetCard("Stored features", "What an encoder made of videos.", "that of the videos", "features extract")

    def __init__(self, data: str) -> None:
        self.store = Store.open(data.partition(":")[2])
        self.name = f"{KIND}:{self.store.about.get('data', 'store')}"
        self.actions, self.attributes = self.store.about["actions"], self.store.about["attributes"]

    def samples(self, split: str) -> list[Sample]:
        same = [f.name for f in fields(Sample) if f.name not in ("video", "spans")]
        return [
            Sample(video=None, **{name: getattr(entry, name) for name in same})  # type: ignore[arg-type]
            for entry in self.store.entries(split)
        ]


def is_stored(data: str) -> bool:
    return data.startswith(f"{KIND}:")


def load_features(store: Store, split: str, clips: int) -> Clips:
    """A split with `clips` evenly spaced clips and then the static ones of every video, float `[N, K + STATIC, D]`.

    A video with fewer repeats its own; where all have fewer, K is what the longest has.
    """
    entries = list(store.entries(split))
    if not entries:
        raise UserError(f"{store.folder} has no videos in its {split} split")
    clips = min(clips, max(len(entry.features) for entry in entries))
    shown = torch.stack([spaced(entry.features, clips) for entry in entries])
    still = torch.stack([spaced(entry.static, STATIC) for entry in entries])
    return Clips(
        video=torch.cat([shown, still], 1),
        action=action_labels(entries, len(store.about["actions"])),
        privacy=torch.tensor([entry.privacy for entry in entries], dtype=torch.float32),
        subject=[entry.subject for entry in entries],
        source=[entry.source for entry in entries],
    )


def spaced(vectors: Tensor, count: int) -> Tensor:
    """`count` rows, evenly spaced from the first to the last."""
    return vectors[torch.linspace(0, len(vectors) - 1, count).round().long()]


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise UserError("stores of features need pyarrow; run: pip install 'actonym[features]'") from error
    return pyarrow


def _parquet() -> Any:
    _arrow()
    import pyarrow.parquet

    return pyarrow.parquet
