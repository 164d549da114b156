"""Training a method: its folder, its errors."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file
from tiny import Tiny, clips, recognizers, weights
from torch.multiprocessing import ProcessRaisedException

from actonym import methods
from actonym.errors import ActonymError, UserError
from actonym.train import method as module
from actonym.train.command import check_start, train
from actonym.train.fabric import make_fabric
from actonym.train.method import _plain, train_method


def test_a_method_is_trained_and_saved_beside_its_log(tmp_path: Path) -> None:
    method = Tiny()
    before = weights([method])
    history = train_method(method, clips(), recognizers(), out=tmp_path / "deep" / "run", progress=False)
    assert [phase.name for phase in history.phases] == ["rebuild", "play"] and not method.training
    saved = load_file(tmp_path / "deep" / "run" / "model.safetensors")
    assert all((saved[name] == value).all() for name, value in method.state_dict().items())
    assert not any((before[name] == value).all() for name, value in weights([method]).items())
    assert json.loads((tmp_path / "deep" / "run" / "config.json").read_text())["method"] == "tiny"


def test_a_finished_method_is_saved_again_on_resume(tmp_path: Path) -> None:
    """The kill may have come between the last step and the saving."""
    train_method(Tiny(), clips(), recognizers(), out=tmp_path, progress=False)
    saved = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").unlink()
    train_method(Tiny(), clips(), recognizers(), out=tmp_path, resume=True, progress=False)
    assert (tmp_path / "model.safetensors").read_bytes() == saved


def test_a_method_with_nothing_to_learn_is_saved(tmp_path: Path) -> None:
    history = train_method(methods.create("downsample:factor=2"), clips(), recognizers(), out=tmp_path / "run")
    assert history.phases == []
    assert methods.load(tmp_path / "run").name == "downsample"
    with pytest.raises(UserError, match="not empty"):
        train_method(methods.create("raw"), clips(), recognizers(), out=tmp_path / "run")
    train_method(methods.create("raw"), clips(), recognizers(), out=tmp_path / "run", resume=True)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("train.batch_size=0", "batch_size of rehearsal must be a whole number from 1 up, not 0"),
        ("train.batch_size=2.25", "a whole number from 1 up, not 4.5"),
        ("train.adversarial=-1", "epochs of adversarial must be a whole number from 0 up, not -1"),
        ("train.recognizer_lr=-1", "learning rate"),
        ("train.frames=0", "train.frames is a number from 1 up, not 0"),
        ("train.lr=0", "the learning rate of anonymizer in initialization must be above 0"),
        ("train.adversarial_lr=0", "the learning rate of anonymizer in adversarial must be above 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_is_trained(
    said: str, message: str, tmp_path: Path
) -> None:
    method = methods.create("stprivacy", assignments=[said])
    with pytest.raises(UserError, match=message):
        train_method(method, clips(), replace(recognizers(), actions=2), out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("said", "message"),
    [(["train.batch_size=-3"], "batch_size of rehearsal"), (["train.objective=x"], "objective"), ([], "is not empty")],
)
def test_mistakes_are_told_before_the_videos_are_read(
    said: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    if not said:
        out.mkdir()
        (out / "letter.txt").touch()
    monkeypatch.setattr("actonym.train.command.load_clips", lambda *_, **__: pytest.fail("read"))
    with pytest.raises(UserError, match=message):
        train("stprivacy", "stage:train=10,val=10,test=10", "stage", out, assignments=said)


def test_checking_the_start_changes_nothing(tmp_path: Path) -> None:
    method, before = methods.create("stprivacy"), torch.get_rng_state()
    weights = {name: value.clone() for name, value in method.state_dict().items()}
    check_start(method, lambda: replace(recognizers(), actions=2), tmp_path / "run", resume=False)
    assert torch.equal(torch.get_rng_state(), before) and not (tmp_path / "run").exists()
    assert all(torch.equal(value, weights[name]) for name, value in method.state_dict().items())


@pytest.mark.parametrize("kind", [UserError, ActonymError])
def test_an_error_in_a_process_stays_one_line(kind: type[Exception]) -> None:
    text = f"\n\n-- Process 1 terminated:\nTraceback:\n  ...\nactonym.errors.{kind.__name__}: no: x\n"
    error = _plain(ProcessRaisedException(text, 1, 2))
    assert type(error) is kind and str(error) == "no: x"
    other = ProcessRaisedException("Traceback\nValueError: x", 1, 2)
    assert _plain(other) is other


def test_devices_and_precisions_that_do_not_exist() -> None:
    with pytest.raises(UserError, match="unknown precision 'bf16'"):
        make_fabric(precision="bf16")
    with pytest.raises(UserError, match="at least 1"):
        make_fabric(devices=0)
    with pytest.raises(UserError, match="GPUs found"):
        make_fabric(devices=99, accelerator="cuda")


def test_clips_that_several_devices_cannot_share_are_told_before_they_start(tmp_path, monkeypatch) -> None:
    few = clips()
    monkeypatch.setattr(module, "SHARED", tmp_path)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: SimpleNamespace(free=few.video.nbytes - 1))
    out = tmp_path / "run"
    with pytest.raises(UserError, match="train on one device"):
        train_method(Tiny(), few, recognizers(), out=out, devices=2, accelerator="cpu", progress=False)
    assert not out.exists()
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: SimpleNamespace(free=few.video.nbytes))
    module.check_shared(few)
