from collections import Counter

import cv2
import numpy as np
import pytest
from layouts import picture, write

from actonym.data import load_clips, open_dataset
from actonym.data.sbu import FOLDS, SEQUENCES, read_labels, read_lists
from actonym.errors import UserError

PAIRS = ("s01s02", "s02s01", "s02s03")


def layout(root, pairs=PAIRS, frames=3):
    """Whole recordings of some pairs: colour of 8 bits, depth of 16, as far as frame by frame 1000."""
    for label in read_labels():
        if label.source in pairs:
            place = root / label.source / label.name
            for k in range(1, frames + 1):
                picture(place / f"rgb_{k:06d}.png", (60 * k, 0, 0))
                cv2.imwrite(str(place / f"depth_{k:06d}.png"), np.full((24, 32), 1000 * k, np.uint16))
    return root


def test_official_layout(tmp_path):
    layout(tmp_path)
    data = open_dataset(f"sbu:path={tmp_path},partial=true")
    assert {s.source for s in data.samples("test")} == {"s01s02"}
    rest = data.samples("train") + data.samples("val")
    assert {s.subject for s in rest} == {"s01s02", "s02s03"}, "the pair is the same, whoever acts"
    sample = data.samples("test")[-1]
    assert sample.text == "punch" and sample.video.length == 3
    assert sample.video.frames([0, 2])[0, :, 0, 0].tolist() == [60, 180]
    assert sample.video.depth.frames([0, 2])[:, :, 0, 0].tolist() == [[85, 255]] * 3, "scaled by the farthest point"


def test_depth_as_video(tmp_path):
    layout(tmp_path, pairs=("s01s02",))
    data = open_dataset(f"sbu:path={tmp_path},images=depth,partial=true")
    clips = load_clips(data, "test", frames=3, size=16)
    assert clips.video[0, :, :, 0, 0].tolist() == [[85, 170, 255]] * 3
    cv2.imwrite(str(tmp_path / "s01s02" / "s01s02" / "01" / "001" / "depth_000001.png"), np.full((24, 32), 9, np.uint8))
    with pytest.raises(UserError, match="unknown images of sbu"):
        open_dataset(f"sbu:path={tmp_path},images=deep")


def test_lists_decide_where_they_are_given(tmp_path):
    layout(tmp_path, pairs=("s01s02",))
    write(tmp_path / "lists" / "train.txt", "SBU/s01s02/s01s02/01/001,1,3,0,0\nSBU/s01s02/s01s02/01/002,1,3,0,0\n")
    write(tmp_path / "lists" / "val.txt", "SBU/s01s02/s01s02/02/001,1,3,0,1\n")
    data = open_dataset(f"sbu:path={tmp_path},lists={tmp_path / 'lists'}")
    assert [s.name for s in data.samples("test")] == ["s01s02/02/001"]
    assert len(data.samples("train")) == len(data.samples("val")) == 1, "every pair is in every part"
    write(tmp_path / "lists" / "val.txt", "SBU/s01s02/s01s02/02/001,1,3,0,0\n")
    with pytest.raises(UserError, match="is not of action 0"):
        read_lists(tmp_path / "lists")
    (tmp_path / "lists" / "val.txt").unlink()
    with pytest.raises(UserError, match=r"no test\.txt or val\.txt"):
        read_lists(tmp_path / "lists")


def test_missing_unknown_and_damaged_sequences(tmp_path):
    layout(tmp_path, pairs=("s01s02",), frames=1)
    with pytest.raises(UserError, match=r"sbu: 267 of 282 videos are missing \(s01s03/01/001"):
        open_dataset(f"sbu:{tmp_path}")
    picture(tmp_path / "s01s02" / "09" / "001" / "rgb_000001.png", (0, 0, 0))
    assert open_dataset(f"sbu:path={tmp_path},partial=true").problems.unlabelled == ["s01s02/09/001"]
    with pytest.raises(UserError, match="no fold of SBU 6"):
        open_dataset(f"sbu:path={tmp_path},fold=6")
    write(tmp_path / "s01s02" / "s01s02" / "01" / "001" / "depth_000001.png", "rubbish")
    data = open_dataset(f"sbu:path={tmp_path},images=depth,partial=true")
    with pytest.raises(UserError, match="is no depth image"):
        data.samples("test")[0].video.frames([0])


def test_folds_share_all_pairs():
    assert sorted(pair for fold in FOLDS for pair in fold) == sorted(SEQUENCES)
    assert sum(Counter(label.split for label in read_labels(fold))["test"] for fold in range(1, 6)) == 282


@pytest.mark.parametrize("lists", ["sbu/bdq_splits", "sel_priv_splits/sbu"])
def test_the_real_lists(shared, lists):
    labels = read_lists(shared / "annotations" / lists)
    assert {label.name for label in labels} == {label.name for label in read_labels()} and len(labels) == 282
    counts = Counter(label.split for label in labels)
    assert counts["train"] + counts["val"] == 188 and counts["test"] == 94
    assert all(len({label.subject for label in labels if label.split == part}) == 13 for part in counts)
