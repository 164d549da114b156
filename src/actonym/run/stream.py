"""A video through a method: cut into clips, anonymized, checked, and handed on frame by frame."""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from actonym.errors import ActonymError, UserError
from actonym.methods.base import PixelMethod
from actonym.video import Frame

PIXELS = 1_000_000  # of all the frames that a method gets at once, unless told otherwise
TOLERANCE = 1e-3  # by which rounding may carry a method out of 0..1

Timed = tuple[Frame, Fraction]


def anonymized(
    video: Iterable[Timed],
    method: PixelMethod,
    batch: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Timed]:
    """The frames of `video` after `method`, with their times; ends early when `stop` says so.

    Consecutive clips of the method's length go through it, `batch` at once; the last one may be shorter.
    """
    method.eval()
    done = 0
    for group in _groups(video, method.working_frames, batch, stop):
        try:
            frames = _apply(method, np.stack([frame for frame, _ in group]))
        except (ActonymError, UserError):
            raise
        except Exception as error:
            where = f"frames {done} to {done + len(group) - 1}"
            raise ActonymError(f"{method.name} failed on {where}: {type(error).__name__}: {error}") from error
        yield from zip(frames, (time for _, time in group), strict=True)
        done += len(group)


def _groups(video: Iterable[Timed], length: int, batch: int | None, stop: Callable[[], bool]) -> Iterator[list[Timed]]:
    group: list[Timed] = []
    for frame, time in video:
        group.append((frame, time))
        clips = batch or max(1, PIXELS // (length * frame.shape[0] * frame.shape[1]))
        if len(group) >= clips * length or stop():
            yield group
            group = []
        if stop():
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
    weight = next(method.parameters(), None)
    video = torch.from_numpy(frames) if weight is None else torch.from_numpy(frames).to(weight.device)
    with torch.inference_mode():
        clip = video.permute(0, 4, 1, 2, 3).contiguous().float().div_(255)
        result = _checked(method, method(clip), clip.shape)
        return result.mul(255).round_().clamp_(0, 255).byte().permute(0, 2, 3, 4, 1).cpu().numpy()


def _checked(method: PixelMethod, result: Tensor, shape: torch.Size) -> Tensor:
    """Whatever breaks the contract of methods is no anonymized video; better none than a wrong one."""
    if not isinstance(result, Tensor) or result.shape != shape:
        got = tuple(result.shape) if isinstance(result, Tensor) else type(result).__name__
        raise ActonymError(f"{method.name} returned {got} for a clip of {tuple(shape)}; refused")
    low, high = (float(value) for value in result.aminmax())
    if not (low >= -TOLERANCE and high <= 1 + TOLERANCE):  # false for NaN too
        raise ActonymError(f"{method.name} returned values from {low:g} to {high:g} instead of 0..1; refused")
    return result
