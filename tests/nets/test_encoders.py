"""Encoders by name: they prepare clips by themselves, load public key names strictly, and say what is wrong."""

import subprocess
import sys

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from actonym.errors import UserError
from actonym.nets.encoder import IMAGENET, Encoder, spread
from actonym.nets.encoders import KINDS, encoder, shown
from actonym.nets.r3d import R3D18, R3D50
from actonym.nets.resnet import ResNet50


def count(network):
    return sum(parameter.numel() for parameter in network.parameters())


def test_parameter_counts_of_the_public_networks():
    with torch.device("meta"):
        assert count(ResNet50()) == 25_557_032
        assert count(R3D18()) == 33_371_472
        assert count(R3D18(factored=True)) == 31_505_325


def test_key_names_of_the_public_checkpoints():
    with torch.device("meta"):
        resnet, r3d, factored, deep = (set(n.state_dict()) for n in (ResNet50(), R3D18(), R3D18(400, True), R3D50()))
    assert {
        "conv1.weight",
        "bn1.running_mean",
        "layer1.0.downsample.1.bias",
        "layer4.2.conv3.weight",
        "fc.bias",
    } <= resnet
    assert {"stem.0.weight", "stem.1.bias", "layer1.0.conv1.0.weight", "layer2.0.downsample.0.weight"} <= r3d
    assert {
        "stem.3.weight",
        "layer1.0.conv1.0.0.weight",
        "layer1.0.conv1.0.3.weight",
        "layer4.1.conv2.1.bias",
    } <= factored
    assert {"conv1.weight", "layer3.5.bn3.weight", "layer4.0.downsample.0.weight", "fc.weight"} <= deep
    assert len(resnet) == 320 and not any("pool" in key for key in resnet | deep)


class Record(nn.Module):
    def features(self, clip: Tensor) -> Tensor:
        self.seen = clip
        return clip.mean((2, 3, 4))


def test_a_clip_is_prepared_as_the_network_wants_it():
    network = Record()
    encode = Encoder(network, 32, 8, 3, IMAGENET)
    colours = torch.tensor(IMAGENET[0]).view(1, 3, 1, 1, 1) + torch.tensor(IMAGENET[1]).view(1, 3, 1, 1, 1)
    out = encode(colours.expand(2, 3, 5, 40, 90))
    assert network.seen.shape == (2, 3, 8, 32, 32) and torch.allclose(out, torch.ones(2, 3), atol=1e-5)
    encode(torch.rand(1, 3, 9, 32, 32))
    assert network.seen.shape[2] == 9, "a longer clip keeps its tempo"
    Encoder(network, 32, 8, 3, IMAGENET, exact=True)(torch.rand(1, 3, 9, 32, 32))
    assert network.seen.shape[2] == 8
    times = torch.arange(16.0).view(1, 1, 16, 1, 1)
    assert spread(times, 4).flatten().tolist() == [2, 6, 10, 14]
    assert spread(times[:, :, :2], 4).flatten().tolist() == [0, 0, 1, 1]
    assert spread(times, 16) is times


def test_it_stays_frozen_inside_what_trains():
    encode = Encoder(R3D18(5), 32, 8, 512, IMAGENET)
    nn.Sequential(encode).train()
    assert not any(module.training for module in encode.modules())
    clip = torch.rand(1, 3, 8, 32, 32, requires_grad=True)
    encode(clip).sum().backward()
    assert clip.grad is not None and clip.grad.abs().sum() > 0 and all(p.grad is None for p in encode.parameters())


@pytest.mark.parametrize("kind", ["r3d-18", "r2plus1d-18", "r3d-50", "resnet-50"])
@pytest.mark.parametrize("ending", ["safetensors", "pth"])
def test_a_users_file_loads_strictly(tmp_path, kind, ending):
    torch.manual_seed(0)
    network = KINDS[kind].build(11).eval()
    state, path = network.state_dict(), tmp_path / f"a.{ending}"
    if ending == "pth":  # as releases save it: old layout, wrapped, with the names of a parallel module
        wrapped = {"epoch": 1, "state_dict": {f"module.{name}": tensor for name, tensor in state.items()}}
        torch.save(wrapped, path, _use_new_zipfile_serialization=False)
    else:
        save_file(state, path)
    encode = encoder(f"{kind}:{path}")
    clip = torch.rand(1, 3, 4, 48, 64)
    encode.size, encode.frames = 32, 4
    with torch.inference_mode():
        assert torch.allclose(encode(clip), network.features(encode.prepare(clip)), atol=1e-5)
        assert encode(clip).shape == (1, encode.dim) and encode.logits(clip).shape == (1, 11)


def test_half_precision_is_nearly_the_same_and_never_leaves_the_encoder(tmp_path):
    torch.manual_seed(0)
    save_file(KINDS["r3d-18"].build(3).eval().state_dict(), tmp_path / "a.safetensors")
    spec, clip = f"r3d-18:{tmp_path / 'a.safetensors'}", torch.rand(1, 3, 4, 48, 64)
    with torch.inference_mode():
        whole, half = encoder(spec)(clip), encoder(spec, "bf16-mixed")(clip)
    assert half.dtype == torch.float32 and not torch.equal(whole, half)
    assert torch.nn.functional.cosine_similarity(whole, half) > 0.999  # bfloat16 has three decimal digits
    with pytest.raises(UserError, match="precision"):
        encoder(spec, "bf8")


def test_files_that_do_not_fit_are_one_line(tmp_path):
    state = R3D18(3).state_dict()
    del state["layer4.1.conv2.1.bias"]
    save_file(state, tmp_path / "less.safetensors")
    save_file({"a": torch.ones(1)}, tmp_path / "other.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"nothing")
    for name, told in (
        ("less", "layer4.1.conv2.1.bias"),
        ("other", "no fc.weight"),
        ("broken", "damaged"),
        ("no", "no file"),
    ):
        with pytest.raises(UserError, match=told) as error:
            encoder(f"r3d-18:{tmp_path / name}.safetensors")
        assert "\n" not in str(error.value)


def test_names_that_do_not_exist(tmp_path, monkeypatch):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path))
    for spec, told in (
        ("i3dd", "did you mean 'i3d'"),
        ("r3d-18", "r3d-18:path/to/file"),
        ("i3d", "actonym weights pull i3d-kinetics400"),
        (str(tmp_path), "config.json|transformers"),
    ):
        with pytest.raises(UserError, match=told):
            encoder(spec)


def test_results_show_no_place_of_this_machine(tmp_path):
    assert shown("i3d") == "i3d" and shown("hub:MCG-NJU/videomae-base") == "hub:MCG-NJU/videomae-base"
    assert shown(f"i3d:{tmp_path}/mine.pt") == "i3d:mine.pt"
    assert shown(str(tmp_path)) == tmp_path.name and shown(f"hub:{tmp_path}") == f"hub:{tmp_path.name}"


def test_without_transformers_the_extra_is_named():
    code = (
        "import sys; sys.modules['transformers'] = None\n"
        "from actonym.nets.encoders import encoder\n"
        "try: encoder('hub:a/b')\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "UserError" in done.stdout and "actonym[hub]" in done.stdout, done.stderr
