"""Many methods, several seeds, one folder of results."""

import operator
import os
import re
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from actonym import heap
from actonym.bench.evaluate import Evaluation
from actonym.bench.result import Result, read
from actonym.errors import UserError

Task = tuple[str, int, Path]  # method, seed, where the result goes


def bench(
    methods: Sequence[str],
    data: str,
    out: str | Path,
    *,
    protocol: str = "known",
    seeds: int = 1,
    preset: str = "stage",
    assignments: Sequence[str] = (),
    jobs: int = 1,
    progress: bool = True,
) -> list[Result]:
    """One result file per method and seed. What is there already is not measured again, so a stopped run goes on.

    `jobs` processes share the work. On few cores two of them with one thread each get more done than one with two.
    """
    if seeds < 1 or jobs < 1:
        raise UserError(f"seeds and jobs must be at least 1, not {seeds} and {jobs}")
    tasks = [
        (method, seed, Path(out) / f"{slug(method)}-seed{seed}.json") for seed in range(seeds) for method in methods
    ]
    todo = [task for task in tasks if not task[2].is_file()]
    what: dict[str, Any] = {"data": data, "protocol": protocol, "preset": preset, "assignments": list(assignments)}
    evaluation = Evaluation(**what, progress=progress)
    for method in methods:
        evaluation.resolve(method)  # a mistake is told before hours of work
    frozen = "encoder" in evaluation.plan
    if frozen:  # heads are trained in seconds, but the features of a method take minutes: all its seeds together
        todo.sort(key=lambda task: methods.index(task[0]))
    if jobs == 1:
        for method, seed, path in todo:
            evaluation.run(method, seed, path)
    elif todo:
        evaluation.splits  # noqa: B018  # the stage is rendered once, here, not by every process
        if frozen:
            evaluation.raw(todo[0][1])  # the features of raw clips, with all threads, before anyone needs them
        key = operator.itemgetter(0) if frozen else None
        _share(what, [list(tasks) for _, tasks in groupby(todo, key)], jobs, progress)
    return [read(path) for _, _, path in tasks]


def slug(method: str) -> str:
    """A method as a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", method.rstrip("/").rpartition("/")[2]).strip("-")


_evaluation: Evaluation  # of a worker process: its clips are read once


def _share(what: dict[str, Any], groups: Sequence[Sequence[Task]], jobs: int, progress: bool) -> None:
    """The raw baselines of a seed first, which all its methods need, then the methods; a group stays in one process."""
    threads = max(1, (os.cpu_count() or 1) // jobs)
    seeds = sorted({group[0][1] for group in groups})
    with (
        ProcessPoolExecutor(jobs, get_context("spawn"), _start, (what, threads)) as pool,
        tqdm(total=len(seeds) + len(groups), desc="bench", unit="run", disable=not progress) as bar,
    ):
        waited: dict[Future[str], list[Sequence[Task]]] = {
            pool.submit(_raw, seed): [group for group in groups if group[0][1] == seed] for seed in seeds
        }
        try:
            while waited:
                for done in wait(waited, return_when=FIRST_COMPLETED).done:
                    bar.set_postfix_str(done.result())
                    bar.update()
                    waited |= {pool.submit(_run, group): [] for group in waited.pop(done)}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _start(what: dict[str, Any], threads: int) -> None:
    global _evaluation
    heap.keep()
    torch.set_num_threads(threads)
    _evaluation = Evaluation(**what, progress=False)


def _raw(seed: int) -> str:
    _evaluation.raw(seed)
    return f"raw baselines, seed {seed}"


def _run(group: Sequence[Task]) -> str:
    for method, seed, path in group:
        _evaluation.run(method, seed, path)
    return f"{method}, seed {seed}"
