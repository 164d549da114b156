from collections import Counter

import pytest
from layouts import film, write

from actonym.data import open_dataset
from actonym.data.base import Segment
from actonym.data.ucf_crime import ACTIONS, name_of, read_labels
from actonym.errors import UserError

TRAIN = ["Abuse/Abuse001_x264", "Abuse/Abuse002_x264", "Training_Normal_Videos_Anomaly/Normal_Videos001_x264"]
TEST = """Abuse028_x264.mp4  Abuse  150  240  300  330  \n
Normal_Videos_003_x264.mp4  Normal  -1  -1  -1  -1  \n"""


def layout(root):
    write(root / "Anomaly_Train.txt", "".join(f"{name}.mp4\n" for name in TRAIN))
    write(root / "Temporal_Anomaly_Annotation.txt", TEST)
    film(*(root / f"{name}.mp4" for name in TRAIN), root / "Abuse" / "Abuse028_x264.mp4")
    film(root / "Testing_Normal_Videos_Anomaly" / "Normal_Videos_003_x264.mp4")
    return root


def test_official_layout(tmp_path):
    data = open_dataset(f"ucf-crime:{layout(tmp_path)}")
    assert len(data.samples("train")) + len(data.samples("val")) == 3 and data.problems.whole
    abuse, normal = data.samples("test")
    place = ACTIONS.index("Abuse")
    assert abuse.segments == (Segment(5, 8, place), Segment(10, 11, place)), "frames are seconds at 30 a second"
    assert data.actions[normal.action] == "Normal" and not normal.segments and abuse.text == "abuse"


def test_rtfms_list_serves_for_training(tmp_path):
    layout(tmp_path)
    (tmp_path / "Anomaly_Train.txt").unlink()
    rows = [f"G:\\UCF_Train_ten_crop_i3d\\{name.split('/')[1]}_i3d.npy\r\n" for name in TRAIN]
    write(tmp_path / "ucf-i3d.list", "".join(rows))
    assert len(open_dataset(f"ucf-crime:{tmp_path}").samples("train")) == 2
    assert name_of("Testing_Normal_Videos_Anomaly/Normal_Videos_003_x264.mp4") == "Normal_Videos_003_x264"


def test_bad_input(tmp_path):
    with pytest.raises(UserError, match=r"has no Anomaly_Train\.txt"):
        open_dataset(f"ucf-crime:{tmp_path}")
    layout(tmp_path)
    (tmp_path / "Abuse" / "Abuse002_x264.mp4").unlink()
    film(tmp_path / "Abuse" / "Abuse099_x264.mp4", tmp_path / "Normal_Videos_event" / "Normal_Videos001_x264.mp4")
    with pytest.raises(UserError, match=r"1 of 5 videos are missing \(Abuse002_x264\)"):
        open_dataset(f"ucf-crime:{tmp_path}")
    problems = open_dataset(f"ucf-crime:path={tmp_path},partial=true").problems
    assert problems.unlabelled == ["Abuse099_x264"] and problems.duplicates == ["Normal_Videos001_x264"]
    write(tmp_path / "Temporal_Anomaly_Annotation.txt", TEST.replace("Abuse  150", "Tango  150"))
    with pytest.raises(UserError, match="unknown action 'Tango'"):
        open_dataset(f"ucf-crime:{tmp_path}")
    write(tmp_path / "Temporal_Anomaly_Annotation.txt", TEST.replace("150", "x"))
    with pytest.raises(UserError, match="no frame numbers"):
        open_dataset(f"ucf-crime:{tmp_path}")
    write(tmp_path / "Anomaly_Train.txt", "Tango/Tango001_x264.mp4\n")
    with pytest.raises(UserError, match="not named after an action"):
        open_dataset(f"ucf-crime:{tmp_path}")


def test_the_real_lists(shared, tmp_path):
    root = shared / "annotations" / "ucf_crime"
    labels = read_labels(root)
    assert Counter(label.split for label in labels) == {"train": 1610, "test": 290}
    assert {label.action for label in labels} == set(ACTIONS)
    timed = [label for label in labels if label.segments]
    assert len(timed) == 140 and all(label.split == "test" and label.action != "Normal" for label in timed)
    assert all(0 <= part.start < part.end for label in timed for part in label.segments)
    for name in ("rtfm_ucf-i3d.list", "Temporal_Anomaly_Annotation.txt"):
        write(tmp_path / name, (root / name).read_text())
    assert {label.name for label in read_labels(tmp_path)} == {label.name for label in labels}
