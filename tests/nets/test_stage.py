"""The stage's encoder: from its script to features; and the one that ships."""

import runpy
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from actonym.errors import UserError
from actonym.nets import encoders
from actonym.nets.encoders import encoder
from actonym.nets.stage import DIM, WEIGHTS, StageNet

SCRIPT = Path(__file__).parents[2] / "scripts" / "train_encoder.py"


def test_features_are_what_its_classifier_sees(tmp_path):
    torch.manual_seed(0)
    net = StageNet(25).eval()
    save_file({key: value.contiguous() for key, value in net.state_dict().items()}, tmp_path / "s.safetensors")
    found = encoder(f"stage:{tmp_path / 's.safetensors'}")
    clip = torch.rand(2, 3, 16, 64, 64)
    features = found.encode(clip)
    assert features.shape == (2, DIM) and DIM % 8 == 0, "heads of an adapter divide it"
    motion, look = features.split([256, DIM - 256], 1)
    assert torch.allclose(net.motion.head(motion) + net.look.head(look), found.logits(clip), atol=1e-5)
    assert torch.allclose(found.encode(clip[:1]), features[:1], atol=1e-5), "whatever else is in the batch"
    still = clip[:, :, :1].expand(-1, -1, 16, -1, -1)
    assert not torch.allclose(found.encode(still), features), "motion counts"


def test_the_script_makes_an_encoder_and_its_card(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "made.safetensors"
    words = ["--videos", "10", "--epochs", "1", "--threads", "1", "--quiet", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["train_encoder.py", *words])
    threads = torch.get_num_threads()
    runpy.run_path(str(SCRIPT), run_name="__main__")
    torch.set_num_threads(threads)
    assert encoder(f"stage:{out}").encode(torch.rand(1, 3, 16, 64, 64)).isfinite().all()
    assert out.stat().st_size < 3e6
    card = out.with_suffix(".md").read_text()
    assert "20 actions" in card and "puppets and park" in card and "{" not in card
    assert "still_cmap" in capsys.readouterr().out


@pytest.mark.skipif(not WEIGHTS.is_file(), reason="no encoder ships: scripts/train_encoder.py makes it")
def test_the_one_that_ships_is_small_and_has_a_card():
    assert WEIGHTS.stat().st_size < 3e6 and "seed" in WEIGHTS.with_suffix(".md").read_text()
    assert encoder("stage").encode(torch.rand(1, 3, 16, 64, 64)).shape == (1, DIM)


def test_without_weights_it_says_so(tmp_path, monkeypatch):
    kind = encoders.KINDS["stage"]
    monkeypatch.setitem(encoders.KINDS, "stage", type(kind)(**{**vars(kind), "shipped": tmp_path / "gone.safetensors"}))
    with pytest.raises(UserError, match="make it: python scripts/train_encoder"):
        encoder("stage")
