from collections import Counter

import pytest
from layouts import FRAMES, film, picture

from actonym.data import open_dataset
from actonym.data.casia_b import read_labels
from actonym.errors import UserError

WALKS = ("nm-01", "nm-04", "nm-05", "bg-01", "cl-02")


def test_videos(tmp_path):
    film(*(tmp_path / "video" / f"{who}-{walk}-090.avi" for who in ("001", "075") for walk in WALKS))
    film(tmp_path / "video" / "001-bkgrd-090.avi", tmp_path / "video" / "125-nm-01-000.avi")
    data = open_dataset(f"casia-b:path={tmp_path},partial=true")
    assert not data.samples("train") and {s.subject for s in data.samples("test")} == {"001", "075"}
    roles = {s.name[4:9]: s.domain for s in data.samples("test")}
    assert roles == dict(zip(WALKS, ("gallery", "gallery", "probe", "probe", "probe"), strict=True))
    assert {s.text for s in data.samples("test")} == {"walk", "walk with a bag", "walk in a coat"}
    assert data.samples("test")[0].video.length == FRAMES
    assert data.problems.unlabelled == ["125-nm-01-000"], "rooms without people are no mistake"


def test_silhouettes(tmp_path):
    for who in ("001", "075"):
        for k in range(1, 4):
            picture(tmp_path / who / "nm-01" / "018" / f"{who}-nm-01-018-{k:03d}.png", (80 * k,) * 3)
    data = open_dataset(f"casia-b:path={tmp_path},silhouettes=true,protocol=large-sample,partial=true")
    assert [s.name for s in data.samples("test")] == ["075-nm-01-018"]
    sample = (data.samples("train") + data.samples("val"))[0]
    assert sample.subject == "001" and sample.video.length == 3
    assert sample.video.frames([0, 2])[:, :, 0, 0].tolist() == [[80, 240]] * 3


def test_bad_input(tmp_path):
    with pytest.raises(UserError, match="none of its 13640 videos is there"):
        open_dataset(f"casia-b:{tmp_path}")
    film(tmp_path / "001-nm-01-000.avi", tmp_path / "again" / "001-nm-01-000.avi")
    with pytest.raises(UserError, match=r"13639 of 13640 videos are missing \(001-nm-01-018"):
        open_dataset(f"casia-b:{tmp_path}")
    assert open_dataset(f"casia-b:path={tmp_path},partial=true").problems.duplicates == ["001-nm-01-000"]
    with pytest.raises(UserError, match="unknown protocol of casia-b"):
        read_labels("small-sample")


def test_all_videos():
    labels = read_labels("large-sample")
    assert len(labels) == 124 * 10 * 11 and Counter(label.domain for label in labels)["gallery"] == 124 * 4 * 11
    assert len({label.subject for label in labels if label.split == "train"}) == 74
