"""Raw baselines are kept under all that decides them."""

from types import SimpleNamespace

import pytest
import torch

from actonym.bench import baseline, training
from actonym.bench.training import begun_with, source_of
from actonym.data import Clips

CLIPS = {"test": Clips(torch.zeros(2, 3, 2, 4, 4, dtype=torch.uint8), torch.arange(2), torch.zeros(2, 1), ["", ""])}
PLAN = {"linkage": False, "images": None, "attackers": ["attribute/frame/scratch"]}


def key(plan=PLAN, seed=0):
    return baseline._key(CLIPS, CLIPS, plan, seed)


def test_plan_and_seed_decide():
    keys = [key(), key(seed=1), key({**PLAN, "attackers": []}), key({**PLAN, "linkage": True})]
    assert len(set(keys)) == 4 and key() == keys[0]
    assert key({**PLAN, "pictures": True}) == keys[0], "nothing is trained for pictures"


def test_weights_to_begin_with_count_by_what_they_are_not_by_where_they_lie(tmp_path):
    here, there = tmp_path / "here.pth", tmp_path / "there.pth"
    here.write_bytes(b"one")
    there.write_bytes(b"one")
    first = key({**PLAN, "images": str(here)})
    assert first == key({**PLAN, "images": str(there)}) != key()
    here.write_bytes(b"another")
    assert key({**PLAN, "images": str(here)}) != first
    (tmp_path / "preprocessor_config.json").write_text("{}")
    assert key({**PLAN, "images": str(there)}) != first, "the colours that it has seen are others"
    assert begun_with(PLAN) is None


@pytest.mark.parametrize("room", ["attacks", "losses", "nets", "tasks", "train"])
def test_a_changed_program_does_not_find_the_baselines_of_an_older_one(room, tmp_path, monkeypatch):
    before = key()
    (tmp_path / "attack.py").write_text("changed = True\n")
    monkeypatch.setattr(baseline, room, SimpleNamespace(__path__=[str(tmp_path)]))
    assert key() != before


@pytest.mark.parametrize("name", ["look.py", "clips.py", "residue.py", "bias.py"])
def test_so_does_what_prepares_and_judges(name, tmp_path, monkeypatch):
    before = key()
    files = [path if path.name != name else tmp_path / name for path in baseline.MEASURED_BY]
    assert files != baseline.MEASURED_BY
    (tmp_path / name).write_text("changed = True\n")
    monkeypatch.setattr(baseline, "MEASURED_BY", files)
    assert key() != before


def test_source_of_rooms_is_what_their_files_say(tmp_path):
    room = SimpleNamespace(__path__=[str(tmp_path)])
    (tmp_path / "one.py").write_text("a = 1\n")
    before = source_of((room,))
    (tmp_path / "notes.txt").write_text("of no matter\n")
    assert source_of((room,)) == before
    (tmp_path / "one.py").write_text("a = 2\n")
    assert source_of((room,)) != before
    assert training.source_of((), [tmp_path / "one.py"]) != source_of(())
