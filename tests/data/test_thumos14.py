import json
from collections import Counter

import pytest
from layouts import film, write

from actonym.data import open_dataset
from actonym.data.base import Segment
from actonym.data.thumos14 import ACTIONS, read_labels
from actonym.errors import UserError

DIVING, CLIFF = ACTIONS.index("Diving"), ACTIONS.index("CliffDiving")


def official(root):
    """The official files: two of three training videos are dives off a cliff, and count as dives too."""
    said = {
        "CliffDiving": {"val": "video_validation_1  1.5 2.5\nvideo_validation_2  3.0 4.0\n", "test": ""},
        "Diving": {
            "val": "video_validation_1  1.5 2.5\nvideo_validation_1  7.0 9.0\n",
            "test": "video_test_1  0.2 1.1\n",
        },
        "GolfSwing": {"val": "video_validation_3  1.0 2.0\n", "test": ""},
    }
    for action in ACTIONS:
        for part in ("val", "test"):
            write(root / "annotation" / f"{action}_{part}.txt", said.get(action, {}).get(part, ""))
    write(root / "annotation" / "Ambiguous_val.txt", "video_validation_9  1.0 2.0\n")
    film(*(root / "videos" / f"video_validation_{k}.mp4" for k in (1, 2, 3, 77)), root / "videos" / "video_test_1.mp4")
    return root


def database(segment):
    one = {"subset": "Validation", "annotations": [{"label": "Diving", "segment": segment}]}
    return json.dumps({"database": {"video_validation_1": one, "video_test_1": {**one, "subset": "test"}}})


def test_official_layout(tmp_path):
    data = open_dataset(f"thumos14:{official(tmp_path)}")
    samples = {s.name: s for split in ("train", "val", "test") for s in data.samples(split)}
    assert set(samples) == {"video_validation_1", "video_validation_2", "video_validation_3", "video_test_1"}
    sample = samples["video_validation_1"]
    assert sample.segments == (Segment(1.5, 2.5, CLIFF), Segment(1.5, 2.5, DIVING), Segment(7, 9, DIVING))
    assert sample.action == DIVING and sample.actions == (CLIFF, DIVING) and sample.text == "diving"
    assert [s.name for s in data.samples("test")] == ["video_test_1"]
    assert data.problems.whole, "the videos without times are no mistake"


@pytest.mark.parametrize("segment", [[0.2, 1.1], ["0.2", "1.1"]])
def test_json_with_numbers_or_strings(tmp_path, segment):
    film(tmp_path / "video_validation_1.mp4", tmp_path / "video_test_1.mp4")
    path = write(tmp_path / "thumos14.json", database(segment))
    assert [label.segments for label in read_labels(path)] == [(Segment(0.2, 1.1, DIVING),)] * 2
    assert len(open_dataset(f"thumos14:{tmp_path}").samples("test")) == 1


def test_bad_input(tmp_path):
    with pytest.raises(UserError, match=r"neither BaseballPitch_val\.txt and so on nor thumos14\.json"):
        open_dataset(f"thumos14:{tmp_path}")
    path = tmp_path / "thumos14.json"
    for segment, problem in (
        (["a", 1], "no seconds 'a' to 1"),
        ([3, 1], "ends before it begins"),
        ([], "cannot be read"),
    ):
        with pytest.raises(UserError, match=problem):
            read_labels(write(path, database(segment)))
    with pytest.raises(UserError, match="unknown action 'Tango'"):
        read_labels(write(path, database([1, 2]).replace("Diving", "Tango")))
    with pytest.raises(UserError, match="no 'database'"):
        read_labels(write(path, "[]"))
    path.unlink()
    official(tmp_path)
    (tmp_path / "videos" / "video_validation_2.mp4").unlink()
    with pytest.raises(UserError, match=r"1 of 4 videos are missing \(video_validation_2\)"):
        open_dataset(f"thumos14:{tmp_path}")
    (tmp_path / "annotation" / "Shotput_test.txt").unlink()
    with pytest.raises(UserError, match=r"no Shotput_test\.txt"):
        open_dataset(f"thumos14:{tmp_path}")


@pytest.mark.parametrize(("file", "test"), [("thumos14_actionformer.json", 212), ("gt_basnet.json", 210)])
def test_the_real_lists(shared, file, test):
    labels = read_labels(shared / "annotations" / "thumos14" / file)
    assert Counter(label.split for label in labels) == {"train": 200, "test": test}
    assert {action for label in labels for action in label.actions} == set(ACTIONS)
    assert all(label.segments for label in labels)
