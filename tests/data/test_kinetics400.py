import pytest
from layouts import kinetics400, write

from actonym.data import open_dataset
from actonym.errors import UserError


def counts(data):
    return {split: len(data.samples(split)) for split in ("train", "val", "test")}


def test_papers_test_on_the_validation_list(tmp_path):
    data = open_dataset(f"kinetics400:path={kinetics400(tmp_path)},partial=true")
    assert counts(data) == {"train": 14, "val": 2, "test": 4} and data.actions == ["abseiling", "high jump"]
    assert data.samples("test")[0].name == "-val_00_000000_000010" and data.samples("test")[0].source == "-val_00"
    assert counts(open_dataset(f"kinetics400:path={tmp_path},test=test")) == {"train": 16, "val": 4, "test": 4}


def test_videos_that_are_gone_are_an_error_unless_asked_for(tmp_path):
    kinetics400(tmp_path)
    (tmp_path / "train" / "-train_00_000000_000010.mp4").unlink()
    with pytest.raises(UserError, match=r"1 of 20 videos are missing \(-train_00_000000_000010\)"):
        open_dataset(f"kinetics400:{tmp_path}")
    assert sum(counts(open_dataset(f"kinetics400:path={tmp_path},partial=true")).values()) == 19


def test_wrong_lists(tmp_path):
    with pytest.raises(UserError, match="did you mean 'test'"):
        open_dataset(f"kinetics400:path={kinetics400(tmp_path)},test=tset")
    write(tmp_path / "annotations" / "train.csv", "label,youtube_id,time_start,time_end\nrun,x,a,b\n")
    with pytest.raises(UserError, match=r"train.csv, row 2: times are whole seconds"):
        open_dataset(f"kinetics400:{tmp_path}")
    (tmp_path / "annotations" / "val.csv").rename(tmp_path / "annotations" / "validate.csv")
    write(tmp_path / "annotations" / "train.csv", "id,label\n")
    with pytest.raises(UserError, match="has no column 'youtube_id'"):
        open_dataset(f"kinetics400:{tmp_path}")
