import pytest
from layouts import FRAMES, film, write

from actonym.data import open_dataset
from actonym.data.toyota import ACTIONS, TEST, TRAIN
from actonym.errors import UserError

CLIPS = [f"{action}_p{person:02d}_r00_v01_c03" for action in ("Cook.Cut", "WatchTV") for person in (2, 3, 4, 25)]


def layout(root):
    film(*(root / "mp4" / f"{name}.mp4" for name in CLIPS))
    return root


def lists(root):
    parts = {"train": ("p03", "p04"), "validation": ("p25",), "test": ("p02",)}
    for part, people in parts.items():
        names = [name for name in CLIPS if any(person in name for person in people)]
        write(root / "splits" / f"{part}_CS.txt", "".join(f"{name}.mp4\n" for name in names))
    return root


def test_names_say_who_does_what(tmp_path):
    data = open_dataset(f"toyota-smarthome:path={layout(tmp_path)},partial=true")
    assert {s.subject for s in data.samples("test")} == {"p02"}
    people = {split: {s.subject for s in data.samples(split)} for split in ("train", "val")}
    assert people["train"] | people["val"] == {"p03", "p04", "p25"} and not people["train"] & people["val"]
    sample = data.samples("test")[0]
    assert sample.text == "cut food" and data.actions[sample.action] == "Cook.Cut" and sample.video.length == FRAMES


def test_official_lists_decide(tmp_path):
    lists(layout(tmp_path))
    data = open_dataset(f"toyota-smarthome:{tmp_path}")
    assert data.problems.whole and {s.subject for s in data.samples("val")} == {"p25"}
    (tmp_path / "mp4" / f"{CLIPS[0]}.mp4").unlink()
    with pytest.raises(UserError, match=r"1 of 8 videos are missing \(Cook.Cut_p02_r00_v01_c03\)"):
        open_dataset(f"toyota-smarthome:{tmp_path}")
    write(tmp_path / "splits" / "test_CS.txt", "Cook.Fry_p02_r00_v01_c03.mp4\n")
    with pytest.raises(UserError, match=r"test_CS\.txt: cannot read 'Cook\.Fry_p02"):
        open_dataset(f"toyota-smarthome:{tmp_path}")
    (tmp_path / "splits" / "test_CS.txt").unlink()
    with pytest.raises(UserError, match=r"has no test_CS\.txt"):
        open_dataset(f"toyota-smarthome:{tmp_path}")


def test_groups_of_the_evaluation_per_gender(tmp_path):
    lists(layout(tmp_path))
    genders = write(tmp_path / "genders.csv", "subject,gender\n2,F\n3,M\n4,F\n25,M\n")
    data = open_dataset(f"toyota-smarthome:path={tmp_path},genders={genders}")
    assert data.attributes == ("female",)
    assert {(s.subject, s.privacy[0]) for s in data.samples("train")} == {("p03", 0), ("p04", 1)}


def test_missing_and_other_videos(tmp_path):
    with pytest.raises(UserError, match="no video is named"):
        open_dataset(f"toyota-smarthome:{tmp_path}")
    layout(tmp_path)
    film(tmp_path / "mp4" / "Cook.Fry_p02_r00_v01_c03.mp4", tmp_path / "again" / f"{CLIPS[1]}.mp4")
    with pytest.raises(UserError, match="only 8 of its 16115 videos are there"):
        open_dataset(f"toyota-smarthome:{tmp_path}")
    problems = open_dataset(f"toyota-smarthome:path={tmp_path},partial=true").problems
    assert problems.unlabelled == ["Cook.Fry_p02_r00_v01_c03"] and problems.duplicates == [CLIPS[1]]
    assert problems.missing == ["16107 more that no list names"]


def test_sizes():
    assert len(ACTIONS) == 31 and len(TRAIN) == 11 and len(TEST) == 7 and not TRAIN & TEST
