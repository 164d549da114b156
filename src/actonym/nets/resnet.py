"""ResNet-50 (He et al., CVPR 2016) on frames, with torchvision's key names, so that its checkpoints load strictly."""

from torch import Tensor, nn

DIM = 2048


class Bottleneck(nn.Module):
    """1x1, 3x3, 1x1; the 3x3 has the stride, as in torchvision (ResNet v1.5)."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.downsample = (
            nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))
            if stride > 1 or inputs != 4 * width
            else None
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn1(self.conv1(x)).relu_()
        y = self.bn2(self.conv2(y)).relu_()
        y = self.bn3(self.conv3(y))
        return (y + (x if self.downsample is None else self.downsample(x))).relu_()


class ResNet50(nn.Module):
    """Images `[B, 3, H, W]` to logits. Of a clip `[B, 3, T, H, W]` each frame is seen by itself, then averaged."""

    def __init__(self, outputs: int = 1000) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        self.pool = nn.MaxPool2d(3, 2, 1)
        inputs = 64
        for number, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3)), 1):
            layer = nn.Sequential()
            for block in range(blocks):
                layer.append(Bottleneck(inputs, width, 2 if number > 1 and block == 0 else 1))
                inputs = 4 * width
            self.add_module(f"layer{number}", layer)
        self.fc = nn.Linear(DIM, outputs)

    def features(self, images: Tensor) -> Tensor:
        if images.dim() == 5:
            b, c, t, h, w = images.shape
            return self.features(images.transpose(1, 2).reshape(b * t, c, h, w)).view(b, t, -1).mean(1)
        x = self.pool(self.bn1(self.conv1(images)).relu_())
        for number in range(1, 5):
            x = self.get_submodule(f"layer{number}")(x)
        return x.mean((2, 3))

    def forward(self, images: Tensor) -> Tensor:
        return self.fc(self.features(images))
