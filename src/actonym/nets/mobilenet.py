"""MobileNetV2 (Sandler et al., CVPR 2018) on frames, with torchvision's key names: its checkpoints load strictly."""

from torch import Tensor, nn

DIM = 1280
# How many times a block widens, its outputs, how many of these blocks there are, the stride of the first.
BLOCKS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def _unit(inputs: int, outputs: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution, batch norm, ReLU that ends at 6."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(inplace=True),
    )


class Inverted(nn.Module):
    """Wide in the middle, where each channel is convolved by itself; a shortcut joins the narrow ends."""

    def __init__(self, inputs: int, outputs: int, stride: int, widen: int) -> None:
        super().__init__()
        middle = inputs * widen
        first = [] if widen == 1 else [_unit(inputs, middle)]
        last = [nn.Conv2d(middle, outputs, 1, bias=False), nn.BatchNorm2d(outputs)]
        self.conv = nn.Sequential(*first, _unit(middle, middle, 3, stride, middle), *last)
        self.shortcut = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.shortcut else self.conv(x)


class MobileNetV2(nn.Module):
    """Of a clip `[B, 3, T, H, W]` each frame is seen by itself, then averaged; to logits."""

    def __init__(self, outputs: int = 1000) -> None:
        super().__init__()
        layers: list[nn.Module] = [_unit(3, 32, 3, 2)]
        inputs = 32
        for widen, width, count, stride in BLOCKS:
            for number in range(count):
                layers.append(Inverted(inputs, width, stride if number == 0 else 1, widen))
                inputs = width
        self.features = nn.Sequential(*layers, _unit(inputs, DIM))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(DIM, outputs))

    def forward(self, clip: Tensor) -> Tensor:
        b, c, t, h, w = clip.shape
        frames = clip.transpose(1, 2).reshape(b * t, c, h, w)  # time before colour first
        return self.classifier(self.features(frames).mean((2, 3)).view(b, t, -1).mean(1))
