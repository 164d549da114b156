from collections import Counter

import pytest
from layouts import film, ucf101

from actonym.data import open_dataset
from actonym.data.files import with_validation
from actonym.data.ucf101 import read_labels
from actonym.errors import UserError


def test_official_layout(tmp_path):
    data = open_dataset(f"ucf101:{ucf101(tmp_path)}")
    assert data.actions == ["Archery", "YoYo"] and data.problems.whole
    sources = {split: {s.source for s in data.samples(split)} for split in ("train", "val", "test")}
    assert sources["test"] == {f"v_{name}_g0{g}" for name in data.actions for g in (1, 2)}
    assert {len(sources["train"]), len(sources["val"])} == {6, 2} and not sources["train"] & sources["val"]
    assert data.samples("test")[0].text == "archery"


def test_other_spelling_extra_and_missing_files(tmp_path):
    ucf101(tmp_path)
    clips = tmp_path / "UCF-101" / "YoYo"
    (clips / "v_YoYo_g01_c01.avi").rename(clips / "v_Yoyo_g01_c01.avi")
    film(clips / "v_YoYo_g99_c01.avi")
    data = open_dataset(f"ucf101:{tmp_path}")
    assert not data.problems.missing and data.problems.unlabelled == ["YoYo/v_YoYo_g99_c01"]
    (clips / "v_YoYo_g02_c01.avi").unlink()
    with pytest.raises(UserError, match=r"1 of 24 videos are missing \(YoYo/v_YoYo_g02_c01\)"):
        open_dataset(f"ucf101:{tmp_path}")


@pytest.mark.parametrize(("split", "train", "test"), [(1, 9537, 3783), (2, 9586, 3734), (3, 9624, 3696)])
def test_the_real_lists(shared, split, train, test):
    labels = read_labels(shared / "annotations" / "ucf101", split)
    assert Counter(label.split for label in labels) == {"train": train, "test": test}
    assert len({label.action for label in labels}) == 101
    groups = {part: {label.source for label in labels if label.split == part} for part in ("train", "test")}
    assert not groups["train"] & groups["test"]
    after = with_validation(labels)
    val = Counter(label.action for label in after if label.split == "val")
    assert len(val) == 101 and 0.12 < val.total() / train < 0.18
