"""The source is clean: ruff, mypy, and no file too long to read."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "command", [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]], ids=lambda words: " ".join(words)
)
def test_clean(command):
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_is_longer_than_500_lines():
    long = [p for folder in ("src", "tests", "benchmarks") for p in (ROOT / folder).rglob("*.py")]
    assert not [str(p) for p in long if len(p.read_text().splitlines()) > 500]


def test_no_pickles_are_loaded():
    """`torch.load` and `pickle.load` run code of whoever wrote the file."""
    source = {p: p.read_text() for p in (ROOT / "src").rglob("*.py")}
    assert not [p.name for p, text in source.items() if "torch.load(" in text or "pickle.load" in text]
