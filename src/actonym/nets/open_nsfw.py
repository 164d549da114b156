"""open_nsfw (Mahadeokar and Pesavento, 2016): how likely a picture shows nudity."""

import cv2
import torch
from torch import Tensor

from actonym import weights
from actonym.nets.runtime import network

LARGE, SIZE = 256, 224  # the whole picture is squeezed into a square, whose border is cut off
MEANS = (104.0, 117.0, 123.0)  # blue, green, red


def nudity(frames: Tensor, batch: int = 8) -> Tensor:
    """The score `[T]` in 0..1 of each of `frames`, uint8 `[T, 3, H, W]`."""
    net = network(weights.path("open-nsfw"))
    edge = (LARGE - SIZE) // 2
    found = []
    for part in frames.split(batch):
        squares = [_square(frame)[edge : edge + SIZE, edge : edge + SIZE] for frame in part]
        found.append(torch.from_numpy(net((torch.stack(squares).flip(-1) - torch.tensor(MEANS)).numpy())[0])[:, 1])
    return torch.cat(found)


def _square(frame: Tensor) -> Tensor:
    """`[256, 256, 3]`; shrinking by area, since a picture sampled at points would alias."""
    image = frame.permute(1, 2, 0).contiguous().numpy()
    smaller = min(image.shape[:2]) >= LARGE
    return torch.from_numpy(
        cv2.resize(image, (LARGE, LARGE), interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR)
    ).float()
