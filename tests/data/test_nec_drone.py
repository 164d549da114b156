import shutil

import pytest
from layouts import nec_drone, write

from actonym.data import load_clips, open_dataset
from actonym.errors import UserError


def test_official_layout(tmp_path):
    data = open_dataset(f"nec-drone:{nec_drone(tmp_path)}")
    assert list(data.actions) == ["A0001", "A0002", "A0003"]
    assert {s: len(data.samples(s)) for s in ("train", "val", "test")} == {"train": 6, "val": 3, "test": 3}
    sample = data.samples("test")[0]
    assert sample.subject == "P0004" and sample.video.length == 4, "only the frames that the list names"
    assert abs(int(sample.video.frames([0])[0, 0, 5, 5]) - 60) < 5, "frames are counted from 1"
    assert load_clips(data, "val", frames=4, size=16).video.shape == (3, 3, 4, 16, 16)


def test_half_there_and_wrong_lists(tmp_path):
    nec_drone(tmp_path)
    shutil.rmtree(tmp_path / "Frames" / "NEC-Phantom-001" / "A0001" / "P0004")
    with pytest.raises(UserError, match=r"1 of 12 videos are missing \(NEC-Phantom-001/A0001/P0004/V0001/2-5\)"):
        open_dataset(f"nec-drone:{tmp_path}")
    write(tmp_path / "Annotation" / "NEC-Drone-16_Annotation_trainlist.csv", "NEC-Phantom-001,A0001,P0001\n")
    with pytest.raises(UserError, match=r"trainlist.csv, row 1: cannot read"):
        open_dataset(f"nec-drone:{tmp_path}")
    with pytest.raises(UserError, match=r"has no NEC-Drone-7\*_trainlist.csv"):
        open_dataset(f"nec-drone7:{tmp_path}")
