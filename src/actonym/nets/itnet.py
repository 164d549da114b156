"""The image transformation network of fast style transfer (Johnson et al., ECCV 2016), VITA's anonymizer."""

from itertools import product
from typing import cast

import torch
from torch import Tensor, nn

MULTIPLE = 4
LIFT = 3.0  # in standard deviations of the frame: nearly nothing is cut off
CONTRAST = 1.0  # of the picture that is shown, before the sigmoid
SMALL = 0.3  # factor on what else there is
FAINT = 0.1  # what a residual block adds, in the same measure


class ITNet(nn.Module):
    """Images `[N, 3, H, W]`, sides multiples of 4, to images in 0..1.

    conv9-32, conv3/2-64, conv3/2-128, five residual blocks, two up-convolutions, conv9-3; instance norm throughout.
    """

    def __init__(self, width: int = 32, blocks: int = 5, kernel: int = 9) -> None:
        """`kernel`: of the first and the last convolution, odd."""
        super().__init__()
        if kernel % 2 == 0:
            raise ValueError(f"kernel must be odd, not {kernel}")
        self.layers = nn.Sequential(
            *_conv(3, width, kernel, 1),
            *_conv(width, 2 * width, 3, 2),
            *_conv(2 * width, 4 * width, 3, 2),
            *(Residual(4 * width) for _ in range(blocks)),
            *_up(4 * width, 2 * width),
            *_up(2 * width, width),
            nn.Conv2d(width, 3, kernel, padding=kernel // 2, padding_mode="reflect"),
            nn.Sigmoid(),
        )

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(images)

    def start_as_identity(self) -> None:
        """Show the picture's brightness, at a contrast of its own, from the start (ours).

        Without connections across its waist the network needs thousands of steps until it shows anything sharp. Both
        ways down sort the pixels of 2 x 2 blocks into channels, both ways up sort them back; instance norm takes away
        mean and contrast of the frame on the way. What else there is stays as it was drawn, but smaller.
        """
        convs = [layer for layer in self.layers if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d))]
        first, halve, quarter, double, full, last = convs
        with torch.no_grad():
            for conv in convs:
                conv.weight.mul_(SMALL)
            nn.init.zeros_(cast("nn.Parameter", last.bias))
            middle = first.kernel_size[0] // 2
            first.weight[0] = 0.0
            first.weight[0, :, middle, middle] = 1 / 3
            for conv, inputs in ((halve, 1), (quarter, 4)):
                for channel, (source, down, across) in enumerate(product(range(inputs), (0, 1), (0, 1))):
                    conv.weight[channel] = 0.0
                    conv.weight[channel, source, 1 + down, 1 + across] = 1.0
            for conv, outputs in ((double, 4), (full, 1)):
                conv.weight[:, :outputs] = 0.0
                for channel, (target, down, across) in enumerate(product(range(outputs), (0, 1), (0, 1))):
                    conv.weight[channel, target, 1 + down, 1 + across] = 1.0
            last.weight[:, 0] = 0.0
            last.weight[:, 0, middle, middle] = CONTRAST
            norms = [layer for layer in self.layers if isinstance(layer, nn.InstanceNorm2d)]
            for norm, used in zip(norms, (1, 4, 16, 4, 1), strict=True):
                norm.bias[:used] = LIFT
            cast("nn.Parameter", last.bias).sub_(CONTRAST * LIFT)
            for block in self.layers:
                if isinstance(block, Residual):
                    nn.init.constant_(cast("nn.InstanceNorm2d", block.layers[-1]).weight, FAINT)


class Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*_conv(width, width, 3, 1), *_conv(width, width, 3, 1)[:-1])

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x)


def _conv(inputs: int, outputs: int, kernel: int, stride: int) -> list[nn.Module]:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False, padding_mode="reflect")
    return [conv, nn.InstanceNorm2d(outputs, affine=True), nn.ReLU(inplace=True)]


def _up(inputs: int, outputs: int) -> list[nn.Module]:
    conv = nn.ConvTranspose2d(inputs, outputs, 3, 2, 1, 1, bias=False)
    return [conv, nn.InstanceNorm2d(outputs, affine=True), nn.ReLU(inplace=True)]
