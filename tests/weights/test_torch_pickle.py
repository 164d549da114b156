"""Checkpoints as `torch.save` writes them, old and new, come back as torch itself reads them; harm does not."""

import os
from collections import Counter, OrderedDict

import pytest
import torch
from torch import nn

from actonym.errors import UserError
from actonym.weights.torch_pickle import torch_pickle


def saved(thing, tmp_path, new):
    torch.save(thing, tmp_path / "a.pth", _use_new_zipfile_serialization=new)
    return (tmp_path / "a.pth").read_bytes()


@pytest.mark.parametrize("new", [True, False], ids=["zip", "stream"])
def test_reads_what_torch_reads(tmp_path, new):
    torch.manual_seed(0)
    base = torch.randn(4, 6)
    kinds = (torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bool)
    thing = {
        "epoch": 3,
        "state_dict": nn.Sequential(nn.Conv3d(2, 3, 2), nn.BatchNorm3d(3)).state_dict(),
        "parameter": nn.Parameter(base),
        "views": [base.T, base[1:, ::2], torch.empty(0), torch.tensor(7)],
        "kinds": {str(kind): (base * 9).to(kind) for kind in kinds},
        "milestones": Counter({5: 1}),
        "shape": base.shape,
    }
    read = torch_pickle(saved(thing, tmp_path, new))
    twin = torch.load(tmp_path / "a.pth", weights_only=True)
    assert read["epoch"] == 3 and read["shape"] == (4, 6) and read["milestones"] == Counter({5: 1})
    assert isinstance(read["state_dict"], OrderedDict) and list(read["state_dict"]) == list(twin["state_dict"])
    assert all(torch.equal(read["state_dict"][key], value) for key, value in twin["state_dict"].items())
    assert torch.equal(read["parameter"], base)
    assert all(torch.equal(a, b) for a, b in zip(read["views"], twin["views"], strict=True))
    assert all(torch.equal(read["kinds"][key], value) for key, value in twin["kinds"].items())


class Harm:
    def __reduce__(self):
        return os.mkdir, ("harm",)


@pytest.mark.parametrize("new", [True, False], ids=["zip", "stream"])
def test_harm_is_refused_and_not_run(tmp_path, monkeypatch, new):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(UserError, match=r"refused .*mkdir"):
        torch_pickle(saved({"a": torch.ones(2), "b": Harm()}, tmp_path, new))
    with pytest.raises(UserError, match=r"refused .*Linear"):
        torch_pickle(saved(nn.Linear(1, 1), tmp_path, new))
    assert not list((tmp_path / "here").iterdir())


@pytest.mark.parametrize("new", [True, False], ids=["zip", "stream"])
def test_damage_is_one_clear_error(tmp_path, new):
    data = saved({"a": torch.ones(1000)}, tmp_path, new)
    for broken in (data[:-500], data[:300], b"PK", b"", b"something else"):
        with pytest.raises(UserError, match="checkpoint"):
            torch_pickle(broken)
