"""TriDet (Shi et al., CVPR 2023): finds when actions begin and end, in features of a whole video.

A pyramid of scalable-granularity perception (SGP) layers, and a trident head on each of its levels: what happens here,
where around here does it start, where does it end, and how much more likely is each distance seen from here.
"""

from dataclasses import dataclass
from math import log

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool1d, pad

from actonym.nets.temporal import ChannelNorm, MaskedConv, MaskedGroupNorm, ScaledDropPath, masked_mean

GATE = 0.1  # ours, see SGP


@dataclass(frozen=True)
class Level:
    """What the head says on one level, for T moments `stride` clips apart; K actions."""

    stride: int
    mask: Tensor  # bool [B, T]
    action: Tensor  # logits [B, T, K]
    start: Tensor  # logits [B, T, K]: does one begin here
    end: Tensor  # logits [B, T, K]
    offset: Tensor  # [B, T, 2, bins + 1]: of the distances to start and end, as seen from the middle

    def distances(self, video: Tensor, moment: Tensor, label: Tensor) -> Tensor:
        """To start and end `[M, 2]`, in strides, of the action `label` around `moment` of `video`, each `[M]`.

        The expectation over relative bins (the paper's equations 5 to 8): the softmax of what the boundary branch says
        of each moment up to `bins` away plus what the centre says of that distance. Beyond the ends of the video the
        boundary branches say 0.
        """
        bins = self.offset.shape[-1] - 1
        near = moment[:, None] + torch.arange(bins + 1, device=moment.device)
        video, label = video[:, None], label[:, None]
        before = pad(self.start, (0, 0, bins, 0))[video, near, label]  # the farthest first
        after = pad(self.end, (0, 0, 0, bins))[video, near, label]
        centre = self.offset[video[:, 0], moment]
        ahead = torch.arange(bins + 1, device=moment.device, dtype=before.dtype)
        to_start = (before + centre[:, 0]).softmax(-1) @ ahead.flip(0)
        to_end = (after + centre[:, 1]).softmax(-1) @ ahead
        return torch.stack([to_start, to_end], -1)


class TriDet(nn.Module):
    """Features `[B, N, D]` and their mask `[B, N]` to the levels of the pyramid, the finest first."""

    def __init__(
        self,
        dim: int,
        classes: int,
        *,
        width: int = 512,
        hidden: int = 768,
        levels: int = 6,
        stem: int = 2,
        window: int = 1,
        k: float = 5,
        bins: int = 16,
        groups: int = 16,
        drop_path: float = 0.1,
        prior: float = 0.01,
        positives: float = 100,
    ) -> None:
        super().__init__()
        self.embed = nn.ModuleList([Layer(dim, width), Layer(width, width)])
        self.stem = nn.ModuleList([SGP(width, hidden, window=1, k=k, groups=groups) for _ in range(stem)])
        self.branch = nn.ModuleList(
            [SGP(width, hidden, window, k, groups, drop_path, halve=True) for _ in range(levels - 1)]
        )
        self.norms = nn.ModuleList([ChannelNorm(width) for _ in range(levels)])
        self.action = Branch(width, classes, prior)
        self.start = Branch(width, classes, prior)
        self.end = Branch(width, classes, prior)
        self.offset = Branch(width, 2 * (bins + 1))
        self.scales = nn.Parameter(torch.ones(levels))
        # A moving average of how many moments of a batch belong to an action: what losses are divided by.
        self.register_buffer("positives", torch.tensor(float(positives)))

    def forward(self, features: Tensor, mask: Tensor) -> list[Level]:
        seen = mask[:, None]
        x = features.transpose(1, 2) * seen
        for layer in self.embed:
            x = layer(x, seen)
        for block in self.stem:
            x, seen = block(x, seen)
        levels = [self._level(0, x, seen)]
        for number, block in enumerate(self.branch, 1):
            x, seen = block(x, seen)
            levels.append(self._level(number, x, seen))
        return levels

    def _level(self, number: int, x: Tensor, mask: Tensor) -> Level:
        x = self.norms[number](x) * mask
        still = x.detach()  # the boundary branches do not move the pyramid
        offset = (self.offset(x, mask) * self.scales[number]).relu().transpose(1, 2)
        action, start, end = self.action(x, mask), self.start(still, mask), self.end(still, mask)
        action, start, end = (out.transpose(1, 2) for out in (action, start, end))
        return Level(2**number, mask[:, 0], action, start, end, offset.unflatten(-1, (2, -1)))


class Layer(nn.Module):
    """Convolution, norm, ReLU."""

    def __init__(self, dim: int, out: int) -> None:
        super().__init__()
        self.conv, self.norm = MaskedConv(dim, out, 3, bias=False), ChannelNorm(out)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.norm(self.conv(x, mask)).relu() * mask


class Branch(nn.Module):
    """Two layers and a convolution, shared by all levels. With `prior`, an action is at first that unlikely."""

    def __init__(self, width: int, outputs: int, prior: float | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(width, width), Layer(width, width)])
        self.last = MaskedConv(width, outputs, 3)
        if prior is not None and self.last.bias is not None:
            nn.init.constant_(self.last.bias, -log((1 - prior) / prior))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)
        return self.last(x, mask)


class SGP(nn.Module):
    """Scalable-granularity perception (equations 2 to 4) and a feed-forward part, each with its residual.

    `phi(x) FC(x) + psi(x) (Conv_w(x) + Conv_kw(x)) + x`: the first term, with phi from the mean over the video, tells
    a moment from the video; the second looks at two windows.

    The release sets all five convolutions to zero for THUMOS14. A product of zeros has no gradient, so they stay zero
    for ever, and what it trains is its feed-forward parts (its issue 37). Ours begins with the same output, the
    residual alone, but learns: the gates phi and psi begin with small random weights, only what they gate with zeros.
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        window: int = 1,
        k: float = 5,
        groups: int = 16,
        drop_path: float = 0.0,
        halve: bool = False,
    ) -> None:
        super().__init__()
        wide = round((window + 1) * k) // 2 * 2 + 1  # odd, and wider than the other window
        self.halve = halve
        self.norm, self.group_norm = ChannelNorm(width), MaskedGroupNorm(groups, width)
        self.psi, self.phi = (
            nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width) for kernel in (window, 1)
        )
        self.fc, self.narrow, self.wide = (
            nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width) for kernel in (1, window, wide)
        )
        self.mlp = nn.Sequential(nn.Conv1d(width, hidden, 1), nn.GELU(), nn.Conv1d(hidden, width, 1))
        self.drop_seen = ScaledDropPath(width, drop_path) if drop_path else nn.Identity()
        self.drop_mlp = ScaledDropPath(width, drop_path) if drop_path else nn.Identity()
        for conv in (self.psi, self.phi, self.fc, self.narrow, self.wide):
            nn.init.normal_(conv.weight, 0, GATE if conv in (self.psi, self.phi) else 0)
        for module in self.modules():
            if isinstance(module, nn.Conv1d) and module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        if self.halve:
            x, mask = max_pool1d(x.masked_fill(~mask, -torch.inf), 3, 2, 1), mask[..., ::2]
            x = x.masked_fill(~mask, 0)
        seen = self.norm(x) * mask
        instant = self.fc(seen) * self.phi(masked_mean(seen, mask)).relu()
        window = (self.narrow(seen) + self.wide(seen)) * self.psi(seen)
        x = (x + self.drop_seen(instant + window + seen)) * mask
        return (x + self.drop_mlp(self.mlp(self.group_norm(x, mask)))) * mask, mask
