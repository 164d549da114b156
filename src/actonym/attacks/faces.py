"""The face detection attack: can a detector that the anonymizer does not use still find the faces?"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from actonym.data.base import Video
from actonym.errors import UserError
from actonym.nets import centerface
from actonym.nets.centerface import Faces, iou

Footage = Tensor | Video  # uint8 [3, T, H, W], or a reference to it
Find = Callable[[Tensor], Sequence[Faces]]  # frames, uint8 [T, 3, H, W], to the faces of each

SAME = 0.3  # IoU above which a box in the anonymized frame is the raw frame's face


def detect(
    pairs: Iterable[tuple[Footage, Footage]], *, count: int | None = None, find: Find = centerface.find
) -> dict[str, Any]:
    """`face_rates` of raw and anonymized videos; of each all frames, or `count` evenly spaced ones."""
    found = [tuple(list(find(frames)) for frames in both(raw, anonymized, count)) for raw, anonymized in pairs]
    return face_rates([raw for raw, _ in found], [anonymized for _, anonymized in found])


def face_rates(raw: Sequence[Sequence[Faces]], anonymized: Sequence[Sequence[Faces]]) -> dict[str, Any]:
    """What of the faces of the raw videos is still found, for each video the faces of each frame.

    Of the faces, frames and videos with a face, how many there are in `raw`, how many of these are `still` found, and
    their `rate` (None where raw has none). A frame or video counts if any of its faces does. `new` are faces in
    anonymized frames where raw has none: made up by the anonymizer, or mistakes of the detector.
    """
    counts = torch.zeros(3, 2, dtype=torch.long)  # faces, frames, videos; raw, still
    new = frames = 0
    for before, after in zip(raw, anonymized, strict=True):
        seen = torch.zeros(3, 2, dtype=torch.long)
        for one, other in zip(before, after, strict=True):
            same = iou(one.boxes, other.boxes) > SAME
            faces = torch.tensor([len(one), int(same.any(1).sum())])
            seen[0] += faces
            seen[1] += faces > 0
            new += int((~same.any(0)).sum()) if len(one) else len(other)
            frames += 1
        seen[2] = seen[1] > 0
        counts += seen
    levels = {
        level: {"raw": was, "still": still, "rate": still / was if was else None}
        for level, (was, still) in zip(("faces", "frames", "videos"), counts.tolist(), strict=True)
    }
    return {**levels, "new": new, "of_frames": frames, "of_videos": len(raw)}


def both(raw: Footage, anonymized: Footage, count: int | None = None) -> tuple[Tensor, Tensor]:
    """The same frames of both, uint8 `[T, 3, H, W]`; they must fit one another."""
    lengths = [_length(video) for video in (raw, anonymized)]
    if lengths[0] != lengths[1]:
        raise UserError(
            f"the raw video has {lengths[0]} frames and the anonymized one {lengths[1]}; they must be a pair"
        )
    first, second = (stills(video, count) for video in (raw, anonymized))
    if first.shape != second.shape:
        sizes = " and ".join(f"{frames.shape[-1]}x{frames.shape[-2]}" for frames in (first, second))
        raise UserError(f"the raw and the anonymized video differ in size ({sizes}); they must be a pair")
    return first, second


def stills(video: Footage, count: int | None = None) -> Tensor:
    """Frames `[T, 3, H, W]` of a video: all, or `count` evenly spaced ones."""
    length = _length(video)
    count = length if count is None else min(count, length)
    places = [(2 * k + 1) * length // (2 * count) for k in range(count)]
    return (video[:, places] if isinstance(video, Tensor) else video.frames(places)).transpose(0, 1)


def main_faces(found: Sequence[Faces], count: int) -> list[tuple[int, Tensor]]:
    """The largest face of each frame that has one, as the frame's place and its points `[1, 5, 2]`; `count` at most."""
    seen = [place for place, faces in enumerate(found) if len(faces)]
    edges = [round(k * len(seen) / min(count, len(seen))) for k in range(min(count, len(seen)) + 1)] if seen else []
    chosen = [seen[(start + end) // 2] for start, end in pairwise(edges)]
    return [(place, found[place].points[_largest(found[place])][None]) for place in chosen]


def _largest(faces: Faces) -> int:
    return int((faces.boxes[:, 2:] - faces.boxes[:, :2]).prod(1).argmax())


def _length(video: Footage) -> int:
    return video.shape[1] if isinstance(video, Tensor) else video.length
