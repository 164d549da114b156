"""ONNX networks: a tiny graph, run by place of its inputs."""

import sys

import numpy as np
import pytest

from actonym.errors import UserError
from actonym.nets import centerface
from actonym.nets.runtime import Network


def scaler(shape):
    """y = 2 x, z = x + x, at a fixed input shape."""
    onnx = pytest.importorskip("onnx")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    two = helper.make_tensor("two", kind, [1], [2.0])
    nodes = [helper.make_node("Mul", ["x", "two"], ["y"]), helper.make_node("Sub", ["y", "x"], ["z"])]
    outputs = [helper.make_tensor_value_info(name, kind, None) for name in "yz"]
    graph = helper.make_graph(nodes, "tiny", [helper.make_tensor_value_info("x", kind, shape)], outputs, [two])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return model.SerializeToString()


def test_a_network_gives_its_outputs_in_order():
    pytest.importorskip("onnxruntime")
    x = np.arange(6, dtype=np.float32).reshape(1, 6)
    y, z = Network(scaler([1, 6]))(x)
    assert np.array_equal(y, 2 * x) and np.array_equal(z, x)


def test_centerface_takes_any_size_after_its_fixed_one_is_lifted(tmp_path):
    pytest.importorskip("onnxruntime")
    path = tmp_path / "fixed.onnx"
    path.write_bytes(scaler([10, 3, 32, 32]))
    x = np.ones((2, 3, 64, 96), dtype=np.float32)
    with pytest.raises(Exception, match="invalid dimensions"):
        Network(path.read_bytes())(x)
    assert centerface.load(path)(x)[0].shape == x.shape


def test_without_onnxruntime_the_command_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UserError, match=r"actonym\[attacks\]"):
        Network(b"")
