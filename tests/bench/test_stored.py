"""Stores of features in a bench: latent methods are trained, measured and undone."""

import pytest
import torch
from torch import Tensor

from actonym.bench import table
from actonym.bench.bench import bench
from actonym.bench.evaluate import Evaluation
from actonym.bench.summary import summarize
from actonym.cli import main
from actonym.data.features import Entry, Store
from actonym.errors import UserError
from actonym.methods import LatentMethod, MethodCard

DIM = 16
SMALL = [
    "recognizer.net=linear",
    "recognizer.fit={epochs: 8, batch_size: 16, lr: 0.02}",
    "attackers=[attribute/linear/scratch, attribute/linear/raw, frame/linear/scratch]",
    "attack.fit={epochs: 8, batch_size: 16, lr: 0.02}",
    "attack.finetune={epochs: 2, batch_size: 16, lr: 0.01}",
    "inversion.black_box.steps=40",
    "inversion.white_box.steps=20",
]


class Action(LatentMethod):
    """Keeps the numbers in which the action is."""

    name = "action"
    card = MethodCard("Action", "", "", 2026)

    def forward(self, features: Tensor, present: Tensor | None = None) -> Tensor:
        return torch.cat([features[..., :4], torch.zeros_like(features[..., 4:])], -1)


def entry(split: str, number: int) -> Entry:
    """The action is in numbers 0 to 3, the attribute in 4 and the film in 8 to 15, of clips and static clips alike."""
    action, private, film = number % 4, (number + number // 4) % 2, f"{split}{number // 4}"
    look = torch.randn(8, generator=torch.Generator().manual_seed(sum(map(ord, film)) * 31 + number // 4))
    vector = torch.cat([2.0 * torch.eye(4)[action], torch.tensor([2.0 * private, 0, 0, 0]), look])
    clips, static = (vector + 0.1 * torch.randn(count, DIM) for count in (1 + number % 3, 2))
    return Entry(
        f"{split}{number}", split, clips, [0], [15], static, [0, 1], 16, action, privacy=[private], source=film
    )


@pytest.fixture
def data(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path / "cache"))
    torch.manual_seed(0)
    about = {"dim": DIM, "actions": list("abcd"), "attributes": ["x"], "data": "made", "encoder": "i3d"}
    store = Store.make(tmp_path / "store", about)
    # Two videos of each action from a film: otherwise there is nothing to link.
    store.append(
        entry(split, number)
        for split, n in (("train", 32), ("val", 16), ("test", 24))
        for number in range(n)
        for _ in "ab"
    )
    store.finish()
    return f"features:{tmp_path / 'store'}"


def test_what_is_cut_out_of_features_is_gone_for_every_attacker(data, tmp_path):
    evaluation = Evaluation(data, assignments=SMALL, progress=False)
    raw = evaluation.run("raw", 0, tmp_path / "out" / "raw.json")
    assert raw["data"] == "features:made" and raw["settings"]["encoder"] == "i3d"
    assert raw["utility"]["top1"] > 0.9 and raw["privacy"]["cmap"] > 0.9 and raw["linkage"]["rank1"] > 0.9
    assert "inversion" not in raw
    found = evaluation.run(Action(), 0, tmp_path / "out" / "action.json")
    assert found["kept"] > 0.95 and found["closed"] > 0.5 and found["linkage"]["closed"] > 0.5
    names = {one["name"] for one in found["linkage"]["tried"]}
    assert {"features/metric/anonymized", "features/metric/raw"} <= names
    undone = found["inversion"]
    assert undone["black_box"]["utility"]["top1"] > 0.9 and undone["black_box"]["variance"] < 0.7
    assert undone["white_box"]["cmap"] < 0.8, "what is not there cannot be found"
    [group] = summarize([raw, found])
    shown = table.inversion(group)
    assert [row[0] for row in shown.rows] == ["action"] and shown.header[1] == "top-1: no attack"


def test_a_latent_method_is_trained_for_the_bench_and_measured(data, tmp_path):
    splavu = "splavu:heads=2,layers=1,train.warm=0,train.epochs=2"
    found, _ = bench([splavu, "raw"], data, tmp_path / "out", assignments=SMALL, progress=False)
    assert found["training"]["settings"]["method"]["dim"] == DIM
    assert found["kept"] > 0 and set(found["inversion"]) == {"observed", "black_box", "white_box"}
    # Two steps change little: what the attacker searches for is hardly other than what it sees.
    assert found["inversion"]["white_box"]["variance"] > 0.9


def test_what_does_not_fit_is_told(data, tmp_path, capsys):
    evaluation = Evaluation(data, assignments=SMALL, progress=False)
    with pytest.raises(UserError, match="blur maps video, not features"):
        evaluation.candidate("blur")
    with pytest.raises(UserError, match="no frames"):
        Evaluation(data, assignments=[*SMALL, "detectors=[faces]"])
    with pytest.raises(UserError, match="is for a store"):
        Evaluation("stage", preset="features")
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", "splavu", "--data", "stage", "--out", str(tmp_path / "r.json")])
    assert ended.value.code == 2 and "--data features:FOLDER" in capsys.readouterr().err
