"""A video through a method: cut into clips, anonymized, checked, and handed on frame by frame."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from actonym.errors import ActonymError, UserError
from actonym.methods.base import PixelMethod
from actonym.methods.cover import Cover
from actonym.nets.finder import held
from actonym.video import Frame

PIXELS = 1_000_000  # of all the frames that a method gets at once, unless told otherwise
TOLERANCE = 1e-3  # by which rounding may carry a method out of 0..1

Timed = tuple[Frame, Fraction]


@dataclass
class Tally:
    """What was counted on the way."""

    covered: int | None = None  # frames in which something was covered; None: the method covers nobody, it changes all


def anonymized(
    video: Iterable[Timed],
    method: PixelMethod,
    batch: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    tally: Tally | None = None,
) -> Iterator[Timed]:
    """The frames of `video` after `method`, with their times; ends early when `stop` says so.

    Consecutive clips of the method's length go through it, `batch` at once; the last one may be shorter. A method
    that covers people holds a region over the borders of clips, as if the video were one.
    """
    method.eval()
    groups = _groups(video, method.working_frames, batch, stop)
    if isinstance(method, Cover):
        yield from _covered(groups, method, Tally() if tally is None else tally)
        return
    done = 0
    for group in groups:
        with _failing_at(method, done, len(group)):
            frames = _apply(method, np.stack([frame for frame, _ in group]))
        yield from zip(frames, (time for _, time in group), strict=True)
        done += len(group)


def _covered(groups: Iterable[list[Timed]], method: Cover, tally: Tally) -> Iterator[Timed]:
    """Each frame is searched once. It waits until the `hold` frames after it are searched too."""
    tally.covered = done = 0
    waiting: list[Timed] = []
    regions: list[Tensor] = []  # [H, W] of the last `hold` frames that are done, and of those that wait
    for group in _and_none(groups):
        if group:
            with _failing_at(method, done + len(waiting), len(group)):
                regions += _regions(method, np.stack([frame for frame, _ in group]))
            waiting += group
        ready = len(waiting) - (method.hold if group else 0)
        if ready <= 0:
            continue
        before = len(regions) - len(waiting)
        region = held(torch.stack(regions), method.hold, dim=0)[before : before + ready]
        with _failing_at(method, done, ready):
            frames = _cover(method, np.stack([frame for frame, _ in waiting[:ready]]), region)
        tally.covered += int(region.flatten(1).any(1).sum())
        yield from zip(frames, (time for _, time in waiting[:ready]), strict=True)
        done += ready
        del waiting[:ready], regions[: max(0, before + ready - method.hold)]


def _and_none(groups: Iterable[list[Timed]]) -> Iterator[list[Timed] | None]:
    """The groups, and then None: the video is over."""
    yield from groups
    yield None


@contextmanager
def _failing_at(method: PixelMethod, first: int, count: int) -> Iterator[None]:
    """Whatever a method raises becomes one line that says where."""
    try:
        yield
    except (ActonymError, UserError):
        raise
    except Exception as error:
        where = f"frames {first} to {first + count - 1}"
        raise ActonymError(f"{method.name} failed on {where}: {type(error).__name__}: {error}") from error


def _groups(video: Iterable[Timed], length: int, batch: int | None, stop: Callable[[], bool]) -> Iterator[list[Timed]]:
    group: list[Timed] = []
    for frame, time in video:
        group.append((frame, time))
        clips = batch or max(1, PIXELS // (length * frame.shape[0] * frame.shape[1]))
        ended = stop()
        if len(group) >= clips * length or ended:
            yield group
            group = []
        if ended or (not group and stop()):  # what was read is never dropped
            return
    if group:
        yield group


def _apply(method: PixelMethod, frames: Frame) -> Frame:
    """`[N, H, W, 3]` through the method as clips of its length, the rest of N as a shorter clip of its own."""
    length = method.working_frames
    whole = len(frames) - len(frames) % length
    parts = []
    if whole:
        parts.append(frames[:whole].reshape(-1, length, *frames.shape[1:]))
    if whole < len(frames):
        parts.append(frames[whole:][None])
    return np.concatenate([_clips(method, part).reshape(-1, *frames.shape[1:]) for part in parts])


def _clips(method: PixelMethod, frames: Frame) -> Frame:
    with torch.inference_mode():
        clip = _floats(method, frames)
        return _bytes(_checked(method, method(clip), clip.shape))


def _regions(method: Cover, frames: Frame) -> list[Tensor]:
    """Of each of the frames `[N, H, W, 3]`, where somebody was found."""
    with torch.inference_mode():
        return list(method.regions(_floats(method, frames[None]))[0, 0])


def _cover(method: Cover, frames: Frame, region: Tensor) -> Frame:
    with torch.inference_mode():
        clip = _floats(method, frames[None])
        return _bytes(_checked(method, method.cover(clip, region[None, None]), clip.shape))[0]


def _floats(method: PixelMethod, frames: Frame) -> Tensor:
    """`[B, T, H, W, 3]` bytes as clips, on the method's device."""
    weight = next(method.parameters(), None)
    video = torch.from_numpy(frames) if weight is None else torch.from_numpy(frames).to(weight.device)
    return video.permute(0, 4, 1, 2, 3).contiguous().float().div_(255)


def _bytes(clip: Tensor) -> Frame:
    return clip.mul(255).round_().clamp_(0, 255).byte().permute(0, 2, 3, 4, 1).cpu().numpy()


def _checked(method: PixelMethod, result: Tensor, shape: torch.Size) -> Tensor:
    """Whatever breaks the contract of methods is no anonymized video; better none than a wrong one."""
    if not isinstance(result, Tensor) or result.shape != shape:
        got = tuple(result.shape) if isinstance(result, Tensor) else type(result).__name__
        raise ActonymError(f"{method.name} returned {got} for a clip of {tuple(shape)}; refused")
    low, high = (float(value) for value in result.aminmax())
    if not (low >= -TOLERANCE and high <= 1 + TOLERANCE):  # false for NaN too
        raise ActonymError(f"{method.name} returned values from {low:g} to {high:g} instead of 0..1; refused")
    return result
