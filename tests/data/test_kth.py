from collections import Counter

import pytest
from layouts import film, write

from actonym.data import open_dataset
from actonym.data.base import Segment
from actonym.data.kth import ACTIONS, LOST, PEOPLE, read_labels
from actonym.errors import UserError

TIMES = "Training: person11\n\nperson22_boxing_d1\t\tframes\t1-50, 51-100\nperson22_boxing_d2\t\tframes\t26-75\n"


def layout(root, people=(1, 11, 22)):
    for label in read_labels(root):
        if int(label.subject[-2:]) in people:
            film(root / label.action / f"{label.name}.avi")
    return root


def test_official_layout(tmp_path):
    layout(tmp_path)
    write(tmp_path / "00sequences.txt", TIMES)
    data = open_dataset(f"kth:path={tmp_path},partial=true")
    people = {split: {s.subject for s in data.samples(split)} for split in ("train", "val", "test")}
    assert people == {"train": {"person11"}, "val": {"person01"}, "test": {"person22"}}
    sample = data.samples("test")[0]
    assert sample.name == "person22_boxing_d1_uncomp" and sample.text == "boxing"
    assert sample.segments == (Segment(0, 2, 0), Segment(2, 4, 0)), "frames are seconds at 25 a second"
    assert data.samples("test")[4].text == "hand clapping"


def test_every_person_in_every_part(tmp_path):
    layout(tmp_path)
    rows = [f"{label.name},{'test' if label.source.endswith('d4') else 'train'}" for label in read_labels(tmp_path)]
    write(tmp_path / "metadata.csv", "\n".join(["video,set", *rows]))
    data = open_dataset(f"kth:path={tmp_path},protocol=identity,partial=true")
    for split in ("train", "val", "test"):
        assert {s.subject for s in data.samples(split)} == {"person01", "person11", "person22"}
    write(tmp_path / "metadata.csv", "\n".join(["video,set", *rows[1:]]))
    with pytest.raises(UserError, match="where 1 videos go, the first is person01_boxing_d1_uncomp"):
        read_labels(tmp_path, "identity")
    write(tmp_path / "metadata.csv", "\n".join(["video,set", "a,tset"]))
    with pytest.raises(UserError, match="unknown split 'tset'"):
        read_labels(tmp_path, "identity")


def test_missing_and_unknown_videos(tmp_path):
    layout(tmp_path, people=(22,))
    with pytest.raises(UserError, match="575 of 599 videos are missing"):
        open_dataset(f"kth:{tmp_path}")
    film(tmp_path / "person26_boxing_d1_uncomp.avi", tmp_path / "again" / "person22_boxing_d1_uncomp.avi")
    problems = open_dataset(f"kth:path={tmp_path},partial=true").problems
    assert problems.unlabelled == ["person26_boxing_d1_uncomp"] and problems.duplicates == ["person22_boxing_d1_uncomp"]
    with pytest.raises(UserError, match="unknown protocol of kth"):
        open_dataset(f"kth:path={tmp_path},protocol=offical")
    with pytest.raises(UserError, match=r"has no metadata\.csv"):
        open_dataset(f"kth:path={tmp_path},protocol=identity")


def test_all_videos_of_all_people(tmp_path):
    labels = read_labels(tmp_path)
    assert len(labels) == 599 and f"{LOST}_uncomp" not in {label.name for label in labels}
    assert sorted(person for part in PEOPLE.values() for person in part) == list(range(1, 26))


def test_the_real_lists(shared):
    root = shared / "annotations" / "sel_priv_splits" / "kth"
    labels = read_labels(root)
    assert sum(len(label.segments) for label in labels) == 2391, "as many sequences as the paper has"
    assert {label.action for label in labels} == set(ACTIONS)
    by_video = read_labels(root, "identity")
    counts = Counter(label.split for label in by_video)
    assert counts["test"] == 150 and counts["train"] + counts["val"] == 449
    assert all(len({label.subject for label in by_video if label.split == part}) == 25 for part in counts)
