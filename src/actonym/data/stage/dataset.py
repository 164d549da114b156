"""The stage as a dataset: worlds, splits, samples, and a cache of what was rendered."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from actonym.data.base import SPLITS, Sample, register
from actonym.data.cache import cache_dir
from actonym.data.p_hvu import KINDS
from actonym.data.stage.bias import BiasF, BiasM
from actonym.data.stage.faces import Faces
from actonym.data.stage.park import Park
from actonym.data.stage.puppets import Puppets
from actonym.data.stage.rooms import Rooms
from actonym.data.stage.turning import Turning
from actonym.data.stage.untrimmed import Untrimmed
from actonym.data.stage.walks import Walks
from actonym.data.stage.watch import Watch
from actonym.data.stage.world import FPS, Cast, Footage, Labels, World, joined
from actonym.errors import UserError, unknown

WORLDS: Mapping[str, type[World]] = {
    "puppets": Puppets,
    "park": Park,
    "turning": Turning,
    "faces": Faces,
    "rooms": Rooms,
    "bias-f": BiasF,
    "bias-m": BiasM,
    "untrimmed": Untrimmed,
    "watch": Watch,
    "walks": Walks,
}


@dataclass(frozen=True)
class StageVideo:
    """One video of the stage, read from the cache."""

    stage: "Stage"
    split: str
    row: int

    @property
    def length(self) -> int:
        return self.stage.length

    @property
    def fps(self) -> float:
        return FPS

    def frames(self, indices: Sequence[int]) -> Tensor:
        return self.stage.pixels(self.split)[0][self.row][:, list(indices)]

    def mask(self, indices: Sequence[int]) -> Tensor:
        return self.stage.pixels(self.split)[1][self.row][:, list(indices)]

    def depth(self, indices: Sequence[int]) -> Tensor:
        """float `[1, T, H, W]` in metres; rendered anew, for it is rarely wanted."""
        return torch.from_numpy(self.stage.film(self.split, self.row).depth)[None, list(indices)]


@register("stage")
class Stage:
    """Little people who act in front of moving cameras, in one of several worlds."""

    card = Puppets.card
    actions: Sequence[str] = Puppets.actions
    attributes: Sequence[str] = Puppets.attributes
    variants: ClassVar[Mapping[str, type[World]]] = {
        f"stage:world={name}": world for name, world in WORLDS.items() if world is not Puppets
    }

    def __init__(
        self,
        size: int = 112,
        frames: int = 16,
        train: int | None = None,
        val: int | None = None,
        test: int | None = None,
        correlation: float | None = None,
        seed: int = 0,
        world: str = "puppets",
        hide: str = "both",
        clips: int | None = None,
    ) -> None:
        """`correlation` 0..1 is the share of videos in which the action decides the attributes; a world has its own.

        `hide` is object, scene or both, as in P-HVU, for the world that has them. A video is `clips` times `frames`
        frames long. What is not said, each world decides.
        """
        if world not in WORLDS:
            raise unknown("world of the stage", world, WORLDS)
        self.world = WORLDS[world]()
        self.correlation = self.world.correlation if correlation is None else correlation
        if not 0 <= self.correlation <= 1:
            raise UserError(f"stage: correlation must be between 0 and 1, not {correlation}")
        if self.correlation and not self.world.tied:
            raise UserError(f"stage: in the world {world} nothing can be tied to the action; leave correlation out")
        self.size, self.frames, self.seed = size, frames, seed
        self.clips = self.world.clips if clips is None else clips
        wanted = zip(SPLITS, (train, val, test), self.world.counts, strict=True)
        self.counts = {split: own if count is None else count for split, count, own in wanted}
        given = {"size": size, "frames": frames, "clips": self.clips, **self.counts}
        for name, low in {"size": 16, "frames": 2, "clips": 1, "train": 1, "val": 0, "test": 1}.items():
            if not isinstance(given[name], int) or given[name] < low:
                raise UserError(f"stage: {name} must be a whole number from {low} up, not {given[name]!r}")
        self._hidden = _columns(world, self.world.attributes, hide)
        self.actions = self.world.actions
        self.attributes = tuple(self.world.attributes[place] for place in self._hidden)
        self.domain = "stage" if world == "puppets" else f"stage-{world}"
        self._samples: dict[str, list[Sample]] = {}
        self._pixels: dict[str, tuple[Tensor, Tensor]] = {}

    @property
    def length(self) -> int:
        """Frames of a video."""
        return self.frames * self.clips

    def samples(self, split: str) -> list[Sample]:
        """The videos of a split. Nobody is in two splits."""
        if split not in SPLITS:
            raise unknown("split", split, SPLITS)
        if split not in self._samples:
            self._samples[split] = [self._sample(split, row) for row in range(self.counts[split])]
        return self._samples[split]

    def _sample(self, split: str, row: int) -> Sample:
        """Where frames have labels of their own, a video has what some frame shows."""
        labels = self.labels(split, row)
        spans = self.world.spans(labels, self.length, self._rng(split, row, 1))
        privacy = [int(any(any(span.values) for span in each)) for each in spans] or labels.privacy
        return Sample(
            name=self.world.named(split, row, labels),
            video=StageVideo(self, split, row),
            action=self.actions.index(labels.action),
            privacy=tuple(privacy[place] for place in self._hidden),
            subject=labels.actor.name,
            domain=self.domain,
            text=labels.action.replace("_", " "),
            actions=tuple(self.actions.index(action) for action in labels.actions),
            segments=self.world.segments(labels, self.length) if split in self.world.timed else (),
            spans=spans,
        )

    def labels(self, split: str, row: int) -> Labels:
        tied = 0.0 if split in self.world.balanced else self.correlation
        return self.world.labels(row, self._casts[split], tied, self._rng(split, row, 0))

    @cached_property
    def _casts(self) -> dict[str, Cast]:
        """Who may act in which split."""
        return {
            split: self.world.cast(split, count, lambda k, kind, split=split: self._rng(split, k, 2 + kind))  # type: ignore[misc]
            for split, count in self.counts.items()
        }

    def _rng(self, split: str, row: int, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, SPLITS.index(split), row, purpose, *self.world.salt])

    def film(self, split: str, row: int) -> Footage:
        """Render one video."""
        return joined(self.shots(split, row))

    def shots(self, split: str, row: int) -> Iterator[Footage]:
        """The same, some frames at a time."""
        size = self.size, self.size
        return self.world.shots(self.labels(split, row), self.length, size, self._rng(split, row, 1))

    def pixels(self, split: str) -> tuple[Tensor, Tensor]:
        """All frames uint8 `[N, 3, T, H, W]` and person masks `[N, 1, T, H, W]` of a split, mapped from the cache."""
        if split not in self._pixels:
            folder = cache_dir("stage", self._key(split))
            if not (folder / "mask.npy").is_file():
                self._fill(split, folder)
            arrays = (np.load(folder / f"{kind}.npy", mmap_mode="c") for kind in ("frames", "mask"))
            frames, mask = (torch.from_numpy(array) for array in arrays)
            self._pixels[split] = frames, mask
        return self._pixels[split]

    def _key(self, split: str) -> str:
        """Names a cache by all that decides its pixels, the source of this folder included."""
        source = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
        settings = (self.domain, self.size, self.length, self.correlation, self.seed, split, self.counts[split])
        return f"{split}-{hashlib.sha256(source + repr(settings).encode()).hexdigest()[:16]}"

    def _fill(self, split: str, folder: Path) -> None:
        """Render a split. The mask is put in place last: where it is, the frames are whole."""
        count, t, s = self.counts[split], self.length, self.size
        draft = {kind: folder / f"{kind}.{os.getpid()}.part" for kind in ("frames", "mask")}
        if shutil.disk_usage(folder).free < count * t * s * s * 4 * 1.05:
            raise UserError(
                f"not enough room in {folder.parent} for {count} clips; set ACTONYM_CACHE to another folder"
            )
        try:
            frames = np.lib.format.open_memmap(draft["frames"], "w+", np.uint8, (count, 3, t, s, s))
            mask = np.lib.format.open_memmap(draft["mask"], "w+", np.uint8, (count, 1, t, s, s))
            bar = tqdm(
                total=count, desc=f"rendering the stage ({split})", unit="video", disable=count * t < 1600, leave=False
            )
            for row in range(count):
                at = 0
                for footage in self.shots(split, row):
                    span = slice(at, at + len(footage.mask))
                    frames[row, :, span] = footage.frames.transpose(3, 0, 1, 2)
                    mask[row, 0, span] = footage.mask
                    at = span.stop
                bar.update()
            bar.close()
            frames.flush()
            mask.flush()
            for kind in ("frames", "mask"):
                os.replace(draft[kind], folder / f"{kind}.npy")
        finally:
            for path in draft.values():
                path.unlink(missing_ok=True)


def _columns(world: str, attributes: Sequence[str], hide: str) -> list[int]:
    """Which of a world's attributes are private: all, or those of one kind."""
    if hide not in KINDS:
        raise unknown("kind of tags to hide", hide, KINDS)
    found = [place for place, name in enumerate(attributes) if hide == "both" or name.startswith(f"{hide}: ")]
    if not found:
        raise UserError(f"stage: the world {world} has no attributes of the kind {hide!r}; rooms has")
    return found
