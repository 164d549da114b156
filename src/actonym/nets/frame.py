"""A 2-D CNN that looks at each frame by itself."""

import torch
from torch import Tensor, nn


class FrameNet(nn.Module):
    """Frames are seen one by one; what was seen is pooled over place and time. One frame makes it a frame-level net."""

    def __init__(self, outputs: int, widths: tuple[int, ...] = (24, 48, 64, 96), inputs: int = 3) -> None:
        super().__init__()
        pairs = list(zip((inputs, *widths), widths, strict=False))
        self.layers = nn.Sequential(*(_layer(i, o, 5 if i == inputs else 3) for i, o in pairs))
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(2 * widths[-1], outputs)

    def forward(self, clip: Tensor) -> Tensor:
        return self.head(self.drop(self.pooled(clip)))

    def pooled(self, clip: Tensor) -> Tensor:
        """Mean and maximum of each channel of the last layer."""
        b, c, t, h, w = clip.shape
        frames = clip.transpose(1, 2).reshape(b * t, c, h, w) * 2 - 1
        x = self.layers(frames.contiguous(memory_format=torch.channels_last))  # a third faster on a processor
        mean, most = (pool((2, 3)).view(b, t, -1) for pool in (x.mean, x.amax))
        return torch.cat([mean.mean(1), most.amax(1)], 1)


class ContrastNet(nn.Module):
    """A FrameNet behind a batch norm of every pixel: what all videos have in common is gone, faint traces are loud.

    The attacker for anonymizers that lay one picture over everything.
    """

    def __init__(self, outputs: int, side: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3 * side * side, affine=False)
        self.net = FrameNet(outputs)

    def forward(self, clip: Tensor) -> Tensor:
        frames = clip.transpose(1, 2)
        loud = self.norm(frames.flatten(0, 1).flatten(1)).view_as(frames)
        return self.net((loud.transpose(1, 2) + 1) / 2)  # which expects 0..1


class MovingNet(nn.Module):
    """A FrameNet that sees some frames of a clip, and beside each what in it differs from the clip's mean.

    The attacker for anonymizers that cover a clip with what holds still: there it is gone, and what moves is loud.
    """

    def __init__(self, outputs: int, learned: int = 2, tested: int = 4, gain: float = 2.0) -> None:
        """It learns from `learned` frames, drawn anew each time, and is tested on `tested`, evenly spaced."""
        super().__init__()
        self.learned, self.tested, self.gain = learned, tested, gain
        self.net = FrameNet(outputs, inputs=6)

    def forward(self, clip: Tensor) -> Tensor:
        count = clip.shape[2]
        if self.training:
            some = torch.randint(count, (self.learned,), device=clip.device)
        else:
            some = ((torch.arange(self.tested, device=clip.device) + 0.5) * count / self.tested).long()
        moving = (clip[:, :, some] - clip.mean(2, keepdim=True)) * self.gain + 0.5  # a FrameNet expects 0..1
        return self.net(torch.cat([clip[:, :, some], moving], 1))


def _layer(inputs: int, outputs: int, kernel: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, 2, kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )
