"""Checkpoints of torch (.pth, .pt), read by an allow-list of our own: tensors and plain containers, nothing else.

Pickles are never loaded in this house, and public checkpoints are pickles. So the names in the pickle are answered with
functions of this file; torch's own are never called. Both layouts exist: the zip of torch 1.6 and later, and the stream
before it, in which most of the public video networks still come.
"""

import collections
import io
import pickle
import zipfile
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from actonym.errors import UserError
from actonym.weights.unpickle import NumpyUnpickler

STREAM_MAGIC = 0x1950A86A20F9469CFC6C
STORAGES = {
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}


def torch_pickle(data: bytes) -> Any:
    """What `torch.save` wrote, on the CPU."""
    try:
        return _read_zip(data) if data[:2] == b"PK" else _read_stream(data)
    except (pickle.UnpicklingError, zipfile.BadZipFile) as error:
        raise UserError(f"not a checkpoint of torch: {error}") from error
    except (EOFError, ValueError, IndexError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise UserError(f"a damaged checkpoint, or one in a layout that is not read: {error!r}") from error


class _Unpickler(NumpyUnpickler):
    def __init__(self, file: io.BytesIO, storage: Callable[..., Tensor]) -> None:
        super().__init__(file)
        self.storage = storage

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        return NAMES[module, name] if (module, name) in NAMES else super().find_class(module, name)

    def persistent_load(self, reference: Any) -> Tensor:
        return self.storage(*reference[1:])


def _tensor(storage: Tensor, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any) -> Tensor:
    return torch.as_strided(storage, size, stride, offset)  # checks that it lies inside the storage


NAMES: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("collections", "Counter"): collections.Counter,  # in the state of schedulers
    ("torch", "Size"): torch.Size,
    ("torch._utils", "_rebuild_tensor"): _tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_parameter"): lambda tensor, *_: tensor,
}


def _read_zip(data: bytes) -> Any:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        main = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        folder = main.removesuffix("data.pkl")
        known: dict[str, Tensor] = {}

        def storage(kind: torch.dtype, key: str, location: str, count: int) -> Tensor:
            if key not in known:
                known[key] = _numbers(archive.read(f"{folder}data/{key}"), kind, count)
            return known[key]

        return _Unpickler(io.BytesIO(archive.read(main)), storage).load()


def _read_stream(data: bytes) -> Any:
    """Some pickles in a row, then the storages; tensors are views of storages that are filled at the end."""
    file = io.BytesIO(data)
    known: dict[str, Tensor] = {}

    def storage(kind: torch.dtype, key: str, location: str, count: int, view: tuple | None = None) -> Tensor:
        if key not in known:
            if count * kind.itemsize > len(data):
                raise ValueError("a storage is larger than the file")
            known[key] = torch.empty(count, dtype=kind)
        return known[key] if view is None else known[key][view[1] : view[1] + view[2]]

    magic, *_ = (_Unpickler(file, storage).load() for _ in range(3))  # then the protocol and the machine's sizes
    if magic != STREAM_MAGIC:
        raise pickle.UnpicklingError("its first number is another")
    result = _Unpickler(file, storage).load()
    for key in _Unpickler(file, storage).load():
        count = int.from_bytes(file.read(8), "little")
        into = known[key]
        into.copy_(_numbers(file.read(count * into.element_size()), into.dtype, count))
    return result


def _numbers(data: bytes, kind: torch.dtype, count: int) -> Tensor:
    return torch.frombuffer(bytearray(data), dtype=kind, count=count) if count else torch.empty(0, dtype=kind)
