"""Faces turned upright and brought to one size: what networks that look at faces expect."""

import cv2
import numpy as np
import torch
from torch import Tensor

# Where the five points (left eye, right eye, nose, left and right corner of the mouth, as the picture shows them) come
# to lie, as shares of the chip's side.
ARCFACE = ((0.34192, 0.46157), (0.65653, 0.45983), (0.50022, 0.64050), (0.37097, 0.82469), (0.63152, 0.82325))
DLIB = ((0.22733, 0.22140), (0.75281, 0.22123), (0.49013, 0.51563), (0.25415, 0.78023), (0.72610, 0.78023))


def padded(reference: tuple[tuple[float, float], ...], padding: float) -> tuple[tuple[float, float], ...]:
    """The same points with a margin of `padding` sides around, as dlib counts it."""
    return tuple(((x + padding) / (1 + 2 * padding), (y + padding) / (1 + 2 * padding)) for x, y in reference)


def chip(frame: Tensor, points: Tensor, reference: tuple[tuple[float, float], ...], size: int) -> Tensor:
    """The face of `frame`, uint8 `[3, H, W]`, its `points` `[5, 2]` (x, y) brought to the reference: `[3, size, size]`.

    What lies outside the frame is black. A large face is shrunk by area first: sampling it at a few points would alias.
    """
    matrix = similarity(points.double(), torch.tensor(reference, dtype=torch.double) * size)
    image = frame.permute(1, 2, 0).numpy()
    scale = float(matrix[:, :2].det().sqrt())
    if scale < 0.5:
        height, width = (max(1, round(side * 2 * scale)) for side in image.shape[:2])
        ratio = torch.tensor([image.shape[1] / width, image.shape[0] / height], dtype=torch.double)
        image = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
        matrix = torch.cat([matrix[:, :2] * ratio, matrix[:, 2:]], 1)
    turned = cv2.warpAffine(np.ascontiguousarray(image), matrix.numpy(), (size, size), flags=cv2.INTER_LINEAR)
    return torch.from_numpy(turned).permute(2, 0, 1)


def similarity(points: Tensor, reference: Tensor) -> Tensor:
    """The `[2, 3]` turn, scale and shift, without mirroring, that brings points nearest to the reference.

    Least squares: as complex numbers, reference = a * points + b.
    """
    centre, target = points.mean(0), reference.mean(0)
    p, r = (torch.view_as_complex((xy - xy.mean(0)).contiguous()) for xy in (points, reference))
    a = (p.conj() * r).sum() / (p.abs().square().sum() + 1e-12)
    turn = torch.stack([torch.stack([a.real, -a.imag]), torch.stack([a.imag, a.real])])
    return torch.cat([turn, (target - turn @ centre)[:, None]], 1)
