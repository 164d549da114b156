"""What becomes of a carried file in the cache: safetensors from pickles, ONNX and other files as they are."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from actonym.weights.onnx_inputs import strike_off
from actonym.weights.torch_pickle import torch_pickle
from actonym.weights.unpickle import numpy_pickle

State = dict[str, Tensor]

# Branches of an Inception module: Flax name -> the name in public torch checkpoints of I3D.
BRANCHES = {
    "Branch_0/Conv3d_0a_1x1": "b0",
    "Branch_1/Conv3d_0a_1x1": "b1a",
    "Branch_1/Conv3d_0b_3x3": "b1b",
    "Branch_2/Conv3d_0a_1x1": "b2a",
    "Branch_2/Conv3d_0b_3x3": "b2b",
    "Branch_3/Conv3d_0b_1x1": "b3b",
    "Logits/Conv3d_0c_1x1": "logits",
}
LEAVES = {
    ("Conv_0", "kernel"): "conv3d.weight",
    ("Conv_0", "bias"): "conv3d.bias",
    ("BatchNorm_0", "bias"): "bn.bias",
    ("BatchNorm_0", "mean"): "bn.running_mean",
    ("BatchNorm_0", "var"): "bn.running_var",
}
# Where the convolutions of VGG-16 stand among torchvision's `features`.
VGG16_CONVOLUTIONS = (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)


def i3d(data: bytes) -> State:
    """I3D from Flax. The batch norms have no scale there; ours get ones, which is the same arithmetic."""
    state: State = {}
    for collection in numpy_pickle(data).values():  # params and batch_stats, by the same names
        for keys, array in _leaves(collection):
            *modules, layer, leaf = keys
            name = ".".join([*(BRANCHES.get(module, module) for module in modules), LEAVES[layer, leaf]])
            state[name] = _kernel(array.reshape(-1) if layer == "BatchNorm_0" else array)
    for name in [name for name in state if name.endswith("bn.bias")]:
        state[name.replace("bn.bias", "bn.weight")] = torch.ones_like(state[name])
        state[name.replace("bn.bias", "bn.num_batches_tracked")] = torch.tensor(0)
    return state


def vgg16(data: bytes) -> State:
    """VGG-16 and LPIPS heads from Flax, where they are numbered in order of use."""
    tree = numpy_pickle(data)
    network = tree["VGG16_0"]
    state: State = {}
    for number, place in enumerate(VGG16_CONVOLUTIONS):
        layer = network[f"Conv_{number}"]
        state[f"features.{place}.weight"], state[f"features.{place}.bias"] = map(
            _kernel, (layer["kernel"], layer["bias"])
        )
    for number in range(5):
        state[f"lin{number}.weight"] = _kernel(tree[f"NetLinLayer_{number}"]["Conv_0"]["kernel"])
    return state


def torch_state(data: bytes) -> State:
    """A state dict of torch."""
    return {name: tensor.contiguous() for name, tensor in torch_pickle(data).items()}


def labels(data: bytes, variable: str = "_KINETICS400_CATEGORIES") -> bytes:
    """The list that a source file assigns to `variable`, one word group per line; read, not executed."""
    for node in ast.parse(data).body:
        if isinstance(node, ast.Assign) and any(getattr(to, "id", None) == variable for to in node.targets):
            return "".join(f"{name}\n" for name in ast.literal_eval(node.value)).encode()
    raise KeyError(variable)


CONVERT: dict[str, Callable[[bytes], bytes | State]] = {
    "keep": lambda data: data,
    "onnx-inputs": strike_off,
    "labels": labels,
    "i3d": i3d,
    "vgg16": vgg16,
    "torch": torch_state,
}


def write(how: str, data: bytes, path: Path) -> None:
    """Convert the bytes of a carried file and write them to `path`."""
    made = CONVERT[how](data)
    if isinstance(made, bytes):
        path.write_bytes(made)
    else:
        save_file(made, path)


def _leaves(tree: dict[str, Any], *above: str) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, *above, key)
        else:
            yield (*above, key), value


def _kernel(array: np.ndarray) -> Tensor:
    """Flax keeps (..., in, out), torch (out, in, ...). Vectors are the same in both."""
    if array.ndim > 1:
        array = np.moveaxis(array, (-1, -2), (0, 1))
    return torch.from_numpy(np.array(array, np.float32, order="C"))
