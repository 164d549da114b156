"""Where are the people? A finder answers with a mask; blur and blacken cover what it finds."""

from collections.abc import Callable

import torch
from torch import Tensor

from actonym import weights
from actonym.errors import UserError, unknown
from actonym.nets import person, yunet

Finder = Callable[[Tensor], Tensor]  # clip [B, 3, T, H, W] -> person mask [B, 1, T, H, W]: 0 nobody, k person k

FINDERS: dict[str, Finder] = {}
TRUTH = "truth"  # the mask that comes with the data, as the stage's does; a person finder where there is none
TOGETHER = {"both": ("person", "face"), TRUTH: ("person",)}  # names for other finders
PULLED = {"face": "yunet"}  # finders whose weights do not ship, and where these are in the catalogue
SHAPES = ("box", "mask")


def finder(name: str) -> Callable[[Finder], Finder]:
    """Decorator: makes a finder known by `name`, as in `blur:finder=name`."""

    def add(find: Finder) -> Finder:
        FINDERS[name] = find
        return find

    return add


@finder("everywhere")
def everywhere(clip: Tensor) -> Tensor:
    """The whole frame. It misses nobody."""
    return torch.ones_like(clip[:, :1])


finder("person")(person.find)
finder("face")(yunet.find)


def regions(clip: Tensor, name: str, shape: str = "box") -> Tensor:
    """What the finder `name` says is to be covered, frame by frame: bool `[B, 1, T, H, W]`."""
    found = torch.zeros_like(clip[:, :1], dtype=torch.bool)
    for part in TOGETHER.get(name, (name,)):
        mask = FINDERS[part](clip)
        if mask.shape != found.shape:
            raise ValueError(f"the finder {part} returned {tuple(mask.shape)} for a clip of {tuple(clip.shape)}")
        found |= shaped(mask, shape)
    return found


def shaped(mask: Tensor, shape: str) -> Tensor:
    """The region of a person mask: the people themselves, or in each frame the bounding box of each person.

    Boxes are what the papers' detectors give.
    """
    if shape == "mask":
        return mask > 0
    boxes = torch.zeros_like(mask, dtype=torch.bool)
    for one in range(1, int(mask.max()) + 1):
        found = mask == one
        rows, columns = found.any(-1, keepdim=True), found.any(-2, keepdim=True)
        boxes |= _between(rows, -2) & _between(columns, -1)
    return boxes


def held(region: Tensor, hold: int, dim: int = 2) -> Tensor:
    """Covered `hold` frames earlier and later too: who is missed for a moment does not flash up."""
    longer = region.clone()
    frames = region.shape[dim]
    for shift in range(1, min(hold, frames - 1) + 1):
        longer.narrow(dim, shift, frames - shift).logical_or_(region.narrow(dim, 0, frames - shift))
        longer.narrow(dim, 0, frames - shift).logical_or_(region.narrow(dim, shift, frames - shift))
    return longer


def known(name: str) -> str:
    """The name of a finder, checked: it exists, and so do its weights."""
    if name not in FINDERS and name not in TOGETHER:
        raise unknown("finder", name, [*FINDERS, *TOGETHER])
    for part in TOGETHER.get(name, (name,)):
        if part in PULLED:
            weights.path(PULLED[part])
    return name


def known_shape(shape: str) -> str:
    if shape not in SHAPES:
        raise UserError(f"shape must be {' or '.join(SHAPES)}, not {shape!r}")
    return shape


def _between(found: Tensor, dim: int) -> Tensor:
    """True from the first to the last True along `dim`."""
    after_first = found.cumsum(dim) > 0
    before_last = found.flip(dim).cumsum(dim).flip(dim) > 0
    return after_first & before_last
