from collections import Counter

import pytest
from layouts import arid, write

from actonym.data import open_dataset
from actonym.data.arid import read_labels
from actonym.errors import UserError


def test_official_layout(tmp_path):
    data = open_dataset(f"arid:{arid(tmp_path)}")
    parts = {split: data.samples(split) for split in ("train", "val", "test")}
    assert {split: len(samples) for split, samples in parts.items()} == {"train": 22, "val": 22, "test": 22}
    assert data.problems.whole, "clips of the other list are known and not used"
    assert parts["test"][0].source == "Drink_11" and parts["test"][0].text == "drink"


def test_numbers_of_group_and_clip_are_not_mixed_up(tmp_path):
    """Drink_1_11 and Drink_11_1 have the same letters and digits."""
    arid(tmp_path)
    (tmp_path / "clips_v1.5" / "Drink" / "Drink_1_11.mp4").unlink()
    data = open_dataset(f"arid:path={tmp_path},partial=true")
    assert data.problems.missing == ["Drink/Drink_1_11"]


def test_a_class_without_a_name(tmp_path):
    write(arid(tmp_path) / "list_cvt" / "mapping_table.txt", "0\tDrink\n")
    with pytest.raises(UserError, match="has the class 1, which mapping_table"):
        open_dataset(f"arid:{tmp_path}")


def test_the_real_lists(shared):
    for split, (train, test) in {1: (2288, 823), 2: (2252, 859), 3: (2259, 852)}.items():
        labels = read_labels(shared / "annotations" / "arid", split)
        assert Counter(label.split for label in labels) == {"train": train, "test": test, "": 673}
        groups = [{label.source for label in labels if label.split == part} for part in ("train", "test")]
        assert not groups[0] & groups[1]
