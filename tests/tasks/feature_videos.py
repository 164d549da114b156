"""Features of made-up videos in which an action shows in some dimensions for a while."""

import torch

from actonym.data.base import Segment
from actonym.tasks.base import VideoFeatures

DIM = 6


def with_actions(count, seed, classes=2, length=(40, 64), noise=0.3):
    """Each video has two segments; action k lifts dimension k while it lasts."""
    generator = torch.Generator().manual_seed(seed)

    def whole(low, high):
        return int(torch.randint(low, high, (), generator=generator))

    made = []
    for number in range(count):
        total = whole(*length)
        features = noise * torch.randn(total, DIM, generator=generator)
        segments = []
        for begin in (2, total // 2 + 2):
            first, last = begin + whole(0, 4), begin + whole(10, 16)
            label = whole(0, classes)
            features[first : last + 1, label] += 2
            # clip n looks at the second around n + 0.5 of a video with one clip per second
            segments.append(Segment(first + 0.5, last + 0.5, label))
        made.append(VideoFeatures(features, f"video {number}", segments[0].label, segments, fps=16.0))
    return made
