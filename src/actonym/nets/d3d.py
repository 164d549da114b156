"""A small, fast 3-D CNN that learns on a CPU in a minute or two."""

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

FLAT = 2e-3  # squared brightness slope below which a place is too flat to see where it moves
FASTEST = 3.0  # pixels per frame; what looks faster is an artefact of a weak slope


class D3D(nn.Module):
    """Looks at how things move (`see="motion"`), at the colours, or at both.

    On small data motion is learned several times faster when its direction is handed to the network than when it has
    to multiply slopes in space and time by itself. The first layer works on blocks of `block` x `block` pixels folded
    into channels: with three channels a convolution would leave the processor idle, with 48 it does not.
    """

    def __init__(
        self, outputs: int, see: str = "motion", widths: tuple[int, int, int] = (32, 48, 96), block: int = 4
    ) -> None:
        super().__init__()
        if see not in ("motion", "colour", "both"):
            raise ValueError(f"see must be motion, colour or both, not {see!r}")
        self.see, self.block = see, block
        inputs = 3 * block**2 * (2 if see == "both" else 1)
        first, second, third = widths
        self.layers = nn.Sequential(
            _layer(inputs, first, (3, 1, 1), (2, 1, 1)),
            _layer(first, second, (3, 3, 3), (2, 2, 2)),
            _layer(second, third, (3, 3, 3), (1, 2, 2)),
        )
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(2 * third, outputs)

    def forward(self, clip: Tensor) -> Tensor:
        seen = []
        if self.see != "colour":
            seen.append(motion(clip))
        if self.see != "motion":
            seen.append(4 * clip[:, :, 1:] - 2)
        x = self.layers(fold(torch.cat(seen, 1) if len(seen) > 1 else seen[0], self.block))
        pooled = torch.cat([x.mean((2, 3, 4)), x.amax((2, 3, 4))], 1)
        return self.head(self.drop(pooled))


def motion(clip: Tensor) -> Tensor:
    """Normal flow to the right and down, and the change of brightness: `[B, 3, T - 1, H, W]`.

    A place of brightness I that moves with velocity v changes by -grad(I) . v per frame, so along its slope it moves
    by -I_t grad(I) / |grad(I)|^2: the part of the optical flow that can be seen locally.
    """
    grey = clip.mean(1, keepdim=True)
    change = grey[:, :, 1:] - grey[:, :, :-1]
    middle = pad((grey[:, :, 1:] + grey[:, :, :-1]) / 2, (1, 1, 1, 1, 0, 0), mode="replicate")
    right = (middle[..., 1:-1, 2:] - middle[..., 1:-1, :-2]) / 2
    down = (middle[..., 2:, 1:-1] - middle[..., :-2, 1:-1]) / 2
    speed = -change / (right.square() + down.square() + FLAT)
    flow = torch.cat([speed * right, speed * down], 1).clamp(-FASTEST, FASTEST)
    return torch.cat([flow, 5 * change], 1)  # the change is brought to the range of the flow


def fold(clip: Tensor, block: int) -> Tensor:
    """Blocks of pixels into channels: `[B, C, T, H, W] -> [B, C * block^2, T, H / block, W / block]`."""
    b, c, t, h, w = clip.shape
    if h % block or w % block:
        clip = pad(clip, (0, -w % block, 0, -h % block))
        h, w = clip.shape[-2:]
    blocks = clip.reshape(b, c, t, h // block, block, w // block, block).permute(0, 1, 4, 6, 2, 3, 5)
    return blocks.reshape(b, c * block**2, t, h // block, w // block)


def _layer(inputs: int, outputs: int, kernel: tuple[int, int, int], stride: tuple[int, int, int]) -> nn.Sequential:
    padding = (kernel[0] // 2, kernel[1] // 2, kernel[2] // 2)
    return nn.Sequential(
        nn.Conv3d(inputs, outputs, kernel, stride, padding, bias=False),
        nn.BatchNorm3d(outputs),
        nn.ReLU(inplace=True),
    )
