"""What methods that put a 2-D network on every frame have in common."""

from typing import ClassVar

from torch import Tensor, nn

from actonym.methods.base import PixelMethod
from actonym.nets.per_frame import per_frame
from actonym.train.adversarial import Adversarial
from actonym.train.phase import Phase, Recognizers
from actonym.video.transform import resize, resize_short


class PerFrame(PixelMethod):
    """A network from images to images in 0..1, at the short side that it learned on: at another it would be untried."""

    game: ClassVar[type[Adversarial]]

    def __init__(self, net: nn.Module, multiple: int, side: int) -> None:
        """`multiple`: of what the network's sides must be one."""
        super().__init__()
        if not isinstance(side, int) or side < multiple:
            raise ValueError(f"side must be a number of pixels, at least {multiple}, not {side!r}")
        self.net, self.multiple, self.working_size = net, multiple, side

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        assert self.working_size is not None
        small = resize_short(clip, self.working_size)
        return resize(per_frame(self.net, small, self.multiple), (clip.shape[-2], clip.shape[-1])).clamp(0, 1)

    def phases(self, recognizers: Recognizers) -> list[Phase]:
        return self.game(self, recognizers, **self.training_settings).phases()
