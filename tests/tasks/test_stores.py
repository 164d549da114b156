"""A store of features as videos of tasks, and every task measured on one, from the command line too."""

import json

import pytest
import torch
from feature_videos import DIM, with_actions

from actonym.cli import main
from actonym.data.base import Segment
from actonym.data.features import Entry, Store
from actonym.errors import UserError
from actonym.tasks.base import VideoFeatures
from actonym.tasks.cotraining import lessons, parse_tasks
from actonym.tasks.stores import measure_store, task_of, videos_of

pytest.importorskip("pyarrow")
QUICK = ["recipe.epochs=1"]


def filled(folder, videos, actions):
    """A store of the splits' videos: clips of 16 frames, one after the other."""
    store = Store.make(folder, {"data": "tiny", "dim": DIM, "actions": actions, "attributes": [], "frames": 16})
    for split, part in videos.items():
        for n, video in enumerate(part):
            first = [16 * k for k in range(len(video.features))]
            labels = {"action": video.action, "segments": list(video.segments), "fps": 16.0}
            store.append(
                [
                    Entry(
                        video.name or f"{split} {n}", split, video.features, first, [k + 15 for k in first],
                        video.features[:2], [0, 1], 16 * len(first), **labels,
                    )
                ]
            )  # fmt: skip
    store.finish()
    return store


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """Two actions with segments; the first is called normal."""
    videos = {split: with_actions(8, seed) for seed, split in enumerate(("train", "val", "test"))}
    return filled(tmp_path_factory.mktemp("long") / "s", videos, ["normal", "odd"])


def test_a_store_says_all_that_tasks_ask_for(tmp_path):
    labels = {"action": 1, "subject": "s", "segments": [Segment(0.5, 2.0, 1)]}
    places = {"first": [0, 8], "last": [15, 23], "frames": [0, 1]}
    store = Store.make(tmp_path / "s", {"dim": 2})
    vectors = {"features": torch.ones(2, 2), "static": torch.ones(2, 2)}
    store.append([Entry("a", "train", length=30, fps=25.0, **vectors, **places, **labels)])
    store.finish()
    (video,) = videos_of(Store.open(tmp_path / "s"), "train")
    assert (video.name, video.action, video.subject, list(video.segments)) == ("a", 1, "s", labels["segments"])
    assert (video.frames, video.stride, video.fps, video.total) == (16, 8, 25.0, 30)
    with pytest.raises(UserError, match="no videos in its test split"):
        videos_of(store, "test")


@pytest.mark.parametrize(("name", "metric"), [("recognition", "top1"), ("detection", "map"), ("anomaly", "auc")])
def test_trained_tasks_are_measured_before_and_after_a_method(long, name, metric):
    found = measure_store(name, long, method=lambda x: 0 * x, changes=QUICK, progress=False)
    assert found["metric"] == metric and found["videos"] == {"train": 8, "val": 8, "test": 8}
    assert found["kept"] == pytest.approx(found["anonymized"][metric] / found["raw"][metric])
    alone = measure_store(name, long, changes=QUICK, progress=False)
    assert alone["scores"][metric] == found["raw"][metric], "the same seed, the same head"


def test_tasks_that_train_nothing(long, tmp_path):
    found = measure_store("retrieval", long, progress=False)
    assert found["metric"] == "map" and found["scores"]["queries"] == 8
    walks = [
        (f"{person:03d}-{walk}-{view}", torch.eye(DIM)[person][None])
        for person in range(3)
        for walk in ("nm-01", "nm-05", "bg-01", "cl-01")
        for view in ("000", "090")
    ]
    store = filled(tmp_path / "w", {"test": [VideoFeatures(feature, name) for name, feature in walks]}, ["nm"])
    assert measure_store("gait", store)["scores"]["rank1"] == 1
    assert measure_store("gait", store, method=lambda x: 0 * x + 1)["kept"] == pytest.approx(1 / 3)


def test_from_the_command_line(long, tmp_path, capsys):
    main(["tasks", "run", "recognition", "--data", f"features:{long.folder}", "--set", *QUICK, "--quiet"])
    found = json.loads(capsys.readouterr().out)
    assert found["task"] == "recognition" and 0 <= found["scores"]["top1"] <= 1
    with pytest.raises(SystemExit) as ended:
        main(["tasks", "run", "detektion", "--data", str(long.folder)])
    assert ended.value.code == 2 and "did you mean 'detection'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["tasks", "run", "detection"])
    assert "--data features:FOLDER" in capsys.readouterr().err


def test_mistakes_are_named(long, tmp_path):
    with pytest.raises(UserError, match="nothing to --set"):
        measure_store("gait", long, changes=QUICK)
    other = filled(tmp_path / "s", {"train": with_actions(2, 0)}, ["walk", "fall"])
    with pytest.raises(UserError, match="an action called 'normal'"):
        task_of("anomaly", other)
    with pytest.raises(UserError, match="did you mean 'anomaly'"):
        parse_tasks("anomal=here")
    with pytest.raises(UserError, match="--tasks detection=FOLDER"):
        parse_tasks("detection")
    assert parse_tasks("detection=a, anomaly=features:b") == {"detection": "a", "anomaly": "b"}
    with pytest.raises(UserError, match="not 7: take the same encoder"):
        lessons({"detection": long}, dim=7)
