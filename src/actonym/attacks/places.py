"""What a place looks like, with nothing trained: a tiny picture of the background and its colours. For `linkage`."""

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d, normalize

SIDE = 12  # of the tiny picture
LEVELS = 4  # of each colour in the histogram
STILLS = 16  # frames that make the background


def place(video: Tensor) -> Tensor:
    """Features `[D]` of a video, uint8 `[3, T, H, W]`; their cosine is the mean of the two parts' similarities.

    The background is the median over time, which leaves out what moves. Pictures are compared by correlation, colours
    by the overlap of their shares (Bhattacharyya).
    """
    frames = video.shape[1]
    places = torch.linspace(0, frames - 1, min(frames, STILLS)).round().long()
    background = video[:, places].float().median(1).values / 255
    tiny = adaptive_avg_pool2d(background, SIDE).flatten()
    digits = (background * LEVELS).long().clamp(max=LEVELS - 1)
    bins = (digits[0] * LEVELS + digits[1]) * LEVELS + digits[2]
    shares = torch.bincount(bins.flatten(), minlength=LEVELS**3) / bins.numel()
    return torch.cat([normalize(tiny - tiny.mean(), dim=0), shares.sqrt()])
