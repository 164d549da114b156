"""Where are people? A small segmentation network: MobileNetV2 up to its last but one stage, and a light decoder."""

from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn.functional import interpolate, max_pool2d

from actonym.video.transform import normalize, resize

FOLDER = Path(__file__).parent / "shipped"
WEIGHTS = FOLDER / "person.safetensors"  # made by scripts/train_person.py
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, which the encoder was trained on
SHORT = 160  # short side at which the network looks
LARGE = 480  # a video with a longer short side is looked at twice as large too: people far away are small there
FRAMES = 8  # at once, which bounds the memory

# (widening, channels, blocks, stride) of each stage, table 2 of MobileNetV2 (Sandler et al., CVPR 2018)
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2))
TAPS = (3, 6, 13, 16)  # layers after which the picture is 4, 8, 16 and 32 times smaller
TAP_CHANNELS = (24, 32, 96, 160)


class Bottleneck(nn.Module):
    """An inverted residual block; its keys are torchvision's, so that the public weights load."""

    def __init__(self, inside: int, outside: int, stride: int, widening: int) -> None:
        super().__init__()
        wide = inside * widening
        layers: list[nn.Module] = [] if widening == 1 else [_conv(inside, wide, 1)]
        layers += [_conv(wide, wide, 3, stride, groups=wide)]
        layers += [nn.Conv2d(wide, outside, 1, bias=False), nn.BatchNorm2d(outside)]
        self.conv = nn.Sequential(*layers)
        self.residual = stride == 1 and inside == outside

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.residual else self.conv(x)


class PersonNet(nn.Module):
    """Pictures `[N, 3, H, W]` in 0..1, sides divisible by 32, to logits `[N, 1, H/4, W/4]` of "here is a person"."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        layers: list[nn.Module] = [_conv(3, 32, 3, 2)]
        channels = 32
        for widening, outside, blocks, stride in STAGES:
            for block in range(blocks):
                layers.append(Bottleneck(channels, outside, stride if block == 0 else 1, widening))
                channels = outside
        self.features = nn.Sequential(*layers)
        self.lateral = nn.ModuleList(_conv(channels, width, 1) for channels in TAP_CHANNELS)
        self.whole = nn.Conv2d(TAP_CHANNELS[-1], width, 1)  # what the picture as a whole says
        self.smooth = nn.ModuleList(_separable(width) for _ in TAP_CHANNELS)
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, picture: Tensor) -> Tensor:
        x = normalize(picture[:, :, None], MEAN, STD)[:, :, 0].contiguous(memory_format=torch.channels_last)
        taps = []
        for number, layer in enumerate(self.features):
            x = layer(x)
            if number in TAPS:
                taps.append(x)
        x = self.lateral[-1](x) + self.whole(x.mean((-2, -1), keepdim=True))
        x = self.smooth[-1](x)
        for level in (2, 1, 0):
            x = interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
            x = self.smooth[level](x + self.lateral[level](taps[level]))
        return self.head(x)


@lru_cache(maxsize=2)
def load(device: str = "cpu") -> tuple[PersonNet, float, int]:
    """The network that ships, with its threshold and its dilation, both chosen on films it was not trained on."""
    with safe_open(WEIGHTS, "pt") as file:
        state = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (it is no dictionary)
        said = file.metadata()
    net = PersonNet()
    net.load_state_dict({key: value.float() if value.is_floating_point() else value for key, value in state.items()})
    net = net.to(device, memory_format=torch.channels_last).eval().requires_grad_(False)  # type: ignore[call-overload]
    return net, float(said["threshold"]), int(said["dilation"])


def sizes(height: int, width: int) -> list[tuple[int, int]]:
    """The sizes at which a frame is looked at: the short side fixed, both sides divisible by 32."""
    short = min(height, width)
    scales = [SHORT / short, 2 * SHORT / short] if short > LARGE else [SHORT / short]
    return [(max(1, round(height * k / 32)) * 32, max(1, round(width * k / 32)) * 32) for k in scales]


def look(net: PersonNet, pictures: Tensor) -> list[Tensor]:
    """How likely a person is at each place of pictures `[N, 3, H, W]`: a map `[N, 1, h, w]` for each size looked at."""
    return [net(resize(pictures, size)).sigmoid() for size in sizes(*pictures.shape[-2:])]


def spread(maps: list[Tensor], size: tuple[int, int], dilation: int) -> Tensor:
    """The maps at the pictures' size, `[N, 1, H, W]`; of several the surest counts.

    `dilation` widens people by so many cells of a map, each four pixels of what the network saw.
    """
    wide = [max_pool2d(found, 2 * dilation + 1, 1, dilation) for found in maps]
    return torch.stack([interpolate(found, size, mode="bilinear", align_corners=False) for found in wide]).amax(0)


def find(clip: Tensor) -> Tensor:
    """The finder `person`: `[B, 1, T, H, W]`: 0 nobody, k the k-th person or group of people who touch."""
    net, threshold, dilation = load(str(clip.device))
    pictures = clip.detach().transpose(1, 2).flatten(0, 1)
    parts = []
    with torch.inference_mode():
        for some in pictures.split(FRAMES):
            likely = spread(look(net, some), (clip.shape[-2], clip.shape[-1]), dilation)[:, 0]
            parts += [_numbered(mask) for mask in (likely > threshold).byte().cpu().numpy()]
    b, _, t, h, w = clip.shape
    return torch.from_numpy(np.stack(parts)).view(b, 1, t, h, w).to(clip.device)


def _numbered(mask: np.ndarray) -> np.ndarray:
    return cv2.connectedComponents(mask, ltype=cv2.CV_16U)[1].astype(np.int16)


def _conv(inside: int, outside: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    conv = nn.Conv2d(inside, outside, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outside), nn.ReLU6())


def _separable(width: int) -> nn.Sequential:
    return nn.Sequential(_conv(width, width, 3, groups=width), _conv(width, width, 1))
