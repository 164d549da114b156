"""Two processes (gloo, on the CPU)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tiny import Tiny, clips, lines, recognizers, same, weights

from actonym.train import checkpoint
from actonym.train.method import train_method


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("two")
    script = Path(__file__).with_name("two_processes.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, script, out], capture_output=True, text=True, timeout=120, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return out


def test_all_processes_have_the_same_weights(trained: Path) -> None:
    """Bit for bit, buffers too, though each began with others."""
    one, other = (load_file(trained / f"rank{rank}.safetensors") for rank in (0, 1))
    assert same(one, other)
    assert all(torch.isfinite(value).all() for value in one.values())


def test_two_processes_train_as_one_does(trained: Path, tmp_path: Path) -> None:
    """Up to rounding: a mean over 8 clips is summed in another order than the mean of two means over 4."""
    method = Tiny()
    train_method(method, clips(), recognizers(), out=tmp_path / "method", accelerator="cpu", progress=False)
    two = load_file(trained / "method.safetensors")
    for name, value in weights([method]).items():
        assert torch.allclose(value, two[name], atol=1e-5), name
    modules = (checkpoint.read(folder / "method" / checkpoint.NAME)["modules"] for folder in (trained, tmp_path))
    one, other = (checkpoint.flatten(tree) for tree in modules)
    assert all(torch.allclose(one[name], value, atol=1e-5) for name, value in other.items())


def test_one_process_alone_writes(trained: Path) -> None:
    keys = [tuple(line.split(",")[:4]) for line in lines(trained / "method")]
    assert len(keys) == len(set(keys)) and keys[0] == ("phase", "epoch", "step", "name")
    saved = {path.name for path in (trained / "method").iterdir()}
    named = {"config.json", "model.safetensors", "README.md", "log.csv", "history.json", checkpoint.NAME}
    assert saved - {"tensorboard"} == named
