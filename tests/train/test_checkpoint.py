"""The file itself: every value comes back, and a kill while writing leaves a whole file."""

import os
import signal
from pathlib import Path

import pytest
import torch
from torch import Tensor

from actonym.errors import ActonymError
from actonym.train import checkpoint

SHARED = torch.arange(6.0).view(2, 3)
TREE = {
    "step": 12,
    "curve": [0.1, 1 / 3],
    "none": None,
    "modules": {"net": {"a.weight": SHARED, "b.weight": SHARED, "count": torch.tensor(3), "t": SHARED.t()}},
    "optimizers": {"net": {0: {"step": torch.tensor(1.0), "half": torch.ones(2, dtype=torch.bfloat16)}}},
}


def test_every_value_comes_back(tmp_path: Path) -> None:
    checkpoint.write(tmp_path / checkpoint.NAME, TREE)
    back = checkpoint.flatten(checkpoint.read(tmp_path / checkpoint.NAME))
    for key, value in checkpoint.flatten(TREE).items():
        if isinstance(value, Tensor):
            assert torch.equal(back[key], value) and back[key].dtype == value.dtype
        else:
            assert back[key] == value
    assert [path.name for path in tmp_path.iterdir()] == [checkpoint.NAME]


def test_who_may_read_other_files_may_read_this_one(tmp_path: Path) -> None:
    checkpoint.write(tmp_path / checkpoint.NAME, TREE)
    (tmp_path / "other").touch()
    assert (tmp_path / checkpoint.NAME).stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize(("moment", "expected"), [("write", 1), ("_sync", 1), ("replace", 1), ("second _sync", 2)])
def test_a_kill_while_writing_leaves_a_whole_file(tmp_path: Path, moment: str, expected: int) -> None:
    """In a forked process, which kills itself just before the given call."""
    path = tmp_path / checkpoint.NAME
    checkpoint.write(path, {"step": 1, "big": torch.zeros(1000)})
    process = os.fork()
    if process == 0:
        _kill_at(moment)
        checkpoint.write(path, {"step": 2, "big": torch.ones(1000)})
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(process, 0)[1]) == signal.SIGKILL
    assert checkpoint.read(path)["step"] == expected
    checkpoint.write(path, {"step": 3})
    assert checkpoint.read(path)["step"] == 3


def _kill_at(moment: str) -> None:
    real = checkpoint._sync

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def half(path: Path, _: bytes) -> None:
        path.write_text("half of it")
        die()

    if moment == "write":
        Path.write_bytes = half  # type: ignore[assignment]
    elif moment == "replace":
        os.replace = die  # type: ignore[assignment]
    elif moment == "_sync":
        checkpoint._sync = die
    else:
        checkpoint._sync = lambda path: die() if path.is_dir() else real(path)


def test_a_full_disk_is_one_clear_error_and_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / checkpoint.NAME
    checkpoint.write(path, {"step": 1})

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ActonymError, match=r"cannot write .*No space left"):
        checkpoint.write(path, {"step": 2})
    assert checkpoint.read(path)["step"] == 1
