import json
from collections import Counter

import pytest
from layouts import hmdb51, hmdb51_clips, write

from actonym.data import ATTRIBUTES, open_dataset
from actonym.data.pa_hmdb51 import read_labels
from actonym.errors import UserError

NONE = {name: [[0, 5, 0]] for name in ATTRIBUTES}


def labelled(root, changes=None):
    """PA-HMDB51 beside the clips of HMDB51: all but the last clip of each class have labels."""
    hmdb51(root)
    for action in ("clap", "climb_stairs"):
        clips = [name.split("/")[1] for name in hmdb51_clips((action,))][:-1]
        said = {f"{clip}.avi": {"review": True, "note": "", **NONE, **(changes or {})} for clip in clips}
        write(root / "PrivacyAttributes" / f"{action}.json", json.dumps(said))
    return root


def test_labels_of_frames_and_of_the_video(tmp_path):
    spans = {"face": [[0, 1, 0], [2, 3, 2], [4, 5, 1]], "gender": [[0, 2, 1], [3, 5, [0, 2]]], "nudity": [[5, 5, 2]]}
    data = open_dataset(f"pa-hmdb51:{labelled(tmp_path, spans)}")
    sample = data.samples("test")[0]
    assert sample.privacy == (1, 0, 1, 1, 0)
    assert sample.privacy_at(0) == (0, 0, 1, 0, 0) and sample.privacy_at(2) == (1, 0, 1, 0, 0)
    assert sample.privacy_at(5) == (1, 0, 1, 1, 0) and sample.privacy_at(99) == (0, 0, 0, 0, 0)
    assert sample.spans[2][1].values == (0, 2)
    assert data.problems.whole, "the other videos of HMDB51 are no mistake"


def test_films_are_whole_and_split_60_40(tmp_path):
    data = open_dataset(f"pa-hmdb51:{labelled(tmp_path)}")
    films = {split: {s.source for s in data.samples(split)} for split in ("train", "val", "test")}
    assert all(films.values()) and not films["test"] & (films["train"] | films["val"])


def test_labels_that_cannot_be_read(tmp_path):
    with pytest.raises(UserError, match=r"clap.json: the labels of film_0.* cannot be read"):
        open_dataset(f"pa-hmdb51:{labelled(tmp_path, {'face': [[0, 1]]})}")
    write(tmp_path / "PrivacyAttributes" / "clap.json", "{")
    with pytest.raises(UserError, match=r"clap\.json is no JSON"):
        open_dataset(f"pa-hmdb51:{tmp_path}")


def test_the_real_labels(shared):
    labels = read_labels(shared / "annotations" / "pa_hmdb51")
    counts = Counter(label.split for label in labels)
    assert len(labels) == 515 and len({label.action for label in labels}) == 51
    assert counts["test"] / 515 == pytest.approx(0.4, abs=0.04)
    assert all(len(label.spans) == len(label.privacy) == 5 for label in labels)
