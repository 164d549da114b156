"""The protocol `known`, whole, on a tiny stage: every number is there and follows from the others."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from time import sleep

import pytest
import torch
from small import DATA, TINY

from actonym import methods
from actonym.bench import bench as bench_module
from actonym.bench.baseline import raw_baselines
from actonym.bench.bench import bench, slug
from actonym.bench.evaluate import Evaluation
from actonym.bench.measure import Measured, measure, parse_attacker
from actonym.errors import ActonymError, UserError
from actonym.train.fit import Fitted

ORIGIN = "frame/frame/scratch"


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("ACTONYM_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield Evaluation(DATA, assignments=TINY, progress=False)
    patch.undo()


@pytest.fixture(scope="module")
def result(evaluation, tmp_path_factory):
    return evaluation.run("downsample:factor=4", 0, tmp_path_factory.mktemp("out") / "result.json")


def test_result_is_complete_and_consistent(result):
    assert result["method"] == "downsample:factor=4" and result["data"] == DATA
    tried = {entry["name"]: entry["cmap"] for entry in result["attacker"]["tried"]}
    assert list(tried) == ["attribute/frame/scratch", "attribute/frame/raw", "frame/frame/scratch"]
    assert result["privacy"]["cmap"] == max(tried.values()) == tried[result["attacker"]["strongest"]]
    raw = result["raw"]
    assert result["kept"] == pytest.approx(result["utility"]["top1"] / raw["top1"])
    chance = result["floors"]["chance"]
    assert result["closed"] == pytest.approx((raw["cmap"] - result["privacy"]["cmap"]) / (raw["cmap"] - chance))
    assert result["clips"] == {"train": 20, "val": 20, "test": 20}
    assert result["reported"]["vp-hmdb51"]["top1"] == 0.3132


def test_raw_keeps_all_and_closes_nothing(evaluation, tmp_path):
    raw = evaluation.run("raw", 0, tmp_path / "raw.json")
    assert raw["kept"] == 1.0 and raw["closed"] == 0.0
    assert [entry["start"] for entry in raw["attacker"]["tried"]] == ["scratch", "raw", "scratch"]
    assert (tmp_path / "raw.png").stat().st_size > 1000


def test_raw_baselines_are_trained_once_and_kept(evaluation, monkeypatch):
    one = evaluation.raw(0)
    monkeypatch.setattr("actonym.bench.evaluate.measure", lambda *a, **k: pytest.fail("trained again"))
    two = Evaluation(DATA, assignments=TINY, progress=False).raw(0)
    assert one.utility == two.utility and one.privacy == two.privacy
    for name, weights in one.weights.items():
        assert all(torch.equal(weights[key], two.weights[name][key]) for key in weights)


def test_of_two_that_want_the_same_raw_baselines_the_second_waits(evaluation):
    asked = []

    def measure():
        asked.append(True)
        sleep(0.2)  # long enough for the other to come
        return Measured({"top1": 0.5}, {}, {})

    splits = evaluation.parts.data.splits
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: raw_baselines(measure, splits, splits, evaluation.plan, 7), range(2)))
    assert len(asked) == 1 and found[0].utility == found[1].utility == {"top1": 0.5}


def test_the_same_seed_gives_the_same_numbers(evaluation, result, tmp_path):
    again = evaluation.run("downsample:factor=4", 0, tmp_path / "again.json")
    assert again["utility"]["top1"] == result["utility"]["top1"] and again["privacy"] == result["privacy"]


def test_a_method_that_was_changed_is_run_again(evaluation, tmp_path):
    """Two methods of one name are two methods: clips are kept from seed to seed only by what made them."""
    method = methods.create("downsample:factor=2")
    seen = []
    for factor in (2, 8):
        method.factor = factor
        evaluation.run(method, 0, tmp_path / f"{factor}.json")
        seen.append(evaluation._anonymized[1].data.splits["test"].video)
    assert not torch.equal(*seen)


def test_nothing_is_learned_from_the_test_split(evaluation):
    """Its labels turned round change the scores, not the weights."""
    splits = dict(evaluation.parts.data.splits)
    splits["test"] = replace(splits["test"], privacy=1 - splits["test"].privacy)
    plan = {**evaluation.plan, "attackers": ["frame/frame/scratch"]}
    turned = measure(splits, splits, evaluation.dataset, plan, 0, evaluation.look, progress=False)
    weights = evaluation.raw(0).weights["frame/frame/scratch"]
    assert all(torch.equal(weights[key], value) for key, value in turned.weights["frame/frame/scratch"].items())


def test_attackers_that_are_fixed_go_on_from_raw_and_move_nothing(evaluation, monkeypatch):
    given = []

    def watch(net, train, val, how, **rest):
        given.append((how, {key: value.clone() for key, value in net.state_dict().items()}))
        return Fitted(net, 0.5, 1, True, 0.0)

    monkeypatch.setattr("actonym.bench.measure.train_attacker", watch)
    raw, splits = evaluation.raw(0).weights, evaluation.parts.data.splits
    plan = {**evaluation.plan, "attackers": [f"frame/frame/{start}" for start in ("scratch", "raw", "fixed")]}
    measure(splits, splits, evaluation.dataset, plan, 0, evaluation.look, raw, progress=False)
    (scratch, _), (moved, began), (fixed, same) = given
    assert scratch.shift == moved.shift > 0 and fixed == replace(moved, shift=0)
    assert all(torch.equal(began[key], value) and torch.equal(same[key], value) for key, value in raw[ORIGIN].items())


def test_linkage_of_the_stage_is_measured_where_it_is_asked_for(evaluation, tmp_path):
    linking = Evaluation("stage:train=40,val=60,test=60", assignments=[*TINY, "linkage=true"], progress=False)
    found = linking.run("blacken", 0, tmp_path / "linked.json")["linkage"]
    kinds = {entry["name"].partition("/")[0] for entry in found["tried"]}
    assert kinds == {"place", "attacker"} and found["strongest"] in [entry["name"] for entry in found["tried"]]
    assert found["rank1"] == max(entry["rank1"] for entry in found["tried"])
    assert 0 < found["chance"]["rank1"] < 1


def test_bench_goes_on_where_it_was(tmp_path, monkeypatch, evaluation):
    options = {"seeds": 1, "assignments": TINY, "progress": False}
    first = bench(["raw", "blacken"], DATA, tmp_path, **options)
    monkeypatch.setattr("actonym.bench.evaluate.measure", lambda *a, **k: pytest.fail("measured again"))
    assert bench(["raw", "blacken"], DATA, tmp_path, **options) == first
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["blacken-seed0.json", "blacken-seed0.png", "raw-seed0.json", "raw-seed0.png"]
    assert json.loads((tmp_path / "raw-seed0.json").read_text()) == first[0]


def test_two_processes_measure_what_one_does(tmp_path, evaluation):
    """With as many threads each, to the last digit."""
    options = {"assignments": TINY, "progress": False}
    threads = torch.get_num_threads()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // 2))
    try:
        alone = bench(["raw", "blacken"], DATA, tmp_path / "one", **options)
    finally:
        torch.set_num_threads(threads)
    shared = bench(["raw", "blacken"], DATA, tmp_path / "two", jobs=2, **options)
    for one, two in zip(alone, shared, strict=True):
        assert one["utility"]["top1"] == two["utility"]["top1"] and one["privacy"] == two["privacy"]


def test_a_mistake_is_told_before_any_process_starts(tmp_path, evaluation):
    with pytest.raises(UserError, match="did you mean"):
        bench(["raw"], "stagee", tmp_path, jobs=2)
    with pytest.raises(UserError, match="unknown method"):
        bench(["raw", "blakken"], DATA, tmp_path, jobs=2, assignments=TINY, progress=False)


def test_a_process_that_is_killed_is_told_in_one_line(tmp_path, monkeypatch, evaluation):
    class Pool(ThreadPoolExecutor):
        def __init__(self, jobs, *_):
            super().__init__(jobs)

    def killed(*_):
        raise BrokenProcessPool

    monkeypatch.setattr(bench_module, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(bench_module, "_prepare", killed)
    with pytest.raises(ActonymError, match="memory ran out; what is finished is kept"):
        bench(["raw"], DATA, tmp_path, jobs=2, assignments=TINY, progress=False)


def test_what_can_be_measured_is_measured_before_the_next_training(tmp_path, monkeypatch):
    class Pool(ThreadPoolExecutor):
        def __init__(self, jobs, *_):
            super().__init__(jobs)

    order = []
    monkeypatch.setattr(bench_module, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(bench_module, "_prepare", lambda seed, method: order.append(f"{method or 'raw'} {seed}") or "")
    monkeypatch.setattr(bench_module, "_run", lambda group: order.append([run[:2] for run in group]) or "")
    groups = [[(method, seed, tmp_path)] for seed in range(2) for method in ("blur", "net:keep=0.3", "net")]
    bench_module._share({}, groups, {"net": "net", "net:keep=0.3": "net"}, jobs=1, progress=False)
    assert order == [
        step
        for seed in range(2)
        for step in (f"raw {seed}", [("blur", seed)], f"net {seed}", [("net:keep=0.3", seed)], [("net", seed)])
    ]


def test_slug():
    assert slug("downsample:factor=2") == "downsample-factor-2"
    assert slug("runs/my model/") == "my-model"
    assert slug("runs/mine:keep=0.5") == "mine-keep-0.5"
    assert slug("stprivacy@length-1:train.start=a/deit.pth") == "stprivacy-length-1-train.start-a-deit.pth"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("attack.frames=0", "attack.frames must be a whole number from 1 up, not 0"),
        ("recognizer.fit.epochs=2.5", "recognizer.fit.epochs must be a whole number"),
        ("attack.fit.lr=-1", "attack.fit.lr must be above 0, not -1"),
        ("attackers=[]", "name at least one"),
        ("attackers=[frame/frame/fixed]", "goes on from frame/frame/scratch: name that one too, before it"),
        ("attackers=[frame/frame/raw, frame/frame/scratch]", "name that one too, before it"),
        ("recognizer.net=3", "must be a word"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused_at_once(said, message):
    with pytest.raises(UserError, match=message):
        Evaluation(DATA, assignments=[said])


@pytest.mark.parametrize(
    ("name", "message"), [("attribute/frame", "attack/network/start"), ("atribute/frame/raw", "'attribute'")]
)
def test_attackers_are_checked(name, message):
    with pytest.raises(UserError, match=message):
        parse_attacker(name)
