"""Pickles of numpy arrays, and of nothing else: a pickle that names anything else is refused before it runs."""

import io
import pickle
from typing import Any

from actonym.errors import UserError

# NumPy 2 renamed numpy.core; old files say the one, new files the other, and both must load on both.
ALLOWED = {("numpy", "ndarray"), ("numpy", "dtype")}
for core in ("numpy.core", "numpy._core"):
    ALLOWED |= {(f"{core}.multiarray", "_reconstruct"), (f"{core}.multiarray", "scalar")}
    ALLOWED |= {(f"{core}.numeric", "_frombuffer")}


class NumpyUnpickler(pickle.Unpickler):
    """Dictionaries, lists, numbers, strings and numpy arrays."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise UserError(f"refused a pickle that wants {module}.{name}; only numpy arrays are read")
        try:
            return super().find_class(module, name)
        except ModuleNotFoundError:  # the other spelling
            swapped = (
                module.replace("._core.", ".core.") if "._core." in module else module.replace(".core.", "._core.")
            )
            return super().find_class(swapped, name)


def numpy_pickle(data: bytes) -> Any:
    """The contents of a pickle, if it holds numpy arrays only."""
    try:
        return NumpyUnpickler(io.BytesIO(data)).load()
    except (pickle.UnpicklingError, EOFError, ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"not a pickle of numpy arrays: {error}") from error
