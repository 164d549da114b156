"""What is put into a store comes out of it, and a store says what it is."""

import json

import pytest
import torch

from actonym.data.base import Segment
from actonym.data.features import Entry, Store
from actonym.errors import UserError

pyarrow = pytest.importorskip("pyarrow")
ABOUT = {"encoder": "e", "weights": "abc", "dim": 4, "data": "d"}


def entry(name, split="train", clips=3, **labels):
    vectors = torch.arange(4.0 * clips).view(clips, 4) + len(name)
    places = list(range(clips))
    return Entry(name, split, vectors, places, places, vectors[:2] / 3, [0, 1], 16 * clips, action=1, **labels)


def test_entries_come_back(tmp_path):
    store = Store.make(tmp_path / "s", ABOUT)
    labels = {"actions": [1, 4], "privacy": [0, 1], "subject": "s1", "segments": [Segment(0.5, 2.0, 7)], "text": "wave"}
    store.append([entry("a", **labels), entry("bb", "test", clips=1)])
    store.append([entry("ccc")])
    store.finish()
    again = Store.open(tmp_path / "s")
    assert again.dim == 4 and again.names() == {("train", "a"), ("test", "bb"), ("train", "ccc")}
    found = list(again.entries())
    assert [one.name for one in found] == ["a", "bb", "ccc"]
    assert torch.equal(found[0].features, entry("a").features) and torch.equal(
        found[1].static, entry("bb", clips=1).static
    )
    assert found[0].segments == [Segment(0.5, 2.0, 7)] and found[0].actions == [1, 4] and found[0].privacy == [0, 1]
    assert [one.name for one in again.entries("test")] == ["bb"]


def test_a_part_alone_says_where_it_is_from(tmp_path):
    store = Store.make(tmp_path / "s", ABOUT)
    store.append([entry("a")])
    (part,) = (tmp_path / "s").glob("*.parquet")
    said = json.loads(pyarrow.parquet.read_schema(part).metadata[b"actonym"])
    assert said["weights"] == "abc" and said["encoder"] == "e"


def test_a_store_that_is_not_complete_is_refused(tmp_path):
    Store.make(tmp_path / "s", ABOUT).append([entry("a")])
    with pytest.raises(UserError, match="not complete"):
        Store.open(tmp_path / "s")
    with pytest.raises(UserError, match="not empty"):
        Store.make(tmp_path / "s", ABOUT)
    with pytest.raises(UserError, match=r"begun differently \(weights\)"):
        Store.make(tmp_path / "s", {**ABOUT, "weights": "other"}, resume=True)
    assert Store.make(tmp_path / "s", ABOUT, resume=True).names() == {("train", "a")}


def test_what_is_no_store(tmp_path):
    with pytest.raises(UserError, match="no store of features"):
        Store.open(tmp_path)
    (tmp_path / "store.json").write_text('{"version": 9, "complete": true}')
    with pytest.raises(UserError, match="version 9"):
        Store.open(tmp_path)


@pytest.mark.parametrize("bad", [torch.zeros(2, 5), torch.full((2, 4), torch.nan)])
def test_wrong_features_are_not_stored(tmp_path, bad):
    store = Store.make(tmp_path / "s", ABOUT)
    with pytest.raises(ValueError, match="features"):
        store.append([Entry("a", "train", bad, [0], [1], bad, [0], 9, action=0)])
    assert store.names() == set()
