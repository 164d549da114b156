"""Labelled clips of one split, held as bytes: what recognizers and attackers learn from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import av
import torch
from torch import Tensor, nn
from tqdm import tqdm

from actonym.data.base import Dataset, Sample
from actonym.data.files import warn
from actonym.data.room import changed, room
from actonym.errors import UserError
from actonym.video.sample import clip_indices, views

UNREADABLE_SHARE = 0.05  # of a split's videos; above it (and above one video) the dataset is refused
AT_ONCE = 2**23  # numbers of clips that go through a method at once
SHOW_PROGRESS = 100  # videos; fewer are read in a moment
STATIC = 2  # static clips of a video whose features stand behind those of its clips: the privacy loss compares two


@dataclass(frozen=True)
class Clips:
    """`views` consecutive clips belong to one video and carry its labels once."""

    video: Tensor  # uint8 [N * views, 3, T, H, W]; or features, float [N * views, D], of a store [N, K + STATIC, D]
    action: Tensor  # int64 [N]; or float32 [N, A], 0 and 1, where videos have several at once
    privacy: Tensor  # float32 [N, P]
    subject: Sequence[str]
    mask: Tensor | None = None  # uint8 [N * views, 1, T, H, W]: 0 nobody, k person k
    views: int = 1
    source: Sequence[str] = ()  # the films they were cut from
    skipped: Sequence[str] = ()  # names of the videos that could not be read
    privacy_frames: Tensor | None = None  # float32 [N * views, T, P]: of each frame, where frames are labelled

    def __len__(self) -> int:
        return len(self.action)

    def map(self, method: Callable[[Tensor, Tensor | None], Tensor], batch: int = 32) -> "Clips":
        """The same clips after `method`, rounded to bytes as a video file would; features are not.

        At most `batch` at once, and fewer where they are large: a convolution may take 30 times their memory.
        """
        weight = next(method.parameters(), None) if isinstance(method, nn.Module) else None
        device = torch.device("cpu") if weight is None else weight.device
        out = room(self.video.shape, self.video.dtype)
        batch = min(batch, max(1, AT_ONCE // max(1, self.video[:1].numel())))
        with torch.inference_mode():
            for at in range(0, len(self.video), batch):
                part = slice(at, at + batch)
                mask = None if self.mask is None else self.mask[part].float().to(device)
                done = method(to_floats(self.video[part].to(device)), mask).cpu()
                out[part] = done if out.is_floating_point() else to_bytes(done)
        return replace(self, video=out)

    def thinned(self, count: int) -> "Clips":
        """The same clips with `count` evenly spaced frames each."""
        places = evenly(self.video.shape[2], count)
        return replace(
            self,
            video=changed(self.video, lambda part: part[:, :, places]),
            mask=None if self.mask is None else self.mask[:, :, places],
            privacy_frames=None if self.privacy_frames is None else self.privacy_frames[:, places],
        )


def evenly(frames: int, count: int) -> list[int]:
    """The places of `count` evenly spaced frames, or of all if there are no more."""
    count = min(count, frames)
    return [round((k + 0.5) * frames / count - 0.5) for k in range(count)]


def to_floats(video: Tensor) -> Tensor:
    """Bytes to 0..1; floats, which are features, stay as they are."""
    return video if video.is_floating_point() else video.float().div_(255)


def to_bytes(clip: Tensor) -> Tensor:
    return clip.mul(255).round_().clamp_(0, 255).to(torch.uint8)


def load_clips(
    dataset: Dataset,
    split: str,
    *,
    frames: int,
    size: int,
    rate: int | None = 1,
    clips: int = 1,
    crops: int = 1,
    progress: bool = True,
) -> Clips:
    """A split as clips of `frames` frames and `size` x `size` pixels: `clips` x `crops` views of every video.

    Every `rate`-th frame is taken; None: as the papers do of this dataset. A video that cannot be read is named on
    stderr, left out and counted; too many of them are an error.
    """
    samples = dataset.samples(split)
    if not samples:
        raise UserError(f"{dataset.name} has no videos in its {split} split")
    rate = dataset.card.rate if rate is None else rate
    count = clips * crops
    video = room((len(samples) * count, 3, frames, size, size))
    kept: list[Sample] = []
    known, skipped = [], []
    label = f"reading {dataset.name} ({split})"
    quiet = not progress or len(samples) < SHOW_PROGRESS
    for sample in tqdm(samples, label, unit="video", disable=quiet, leave=False):
        try:
            seen = _read(sample, frames, size, rate, clips, crops)
            video[len(kept) * count :][:count] = seen.video
            known.append((seen.mask, seen.labels))
            kept.append(sample)
        except (UserError, OSError, av.FFmpegError) as error:
            skipped.append(sample.name)
            reason = str(error).strip() or type(error).__name__
            if len(skipped) > max(1, UNREADABLE_SHARE * len(samples)) or len(skipped) == len(samples):
                among = f"{len(skipped)} of the first {len(skipped) + len(kept)} {split} videos of {dataset.name}"
                raise UserError(f"{among} cannot be read, the last: {sample.name}: {reason}") from error
            warn(f"skipped {sample.name}, which cannot be read: {reason}")
    if skipped:
        warn(f"{len(skipped)} of {len(samples)} {split} videos of {dataset.name} were skipped")
    masks = [mask for mask, _ in known if mask is not None]
    labels = [seen for _, seen in known if seen is not None]
    return Clips(
        video=video[: len(kept) * count],
        action=action_labels(kept, len(dataset.actions)),
        privacy=torch.tensor([sample.privacy for sample in kept], dtype=torch.float32),
        subject=[sample.subject for sample in kept],
        mask=torch.cat(masks) if len(masks) == len(kept) else None,
        views=count,
        source=[sample.source for sample in kept],
        skipped=skipped,
        privacy_frames=torch.cat(labels) if len(labels) == len(kept) else None,
    )


def action_labels(samples: Sequence[Any], actions: int) -> Tensor:
    """One action per video, int64 `[N]`; float32 `[N, A]` where every video says which of them it has at once.

    Videos that have their actions one after the other, in segments, have one action: the main one.
    """
    if not all(sample.actions and not sample.segments for sample in samples):
        return torch.tensor([sample.action for sample in samples])
    labels = torch.zeros(len(samples), actions)
    for row, sample in enumerate(samples):
        labels[row, list(sample.actions)] = 1
    return labels


class Read(NamedTuple):
    """All views of one video, and what is known of each: its person masks and the labels of its frames."""

    video: Tensor
    mask: Tensor | None
    labels: Tensor | None


def _read(sample: Sample, frames: int, size: int, rate: int, clips: int, crops: int) -> Read:
    videos, masks, labels = [], [], []
    for indices in clip_indices(sample.video.length, frames, rate, clips).tolist():
        videos.append(views(sample.video.frames(indices), size, crops))
        mask = sample.video.mask(indices)
        if mask is not None:
            masks.append(views(mask, size, crops, nearest=True))
        if sample.spans:
            seen = torch.tensor([sample.privacy_at(index) for index in indices], dtype=torch.float32)
            labels.append(seen.expand(crops, -1, -1))
    return Read(torch.cat(videos), torch.cat(masks) if masks else None, torch.cat(labels) if labels else None)
