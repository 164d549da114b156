"""Networks that come as ONNX files, run by onnxruntime."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from actonym.errors import UserError

Array = NDArray[np.float32]
ERRORS_ONLY = 3  # the exporters left weights that no node uses; onnxruntime would name each of them


def runtime() -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise UserError("this needs onnxruntime; run: pip install 'actonym[attacks]'") from error
    return onnxruntime


class Network:
    """An ONNX network: arrays in the order of its inputs to arrays in the order of its outputs."""

    def __init__(self, model: bytes) -> None:
        onnxruntime = runtime()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = ERRORS_ONLY
        options.intra_op_num_threads = torch.get_num_threads()
        self._session: Any = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._inputs = [one.name for one in self._session.get_inputs()]

    def __call__(self, *inputs: Array) -> list[Array]:
        return self._session.run(None, dict(zip(self._inputs, inputs, strict=True)))


@lru_cache(maxsize=8)
def network(path: Path) -> Network:
    """The network of a file, loaded once."""
    return Network(path.read_bytes())
