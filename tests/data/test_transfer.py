from collections import Counter

import pytest
from layouts import arid, hmdb51, hmdb51_clips, kinetics400, nec_drone, ucf101
from test_vp import dump

from actonym.data import open_dataset
from actonym.data import vp as vp_labels
from actonym.data.arid import read_labels as read_arid
from actonym.data.files import with_validation
from actonym.data.hmdb51 import read_labels as read_hmdb51
from actonym.data.transfer import HMDB_ARID, NEC_KINETICS, UCF_HMDB, share, thin
from actonym.errors import UserError


def test_ucf_and_hmdb_share_actions_and_attributes(tmp_path):
    names = list(hmdb51_clips(("climb", "clap")))
    dump(hmdb51(tmp_path / "h", hmdb51_clips(("climb", "clap"))) / "hmdb51_privacy_attribute_label.pickle", names)
    classes = ("RopeClimbing", "RockClimbingIndoor", "YoYo")
    clips = [f"{c}/v_{c}_g{g:02d}_c{k:02d}" for c in classes for g in range(1, 7) for k in (1, 2)]
    dump(ucf101(tmp_path / "u", classes) / "ucf101_privacy_attribute_label.pickle", clips)
    source, target = open_dataset(f"tp-ucf:{tmp_path / 'u'}"), open_dataset(f"tp-hmdb:{tmp_path / 'h'}")
    assert source.actions == target.actions and len(source.actions) == 12 and len(source.attributes) == 5
    assert len(source.samples("test")) == 8 and len(target.samples("test")) == 2, "only the shared actions"
    assert {s.action for s in [*source.samples("train"), *target.samples("train")]} == {0}
    assert (source.samples("test")[0].domain, target.samples("test")[0].domain) == ("ucf101", "hmdb51")
    assert source.samples("train")[0].text == "climb" and source.problems.whole


def test_hmdb_and_arid_share_actions(tmp_path):
    clips = hmdb51_clips(("drink", "clap"))
    source = open_dataset(f"hmdb11:{hmdb51(tmp_path / 'h', clips)}")
    target = open_dataset(f"arid11:{arid(tmp_path / 'a')}")
    assert source.actions == target.actions and len(source.actions) == 11
    assert len(source.samples("test")) == 2 and len(target.samples("test")) == 22
    assert target.samples("test")[0].domain == "arid" and target.samples("test")[0].text == "drink"
    few = open_dataset(f"arid11:path={tmp_path / 'a'},train=2")
    assert len(few.samples("train")) + len(few.samples("val")) == 22
    with pytest.raises(UserError, match="train must be at least 2"):
        open_dataset(f"arid11:path={tmp_path / 'a'},train=0")


def test_kinetics_and_drone_share_actions(tmp_path):
    source = open_dataset(f"kinetics7:{kinetics400(tmp_path / 'k', ('jogging', 'running on treadmill', 'abseiling'))}")
    target = open_dataset(f"nec-drone7:{nec_drone(tmp_path / 'n', 'NEC-Drone-7')}")
    assert source.actions == target.actions == tuple(NEC_KINETICS)
    assert {s.text for s in source.samples("train")} == {"running"} and len(source.samples("test")) == 4
    assert [s.text for s in target.samples("test")] == ["walking", "running", "jumping"]
    assert target.samples("test")[0].domain == "nec-drone"
    with pytest.raises(UserError, match="has the label 7"):
        open_dataset(f"nec-drone7:{nec_drone(tmp_path / 'm', 'NEC-Drone-7', classes=8)}")


def test_the_real_lists_of_ucf_and_hmdb(shared):
    """3,209 videos, and the very division that the benchmark published."""
    lists = shared / "annotations" / "hmdb_arid_daily_da"
    ucf = share(vp_labels.read_ucf101(shared / "annotations"), UCF_HMDB, "ucf101")
    hmdb = share(vp_labels.read_hmdb51(shared / "annotations"), {name: (name,) for name in UCF_HMDB}, "hmdb51")
    for labels, file in ((ucf, "ucf101_hmdb51"), (hmdb, "hmdb51_ucf101")):
        for part, theirs in (("train", "train"), ("test", "val")):
            lines = [line.split("\t") for line in (lists / f"{file}_{theirs}_da.txt").read_text().splitlines()]
            published = {(name.removesuffix(".avi"), int(place)) for _, place, name in lines}
            ours = {(x.name, list(UCF_HMDB).index(x.action)) for x in labels if x.split == part}
            assert ours == published
    assert sum(1 for label in [*ucf, *hmdb] if label.split) == 3209


def test_the_real_lists_of_hmdb_and_arid(shared):
    """GenPriv counts 1,870 videos for training and 1,153 for testing."""
    root = shared / "annotations"
    arid11 = thin(share(read_arid(root), HMDB_ARID, "arid"), 100)
    hmdb11 = share(read_hmdb51(root), {name: (name,) for name in HMDB_ARID}, "hmdb51")
    counts = Counter(label.split for label in [*arid11, *hmdb11])
    assert (counts["train"], counts["test"]) == (1870, 1153)
    assert set(Counter(x.action for x in with_validation(arid11) if x.split == "val")) == set(HMDB_ARID)
