"""Which frames of a video make a clip, and which views of a clip are tested."""

import torch
from torch import Tensor


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
