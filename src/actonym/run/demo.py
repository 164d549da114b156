"""The main job on embedded data, start to end: anonymize, attack, measure, report."""

import os
from fractions import Fraction
from pathlib import Path

from actonym import presets
from actonym.bench.bench import bench, slug
from actonym.bench.report import report
from actonym.bench.table import markdown
from actonym.data.stage import Stage
from actonym.methods import PixelMethod, resolve
from actonym.run.file import anonymize_file
from actonym.video import VideoWriter

SHOWN = ("downsample:factor=4", "blur:strength=strong", "stprivacy")  # the methods of the example videos


def run(out: Path) -> None:
    """Everything into `out`; what an earlier demo left there is used again."""
    plan = presets.load("evaluation", "demo")
    jobs = min(2, os.cpu_count() or 1)
    results = bench(plan["methods"], plan["data"], out / "results", preset="demo", jobs=jobs)
    pages = report(out / "results")
    videos = [_example(out, spec) for spec in SHOWN]
    print(markdown(results))
    print(f"\nReport:  {next(page for page in pages if page.suffix == '.html')}")
    print("Videos:  " + ", ".join(str(video) for video in videos))


def _example(out: Path, spec: str) -> Path:
    """A minute-long look is not needed: some seconds of the stage, as a file, through the same door as a user's."""
    raw = out / "raw.mp4"
    if not raw.is_file():
        _film(raw)
    target = out / f"{slug(spec)}.mp4"
    method = resolve(spec)
    assert isinstance(method, PixelMethod)
    anonymize_file(raw, target, method, force=True, progress=False)
    return target


def _film(path: Path, size: int = 240, seconds: int = 6, fps: int = 12) -> None:
    """Several actions of the stage, one after the other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    clip = 2 * fps
    world = Stage(size=size, frames=clip, train=1, val=1, test=seconds // 2)
    with VideoWriter(path, size, size, Fraction(fps)) as writer:
        for row in range(seconds // 2):
            for t, frame in enumerate(world.film("test", row).frames):
                writer.write(frame, Fraction(row * clip + t, fps))
