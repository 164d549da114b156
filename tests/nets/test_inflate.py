"""An image transformer's file, as DeiT's release and as transformers would write it, into a video transformer."""

import pytest
import torch
from safetensors.torch import save_file

from actonym.errors import UserError
from actonym.nets.encoder import IMAGENET
from actonym.nets.inflate import load_image_weights
from actonym.nets.recognizers import build
from actonym.nets.vit import VideoViT
from actonym.video.transform import normalize

DIM = 192


@pytest.fixture
def vit():
    return VideoViT(4, "tiny", frames=4, side=32, tubelet=(2, 16, 16))


def released(layers=12, dim=DIM, side=4):
    torch.manual_seed(0)
    state = {
        "cls_token": torch.randn(1, 1, dim),
        "pos_embed": torch.randn(1, 1 + side * side, dim),
        "patch_embed.proj.weight": torch.randn(dim, 3, 16, 16),
        "patch_embed.proj.bias": torch.randn(dim),
        "norm.weight": torch.randn(dim),
        "norm.bias": torch.randn(dim),
        "head.weight": torch.randn(1000, dim),
    }
    shapes = {"norm1": (dim,), "attn.qkv": (3 * dim, dim), "attn.proj": (dim, dim), "norm2": (dim,)}
    shapes |= {"mlp.fc1": (4 * dim, dim), "mlp.fc2": (dim, 4 * dim)}
    for number in range(layers):
        for name, shape in shapes.items():
            state[f"blocks.{number}.{name}.weight"] = torch.randn(shape)
            state[f"blocks.{number}.{name}.bias"] = torch.randn(shape[0])
    return state


def of_transformers(state):
    """The same weights under the names that transformers gives them."""
    new = {
        "vit.embeddings.patch_embeddings.projection.weight": state["patch_embed.proj.weight"],
        "vit.embeddings.patch_embeddings.projection.bias": state["patch_embed.proj.bias"],
        "vit.embeddings.position_embeddings": state["pos_embed"],
        "vit.layernorm.weight": state["norm.weight"],
        "vit.layernorm.bias": state["norm.bias"],
    }
    names = {"norm1": "layernorm_before", "attn.proj": "attention.output.dense", "norm2": "layernorm_after"}
    names |= {"mlp.fc1": "intermediate.dense", "mlp.fc2": "output.dense"}
    for key, value in state.items():
        if not key.startswith("blocks."):
            continue
        _, number, *middle, kind = key.split(".")
        begin, part = f"vit.encoder.layer.{number}.", ".".join(middle)
        if part == "attn.qkv":
            for word, third in zip(("query", "key", "value"), value.chunk(3), strict=True):
                new[f"{begin}attention.attention.{word}.{kind}"] = third.clone()
        else:
            new[f"{begin}{names[part]}.{kind}"] = value
    return new


def load(vit, state, path):
    save_file(state, path)
    position = torch.nn.Parameter(vit.position.detach().view(1, 2, 4, DIM).clone())
    load_image_weights(path, vit.tubelets, position, list(vit.layers), vit.norm)
    return position


@pytest.mark.parametrize("names", [dict, of_transformers])
def test_weights_are_stretched_in_time(vit, tmp_path, names):
    state = released()
    position = load(vit, names(state), tmp_path / "image.safetensors")
    still = torch.rand(1, 3, 1, 16, 16).expand(-1, -1, 2, -1, -1)
    seen = normalize(still, *IMAGENET)[:, :, 0]
    image = torch.nn.functional.conv2d(seen, state["patch_embed.proj.weight"], state["patch_embed.proj.bias"])
    assert torch.allclose(vit.tubelets(still * 2 - 1)[0, 0], image.flatten(), atol=1e-3), "a still video is the image"
    assert torch.equal(vit.norm.bias, state["norm.bias"])
    assert torch.equal(vit.layers[11].attention.qkv.weight, state["blocks.11.attn.qkv.weight"])
    assert torch.equal(vit.layers[3].mlp[2].bias, state["blocks.3.mlp.fc2.bias"])
    assert torch.equal(position[:, 0], position[:, 1]), "positions are the same at all times"


def test_colours_are_those_that_the_image_transformer_has_seen(vit, tmp_path):
    (tmp_path / "preprocessor_config.json").write_text('{"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}')
    state = released()
    load(vit, state, tmp_path / "image.safetensors")
    kernel = vit.tubelets.project.weight
    assert torch.allclose(kernel[:, :, 0] * 2, state["patch_embed.proj.weight"]), "they are as ours: nothing to change"
    assert torch.allclose(vit.tubelets.project.bias, state["patch_embed.proj.bias"])
    (tmp_path / "preprocessor_config.json").write_text('{"size": 224}')
    with pytest.raises(UserError, match="does not say which colours"):
        load(vit, state, tmp_path / "image.safetensors")


def test_positions_of_the_same_grid_are_taken_as_they_are(vit, tmp_path):
    state = released(side=2)
    state["pos_embed"] = torch.randn(1, 6, DIM)  # DeiT with its distillation token
    position = load(vit, state, tmp_path / "image.safetensors")
    assert torch.equal(position[0, 0], state["pos_embed"][0, 2:])


def test_other_files_are_refused(vit, tmp_path):
    with pytest.raises(UserError, match=r"of 12 layers: it has no 'norm1.weight'"):
        load(vit, released(layers=5), tmp_path / "short.safetensors")
    with pytest.raises(UserError, match="another size"):
        load(vit, released(dim=96), tmp_path / "small.safetensors")


def test_a_recognizer_begins_with_images(tmp_path):
    save_file(released(), tmp_path / "vit.safetensors")
    fresh, begun = (build("vit-tiny", 4, 16, 32, images) for images in (None, str(tmp_path / "vit.safetensors")))
    state = released()
    assert torch.equal(begun.layers[3].mlp[0].weight, state["blocks.3.mlp.fc1.weight"])
    rows = begun.position.unflatten(1, (8, -1))
    assert torch.equal(rows[:, 0], rows[:, 7]) and not torch.equal(begun.position, fresh.position)
    assert build("frame", 4, 16, 32, "nowhere"), "other networks have no use for them"
