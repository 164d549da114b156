"""The way to the paper's table 1: the commands of docs/stprivacy.md on a small copy of VP-HMDB51's official layout.

The networks and the number of epochs are small; the clips are the paper's, 16 x 112 x 112.
"""

import json
import pickle

import numpy as np
import pytest
import torch
from layouts import hmdb51, hmdb51_clips
from safetensors.torch import save_file

from actonym.cli import main
from actonym.nets import recognizers

SMALL = {"method.dim": 24, "method.heads": 2, "method.blocks": [1, 1, 1], "method.layers": 1}
SHORT = {"train.wait": 1, "train.initialization": 1, "train.adversarial": 1, "train.batch_size": 8}
ONCE = {"clip.clips": 2, "clip.crops": 3, "recognizer.fit": {"epochs": 1, "rounds": 1}}
ONCE |= {"attack.fit": {"epochs": 1, "rounds": 1}, "attack.finetune": {"epochs": 1, "rounds": 1}}


def words(settings):
    return [word for key, value in settings.items() for word in ("--set", f"{key}={json.dumps(value)}")]


def image_transformer(path):
    """As DeiT's release names its weights."""
    torch.manual_seed(0)
    shapes = {"norm1": (24,), "attn.qkv": (72, 24), "attn.proj": (24, 24), "norm2": (24,), "mlp.fc1": (96, 24)}
    shapes["mlp.fc2"] = (24, 96)
    state = {"pos_embed": torch.randn(1, 197, 24), "patch_embed.proj.bias": torch.zeros(24)}
    state["patch_embed.proj.weight"] = torch.randn(24, 3, 16, 16) / 28
    for number in range(4):
        state |= {f"blocks.{number}.{name}.weight": torch.randn(shape) / 5 for name, shape in shapes.items()}
        state |= {f"blocks.{number}.{name}.bias": torch.zeros(shape[0]) for name, shape in shapes.items()}
    save_file(state, path)
    return path


@pytest.fixture
def vp_hmdb51(tmp_path):
    root = hmdb51(tmp_path / "hmdb51")
    labels = {
        f"{name}.mp4": np.array([[k % 2, 1, 0, 1, k % 3 == 0]], np.int64) for k, name in enumerate(hmdb51_clips())
    }
    (root / "hmdb51_privacy_attribute_label.pickle").write_bytes(pickle.dumps(labels, protocol=4))
    return f"vp-hmdb51:{root}"


def test_train_as_in_the_paper_then_evaluate(vp_hmdb51, tmp_path, monkeypatch):
    monkeypatch.setitem(recognizers.NETS, "vit-small", recognizers.NETS["frame"])
    trained, result = tmp_path / "trained", tmp_path / "result.json"
    images = {"images": str(image_transformer(tmp_path / "deit.safetensors"))}
    main(
        [
            "train",
            "stprivacy",
            "--data",
            vp_hmdb51,
            "--preset",
            "paper",
            "--out",
            str(trained),
            *words(SMALL | SHORT | images | {"clip.rate": 1}),
        ]
    )
    main(
        [
            "evaluate",
            str(trained),
            "--data",
            vp_hmdb51,
            "--protocol",
            "known",
            "--preset",
            "paper",
            "--out",
            str(result),
            *words(ONCE | images),
        ]
    )
    found = json.loads(result.read_text())
    assert found["clips"]["test"] == 4
    assert (found["settings"]["clip"]["size"], found["settings"]["clip"]["rate"]) == (112, 2)
    assert list(found["privacy"]["per_attribute"]) == ["face", "skin_color", "gender", "nudity", "relationship"]
    assert {attacker["name"] for attacker in found["attacker"]["tried"]} >= {"attribute/vit-small/scratch"}
    assert str(tmp_path) not in result.read_text()
