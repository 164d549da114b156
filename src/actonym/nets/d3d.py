"""A small, fast 3-D CNN that learns on a CPU in a minute or two."""

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool3d, interpolate, pad

FLAT = 2e-3  # squared brightness slope below which a place is too flat to see where it moves
FASTEST = 3.0  # pixels per frame; what looks faster is an artefact of a weak slope


class D3D(nn.Module):
    """Looks at how things move (`see="motion"`), at the colours, or at both.

    On small data motion is learned several times faster when its direction is handed to the network than when it has
    to multiply slopes in space and time by itself. It is handed over at three scales: what moves by more than a pixel
    per frame is seen in the coarser ones. Blocks of 2 x 2 pixels are folded into channels: with three channels a
    convolution would leave the processor idle.
    """

    def __init__(self, outputs: int, see: str = "motion", widths: tuple[int, int, int] = (24, 48, 96)) -> None:
        super().__init__()
        if see not in ("motion", "colour", "both"):
            raise ValueError(f"see must be motion, colour or both, not {see!r}")
        self.see = see
        inputs = {"motion": 18, "colour": 12, "both": 30}[see]
        first, second, third = widths
        self.layers = nn.Sequential(
            _layer(inputs, first, (2, 2, 2)),
            _layer(first, second, (2, 2, 2)),
            _layer(second, third, (1, 2, 2)),
        )
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(2 * third, outputs)

    def forward(self, clip: Tensor) -> Tensor:
        return self.head(self.drop(self.pooled(clip)))

    def pooled(self, clip: Tensor) -> Tensor:
        """Mean and maximum of each channel of the last layer."""
        clip = _padded(clip, 4)
        seen = []
        if self.see != "colour":
            grey = clip.mean(1, keepdim=True)
            half, quarter = (avg_pool3d(grey, (1, k, k)) for k in (2, 4))
            seen += [fold(motion(grey)), motion(half), interpolate(motion(quarter), scale_factor=(1, 2, 2))]
        if self.see != "motion":
            seen.append(fold(4 * clip[:, :, 1:] - 2))
        # Channels last: a step takes two thirds of the time on a processor.
        x = self.layers(torch.cat(seen, 1).contiguous(memory_format=torch.channels_last_3d))
        return torch.cat([x.mean((2, 3, 4)), x.amax((2, 3, 4))], 1)


def motion(grey: Tensor) -> Tensor:
    """Normal flow to the right and down, and the change: `[B, 1, T, H, W] -> [B, 3, T - 1, H, W]`.

    What is brighter than its surroundings counts, not what is bright: light that wanders over a scene has no edges.

    A place of brightness I that moves with velocity v changes by -grad(I) . v per frame, so along its slope it moves
    by -I_t grad(I) / |grad(I)|^2: the part of the optical flow that can be seen locally.
    """
    grey = grey - box_sum(grey) / box_sum(torch.ones_like(grey[:1, :1, :1]))
    change = grey[:, :, 1:] - grey[:, :, :-1]
    middle = pad((grey[:, :, 1:] + grey[:, :, :-1]) / 2, (1, 1, 1, 1, 0, 0), mode="replicate")
    right = (middle[..., 1:-1, 2:] - middle[..., 1:-1, :-2]) / 2
    down = (middle[..., 2:, 1:-1] - middle[..., :-2, 1:-1]) / 2
    speed = -change / (right.square() + down.square() + FLAT)
    flow = torch.cat([speed * right, speed * down], 1).clamp(-FASTEST, FASTEST)
    return torch.cat([flow, 5 * change], 1)  # the change is brought to the range of the flow


def box_sum(grey: Tensor, radius: int = 2) -> Tensor:
    """The sum over the square around each pixel, as far as it lies in the frame; some times faster than pooling."""
    for dim, margin in ((-1, (radius, radius, 0, 0)), (-2, (0, 0, radius, radius))):
        size = grey.shape[dim]
        padded = pad(grey, (*margin, 0, 0))
        grey = padded.narrow(dim, 0, size)
        for shift in range(1, 2 * radius + 1):
            grey = grey + padded.narrow(dim, shift, size)
    return grey


def fold(clip: Tensor) -> Tensor:
    """Blocks of 2 x 2 pixels into channels: `[B, C, T, H, W] -> [B, 4 C, T, H / 2, W / 2]`."""
    b, c, t, h, w = clip.shape
    blocks = clip.reshape(b, c, t, h // 2, 2, w // 2, 2).permute(0, 1, 4, 6, 2, 3, 5)
    return blocks.reshape(b, 4 * c, t, h // 2, w // 2)


def _padded(clip: Tensor, multiple: int) -> Tensor:
    """Height and width brought up to a multiple, the last row and column repeated."""
    h, w = clip.shape[-2:]
    return (
        pad(clip, (0, -w % multiple, 0, -h % multiple, 0, 0), mode="replicate")
        if h % multiple or w % multiple
        else clip
    )


def _layer(inputs: int, outputs: int, stride: tuple[int, int, int]) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv3d(inputs, outputs, 3, stride, 1, bias=False),
        nn.BatchNorm3d(outputs),
        nn.ReLU(inplace=True),
    )
