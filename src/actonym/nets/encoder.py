"""The one interface of pretrained networks that turn clips into features."""

import hashlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from actonym.video.transform import centre_crop, normalize, resize_short

Colours = tuple[Sequence[float], Sequence[float]]  # mean and deviation of each colour

PLAIN: Colours = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
SYMMETRIC: Colours = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))  # 0..1 becomes -1..1
IMAGENET: Colours = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
KINETICS: Colours = ((0.43216, 0.394666, 0.37645), (0.22803, 0.22145, 0.216989))  # torchvision's video networks

PRECISIONS = ("32-true", "bf16-mixed")  # in Lightning Fabric's words


class Encoder(nn.Module):
    """A clip `[B, 3, T, H, W]` in 0..1, of any length and size, to features `[B, dim]`.

    It prepares the clip by itself: the short side to `size`, the square in the middle, the colours as the network's
    training had them. A clip shorter than `frames` repeats its frames; a longer one stays as it is, for thinning it out
    would change the tempo, unless the network takes `exact`-ly so many. The network is frozen and in eval mode;
    gradients still reach the clip. `precision` may be set: bf16-mixed halves the time where the CPU computes in
    bfloat16.
    """

    precision = "32-true"

    def __init__(
        self, network: nn.Module, size: int, frames: int, dim: int, colours: Colours, exact: bool = False
    ) -> None:
        super().__init__()
        self.network: Any = network.eval().requires_grad_(False)
        self.size, self.frames, self.dim, self.colours, self.exact = size, frames, dim, colours, exact

    def prepare(self, clip: Tensor) -> Tensor:
        if self.exact or clip.shape[2] < self.frames:
            clip = spread(clip, self.frames)
        return normalize(centre_crop(resize_short(clip, self.size), self.size), *self.colours)

    def encode(self, clip: Tensor) -> Tensor:
        with torch.autocast(clip.device.type, torch.bfloat16, enabled=self.precision != "32-true"):
            return self.network.features(self.prepare(clip)).float()

    def logits(self, clip: Tensor) -> Tensor:
        """What the network's own classifier says, where it has one."""
        return self.network(self.prepare(clip))

    def forward(self, clip: Tensor) -> Tensor:
        return self.encode(clip)

    def train(self, mode: bool = True) -> "Encoder":
        """Stays in eval mode inside a method that trains: batch statistics must not leak between clips."""
        return super().train(False)


def spread(clip: Tensor, frames: int) -> Tensor:
    """`frames` evenly spaced frames of a clip; a shorter clip repeats its own."""
    length = clip.shape[2]
    if length == frames:
        return clip
    places = (torch.arange(frames, device=clip.device) + 0.5) * length / frames - 0.5
    return clip[:, :, places.round().long().clamp(0, length - 1)]


def weights_hash(network: nn.Module) -> str:
    """SHA-256 of all weights by name."""
    digest = hashlib.sha256()
    for name, value in sorted(network.state_dict().items()):
        digest.update(name.encode() + value.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
