"""I3D on RGB (Carreira and Zisserman, CVPR 2017): Inception-v1 with every kernel inflated in time.

The names of the layers are those of the public torch checkpoints, so that such a file loads strictly. Padding is
TensorFlow's SAME, which puts the odd pixel at the end; colours are expected in -1..1.
"""

from itertools import chain

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool3d, conv3d, linear, max_pool3d, pad

Sides = tuple[int, ...]  # of a box: frames, rows, columns

# Widths of the branches: 1x1, reduced 3x3, 3x3, reduced 3x3 (the original's 5x5), 3x3, after the pool.
MIXED = {
    "Mixed_3b": (64, 96, 128, 16, 32, 32),
    "Mixed_3c": (128, 128, 192, 32, 96, 64),
    "Mixed_4b": (192, 96, 208, 16, 48, 64),
    "Mixed_4c": (160, 112, 224, 24, 64, 64),
    "Mixed_4d": (128, 128, 256, 24, 64, 64),
    "Mixed_4e": (112, 144, 288, 32, 64, 64),
    "Mixed_4f": (256, 160, 320, 32, 128, 128),
    "Mixed_5b": (256, 160, 320, 32, 128, 128),
    "Mixed_5c": (384, 192, 384, 48, 128, 128),
}
# Pools that stand before a module: window and stride.
POOLS: dict[str, tuple[Sides, Sides]] = {
    "Conv3d_2b_1x1": ((1, 3, 3), (1, 2, 2)),
    "Mixed_3b": ((1, 3, 3), (1, 2, 2)),
    "Mixed_4b": ((3, 3, 3), (2, 2, 2)),
    "Mixed_5b": ((2, 2, 2), (2, 2, 2)),
}
DIM = 1024


class Unit(nn.Module):
    """Convolution, batch norm, ReLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, stride: int = 1) -> None:
        super().__init__()
        self.conv3d = nn.Conv3d(inputs, outputs, kernel, stride, kernel // 2 if stride == 1 else 0, bias=False)
        self.bn = nn.BatchNorm3d(outputs, eps=1e-3, momentum=0.001)

    def forward(self, x: Tensor) -> Tensor:
        conv = self.conv3d
        if conv.stride[0] > 1:  # at stride 1 the padding is the same on both sides, and the convolution's own
            x = same(x, conv.kernel_size, conv.stride)
        if self.training:
            return self.bn(conv(x)).relu_()
        weight, bias = self.folded()
        if conv.kernel_size[0] == 1:  # a product of matrices, which is faster than a convolution of one pixel
            return linear(x.movedim(1, -1), weight.flatten(1), bias).relu_().movedim(-1, 1)
        return conv3d(x, weight, bias, conv.stride, conv.padding).relu_()

    def folded(self) -> tuple[Tensor, Tensor]:
        """Weight and bias of the convolution that does the batch norm's work too, as its statistics stand."""
        mean, variance = self.bn.running_mean, self.bn.running_var
        assert mean is not None and variance is not None
        scale = self.bn.weight / torch.sqrt(variance + self.bn.eps)
        return self.conv3d.weight * scale.view(-1, 1, 1, 1, 1), self.bn.bias - mean * scale


class Mixed(nn.Module):
    """Four branches side by side."""

    def __init__(self, inputs: int, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.b0 = Unit(inputs, widths[0])
        self.b1a, self.b1b = Unit(inputs, widths[1]), Unit(widths[1], widths[2], 3)
        self.b2a, self.b2b = Unit(inputs, widths[3]), Unit(widths[3], widths[4], 3)
        self.b3b = Unit(inputs, widths[5])

    def forward(self, x: Tensor) -> Tensor:
        pooled = max_pool3d(x, 3, 1, 1)
        x = torch.cat([self.b0(x), self.b1b(self.b1a(x)), self.b2b(self.b2a(x)), self.b3b(pooled)], 1)
        return x.contiguous(memory_format=torch.channels_last_3d)


class Logits(nn.Module):
    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.conv3d = nn.Conv3d(DIM, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv3d(x)


class I3D(nn.Module):
    """A clip in -1..1, at best 16 or more frames of 224x224, to logits; `features` is what the last layer sees."""

    def __init__(self, outputs: int = 400, dropout: float = 0.5) -> None:
        super().__init__()
        self.Conv3d_1a_7x7 = Unit(3, 64, 7, 2)
        self.Conv3d_2b_1x1 = Unit(64, 64)
        self.Conv3d_2c_3x3 = Unit(64, 192, 3)
        inputs = 192
        for name, widths in MIXED.items():
            self.add_module(name, Mixed(inputs, widths))
            inputs = widths[0] + widths[2] + widths[4] + widths[5]
        self.drop = nn.Dropout(dropout)
        self.logits = Logits(outputs)

    def end_points(self, clip: Tensor, last: str = "Mixed_5c") -> Tensor:
        """The output of the module `last`, `[B, C, T', H', W']`."""
        # Channels last: pools are many times faster so, and a 1x1x1 convolution is a product of matrices as they lie.
        x = self.Conv3d_1a_7x7(clip.contiguous(memory_format=torch.channels_last_3d))
        for name in chain(["Conv3d_2b_1x1", "Conv3d_2c_3x3"], MIXED):
            if name in POOLS:
                x = pool(x, *POOLS[name])
            x = self.get_submodule(name)(x)
            if name == last:
                break
        return x

    def features(self, clip: Tensor) -> Tensor:
        """Pooled as the original pools, `[B, 1024]`: windows of 2x7x7, then the mean. Smaller maps are pooled whole."""
        x = self.end_points(clip)
        window = [min(side, most) for side, most in zip(x.shape[2:], (2, 7, 7), strict=True)]
        return avg_pool3d(x, window, 1).mean((2, 3, 4))

    def forward(self, clip: Tensor) -> Tensor:
        # The last layer is linear, so the mean of its outputs over time is its output for the mean.
        return self.logits(self.drop(self.features(clip))[:, :, None, None, None]).flatten(1)


class I3DRecognizer(nn.Module):
    """I3D that learns, with a linear layer at its end as all recognizers have: a clip in 0..1 to logits."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.body = I3D()
        del self.body.logits
        self.head = nn.Linear(DIM, outputs)

    def forward(self, clip: Tensor) -> Tensor:
        return self.head(self.body.drop(self.body.features(clip * 2 - 1)))


def same(x: Tensor, kernel: Sides, stride: Sides) -> Tensor:
    """Padded with zeros as TensorFlow does."""
    sides: list[int] = []
    for total in reversed(padding(x, kernel, stride)):  # `pad` wants the last side first
        sides += [total // 2, total - total // 2]
    return pad(x, sides) if any(sides) else x


def pool(x: Tensor, kernel: Sides, stride: Sides) -> Tensor:
    """The maximum as TensorFlow's SAME takes it: `ceil_mode` is its odd pixel at the end, without a copy of `x`."""
    return max_pool3d(x, kernel, stride, [total // 2 for total in padding(x, kernel, stride)], ceil_mode=True)


def padding(x: Tensor, kernel: Sides, stride: Sides) -> list[int]:
    """How many pixels each side of `x` lacks for an output of one pixel per stride."""
    lengths = zip(x.shape[2:], kernel, stride, strict=True)
    return [max((-(-length // s) - 1) * s + k - length, 0) for length, k, s in lengths]
