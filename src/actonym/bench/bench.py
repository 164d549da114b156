"""Many methods, several seeds, one folder of results."""

import re
from collections.abc import Sequence
from pathlib import Path

from actonym.bench.evaluate import Evaluation
from actonym.bench.result import Result, read
from actonym.errors import UserError


def bench(
    methods: Sequence[str],
    data: str,
    out: str | Path,
    *,
    protocol: str = "known",
    seeds: int = 1,
    preset: str = "stage",
    assignments: Sequence[str] = (),
    progress: bool = True,
) -> list[Result]:
    """One result file per method and seed. What is there already is not measured again, so a stopped run goes on."""
    if seeds < 1:
        raise UserError(f"seeds must be at least 1, not {seeds}")
    evaluation = Evaluation(data, protocol, preset, assignments, progress)
    results = []
    for seed in range(seeds):
        for method in methods:
            path = Path(out) / f"{slug(method)}-seed{seed}.json"
            results.append(read(path) if path.is_file() else evaluation.run(method, seed, path))
    return results


def slug(method: str) -> str:
    """A method as a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", method.rstrip("/").rpartition("/")[2]).strip("-")
