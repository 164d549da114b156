"""What becomes of a carried file: the same numbers in torch's layout, the same graph with fewer inputs."""

import pickle

import numpy as np
import torch
from safetensors.torch import load_file

from actonym.weights import convert
from actonym.weights.onnx_inputs import _field, _fields, strike_off


def test_i3d_from_flax(tmp_path):
    rng = np.random.default_rng(0)
    kernel, mean = rng.normal(size=(3, 4, 5, 6, 7)).astype("f"), rng.normal(size=(1, 1, 1, 1, 7)).astype("f")
    tree = {
        "params": {
            "Mixed_3b": {
                "Branch_1/Conv3d_0b_3x3": {"Conv_0": {"kernel": kernel}, "BatchNorm_0": {"bias": mean[0, 0, 0, 0]}}
            },
            "Logits/Conv3d_0c_1x1": {"Conv_0": {"kernel": kernel, "bias": mean[0, 0, 0, 0]}},
        },
        "batch_stats": {"Mixed_3b": {"Branch_1/Conv3d_0b_3x3": {"BatchNorm_0": {"mean": mean, "var": mean**2}}}},
    }
    convert.write("i3d", pickle.dumps(tree), tmp_path / "a.safetensors")
    state = load_file(tmp_path / "a.safetensors")
    weight = state["Mixed_3b.b1b.conv3d.weight"]
    assert weight.shape == (7, 6, 3, 4, 5) and weight[6, 2, 1, 3, 4] == kernel[1, 3, 4, 2, 6]
    assert state["Mixed_3b.b1b.bn.running_var"].shape == (7,) and (state["Mixed_3b.b1b.bn.weight"] == 1).all()
    assert "logits.conv3d.bias" in state and "logits.bn.weight" not in state


def test_torch_state_dicts(tmp_path):
    torch.save({"a": torch.arange(6.0).reshape(2, 3).T}, tmp_path / "a.pth")
    convert.write("torch", (tmp_path / "a.pth").read_bytes(), tmp_path / "a.safetensors")
    assert torch.equal(load_file(tmp_path / "a.safetensors")["a"], torch.arange(6.0).reshape(2, 3).T)


def test_labels_are_read_and_not_executed():
    source = b"raise SystemExit\n_KINETICS400_CATEGORIES = [\n'abseiling',\n \"petting animal (not cat)\"]\n"
    assert convert.labels(source) == b"abseiling\npetting animal (not cat)\n"


def test_only_inputs_that_a_caller_must_give_stay():
    def named(field, name):
        return _field(field, name)

    node = _field(1, named(1, b"packed") + named(1, b"data") + named(2, b"weight"))  # computes `weight`
    initializer = _field(5, b"\x08\x03" + named(8, b"bias")) + _field(
        5, named(8, b"packed")
    )  # a tensor with a number field before its name
    inputs = [_field(11, named(1, name)) for name in (b"data", b"weight", b"bias", b"nobody takes it")]
    output = _field(12, named(1, b"fc1"))
    long = _field(5, named(8, b"big") + _field(9, bytes(300)))
    model = b"\x08\x06" + _field(7, node + initializer + b"".join(inputs) + output + long) + _field(8, b"opset")
    assert strike_off(model) == b"\x08\x06" + _field(7, node + initializer + inputs[0] + output + long) + _field(
        8, b"opset"
    )
    assert strike_off(strike_off(model)) == strike_off(model)
    assert b"".join(raw for _, _, raw in _fields(model)) == model
