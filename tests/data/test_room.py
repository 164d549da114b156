import errno
import os

import pytest
import torch
from test_clips import clips_of

from actonym.data import room as module
from actonym.data.room import free_memory, room
from actonym.errors import UserError


@pytest.fixture
def full(monkeypatch, tmp_path):
    """Memory is all but full."""
    monkeypatch.setattr(module, "free_memory", lambda: 100)
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path))
    return tmp_path


def test_there_is_memory():
    assert 2**20 < free_memory() < 2**50


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_on_disk_a_tensor_is_as_in_memory_and_nobody_else_can_open_it(full, dtype):
    held = room((5, 3, 8, 4, 4), dtype)
    assert not [path for path in full.rglob("*") if path.is_file()], "the file has no name"
    filled = torch.arange(5 * 384).view(5, 3, 8, 4, 4).to(dtype)
    held[:] = filled
    assert held.dtype == dtype and torch.equal(held, filled) and torch.equal(held[3:], filled[3:])


def test_clips_that_do_not_fit_into_memory_are_anonymized_all_the_same(full):
    clips = clips_of()
    assert torch.equal(clips.map(lambda clip, mask: 1 - clip).video, 255 - clips.video)


def test_a_full_disk_is_told_before_anything_is_written(full, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(UserError, match=r"No space left on device.*ACTONYM_CACHE"):
        room((5, 3, 8, 4, 4))
