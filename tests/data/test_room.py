import errno
import os

import pytest
import torch
from test_clips import clips_of

from actonym.attacks.frame import single_frames
from actonym.data import room as module
from actonym.data.room import changed, free_memory, room
from actonym.errors import UserError


@pytest.fixture
def full(monkeypatch, tmp_path):
    """Memory is all but full."""
    monkeypatch.setattr(module, "free_memory", lambda: 100)
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def written(monkeypatch):
    """How large each file was that was made."""
    sizes: list[int] = []
    allocate = module.allocate

    def note(file, size):
        allocate(file, size)
        sizes.append(os.fstat(file).st_size)

    monkeypatch.setattr(module, "allocate", note)
    return sizes


def test_there_is_memory():
    assert 2**20 < free_memory() < 2**50


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_on_disk_a_tensor_is_as_in_memory_and_nobody_else_can_open_it(full, written, dtype):
    held = room((5, 3, 8, 4, 4), dtype)
    assert written == [held.nbytes]
    assert not [path for path in full.rglob("*") if path.is_file()], "the file has no name"
    filled = torch.arange(5 * 384).view(5, 3, 8, 4, 4).to(dtype)
    held[:] = filled
    assert held.dtype == dtype and torch.equal(held, filled) and torch.equal(held[3:], filled[3:])


def test_several_processes_divide_the_memory(monkeypatch, written, tmp_path):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path))
    monkeypatch.setattr(module, "free_memory", lambda: 1000)
    room((200,))
    assert written == []
    monkeypatch.setattr(module.Budget, "processes", 2)
    room((200,))
    assert written == [200]


def test_clips_that_do_not_fit_into_memory_are_anonymized_and_attacked_all_the_same(full, written):
    clips = clips_of()
    assert torch.equal(clips.map(lambda clip, mask: 1 - clip).video, 255 - clips.video)
    assert torch.equal(clips.thinned(2).video, clips.video[:, :, [2, 6]])
    frames = single_frames(clips, 2).video
    assert torch.equal(frames[::2, :, 0], clips.video[:, :, 2]) and torch.equal(
        frames[1::2, :, 0], clips.video[:, :, 6]
    )
    assert written == [clips.video.nbytes, clips.video.nbytes // 4, clips.video.nbytes // 4], "8 frames, then 2"


@pytest.mark.parametrize("count", [1, 3, 64, 65, 130])
def test_what_is_changed_a_few_rows_at_a_time_is_changed_all(count):
    rows = torch.arange(count * 4).view(count, 4)
    assert torch.equal(changed(rows, lambda part: part[:, ::2] + 1), rows[:, ::2] + 1)
    assert torch.equal(changed(rows, lambda part: part.view(-1, 2)), rows.view(-1, 2)), "a row may become several"


def test_a_container_may_take_less_than_the_machine_has(tmp_path, monkeypatch):
    limit, taken = tmp_path / "memory.max", tmp_path / "memory.current"
    monkeypatch.setattr(module, "LIMITS", ((str(limit), str(taken)),))
    whole = free_memory()
    limit.write_text("5000\n")
    taken.write_text("2000\n")
    assert free_memory() == 3000
    limit.write_text("max\n")
    assert free_memory() == pytest.approx(whole, rel=0.5), "what else runs takes and gives"


def test_a_full_disk_is_told_before_anything_is_written(full, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module, "allocate", refuse)
    with pytest.raises(UserError, match=r"No space left on device.*ACTONYM_CACHE"):
        room((5, 3, 8, 4, 4))
