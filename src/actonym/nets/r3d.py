"""3-D ResNets, with the key names of their public checkpoints, so that a user's file loads strictly.

R3D-18 and R(2+1)D-18 (Tran et al., CVPR 2018) are named as in torchvision; R3D-50 (Hara et al., CVPR 2018) as in the
release 3D-ResNets-PyTorch, the only public one with that depth.
"""

from torch import Tensor, nn


def _conv(inputs: int, middle: int, outputs: int, stride: int, factored: bool) -> nn.Module:
    """3x3x3, or 1x3x3 to `middle` channels and then 3x1x1."""
    if not factored:
        return nn.Conv3d(inputs, outputs, 3, stride, 1, bias=False)
    return nn.Sequential(
        nn.Conv3d(inputs, middle, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias=False),
        nn.BatchNorm3d(middle),
        nn.ReLU(inplace=True),
        nn.Conv3d(middle, outputs, (3, 1, 1), (stride, 1, 1), (1, 0, 0), bias=False),
    )


def _shortcut(inputs: int, outputs: int, stride: int) -> nn.Sequential | None:
    if stride == 1 and inputs == outputs:
        return None
    return nn.Sequential(nn.Conv3d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm3d(outputs))


class Block(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, inputs: int, width: int, stride: int, factored: bool) -> None:
        super().__init__()
        # As many parameters as a 3x3x3 has; torchvision counts them once for both convolutions.
        middle = inputs * width * 27 // (inputs * 9 + 3 * width)
        self.conv1 = nn.Sequential(
            _conv(inputs, middle, width, stride, factored), nn.BatchNorm3d(width), nn.ReLU(inplace=True)
        )
        self.conv2 = nn.Sequential(_conv(width, middle, width, 1, factored), nn.BatchNorm3d(width))
        self.downsample = _shortcut(inputs, width, stride)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv2(self.conv1(x))
        return (y + (x if self.downsample is None else self.downsample(x))).relu_()


class Bottleneck(nn.Module):
    """1x1x1, 3x3x3, 1x1x1 and a shortcut."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv3d(inputs, width, 1, bias=False), nn.BatchNorm3d(width)
        self.conv2, self.bn2 = nn.Conv3d(width, width, 3, stride, 1, bias=False), nn.BatchNorm3d(width)
        self.conv3, self.bn3 = nn.Conv3d(width, 4 * width, 1, bias=False), nn.BatchNorm3d(4 * width)
        self.downsample = _shortcut(inputs, 4 * width, stride)

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn1(self.conv1(x)).relu_()
        y = self.bn2(self.conv2(y)).relu_()
        y = self.bn3(self.conv3(y))
        return (y + (x if self.downsample is None else self.downsample(x))).relu_()


class _Layers(nn.Module):
    """What all of them share: four layers, the mean over place and time, a linear head."""

    fc: nn.Linear

    def _stem(self, clip: Tensor) -> Tensor:
        raise NotImplementedError

    def features(self, clip: Tensor) -> Tensor:
        x = self._stem(clip)
        for number in range(1, 5):
            x = self.get_submodule(f"layer{number}")(x)
        return x.mean((2, 3, 4))

    def forward(self, clip: Tensor) -> Tensor:
        return self.fc(self.features(clip))


class R3D18(_Layers):
    """R3D-18, or R(2+1)D-18 if `factored`. Clip of 112x112 to logits; 512 features."""

    dim = 512

    def __init__(self, outputs: int = 400, factored: bool = False) -> None:
        super().__init__()
        if factored:
            self.stem = nn.Sequential(
                nn.Conv3d(3, 45, (1, 7, 7), (1, 2, 2), (0, 3, 3), bias=False),
                nn.BatchNorm3d(45),
                nn.ReLU(inplace=True),
                nn.Conv3d(45, 64, (3, 1, 1), 1, (1, 0, 0), bias=False),
            )
        else:
            self.stem = nn.Sequential(nn.Conv3d(3, 64, (3, 7, 7), (1, 2, 2), (1, 3, 3), bias=False))
        self.stem.extend([nn.BatchNorm3d(64), nn.ReLU(inplace=True)])
        inputs = 64
        for number, width in enumerate((64, 128, 256, 512), 1):
            first = Block(inputs, width, 1 if number == 1 else 2, factored)
            self.add_module(f"layer{number}", nn.Sequential(first, Block(width, width, 1, factored)))
            inputs = width
        self.fc = nn.Linear(self.dim, outputs)

    def _stem(self, clip: Tensor) -> Tensor:
        return self.stem(clip)


class R3D50(_Layers):
    """R3D-50. Clip of 112x112 to logits; 2048 features."""

    dim = 2048

    def __init__(self, outputs: int = 700) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv3d(3, 64, 7, (1, 2, 2), 3, bias=False), nn.BatchNorm3d(64)
        self.pool = nn.MaxPool3d(3, 2, 1)
        inputs = 64
        for number, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3)), 1):
            layer = nn.Sequential()
            for block in range(blocks):
                layer.append(Bottleneck(inputs, width, 2 if number > 1 and block == 0 else 1))
                inputs = 4 * width
            self.add_module(f"layer{number}", layer)
        self.fc = nn.Linear(self.dim, outputs)

    def _stem(self, clip: Tensor) -> Tensor:
        return self.pool(self.bn1(self.conv1(clip)).relu_())
