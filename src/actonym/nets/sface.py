"""SFace (Zhong et al., 2021): 128 numbers that tell people apart by their face."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from actonym import weights
from actonym.nets.align import ARCFACE, chip
from actonym.nets.runtime import network

SIZE = 112
DIM = 128


def embed(frame: Tensor, points: Tensor) -> Tensor:
    """Unit vectors `[K, 128]` of the faces of `frame`, uint8 `[3, H, W]`, whose five points are `[K, 5, 2]`."""
    net = network(weights.path("sface"))
    chips = [chip(frame, one, ARCFACE, SIZE).float()[None] for one in points]  # RGB, 0..255; the graph normalizes
    found = [torch.from_numpy(net(one.numpy())[0]) for one in chips]
    return normalize(torch.cat(found), dim=1) if found else torch.zeros(0, DIM)
