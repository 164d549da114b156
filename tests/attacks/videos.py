"""Small hand-made videos in which a coloured square stands for a face, and networks that see such squares."""

import torch
from torch import Tensor

from actonym import weights
from actonym.errors import UserError
from actonym.nets.centerface import Faces

SIDE = 8


def video(colour, at=(4, 4), frames=4, size=(24, 32)) -> Tensor:
    """uint8 `[3, T, H, W]`: black, and a square of the colour; no square for None."""
    found = torch.zeros(3, frames, *size, dtype=torch.uint8)
    if colour is not None:
        x, y = at
        found[:, :, y : y + SIDE, x : x + SIDE] = torch.tensor(colour, dtype=torch.uint8).view(3, 1, 1, 1)
    return found


def find(frames: Tensor) -> list[Faces]:
    """The box of what is brighter than 99 in any colour, as a face; its five points lie in the middle."""
    found = []
    for frame in frames:
        rows, columns = (frame.amax(0) > 99).nonzero(as_tuple=True)
        if not len(rows):
            found.append(faces())
            continue
        box = [columns.min().item(), rows.min().item(), columns.max().item() + 1, rows.max().item() + 1]
        found.append(faces(box))
    return found


def faces(*boxes) -> Faces:
    corners = torch.tensor(boxes, dtype=torch.float32).view(-1, 4)
    middle = (corners[:, :2] + corners[:, 2:]) / 2
    return Faces(corners, torch.linspace(1, 0.5, len(corners)), middle[:, None].expand(-1, 5, 2))


def embed(frame: Tensor, points: Tensor) -> Tensor:
    """A face is its colour."""
    x, y = points[:, 0].long().T
    return torch.nn.functional.normalize(frame[:, y, x].T.float() + 1e-3, dim=1)


def has(name) -> bool:
    """Whether these weights are in the cache."""
    try:
        weights.path(name)
    except UserError:
        return False
    return True
