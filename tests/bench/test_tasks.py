"""Further tasks in a bench of features: learned with, measured before and after, and shown."""

import pytest
import torch
from feature_videos import DIM, with_actions
from test_stored import SMALL
from test_stores import filled

from actonym.bench import table
from actonym.bench.evaluate import Evaluation
from actonym.bench.summary import summarize
from actonym.bench.tasks import Tasks
from actonym.data.features import Entry, Store
from actonym.errors import UserError
from actonym.methods import LatentMethod, MethodCard
from actonym.tasks import cotraining
from actonym.tasks.stores import task_of

SPLAVU = "splavu:heads=2,layers=1,train.warm=0,train.epochs=1"


class Nothing(LatentMethod):
    """Lets nothing through."""

    name = "nothing"
    card = MethodCard("Nothing", "", "", 2026)

    def forward(self, features, present=None):
        return torch.zeros_like(features)


@pytest.fixture
def text(tmp_path, monkeypatch):
    """Untrimmed videos, as the store of three tasks; heads learn for two epochs."""
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path / "cache"))
    quick = ["recipe.epochs=2"]
    monkeypatch.setattr(cotraining, "task_of", lambda name, store, preset: task_of(name, store, preset, quick))
    videos = {split: with_actions(6, seed) for seed, split in enumerate(("train", "val", "test"))}
    folder = filled(tmp_path / "long", videos, ["normal", "odd"]).folder
    return f"recognition={folder},anomaly={folder},retrieval=features:{folder}"


@pytest.fixture
def data(tmp_path):
    """Short videos of two actions, whose attribute is in another number, with two clips from every film."""
    torch.manual_seed(0)
    about = {"dim": DIM, "actions": ["normal", "odd"], "attributes": ["x"], "data": "short", "encoder": "i3d"}
    store = Store.make(tmp_path / "short", about)
    for split in ("train", "val", "test"):
        for number in range(16):
            action, private = number % 2, number // 2 % 2
            vector = torch.zeros(DIM).index_put_((torch.tensor([action, 2 + private]),), torch.tensor(2.0))
            clips, still = (vector + 0.2 * torch.randn(2, DIM) for _ in "ab")
            labels = {"action": action, "privacy": [private], "source": f"{split}{number // 4}"}
            store.append([Entry(f"{split}{number}", split, clips, [0, 16], [15, 31], still, [0, 1], 32, **labels)])
    store.finish()
    return f"features:{store.folder}"


def test_a_method_learns_with_tasks_and_is_measured_on_all(data, text, tmp_path):
    evaluation = Evaluation(data, assignments=SMALL, progress=False, tasks=text)
    names = ("raw", SPLAVU, "splavu@ar:heads=2,layers=1,train.warm=0,train.epochs=1")
    raw, both, alone = (evaluation.run(name, 0, tmp_path / "out" / f"{n}.json") for n, name in enumerate(names))
    assert {name: one["kept"] for name, one in raw["tasks"].items()} == {"recognition": 1, "anomaly": 1, "retrieval": 1}
    assert raw["tasks"]["recognition"]["raw"] == both["tasks"]["recognition"]["raw"]
    assert both["tasks"]["anomaly"]["metric"] == "auc" and both["tasks"]["retrieval"]["metric"] == "map"
    folders = list((tmp_path / "cache" / "trained").glob("*/log.csv"))
    logs = sorted("anomaly" in path.read_text() for path in folders)
    assert logs == [False, True], "splavu@ar learns with recognition alone"
    shown = table.tasks(summarize([raw, both, alone])[0])
    assert shown.header == ["method", "recognition top-1", "kept", "anomaly AUC", "kept", "retrieval mAP", "kept"]
    assert shown.rows[0][2] == "1.000" and len(shown.rows) == 3


def test_what_lets_nothing_through_keeps_no_more_than_chance(text):
    tasks = Tasks(text, DIM, progress=False)
    found = tasks.run(Nothing(), 0)
    assert abs(found["anomaly"]["anonymized"]["auc"] - 0.5) < 0.1  # a head still knows where a video begins and ends
    assert found["retrieval"]["anonymized"]["map"] < found["retrieval"]["raw"]["map"]
    assert (
        found["recognition"]["kept"] == found["recognition"]["anonymized"]["top1"] / found["recognition"]["raw"]["top1"]
    )


def test_heads_are_handed_out_anew(text):
    tasks = Tasks(text, DIM, progress=False)
    first, second = tasks.lessons(0), tasks.lessons(0)
    with torch.no_grad():
        for weight in first[0].head.parameters():
            weight.add_(1)
    assert [lesson.name for lesson in first] == ["recognition", "anomaly"]
    assert not torch.equal(next(first[0].head.parameters()), next(second[0].head.parameters()))
    assert torch.equal(next(second[0].head.parameters()), next(tasks.lessons(0)[0].head.parameters()))


def test_what_does_not_fit_is_told(text):
    with pytest.raises(UserError, match=r"gaits.*did you mean 'gait'"):
        Tasks("gaits=x", DIM)
    with pytest.raises(UserError, match="6 numbers, not 8"):
        Tasks(text, 8)
    with pytest.raises(UserError, match="not of video"):
        Evaluation("stage:train=2,val=2,test=2", tasks=text, progress=False)
