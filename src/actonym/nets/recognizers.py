"""Networks that predict actions or attributes, by the names that presets and results use."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

from torch import nn

from actonym.errors import unknown
from actonym.nets.d3d import D3D
from actonym.nets.frame import ContrastNet, FrameNet, MovingNet
from actonym.nets.i3d import I3DRecognizer
from actonym.nets.inflate import load_image_weights
from actonym.nets.mobilenet import MobileNetV2
from actonym.nets.r3d import R3D18, R3D50
from actonym.nets.resnet import ResNet50
from actonym.nets.vit import Layer, VideoViT

# outputs, frames, side -> network that maps a clip [B, 3, T, H, W] in 0..1 to logits [B, outputs]
Build = Callable[[int, int, int], nn.Module]


def _vit(size: str, outputs: int, frames: int, side: int) -> nn.Module:
    """The papers' tubelet of 2x16x16 at 112 pixels; half as large at half the size, so that tokens stay as many."""
    patch = 16 if side >= 96 else 8
    return VideoViT(outputs, size, frames, side, (2 if frames % 2 == 0 else 1, patch, patch))


NETS: dict[str, Build] = {
    "d3d": lambda outputs, frames, side: D3D(outputs, "motion"),
    "d3d-colour": lambda outputs, frames, side: D3D(outputs, "colour"),
    "d3d-both": lambda outputs, frames, side: D3D(outputs, "both"),
    "d3d-wide": lambda outputs, frames, side: D3D(outputs, "both", (48, 96, 160)),
    "frame": lambda outputs, frames, side: FrameNet(outputs),
    "frame-narrow": lambda outputs, frames, side: FrameNet(outputs, (12, 24, 32, 48)),
    "frame-wide": lambda outputs, frames, side: FrameNet(outputs, (48, 96, 128, 192)),
    "frame-shallow": lambda outputs, frames, side: FrameNet(outputs, (32, 64)),
    "frame-deep": lambda outputs, frames, side: FrameNet(outputs, (24, 48, 64, 96, 128)),
    "frame-contrast": lambda outputs, frames, side: ContrastNet(outputs, side),
    "moving": lambda outputs, frames, side: MovingNet(outputs),
    "mobilenet": lambda outputs, frames, side: MobileNetV2(outputs),
    "resnet50": lambda outputs, frames, side: ResNet50(outputs),
    "i3d": lambda outputs, frames, side: I3DRecognizer(outputs),
    "r3d18": lambda outputs, frames, side: R3D18(outputs),
    "r2plus1d18": lambda outputs, frames, side: R3D18(outputs, factored=True),
    "r3d50": lambda outputs, frames, side: R3D50(outputs),
    "vit-tiny": partial(_vit, "tiny"),
    "vit-small": partial(_vit, "small"),
    "vit-base": partial(_vit, "base"),
}


def sees_frames(net: str) -> bool:
    """Whether a network looks at each frame by itself: some of a clip's frames will do."""
    return net.split("-")[0] in ("frame", "mobilenet", "resnet50")


def build(net: str, outputs: int, frames: int, side: int, images: str | None = None) -> nn.Module:
    """A fresh network; a video transformer may begin with the weights of an image transformer, in the file `images`."""
    if net not in NETS:
        raise unknown("network", net, NETS)
    made = NETS[net](outputs, frames, side)
    if images is not None and isinstance(made, VideoViT):
        rows = frames // made.tubelets.project.kernel_size[0]
        position = made.position.detach().unflatten(1, (rows, -1))
        layers = [cast("Layer", layer) for layer in made.layers]
        load_image_weights(Path(images), made.tubelets, position, layers, made.norm)
    return made
