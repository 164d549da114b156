"""Image transformers as the beginning of video transformers: their weights, stretched in time."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from actonym.errors import UserError
from actonym.nets.encoder import IMAGENET, PLAIN, Colours
from actonym.nets.vit import Layer, Tubelets, resize_positions
from actonym.weights.state import state_dict

COLOURS = "preprocessor_config.json"  # beside the weights: what the pictures were like that they learned from
# Names of transformers' ViT and DeiT, in the names of DeiT's own release and timm, which are used below.
RENAMED = (
    (r"^(vit|deit)\.", ""),
    (r"^embeddings\.patch_embeddings\.projection\.", "patch_embed.proj."),
    (r"^embeddings\.position_embeddings$", "pos_embed"),
    (r"^layernorm\.", "norm."),
    (r"^encoder\.layer\.(\d+)\.", r"blocks.\1."),
    (r"\.attention\.output\.dense\.", ".attn.proj."),
    (r"\.attention\.attention\.(query|key|value)\.", r".attn.\1."),
    (r"\.layernorm_before\.", ".norm1."),
    (r"\.layernorm_after\.", ".norm2."),
    (r"\.intermediate\.dense\.", ".mlp.fc1."),
    (r"(blocks\.\d+)\.output\.dense\.", r"\1.mlp.fc2."),
)
OURS = {
    "norm1": "norm1",
    "attn.qkv": "attention.qkv",
    "attn.proj": "attention.out",
    "norm2": "norm2",
    "mlp.fc1": "mlp.0",
    "mlp.fc2": "mlp.2",
}


def load_image_weights(
    path: Path, tubelets: Tubelets, position: Tensor, layers: Sequence[Layer], norm: nn.LayerNorm | None = None
) -> None:
    """Weights of a ViT or DeiT file (its release, timm or transformers) into the parts of a video transformer.

    A tubelet's kernel is the patch's, repeated in time and divided by their number, so that a still video gives what
    the image would. Positions `[1, L, N, D]` are resized to the video's grid and repeated. There is no class token.
    `norm` is the one behind the last layer.

    Our networks see colours from -1 to 1. Those that the image transformer has seen (ImageNet's, as DeiT's, or what a
    `preprocessor_config.json` beside the file says) are worked into the kernel.
    """
    state = _renamed(state_dict(path))
    try:
        patch, bias = _recoloured(state["patch_embed.proj.weight"], state["patch_embed.proj.bias"], _colours(path))
        kernel = _kernel(patch, tubelets.project)
        places = _places(state["pos_embed"], position)
        parts = [_layer(state, number) for number in range(len(layers))]
        last = [state[f"norm.{kind}"] for kind in ("weight", "bias")] if norm is not None else []
    except KeyError as error:
        raise UserError(f"{path} is no image transformer of {len(layers)} layers: it has no {error}") from error
    try:
        with torch.no_grad():
            tubelets.project.weight.copy_(kernel)
            tubelets.project.bias.copy_(bias)  # type: ignore[union-attr]
            position.copy_(places)
            if norm is not None:
                norm.weight.copy_(last[0])
                norm.bias.copy_(last[1])
        for layer, part in zip(layers, parts, strict=True):
            layer.load_state_dict(part)
    except RuntimeError as error:
        raise UserError(f"{path} is of another size: {str(error).splitlines()[-1].strip()}") from error


def _renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    found = {}
    for name, value in state.items():
        for old, new in RENAMED:
            name = re.sub(old, new, name)
        found[name] = value
    return found


def _layer(state: dict[str, Tensor], number: int) -> dict[str, Tensor]:
    """One layer in our names; query, key and value in one matrix."""
    begin = f"blocks.{number}."
    own = {name.removeprefix(begin): value for name, value in state.items() if name.startswith(begin)}
    for kind in ("weight", "bias"):
        if f"attn.query.{kind}" in own:
            own[f"attn.qkv.{kind}"] = torch.cat([own[f"attn.{part}.{kind}"] for part in ("query", "key", "value")])
    return {f"{new}.{kind}": own[f"{old}.{kind}"] for old, new in OURS.items() for kind in ("weight", "bias")}


def _colours(path: Path) -> Colours:
    """Mean and deviation of each colour, with which the image transformer was trained."""
    beside = path.with_name(COLOURS)
    if not beside.is_file():
        return IMAGENET
    try:
        said = json.loads(beside.read_text(encoding="utf-8"))
        return (said["image_mean"], said["image_std"]) if said.get("do_normalize", True) else PLAIN
    except (ValueError, KeyError, AttributeError) as error:
        raise UserError(f"{beside} does not say which colours the images had: {error}") from error


def _recoloured(patch: Tensor, bias: Tensor, colours: Colours) -> tuple[Tensor, Tensor]:
    """The same answer to 2c - 1 as before to (c - mean) / deviation."""
    mean, deviation = (torch.tensor(values).view(1, -1, 1, 1) for values in colours)
    return patch * 0.5 / deviation, bias + (patch * (0.5 - mean) / deviation).sum((1, 2, 3))


def _kernel(patch: Tensor, project: nn.Conv3d) -> Tensor:
    """`[D, 3, h, w]` to `[D, 3, t, h, w]`; resized where the patch has another size."""
    frames, *size = project.kernel_size
    if list(patch.shape[-2:]) != size:
        patch = nn.functional.interpolate(patch, size, mode="bicubic", align_corners=False)
    return patch[:, :, None].repeat(1, 1, frames, 1, 1) / frames


def _places(embedding: Tensor, position: Tensor) -> Tensor:
    """`[1, 1 + n, D]` (or 2 + n, with a distillation token) to `[1, L, N, D]`."""
    tokens = embedding.shape[1]
    side = int((tokens - 1) ** 0.5)
    grid = int(position.shape[2] ** 0.5)
    patches = embedding[:, tokens - side * side :][:, None]
    return resize_positions(patches, (side, side), (grid, grid)).expand(-1, position.shape[1], -1, -1)
