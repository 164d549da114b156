import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from feature_videos import DIM, with_actions
from torch import nn

from actonym import presets
from actonym.data.base import Sample, Segment
from actonym.errors import UserError
from actonym.tasks.base import (
    FeatureBatch,
    Recipe,
    Task,
    VideoFeatures,
    anonymized,
    batch_of,
    draw,
    measure,
    of_sample,
    train_head,
)
from actonym.tasks.presets import TASKS, from_preset
from actonym.tasks.recognition import recognition

SMALL = {
    "detection": {"width": 8, "hidden": 8, "groups": 2, "bins": 2, "stem": 1},
    "anomaly": {"dims": (4, 4, 8), "depths": (1, 1, 1), "head_dim": 4},
}


def small_task(name):
    plan = presets.load(name, "stage")
    return from_preset(name, 0 if name == "anomaly" else 2, plan={**plan, "net": SMALL.get(name)})[0]


@pytest.mark.parametrize("names", [["recognition"], ["detection", "anomaly"], list(TASKS)], ids=" ".join)
def test_any_tasks_train_an_adapter_together(names):
    """SPLAVU's equation 4: one step down the sum of the losses moves the adapter and every head."""
    torch.manual_seed(0)
    adapter = nn.Linear(DIM, DIM)
    tasks = [small_task(name) for name in names]
    heads = nn.ModuleList([task.head(DIM) for task in tasks])
    videos = with_actions(6, 0)
    loss = torch.zeros(())
    for task, head in zip(tasks, heads, strict=True):
        batch = draw(task, videos, 3)
        loss = loss + task.loss(head, replace(batch, features=adapter(batch.features)))
    loss.backward()
    assert adapter.weight.grad.abs().sum() > 0
    assert all(any(p.grad is not None and p.grad.any() for p in head.parameters()) for head in heads)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_scores_by_what_it_names(name):
    task = small_task(name)
    torch.manual_seed(0)
    scores = task.score(task.head(DIM), with_actions(8, 0))
    assert {task.metric, task.goal or task.metric} <= set(scores) and all(0 <= x <= 1 for x in scores.values())


def test_a_users_own_task():
    """Is the video long? A head, a loss and a score are all it takes."""

    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.line = nn.Linear(1, 1)

        def forward(self, mask):
            return self.line(mask.sum(1, keepdim=True).float() / 50 - 1)[:, 0]

    def loss(head, batch: FeatureBatch):
        long = torch.tensor([len(video.features) > 50 for video in batch.videos]).float()
        return nn.functional.binary_cross_entropy_with_logits(head(batch.mask), long)

    def score(head, videos):
        return {
            "right": sum(bool(head(batch_of([v]).mask) > 0) == (len(v.features) > 50) for v in videos) / len(videos)
        }

    mine = Task("length", lambda dim: Counter(), loss, score, "right")
    sets = [with_actions(n, n, length=(30, 71)) for n in (40, 20, 20)]
    assert measure(mine, *sets, Recipe(epochs=10, lr=0.3), progress=False)["right"] > 0.8


def test_the_checkpoint_is_the_best_on_validation():
    videos = with_actions(4, 0)
    seen = []

    def score(head, given):
        assert all(any(video is other for other in videos[2:]) for video in given)  # training videos are not scored
        seen.append(head.weight.item())
        return {"near one": -abs(head.weight.item() - 1)}

    task = Task(
        "pass by one",
        lambda dim: nn.Linear(1, 1, bias=False),
        lambda head, batch: -head.weight.sum(),  # grows and grows
        score,
        "near one",
    )
    start = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(start.weight)
    fitted = train_head(
        task, videos[:2], videos[2:], Recipe(epochs=20, lr=0.1, batch_size=2), head=start, progress=False
    )
    assert max(seen) > 1.5 and fitted.net.weight.item() == pytest.approx(1, abs=0.06)


def test_the_same_seed_gives_the_same_head():
    task, videos = recognition(2), with_actions(8, 0)
    heads = [
        train_head(task, videos, videos, Recipe(epochs=2, batch_size=4), seed=seed, progress=False).net.state_dict()
        for seed in (3, 3, 4)
    ]
    same, other = ([torch.equal(heads[0][k], heads[n][k]) for k in heads[0]] for n in (1, 2))
    assert all(same) and not all(other)


def test_batches_are_filled_up_and_say_where():
    videos = [VideoFeatures(torch.ones(n, 2)) for n in (3, 1)]
    batch = batch_of(videos)
    assert batch.features.sum((1, 2)).tolist() == [6, 2] and batch.mask.tolist() == [[True] * 3, [True, False, False]]


def test_anonymized_videos_keep_their_labels_and_do_not_depend_on_others():
    videos = with_actions(3, 0)
    made = anonymized(videos, lambda x: x - x.mean((0, 1)))
    for before, after in zip(videos, made, strict=True):
        torch.testing.assert_close(after.features, before.features - before.features.mean(0))
        assert after.segments == before.segments and after.name == before.name


def test_times_and_places_of_clips():
    video = VideoFeatures(torch.zeros(5, 2), frames=16, stride=4, fps=30.0)
    assert video.total == 32
    seconds = torch.tensor([0.0, 1.0])
    torch.testing.assert_close(video.place(seconds), torch.tensor([-2.0, 5.5]))
    torch.testing.assert_close(video.seconds(video.place(seconds)), seconds)


def test_labels_come_from_a_sample():
    sample = Sample("dive", None, 4, subject="anna", segments=(Segment(1, 2, 4),))
    made = of_sample(sample, torch.zeros(3, 2), fps=25.0, length=50)
    assert (made.name, made.action, made.subject, made.segments, made.total) == ("dive", 4, "anna", sample.segments, 50)
    with pytest.raises(UserError, match="features of dive"):
        of_sample(sample, torch.zeros(3))


def test_mistakes_are_named():
    with pytest.raises(UserError, match="did you mean 'detection'"):
        from_preset("detektion", 2)
    with pytest.raises(UserError, match="to validate on"):
        train_head(recognition(2), with_actions(2, 0), [], Recipe())
    with pytest.raises(UserError, match="did you mean 'adam"):
        Recipe(optimizer="adma").optimizer_of(nn.Linear(1, 1))


@pytest.mark.parametrize("name", TASKS)
def test_presets_are_the_papers(name):
    task, how = from_preset(name, 7)
    head = task.head(1024)
    if name == "detection":  # TriDet's release: 6 levels, 16 bins, lr 1e-4, batch 2, 20 + 20 epochs
        assert (len(head.norms), how.lr, how.batch_size, how.epochs, how.weight_decay) == (6, 1e-4, 2, 40, 0.025)
        assert head.offset.last.out_channels == 2 * 17 and head.branch[0].wide.kernel_size == (11,)
    elif name == "anomaly":  # MGFN: lr 1e-3, weight decay 5e-4
        assert (how.lr, how.weight_decay, how.optimizer, task.goal) == (1e-3, 5e-4, "adam", "video_auc")
    else:  # SPLAVU B.4
        assert (how.lr, how.batch_size, how.epochs) == (1e-4, 512, 100)


def test_vectors_do_not_decay_unless_asked():
    net = nn.Linear(2, 2)
    groups = Recipe(weight_decay=0.5).optimizer_of(net).param_groups
    assert [(len(g["params"]), g["params"][0].ndim, g["weight_decay"]) for g in groups] == [(1, 2, 0.5), (1, 1, 0.0)]
    assert len(Recipe(weight_decay=0.5, decay_vectors=True).optimizer_of(net).param_groups) == 1


def test_the_documents_code_runs(capsys):
    text = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text()
    names = {}
    for part in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(part, names)
    assert len(names["blurred"]) == 6 and names["method"].weight.grad.any() and capsys.readouterr().out
