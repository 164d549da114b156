"""The state of a run in one safetensors file, whole at every moment: a kill leaves the old file or the new one."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from actonym.errors import ActonymError, UserError
from actonym.train import log

NAME = "state.safetensors"
HALF_WRITTEN = NAME + ".part"
JOIN = "\t"  # between the keys of nested dictionaries: it does not occur in the names of parameters
Tree = dict[str, Any]  # nested; its leaves are tensors or what JSON can hold


def begin(folder: Path | None, resume: bool) -> Tree | None:
    """The state to go on from, or None for a start from nothing. A folder that holds anything else is refused."""
    found = {path.name for path in folder.iterdir()} if folder is not None and folder.is_dir() else set()
    if not resume and found:
        raise UserError(f"{folder} is not empty: choose another folder, or resume what is in it")
    if folder is not None and NAME in found:
        return read(folder / NAME)
    if found - {HALF_WRITTEN, log.NAME, log.BOARD}:  # what a run killed before its first checkpoint may leave
        raise UserError(f"cannot resume: {folder} is not empty and has no {NAME}")
    return None


def write(path: Path, tree: Tree) -> None:
    leaves = flatten(tree)
    # Copies: parameters that share memory are refused by safetensors.
    tensors = {key: leaf.detach().cpu().clone().contiguous() for key, leaf in leaves.items() if torch.is_tensor(leaf)}
    values = json.dumps({key: leaf for key, leaf in leaves.items() if key not in tensors})
    part = path.with_name(HALF_WRITTEN)
    try:
        # Not save_file, whose files nobody else may read.
        part.write_bytes(save(tensors, metadata={"values": values, "sha256": _digest(tensors, values)}))
        _sync(part)
        os.replace(part, path)
        _sync(path.parent)
    except (OSError, SafetensorError) as error:
        raise ActonymError(f"cannot write {path}: {error}") from error


def read(path: Path) -> Tree:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        if _digest(tensors, metadata["values"]) != metadata["sha256"]:
            raise ValueError("its SHA-256 differs")
        return unflatten({**json.loads(metadata["values"]), **tensors})
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged ({error}): train anew in another folder") from error


def flatten(tree: Mapping[str, Any], above: tuple[str, ...] = ()) -> Tree:
    """Nested dictionaries as one, keys joined. Empty ones vanish."""
    leaves: Tree = {}
    for key, value in tree.items():
        path = (*above, str(key))
        leaves |= flatten(value, path) if isinstance(value, Mapping) else {JOIN.join(path): value}
    return leaves


def unflatten(leaves: Tree) -> Tree:
    tree: Tree = {}
    for path, leaf in leaves.items():
        *above, key = path.split(JOIN)
        node = tree
        for name in above:
            node = node.setdefault(name, {})
        node[key] = leaf
    return tree


def _digest(tensors: dict[str, Tensor], values: str) -> str:
    """safetensors notices a file cut short, but not a flipped bit."""
    digest = hashlib.sha256(values.encode())
    for key in sorted(tensors):
        digest.update(key.encode())
        digest.update(tensors[key].reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
