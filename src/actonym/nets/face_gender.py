"""Gender from a face: the small network of dlib's model collection (Cydral, 2020), as ONNX."""

import torch
from torch import Tensor

from actonym import weights
from actonym.nets.align import DLIB, chip, padded
from actonym.nets.runtime import network

SIZE = 32
PADDING = 0.2  # dlib's own, with which its faces were cut
MEANS = (122.782, 117.001, 104.298)  # RGB; manifest.json beside the weights


def male(frame: Tensor, points: Tensor) -> Tensor:
    """The probability `[K]` that each face of `frame`, uint8 `[3, H, W]`, with points `[K, 5, 2]`, is a man's."""
    if not len(points):
        return torch.zeros(0)
    net = network(weights.path("gender-age") / "gender.onnx")
    chips = torch.stack([chip(frame, one, padded(DLIB, PADDING), SIZE) for one in points]).float()
    return torch.from_numpy(net(((chips - torch.tensor(MEANS).view(3, 1, 1)) / 256).numpy())[0])[:, 1]
