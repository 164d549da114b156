import pytest
from layouts import FRAMES, film, write

from actonym.data import open_dataset
from actonym.data.ntu60 import ACTIONS, TRAIN_SUBJECTS, read_labels
from actonym.errors import UserError


def layout(root, people=(1, 3), setup=1):
    """All videos of some people in a setup; only the first can be played."""
    folder = root / "nturgb+d_rgb"
    folder.mkdir(parents=True, exist_ok=True)
    names = read_labels(f"S{setup:03d}C001P{person:03d}R001A001" for person in people)
    for label in names:
        (folder / f"{label.name}_rgb.avi").touch()
    film(folder / f"{names[0].name}_rgb.avi")
    return root


def test_official_layout(tmp_path):
    layout(tmp_path)
    data = open_dataset(f"ntu60:path={tmp_path},partial=true")
    people = {split: {s.subject for s in data.samples(split)} for split in ("train", "val", "test")}
    assert people == {"train": {"P001"}, "val": set(), "test": {"P003"}}, "1 is a training subject, 3 is not"
    sample = data.samples("train")[0]
    assert sample.name == "S001C001P001R001A001" and sample.text == "drink water" and sample.video.length == FRAMES
    assert sample.source == "S001P001" and data.actions[data.samples("test")[-1].action] == "walk apart"
    assert data.problems.missing == ["56160 more that no list names"]


def test_cross_view(tmp_path):
    layout(tmp_path)
    data = open_dataset(f"ntu60:path={tmp_path},protocol=cross-view,partial=true")
    cameras = {split: {s.name[4:8] for s in data.samples(split)} for split in ("train", "val", "test")}
    assert cameras == {"train": {"C002", "C003"}, "val": {"C002", "C003"}, "test": {"C001"}}
    assert {s.subject for s in data.samples("train")} != {s.subject for s in data.samples("val")}


def test_gender_from_a_file(tmp_path):
    layout(tmp_path)
    genders = write(tmp_path / "genders.csv", "subject,gender\nP001,F\nP003,M\n")
    data = open_dataset(f"ntu60:path={tmp_path},genders={genders},partial=true")
    assert data.attributes == ("female",)
    assert {s.privacy for s in data.samples("train")} == {(1,)} and {s.privacy for s in data.samples("test")} == {(0,)}
    write(genders, "subject,gender\nP001,F\n")
    data = open_dataset(f"ntu60:path={tmp_path},genders={genders},partial=true")
    assert len(data.problems.bare) == 360 and not data.samples("test")


def test_missing_and_other_videos(tmp_path):
    layout(tmp_path)
    with pytest.raises(UserError, match="only 720 of its 56880 videos are there"):
        open_dataset(f"ntu60:{tmp_path}")
    folder = tmp_path / "nturgb+d_rgb"
    (folder / "S001C002P003R002A060_rgb.avi").unlink()
    for extra in ("holiday.avi", "S018C001P008R001A061_rgb.avi", "S001C001P001R001A002.avi"):
        (folder / extra).touch()
    with pytest.raises(UserError, match=r"1 of 720 videos are missing \(S001C002P003R002A060\)"):
        open_dataset(f"ntu60:{tmp_path}")
    problems = open_dataset(f"ntu60:path={tmp_path},partial=true").problems
    assert problems.unlabelled == ["holiday"], "what belongs to NTU RGB+D 120 is no mistake"
    assert problems.duplicates == ["S001C001P001R001A002"]


def test_bad_input(tmp_path):
    with pytest.raises(UserError, match="no video is named"):
        open_dataset(f"ntu60:{tmp_path}")
    with pytest.raises(UserError, match="unknown protocol of ntu60 'cross-setup'"):
        read_labels(["S001C001P001R001A001"], "cross-setup")
    assert len(set(ACTIONS)) == 60 and len(TRAIN_SUBJECTS) == 20
