"""What methods that cover people have in common: a finder, the shape of what is covered, and how long it is held."""

from torch import Tensor

from actonym.methods.base import PixelMethod
from actonym.nets.finder import TRUTH, held, known, known_shape, regions, shaped

HOLD = 3  # ours: 3 frames before and after, 7 in all, are 0.3 s at 25 frames per second
KNOBS = {
    "finder": "what says where people are: person, face, both, everywhere, or truth (masks that come with the data)",
    "shape": "what is covered: the box around each person, or the person's mask",
    "hold": "frames before and after in which a region stays covered",
}


class Cover(PixelMethod):
    """Covers people and leaves the rest as it is. A long video is covered as if it were one clip: see run/stream.py."""

    def __init__(self, finder: str, shape: str, hold: int) -> None:
        super().__init__()
        if not isinstance(hold, int) or hold < 0:
            raise ValueError(f"hold must be a number of frames, not {hold!r}")
        self.finder = known(finder)
        self.shape = known_shape(shape)
        self.hold = hold

    def regions(self, clip: Tensor) -> Tensor:
        """Where the finder sees somebody, frame by frame: bool `[B, 1, T, H, W]`."""
        return regions(clip, self.finder, self.shape)

    def cover(self, clip: Tensor, region: Tensor) -> Tensor:
        """The clip with `region` covered."""
        raise NotImplementedError

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        """A mask that comes with the data is what the finder `truth` finds, and needs no hold."""
        if mask is not None and self.finder == TRUTH:
            return self.cover(clip, shaped(mask, self.shape))
        return self.cover(clip, held(self.regions(clip), self.hold))
