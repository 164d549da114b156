"""The README's commands really run, in its order, in one folder, and its Python too."""

import re
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

from actonym.video import VideoWriter

README = (Path(__file__).parents[1] / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def film(path):
    with VideoWriter(path, 64, 48, Fraction(10)) as writer:
        for t in range(12):
            writer.write(np.full((48, 64, 3), 20 * t, np.uint8), Fraction(t, 10))


def test_quick_start_is_two_commands():
    words = [line.split("#")[0].strip() for line in blocks("sh")[0].splitlines()]
    assert words == ["make demo", "make test"]


def test_commands_run(tmp_path, monkeypatch):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "videos" / "deep").mkdir(parents=True)
    for name in ("ward.mp4", "videos/a.mp4", "videos/deep/b.mp4"):
        film(tmp_path / name)
    commands = [line for block in blocks("sh")[1:] for line in block.splitlines() if line.startswith("actonym ")]
    assert len(commands) >= 9
    for command in commands:
        words = [sys.executable, "-m", "actonym.cli", *shlex.split(command)[1:]]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stderr[-2000:]}"
    for name in ("safe.mp4", "safe.mp4.json", "safer.mp4", "anonymized/a.mp4", "anonymized/deep/b.mp4", "third.mp4"):
        assert (tmp_path / name).stat().st_size > 0
    assert (tmp_path / "results" / "mine" / "report.html").is_file() and (tmp_path / "result.json").is_file()


def test_python_runs():
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})
    assert blocks("python")


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert target.startswith("http") or (Path(__file__).parents[1] / target).exists(), target
