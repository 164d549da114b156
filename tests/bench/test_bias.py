"""Accuracy per group and the gap, against sums written out; the protocol from the data to the report."""

import pytest
import torch
from small import TINY

from actonym.bench import bias
from actonym.bench.bias import against_raw, gap_by_lot, group_scores
from actonym.bench.evaluate import Evaluation
from actonym.bench.result import flags, problem
from actonym.bench.table import markdown
from actonym.data import Clips
from actonym.errors import UserError

DATA = "stage:world=bias-f,train=20,val=20,test=20"


def test_groups_and_gap_by_hand():
    """Two views per video, whose mean counts; the attribute is the second."""
    action, woman = torch.tensor([0, 1, 0, 1, 1]), [1, 1, 0, 0, 0]
    privacy = torch.tensor([[0, bit] for bit in woman]).float()
    right = [True, False, True, True, False]
    logits = torch.zeros(10, 2)
    for video, (true, good) in enumerate(zip(action.tolist(), right, strict=True)):
        logits[2 * video, true if good else 1 - true] = 3.0
        logits[2 * video + 1, true] = 0.1
    test = Clips(torch.zeros(10, 1), action, privacy, [""] * 5, views=2)
    found = group_scores(logits, test, 1)
    assert found["groups"] == {
        "female": {"top1": 0.5, "videos": 2},
        "male": {"top1": pytest.approx(2 / 3), "videos": 3},
    }
    assert found["gap"] == pytest.approx(2 / 3 - 1 / 2)


def test_the_gap_by_lot_is_that_of_chance():
    """Of a half against a half with accuracy 1/2 the gap is normal with variance 1/n: its mean is sqrt(2 / (pi n))."""
    right = torch.arange(400) % 2 == 0
    assert gap_by_lot(right, 200) == pytest.approx((2 / torch.pi / 400) ** 0.5, rel=0.15)
    assert gap_by_lot(torch.ones(10, dtype=torch.bool), 5) == 0


def test_what_is_gone_of_the_gap():
    raw, now = ({"top1": 0.5, "bias": {"gap": gap}} for gap in (0.2, 0.05))
    assert against_raw(now, raw)["bias"]["closed"] == pytest.approx(0.75) and "closed" not in now["bias"]
    assert against_raw({"top1": 1.0}, {"top1": 1.0}) == {"top1": 1.0}


def test_the_protocol_ends_in_the_report(tmp_path, monkeypatch):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path))
    result = Evaluation(DATA, "bias", assignments=TINY, progress=False).run("downsample", 0, tmp_path / "out.json")
    found = result["utility"]["bias"]
    each = found["groups"]
    assert {name: one["videos"] for name, one in each.items()} == {"female": 10, "male": 10}
    assert result["utility"]["top1"] == pytest.approx((each["female"]["top1"] + each["male"]["top1"]) / 2)
    assert found["gap"] == pytest.approx(abs(each["female"]["top1"] - each["male"]["top1"]))
    assert 0 <= result["raw"]["gap"] <= 1 and not problem(result)
    assert "| method | female | male | all | gap | by lot | gap closed |" in markdown([result])


def test_a_raw_gap_that_lot_would_give_is_flagged(make):
    result = make()
    groups = {name: {"top1": 0.9, "videos": 9} for name in ("female", "male")}
    told = {"attribute": "female", "groups": groups, "gap": 0.0, "by_lot": 0.1, "closed": None}
    result["utility"]["bias"] = told
    result["raw"]["gap"] = 0.2
    assert not flags(result) and not problem(result)
    result["raw"]["gap"] = 0.05
    assert flags(result) == ["raw gap no larger than by lot"]


@pytest.mark.parametrize(("gap", "told"), [(0.2, "0.500"), (0.05, "–")])
def test_of_a_raw_gap_that_lot_would_give_no_share_is_told(make, gap, told):
    result = make()
    groups = {name: {"top1": 0.9, "videos": 9} for name in ("female", "male")}
    bias = {"attribute": "female", "groups": groups, "gap": gap / 2, "by_lot": 0.1, "closed": 0.5}
    result["utility"]["bias"] = bias
    result["raw"]["gap"] = gap
    result["flags"] = flags(result)
    assert f"| {gap / 2:.3f} | 0.100 | {told} |" in markdown([result])


def test_data_without_gender_and_a_missing_library_are_told_at_once(monkeypatch):
    with pytest.raises(UserError, match="attribute 'female', which stage has not"):
        Evaluation("stage:train=2,val=2,test=2", "bias", assignments=TINY)
    with pytest.raises(UserError, match="women and men among the test videos"):
        Evaluation("stage:world=bias-f,train=2,val=2,test=1", "bias", assignments=TINY)
    monkeypatch.setattr(bias, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"actonym\[bias\]"):
        Evaluation(DATA, "bias", assignments=TINY)
