"""A method of 30 lines dropped into methods/ is listed, contract-tested, benched and reported with no other edit."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import actonym

METHOD = '''
"""Negative: every colour becomes its opposite, with a learned gain."""

import torch
from torch import Tensor, nn

from actonym.methods.base import MethodCard, PixelMethod, register
from actonym.train.phase import Batch, Phase, Recognizers, Update


@register("negative")
class Negative(PixelMethod):
    """One minus the clip, times a gain that is learned from the action."""

    card = MethodCard(title="Negative", idea="Turn colours round.", paper="none", year=2026)

    def __init__(self, gain: float = 0.5) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(gain))

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        return (1 - clip) * self.gain.clamp(0, 1)

    def phases(self, recognizers: Recognizers) -> list[Phase]:
        def step(batch: Batch, update: Update) -> dict[str, Tensor]:
            loss = nn.functional.cross_entropy(recognizers.action(self(batch.clip)), batch.action)
            update("method", loss)
            return {"loss": loss}

        return [Phase("learn", 1, step, {"method": torch.optim.SGD(self.parameters(), 0.01)}, {"method": self})]
'''
TINY = ["--set", "clip.size=32", "--set", "recognizer.fit={epochs: 1, rounds: 1}"]
TINY += ["--set", "attack.fit={epochs: 1, rounds: 1}"]
TINY += ["--set", "attackers=[frame/frame/scratch]", "--data", "stage:train=20,val=20,test=20"]


def test_a_method_dropped_in_is_found_everywhere(tmp_path):
    package = tmp_path / "src" / "actonym"
    shutil.copytree(Path(actonym.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "methods" / "negative.py").write_text(METHOD)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "ACTONYM_CACHE": str(tmp_path / "cache")}

    def run(*words):
        command = [sys.executable, "-m", *map(str, words)]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)

    rows = json.loads(run("actonym.cli", "methods", "--json").stdout)
    assert "negative" in [row["name"] for row in rows]

    contract = Path(__file__).parent / "methods" / "test_contract.py"
    tested = run("pytest", contract, "-k", "negative", "-p", "no:cacheprovider", "--rootdir", contract.parent)
    assert tested.returncode == 0, tested.stdout
    assert " passed" in tested.stdout

    data = ["--data", "stage:train=20,val=20,test=20"]
    trained = run("actonym.cli", "train", "negative", "--out", "trained", *data)
    assert trained.returncode == 0, trained.stderr
    benched = run("actonym.cli", "bench", "--methods", "raw,negative,trained", "--out", "out", "--jobs", "2", *TINY)
    assert benched.returncode == 0, benched.stderr
    assert "negative" in benched.stdout and "trained" in benched.stdout
    results = [json.loads((tmp_path / "out" / f"{name}-seed0.json").read_text()) for name in ("negative", "trained")]
    told = ["settings" in result["training"] for result in results]
    assert told == [True, False], "by its name it is trained here; a folder brings along how it was"
    reported = run("actonym.cli", "report", "out")
    assert reported.returncode == 0, reported.stderr
    assert "negative" in (tmp_path / "out" / "report.html").read_text()
