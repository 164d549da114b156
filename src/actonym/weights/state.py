"""State dicts from a user's file."""

from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from actonym.errors import UserError
from actonym.weights.torch_pickle import torch_pickle


def state_dict(path: Path) -> dict[str, Tensor]:
    """The tensors of a .safetensors, .pth or .pt file, by name.

    Releases wrap them: in a dictionary with the epoch and the optimizer, in the names of a parallel module. They are
    unwrapped.
    """
    if not path.is_file():
        raise UserError(f"there is no file {path}")
    if path.suffix == ".safetensors":
        try:
            state: Any = load_file(path)
        except SafetensorError as error:
            raise UserError(f"{path} is damaged or no safetensors: {error}") from error
    else:
        state = torch_pickle(path.read_bytes())
        for wrapper in ("state_dict", "model_state_dict", "model"):
            if isinstance(state, dict) and isinstance(state.get(wrapper), dict):
                state = state[wrapper]
    if not isinstance(state, dict) or not state or not all(isinstance(value, Tensor) for value in state.values()):
        raise UserError(f"{path} holds no state dict")
    return {name.removeprefix("module."): tensor for name, tensor in state.items()}
