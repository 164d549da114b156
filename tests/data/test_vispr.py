import json
import pickle
from collections import Counter

import numpy as np
import pytest
from layouts import picture, write

from actonym.data import load_clips, open_dataset
from actonym.data.vispr import ATTRIBUTES, read_labels
from actonym.errors import UserError

PARTS = {"train": 4, "val": 2, "test": 3}


def layout(root, tables=False):
    """Photographs with the official JSON files, or with SPAct's tables for training and testing only."""
    for part, count in PARTS.items():
        names = [f"2017_{k}" for k in range(count)]
        for name in names:
            picture(root / "images" / f"{part}2017" / f"{name}.jpg", (200, 0, 0))
            said = {"image_path": f"images/{part}2017/{name}.jpg", "labels": ["a0_safe", "a4_gender", "a65_rel_social"]}
            if not tables:
                write(root / "annotations" / f"{part}2017" / f"{name}.json", json.dumps(said))
        if tables and part != "val":
            bits = {name: np.array([0.0, 1, 0, 0, 0, 0, 1]) for name in names}
            (root / f"spact_7attr_{part}_labels.pkl").write_bytes(pickle.dumps(bits))
    return root


def test_official_layout(tmp_path):
    data = open_dataset(f"vispr:{layout(tmp_path)}")
    assert {split: len(data.samples(split)) for split in PARTS} == PARTS and data.problems.whole
    sample = data.samples("val")[0]
    told = [name for name, bit in zip(data.attributes, sample.privacy, strict=True) if bit]
    assert told == ["gender", "social_relationship"] and sample.video.length == 1
    clip = load_clips(data, "test", frames=4, size=16).video
    assert clip.shape == (3, 3, 4, 16, 16) and clip[:, 0].min() > 190 and clip[:, 1:].max() < 10, "still, and red"


def test_label_tables_of_spact(tmp_path):
    data = open_dataset(f"vispr:{layout(tmp_path, tables=True)}")
    assert len(data.samples("train")) + len(data.samples("val")) == 4 and len(data.samples("test")) == 3
    assert data.samples("test")[0].privacy == (0, 1, 0, 0, 0, 0, 1)
    assert {name.split("/")[0] for name in data.problems.unlabelled} == {"val2017"}, "the tables leave them out"


def test_missing_photographs_and_labels(tmp_path):
    layout(tmp_path)
    write(tmp_path / "train2017.txt", "".join(f"annotations/train2017/2017_{k}.json\n" for k in range(5)))
    with pytest.raises(UserError, match=r"vispr: 1 of 10 videos are missing \(train2017/2017_4\)"):
        open_dataset(f"vispr:{tmp_path}")
    picture(tmp_path / "images" / "train2017" / "2017_4.jpg", (0, 0, 0))
    with pytest.raises(UserError, match=r"1 of 10 videos have no attributes \(train2017/2017_4\)"):
        open_dataset(f"vispr:{tmp_path}")
    picture(tmp_path / "more" / "train2017" / "2017_3.jpg", (0, 0, 0))
    assert open_dataset(f"vispr:path={tmp_path},partial=true").problems.duplicates == ["train2017/2017_3"]


def test_bad_labels(tmp_path):
    with pytest.raises(UserError, match="no labels of the train part of VISPR"):
        open_dataset(f"vispr:{tmp_path}")
    layout(tmp_path)
    write(tmp_path / "annotations" / "train2017" / "2017_0.json", '{"labels": 3}')
    with pytest.raises(UserError, match=r"2017_0\.json has no list of labels"):
        open_dataset(f"vispr:{tmp_path}")
    (tmp_path / "spact_7attr_train_labels.pkl").write_bytes(pickle.dumps({"2017_0": np.array([1, 2])}))
    with pytest.raises(UserError, match="2017_0 has no 7 labels of 0 and 1"):
        read_labels(tmp_path)


def test_the_real_label_tables(shared):
    labels = read_labels(shared / "annotations" / "vispr")
    assert Counter(label.split for label in labels) == {"train": 10_000, "test": 8_000}
    share = np.mean([label.privacy for label in labels if label.split == "test"], axis=0)
    assert np.allclose(share, [0.47, 0.46, 0.35, 0.29, 0.05, 0.03, 0.07], atol=0.006) and len(ATTRIBUTES) == 7
