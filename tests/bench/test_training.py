"""A learned method that is named is trained first: once per seed, by the rules of `actonym train`, resumable."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from small import DATA, TINY

from actonym import methods
from actonym.bench import look, training
from actonym.bench.bench import bench
from actonym.bench.candidate import candidate
from actonym.bench.evaluate import Evaluation
from actonym.errors import UserError
from actonym.train import loop
from actonym.train.command import train

pytestmark = pytest.mark.usefixtures("learnable")


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory, learnable):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACTONYM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield Evaluation(DATA, assignments=TINY, progress=False)


def trained(evaluation, spec="tint", seed=0):
    return evaluation.train(candidate(spec, "stage"), seed)


def fail(*_, **__):
    pytest.fail("trained again")


def test_the_result_says_how_it_was_trained(evaluation, tmp_path):
    result = evaluation.run("tint", 0, tmp_path / "tint.json")
    about = result["training"]
    assert [(phase["name"], phase["epochs"]) for phase in about["phases"]] == [("dim", 2), ("dim more", 1)]
    assert (
        about["seconds"] == pytest.approx(sum(phase["seconds"] for phase in about["phases"])) and about["seconds"] > 0
    )
    assert about["settings"] == {"method": {"keep": 0.75, "start": 0.5}, "train": {"epochs": 2, "lr": 0.5}}
    assert "training" not in evaluation.run("downsample", 0, tmp_path / "downsample.json")


def test_what_is_measured_is_trained(evaluation):
    method, _ = trained(evaluation)
    fresh = methods.create("tint")
    assert not method.training and (method.gain < fresh.gain - 0.03).all(), "its objective is to get darker"


def test_it_is_trained_once(evaluation, monkeypatch):
    first, about = trained(evaluation)
    monkeypatch.setattr(training, "train_method", fail)
    again, same = trained(evaluation)
    assert torch.equal(first.gain, again.gain) and about == same


def test_each_seed_trains_its_own(evaluation):
    assert not torch.equal(trained(evaluation)[0].gain, trained(evaluation, seed=1)[0].gain)


@pytest.mark.parametrize("spec", ["tint:start=0.6", "tint:train.epochs=1", "tint:train.lr=0.1", "tint@dark"])
def test_other_settings_are_another_training(evaluation, spec):
    assert not torch.equal(trained(evaluation)[0].gain, trained(evaluation, spec)[0].gain)


def test_other_clips_are_another_training(evaluation):
    clips = evaluation.parts.data.splits
    keys = {
        training._key(methods.create("tint:start=0.5"), {**clips, split: changed}, evaluation.plan, 0)
        for split in ("train", "val")
        for changed in (
            clips[split],
            replace(clips[split], video=clips[split].video.flip(-1)),
            replace(clips[split], privacy=1 - clips[split].privacy),
            replace(clips[split], mask=None),
        )
    }
    assert len(keys) == 7, "the clips as they are, and three changes to each of two splits"


def test_it_is_what_the_command_makes(evaluation, tmp_path):
    """Same clips, same seed, same weights as `actonym train`."""
    few = "stage:train=6,val=3,test=3"
    train("tint", few, "stage", tmp_path / "out", seed=3)
    method, _ = trained(Evaluation(few, progress=False), seed=3)
    assert torch.equal(load_file(tmp_path / "out" / "model.safetensors")["gain"], method.gain)


def test_a_stopped_training_goes_on_where_it_was(evaluation, monkeypatch):
    """Stopped in the second phase, it ends with the weights it would have had, and does not begin again."""
    whole, _ = trained(evaluation, "tint:start=0.9")
    at = dict(vars(training))["_key"]
    monkeypatch.setattr(training, "_key", lambda *a: at(*a) + "again")  # another folder, the same training
    phases = []
    run_phase = loop._run_phase

    def stop_in_the_second(running, *rest):
        phases.append(running.phase.name)
        if len(phases) == 2:
            raise KeyboardInterrupt
        run_phase(running, *rest)

    monkeypatch.setattr(loop, "_run_phase", stop_in_the_second)
    with pytest.raises(KeyboardInterrupt):
        trained(evaluation, "tint:start=0.9")
    method, about = trained(evaluation, "tint:start=0.9")
    assert torch.equal(method.gain, whole.gain)
    assert len(about["phases"]) == 2


def test_a_checkpoint_is_measured_as_it_is(evaluation, tmp_path, monkeypatch):
    folder = methods.save(methods.create("tint:start=0.3"), tmp_path / "mine")
    monkeypatch.setattr(training, "train_method", fail)
    result = evaluation.run(str(folder), 0, tmp_path / "mine.json")
    assert result["method"] == "mine" and "training" not in result


def test_a_checkpoint_brings_the_path_of_its_training(evaluation, tmp_path):
    train("tint", DATA, "stage", tmp_path / "mine", assignments=["train.epochs=2"])
    result = evaluation.run(str(tmp_path / "mine"), 0, tmp_path / "mine.json")
    assert [(phase["name"], phase["epochs"]) for phase in result["training"]["phases"]] == [("dim", 2), ("dim more", 1)]
    assert result["training"]["seconds"] > 0
    (tmp_path / "mine" / "history.json").write_text("[{")
    with pytest.raises(UserError, match=r"history\.json is damaged"):
        evaluation.run(str(tmp_path / "mine"), 0, tmp_path / "again.json")


def test_data_without_the_labels_that_it_learns_from(evaluation, monkeypatch, tmp_path):
    bare = Evaluation(DATA, assignments=TINY, progress=False)
    monkeypatch.setattr(bare.dataset, "attributes", ())
    with pytest.raises(UserError, match="tint learns from private attributes, and stage has none"):
        bare.run("tint", 0, tmp_path / "tint.json")


def test_bench_trains_every_seed_and_goes_on(evaluation, tmp_path, monkeypatch):
    options = {"seeds": 2, "assignments": TINY, "progress": False}
    results = bench(["tint"], DATA, tmp_path, **options)
    assert [result["training"]["phases"][0]["name"] for result in results] == ["dim", "dim"]
    monkeypatch.setattr(training, "train_method", fail)
    assert bench(["tint"], DATA, tmp_path, **options) == results
    (tmp_path / "tint-seed1.json").unlink()
    again = bench(["tint"], DATA, tmp_path, **options)[1]
    assert again["privacy"] == results[1]["privacy"]
    assert json.loads(Path(tmp_path / "tint-seed1.json").read_text())["training"] == results[1]["training"]


def test_two_methods_never_share_a_file(tmp_path, evaluation):
    with pytest.raises(UserError, match="would both be written to"):
        bench(["a/model", "b/model"], DATA, tmp_path)


def test_a_knob_is_turned_on_one_training(evaluation, tmp_path, monkeypatch):
    """Trained once, with the preset's keep; then turned."""
    at_preset, _ = trained(evaluation)
    monkeypatch.setattr(training, "train_method", fail)
    methods_ = ["tint", "tint:keep=0.25", "tint:keep=0.5"]
    results = bench(methods_, DATA, tmp_path, assignments=TINY, progress=False)
    assert [result["knobs"] for result in results] == [{"of": "tint", "values": {"keep": k}} for k in (0.75, 0.25, 0.5)]
    assert [result["method"] for result in results] == methods_
    turned, _ = trained(evaluation, "tint:keep=0.25")
    clip = torch.rand(1, 3, 8, 32, 32)
    assert torch.equal(turned.gain, at_preset.gain) and not torch.equal(turned(clip), at_preset(clip))
    folder = methods.save(at_preset, tmp_path / "mine")
    who = candidate(f"{folder}:keep=0.25", "stage")
    assert (who.name, who.base, who.train) == ("mine:keep=0.25", "mine", None)
    assert torch.equal(who.method(clip), turned(clip))
    with pytest.raises(UserError, match="keep is a share, not 2"):
        bench(["tint:keep=2"], DATA, tmp_path, assignments=TINY)


def test_a_variant_says_what_it_is_of(evaluation, tmp_path):
    result = evaluation.run("tint@dark", 0, tmp_path / "dark.json")
    assert result["variant"] == {"of": "tint", "factor": "start", "label": "dark"} and result["method"] == "tint@dark"
    assert result["knobs"] == {"of": "tint@dark", "values": {"keep": 0.75}}
    assert result["training"]["settings"]["method"]["start"] == 0.1


def test_a_frozen_encoder_has_no_networks_to_learn_with(evaluation, learnable, monkeypatch):
    """There a method learns from the clips and with the networks of the preset `stage`."""
    monkeypatch.setattr(look, "encoder", lambda *_: None)  # its weights may not be here, and nobody looks through it
    frozen = Evaluation("stage:train=4,val=2,test=2", preset="frozen", assignments=["detectors=[]"], progress=False)
    part = frozen._lesson
    assert part.splits["train"].video.shape[-1] == 64 and frozen.plan["clip"]["size"] == 224
    assert trained(frozen)[0].gain.shape == (3,)
