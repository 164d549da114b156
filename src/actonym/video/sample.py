"""Which frames of a video make a clip, and which views of a clip are tested."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from actonym.video.reader import VideoReader, count_frames
from actonym.video.transform import crop, resize_short


def clip_indices(
    length: int, frames: int, rate: int = 1, clips: int = 1, generator: torch.Generator | None = None
) -> Tensor:
    """Indices `[clips, frames]` of `clips` clips, every `rate`-th frame each, out of a video of `length` frames.

    Without a generator the clips are evenly spaced from the first frame to the last, a single one is the centre;
    with a generator their starts are random. A video too short for the rate is sampled at the highest rate that
    fits, so that the clip still spans real motion; one shorter than the clip repeats its last frame.
    """
    if length < 1 or frames < 1 or rate < 1 or clips < 1:
        raise ValueError(f"cannot take {clips} clips of {frames} frames at rate {rate} from {length} frames")
    rate = max(1, min(rate, (length - 1) // max(1, frames - 1)))
    free = max(0, length - 1 - (frames - 1) * rate)  # how far a clip can be shifted
    if generator is not None:
        starts = torch.randint(0, free + 1, (clips,), generator=generator)
    elif clips == 1:
        starts = torch.tensor([free // 2])
    else:
        starts = torch.linspace(0, free, clips).round().long()
    return (starts[:, None] + torch.arange(frames) * rate).clamp(max=length - 1)


def views(clip: Tensor, size: int, crops: int = 1, nearest: bool = False) -> Tensor:
    """Square views `[crops, ...]` of a clip whose short side is brought to `size`, evenly spaced along the long side.

    One is the centre; three are left, centre and right (or top, centre and bottom), as the papers test. `nearest`
    is for masks, whose values must not be mixed.
    """
    if crops < 1:
        raise ValueError(f"cannot take {crops} views of a clip")
    clip = resize_short(clip, size, nearest)
    height, width = clip.shape[-2:]
    shares = [0.5] if crops == 1 else [i / (crops - 1) for i in range(crops)]
    return torch.stack(
        [crop(clip, round((height - size) * share), round((width - size) * share), size, size) for share in shares]
    )


class FileVideo:
    """A video file as the datasets hand it out: opened only when frames are asked for, read no further than needed."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @cached_property
    def length(self) -> int:
        """Frames that are really there: the number in a container's header may count dropped ones."""
        return count_frames(self.path)

    @cached_property
    def fps(self) -> float:
        with VideoReader(self.path) as reader:
            return float(reader.info.fps)

    def frames(self, indices: Sequence[int]) -> Tensor:
        """uint8 `[3, T, H, W]`. Frames lost to damage at the end are replaced by the last one that is there."""
        wanted, last = set(indices), max(indices)
        found: dict[int, Tensor] = {}
        with VideoReader(self.path) as reader:
            for index, (frame, _) in enumerate(reader):
                newest = index, frame
                if index in wanted:
                    found[index] = torch.from_numpy(frame)
                if index >= last:
                    break
        end = torch.from_numpy(newest[1])
        return torch.stack([found.get(index, end) for index in indices]).permute(3, 0, 1, 2).contiguous()

    def mask(self, indices: Sequence[int]) -> None:
        """Where people are is not known of a plain file."""
