"""The main job on embedded data, start to end: anonymize, attack, measure, report."""

from pathlib import Path

import torch

from actonym import methods, presets
from actonym.bench.bench import bench, slug
from actonym.bench.report import report
from actonym.bench.table import markdown
from actonym.data.stage import Stage
from actonym.run.file import anonymize_file
from actonym.video import VideoWriter

SHOWN = ("downsample:factor=4", "blur:strength=strong")  # the methods of the two example videos


def run(out: Path) -> None:
    """Everything into `out`; what an earlier demo left there is used again."""
    plan = presets.load("evaluation", "demo")
    results = bench(plan["methods"], plan["data"], out / "results", preset="demo")
    pages = report(out / "results")
    videos = [_example(out, spec) for spec in SHOWN]
    print(markdown(results))
    print(f"\nReport:  {next(page for page in pages if page.suffix == '.html')}")
    print("Videos:  " + ", ".join(str(video) for video in videos))
