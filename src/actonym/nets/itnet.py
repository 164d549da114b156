"""The image transformation network of fast style transfer (Johnson et al., ECCV 2016), VITA's anonymizer."""

from torch import Tensor, nn

MULTIPLE = 4


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
