"""Where are the people? A finder answers with a mask; blur and blacken cover what it finds."""

from collections.abc import Callable

import torch
from torch import Tensor

from actonym.errors import unknown

Finder = Callable[[Tensor], Tensor]  # clip [B, 3, T, H, W] -> person mask [B, 1, T, H, W]: 0 nobody, k person k

FINDERS: dict[str, Finder] = {}


def finder(name: str) -> Callable[[Finder], Finder]:
    """Decorator: makes a finder known by `name`, as in `blur:finder=name`."""

    def add(find: Finder) -> Finder:
        FINDERS[name] = find
        return find

    return add


@finder("everywhere")
def everywhere(clip: Tensor) -> Tensor:
    """The whole frame. It misses nobody, so it is the default where nothing better is known."""
    return torch.ones_like(clip[:, :1])


def person_boxes(clip: Tensor, mask: Tensor | None, name: str) -> Tensor:
    """The region to cover: in each frame the bounding box of each person, which is what the papers' detectors give.

    A mask that comes with the data (the stage's truth) goes before the finder.
    """
    if mask is None:
        mask = FINDERS[name](clip)
    boxes = torch.zeros_like(mask, dtype=torch.bool)
    for person in range(1, int(mask.max()) + 1):
        found = mask == person
        rows, columns = found.any(-1, keepdim=True), found.any(-2, keepdim=True)
        boxes |= _between(rows, -2) & _between(columns, -1)
    return boxes


def known(name: str) -> str:
    """The name of a finder, checked."""
    if name not in FINDERS:
        raise unknown("finder", name, FINDERS)
    return name


def _between(found: Tensor, dim: int) -> Tensor:
    """True from the first to the last True along `dim`."""
    after_first = found.cumsum(dim) > 0
    before_last = found.flip(dim).cumsum(dim).flip(dim) > 0
    return after_first & before_last
