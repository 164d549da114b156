import pytest
from layouts import film

from actonym.data import open_dataset
from actonym.data.weizmann import PEOPLE, read_labels
from actonym.errors import UserError


def layout(root):
    for label in read_labels():
        film(root / label.action / f"{label.name}.avi")
    return root


def test_official_layout(tmp_path):
    data = open_dataset(f"weizmann:{layout(tmp_path)}")
    people = {split: {s.subject for s in data.samples(split)} for split in ("train", "val", "test")}
    assert people["test"] == {"shahar"} and people["train"] | people["val"] == set(PEOPLE) - {"shahar"}
    assert people["val"] and not people["train"] & people["val"] and data.problems.whole
    assert [s.text for s in data.samples("test")][-2:] == ["wave one hand", "wave two hands"]
    other = open_dataset(f"weizmann:path={tmp_path},test=lena")
    names = [s.name for s in other.samples("test")]
    assert len(names) == 13 and {"lena_walk1", "lena_walk2", "lena_wave1"} <= set(names)


def test_missing_and_unknown_videos(tmp_path):
    layout(tmp_path)
    (tmp_path / "bend" / "ido_bend.avi").unlink()
    film(tmp_path / "bend" / "nobody_bend.avi", tmp_path / "copy" / "ido_run.avi")
    with pytest.raises(UserError, match=r"1 of 93 videos are missing \(ido_bend\)"):
        open_dataset(f"weizmann:{tmp_path}")
    problems = open_dataset(f"weizmann:path={tmp_path},partial=true").problems
    assert problems.unlabelled == ["nobody_bend"] and problems.duplicates == ["ido_run"]
    with pytest.raises(UserError, match="unknown person of weizmann 'ida'; did you mean"):
        open_dataset(f"weizmann:path={tmp_path},test=ida")
