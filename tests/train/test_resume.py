"""Stopped and resumed: the same weights and the same log as if nothing had happened."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from lightning_fabric import Fabric
from tiny import Tiny, clips, lines, recognizers, same, weights

from actonym.errors import UserError
from actonym.train import checkpoint, run


def test_killed_at_any_moment_the_run_ends_with_the_same_weights(tmp_path: Path) -> None:
    """Bit for bit, with two phases, averaging, patience, batch norm and dropout; no line of the log is double."""
    script = Path(__file__).with_name("kill_and_resume.py")
    done = subprocess.run([sys.executable, script, tmp_path, "1"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kills"] >= 4
    whole, killed = (checkpoint.read(tmp_path / name / checkpoint.NAME) for name in ("whole", "killed"))
    assert same(checkpoint.flatten(whole["modules"]), checkpoint.flatten(killed["modules"]))
    for name in ("model.safetensors", "log.csv"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()
    keys = [line.split(",")[:4] for line in lines(tmp_path / "killed")]
    assert len(keys) > 10 and len(keys) == len({tuple(key) for key in keys})


def train(fabric: Fabric, out: Path, resume: bool, seed: int = 0, epochs: int = 1, **settings: object) -> Tiny:
    method = Tiny(epochs)
    phases = method.phases(recognizers())
    run(phases, clips(), fabric=fabric, seed=seed, out=out, resume=resume, progress=False, settings=settings)
    return method


def test_a_finished_run_is_not_trained_again(
    fabric: Fabric, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = train(fabric, tmp_path, resume=False)
    log = lines(tmp_path)
    again = train(fabric, tmp_path, resume=True)
    assert same(weights([first]), weights([again])) and lines(tmp_path) == log
    assert "finished" in capsys.readouterr().err


def test_a_folder_in_use_is_refused(fabric: Fabric, tmp_path: Path) -> None:
    train(fabric, tmp_path, resume=False)
    with pytest.raises(UserError, match="not empty"):
        train(fabric, tmp_path, resume=False)


def test_a_folder_of_something_else_is_refused(fabric: Fabric, tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").touch()
    with pytest.raises(UserError, match=r"has no state\.safetensors"):
        train(fabric, tmp_path, resume=True)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


def test_resuming_before_the_first_checkpoint_starts_from_nothing(fabric: Fabric, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("phase,epoch,step,na")
    (tmp_path / checkpoint.HALF_WRITTEN).write_bytes(b"\0" * 20)
    train(fabric, tmp_path, resume=True)
    assert lines(tmp_path)[0] == "phase,epoch,step,name,value" and len(lines(tmp_path)) > 3


def test_other_settings_are_refused_by_name(fabric: Fabric, tmp_path: Path) -> None:
    train(fabric, tmp_path, resume=False, keep=0.7)
    with pytest.raises(UserError, match="seed was 0 and is 1 now"):
        train(fabric, tmp_path, resume=True, seed=1, keep=0.7)
    with pytest.raises(UserError, match="rebuild epochs was 1 and is 2 now"):
        train(fabric, tmp_path, resume=True, epochs=2, keep=0.7)
    with pytest.raises(UserError, match=r"settings keep was 0\.7 and is 0\.5 now"):
        train(fabric, tmp_path, resume=True, keep=0.5)


@pytest.mark.parametrize("damage", ["cut", "bit", "text", "empty"])
def test_a_damaged_state_is_refused(fabric: Fabric, tmp_path: Path, damage: str) -> None:
    train(fabric, tmp_path, resume=False)
    path = tmp_path / checkpoint.NAME
    whole = bytearray(path.read_bytes())
    flipped = whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:]
    path.write_bytes({"cut": whole[:-9], "bit": flipped, "text": b"no tensors in here", "empty": b""}[damage])
    with pytest.raises(UserError, match="is damaged") as error:
        train(fabric, tmp_path, resume=True)
    assert "\n" not in str(error.value)


def test_a_removed_log_does_not_stop_a_resume(fabric: Fabric, tmp_path: Path) -> None:
    train(fabric, tmp_path, resume=False)
    (tmp_path / "log.csv").unlink()
    train(fabric, tmp_path, resume=True)
    assert lines(tmp_path) == ["phase,epoch,step,name,value"]


def test_optimizers_and_random_numbers_are_those_of_the_step(fabric: Fabric, tmp_path: Path) -> None:
    """The state after the first phase alone leads to the end of the second: nothing else is carried over."""
    whole = train(fabric, tmp_path / "whole", resume=False, epochs=2)
    states: list[bytes] = []
    method = Tiny(2)
    phases = method.phases(recognizers())
    inner = phases[1].step
    path = tmp_path / "part" / checkpoint.NAME
    phases[1].step = lambda batch, update: (states.append(path.read_bytes()), inner(batch, update))[1]
    run(phases, clips(), fabric=fabric, seed=0, out=path.parent, progress=False)
    path.write_bytes(states[0])
    torch.rand(3)
    assert same(weights([whole]), weights([train(fabric, path.parent, resume=True, epochs=2)]))
    assert lines(path.parent) == lines(tmp_path / "whole")
