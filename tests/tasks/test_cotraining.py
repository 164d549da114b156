"""SPLAVU with several tasks: each subset of table 5 moves the adapter by its own losses and leaves the others alone."""

import json

import pytest
import torch
from feature_videos import DIM, with_actions
from torch import nn

from actonym import methods, presets
from actonym.cli import main
from actonym.errors import UserError
from actonym.methods.splavu import SPLAVU, Training
from actonym.tasks.base import Recipe
from actonym.tasks.cotraining import TaskLesson
from actonym.tasks.presets import from_preset
from actonym.train.phase import Batch, Recognizers

PRESETS = {name: presets.load("splavu", name) for name in presets.names("splavu")}
SUBSETS = {name: plan["train"]["tasks"] for name, plan in PRESETS.items() if plan.get("factor") == "tasks"}
SMALL = {
    "detection": {"width": 8, "hidden": 8, "groups": 2, "bins": 2, "stem": 1},
    "anomaly": {"dims": (4, 4, 8), "depths": (1, 1, 1), "head_dim": 4},
}


def lesson(name):
    plan = {**presets.load(name, "stage"), "net": SMALL[name]}
    task, _ = from_preset(name, 0 if name == "anomaly" else 2, plan=plan)
    return TaskLesson(task, task.head(DIM), with_actions(6, 0), Recipe(batch_size=2, lr=0.03, weight_decay=0.5))


def training(tasks):
    torch.manual_seed(0)
    given = [lesson("detection"), lesson("anomaly")]
    recognizers = Recognizers(nn.Identity(), nn.Identity(), actions=2, attributes=1, lessons=given)
    return Training(SPLAVU(DIM, heads=2), recognizers, tasks=tasks), given


def played(made):
    torch.manual_seed(1)
    batch = Batch(torch.rand(4, 7, DIM), torch.arange(4) % 2, torch.zeros(4, 1), None, torch.arange(4))
    seen = {}
    logged = made.play(batch, lambda name, loss, retain_graph=False: seen.setdefault(name, loss))
    return logged, seen["method"]


def test_all_subsets_of_table_5_are_there():
    names = {frozenset(tasks) for tasks in SUBSETS.values()}
    assert len(names) == 7 and frozenset().union(*names) == {"recognition", "detection", "anomaly"}


@pytest.mark.parametrize("tasks", [None, *SUBSETS.values()], ids=str)
def test_each_task_of_a_subset_teaches_and_no_other(tasks):
    made, given = training(tasks)
    logged, loss = played(made)
    wanted = {"recognition", "detection", "anomaly"} if tasks is None else set(tasks)
    assert set(logged) - {"consistency", "budget"} == {{"recognition": "action"}.get(name, name) for name in wanted}
    others = loss - 100 * logged["consistency"] - logged["budget"]
    useful = [value.item() for name, value in logged.items() if name not in ("consistency", "budget")]
    assert others.item() == pytest.approx(sum(useful), rel=1e-4)
    loss.backward()
    for one in given:
        learns = any(p.grad is not None and p.grad.any() for p in one.head.parameters())
        assert learns == (one.name in wanted)
    assert any(p.grad is not None and p.grad.any() for p in made.method.parameters())


def test_heads_learn_at_their_own_rate():
    made, given = training(["detection"])
    phase = made.phases()[-1]
    groups = phase.optimizers["method"].param_groups
    assert [(group["lr"], group["weight_decay"]) for group in groups] == [(made.lr, made.weight_decay), (0.03, 0.5)]
    assert phase.modules["detection"] is given[0].head and "anomaly" not in phase.modules


def test_what_is_not_there_in_a_batch_is_not_seen():
    """The adapter is told which clips are filling: changing these changes no loss."""
    made, given = training(["detection"])
    made.method.eval(), given[0].head.eval()

    def loss(filling):
        torch.manual_seed(2)

        def method(features, present):
            filled = torch.where(present[..., None], features, filling)
            return torch.where(present[..., None], made.method(filled, present), 0.0)

        return given[0].loss(method).item()

    assert loss(torch.zeros(())) == pytest.approx(loss(torch.full((), 5.0)), rel=1e-4)


def test_a_task_without_features_is_told():
    none = Recognizers(nn.Identity(), nn.Identity(), actions=2, attributes=1)
    with pytest.raises(UserError, match="add --tasks anomaly=FOLDER"):
        Training(SPLAVU(DIM, heads=2), none, tasks=["recognition", "anomaly"])


def test_trained_from_stores(tmp_path):
    pytest.importorskip("pyarrow")
    from test_stores import filled

    videos = {split: with_actions(6, seed) for seed, split in enumerate(("train", "val"))}
    filled(tmp_path / "s", videos, ["normal", "odd"])
    small = ["epochs=1", "warm=0", "batch_size=4", "consistency=1"]
    command = ["train", "splavu@ar-ad:heads=2", "--data", f"features:{tmp_path / 's'}", "--out", str(tmp_path / "out")]
    command += ["--tasks", f"anomaly={tmp_path / 's'}", *(word for one in small for word in ("--set", f"train.{one}"))]
    main(command)
    (phase,) = json.loads((tmp_path / "out" / "history.json").read_text())
    assert {"action", "anomaly", "consistency", "budget"} <= set(phase["losses"])
    assert methods.load(tmp_path / "out")(torch.rand(1, 3, DIM)).shape == (1, 3, DIM)
