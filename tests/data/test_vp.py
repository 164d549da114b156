import pickle
from collections import Counter

import numpy as np
import pytest
import torch
from layouts import hmdb51, hmdb51_clips, ucf101

from actonym.bench.floors import floors
from actonym.data import ATTRIBUTES, open_dataset
from actonym.data.vp import read_attributes, read_hmdb51, read_ucf101
from actonym.errors import UserError


def dump(path, names, values=None):
    """Labels as they are released: a pickle of small arrays, by names that end in .mp4."""
    bits = values or [[k % 2, 1, 0, 1, k % 3 == 0] for k in range(len(names))]
    table = {f"{name}.mp4": np.array([row], np.int64) for name, row in zip(names, bits, strict=True)}
    path.write_bytes(pickle.dumps(table, protocol=4))
    return path


def test_vp_hmdb51(tmp_path):
    names = list(hmdb51_clips())
    dump(hmdb51(tmp_path) / "hmdb51_privacy_attribute_label.pickle", names)
    data = open_dataset(f"vp-hmdb51:{tmp_path}")
    assert data.attributes == ATTRIBUTES and data.problems.whole
    sample = data.samples("test")[0]
    assert sample.privacy == (names.index(sample.name) % 2, 1, 0, 1, int(names.index(sample.name) % 3 == 0))
    assert sample.domain == "vp-hmdb51"


def test_vp_ucf101(tmp_path):
    names = [f"{c}/v_{c}_g{g:02d}_c{k:02d}" for c in ("Archery", "YoYo") for g in range(1, 7) for k in (1, 2)]
    dump(ucf101(tmp_path) / "ucf101_privacy_attribute_label.pickle", names)
    data = open_dataset(f"vp-ucf101:{tmp_path}")
    assert len(data.samples("test")) == 8 and all(len(s.privacy) == 5 for s in data.samples("train"))


def test_videos_without_labels_and_labels_without_videos(tmp_path, capsys):
    names = list(hmdb51_clips())
    dump(hmdb51(tmp_path) / "hmdb51_privacy_attribute_label.pickle", [*names[1:], "clap/nobody"])
    with pytest.raises(UserError, match=rf"1 of 20 videos have no attributes \({names[0]}\)"):
        open_dataset(f"vp-hmdb51:{tmp_path}")
    assert "1 videos have attributes and are in no list (clap/nobody)" in capsys.readouterr().err
    assert open_dataset(f"vp-hmdb51:path={tmp_path},partial=true").problems.bare == [names[0]]


class Evil:
    def __reduce__(self):
        return print, ("this must not run",)


def test_pickles_that_hold_anything_but_arrays_are_refused(tmp_path, capsys):
    path = tmp_path / "labels.pickle"
    path.write_bytes(pickle.dumps({"a": Evil()}))
    with pytest.raises(UserError, match="refused a pickle"):
        read_attributes(path)
    assert "must not run" not in capsys.readouterr().out
    with pytest.raises(UserError, match="no 5 labels of 0 and 1"):
        read_attributes(dump(path, ["clap/a"], [[0, 1, 2, 0, 0]]))
    path.write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(UserError, match="no table of videos"):
        read_attributes(path)


def test_the_real_clips_are_found_under_their_other_names(shared):
    """JHMDB's copies have `@` where HMDB51's lists have `#` or `&`."""
    clips, lists = shared / "data" / "jhmdb_train", shared / "annotations"
    data = open_dataset(f"vp-hmdb51:path={clips},lists={lists},partial=true")
    assert len(data.samples("train")) + len(data.samples("val")) == 665 and not data.problems.unlabelled
    assert len(data.problems.missing) == 5100 - 665


def test_the_real_labels_and_their_floors(shared):
    root = shared / "annotations"
    counts = {}
    for name, labels in (("hmdb51", read_hmdb51(root)), ("ucf101", read_ucf101(root))):
        assert all(len(label.privacy) == 5 for label in labels)
        counts[name] = len(labels)
    assert counts == {"hmdb51": 6766, "ucf101": 13320}
    assert Counter(label.split for label in read_hmdb51(root, 2))["train"] == 3570
    places = {action: place for place, action in enumerate(sorted({label.action for label in labels}))}
    parts = [[label for label in labels if label.split == split] for split in ("train", "test")]
    actions = [torch.tensor([places[label.action] for label in part]) for part in parts]
    bits = [torch.tensor([label.privacy for label in part]).float() for part in parts]
    floor = floors(actions[0], bits[0], actions[1], bits[1], ATTRIBUTES)
    assert floor["chance"] == pytest.approx(0.587, abs=0.01) and floor["action_prior"] == pytest.approx(0.773, abs=0.01)
