"""Many methods, several seeds, one folder of results."""

import operator
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import groupby
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

import torch
from tqdm import tqdm

from actonym import heap
from actonym.bench.evaluate import Evaluation
from actonym.bench.result import Result, read
from actonym.data.room import Budget
from actonym.errors import ActonymError, UserError

Run = tuple[str, int, Path]  # method, seed, where the result goes
Step = tuple[int, str]  # what runs wait for: of a seed the training of a method, or (no method) the raw baselines


def bench(
    methods: Sequence[str],
    data: str,
    out: str | Path,
    *,
    protocol: str = "known",
    source: str | None = None,
    tasks: str = "",
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
    runs = [
        (method, seed, Path(out) / f"{slug(method)}-seed{seed}.json") for seed in range(seeds) for method in methods
    ]
    _check_files(runs)
    todo = [run for run in runs if not run[2].is_file()]
    what: dict[str, Any] = {"data": data, "protocol": protocol, "preset": preset, "source": source, "tasks": tasks}
    evaluation = Evaluation(**what, assignments=list(assignments), progress=progress)
    found = {method: evaluation.candidate(method) for method in methods}  # mistakes are told before hours of work
    to_train = {method: who.base for method, who in found.items() if who.train is not None}
    frozen = "encoder" in evaluation.plan
    if frozen:  # heads are trained in seconds, but the features of a method take minutes: all its seeds together
        todo.sort(key=lambda run: methods.index(run[0]))
    if jobs == 1:
        for method, seed, path in todo:
            evaluation.run(method, seed, path)
    elif todo:
        evaluation.read()  # the stage is rendered once, here, not by every process
        if frozen:
            evaluation.raw(todo[0][1])  # the features of raw clips, with all threads, before anyone needs them
        key = operator.itemgetter(0) if frozen else None
        groups = [list(group) for _, group in groupby(todo, key)]
        _share({**what, "assignments": list(assignments)}, groups, to_train, jobs, progress)
    return [read(path) for _, _, path in runs]


def slug(method: str) -> str:
    """A method as a file name."""
    name, _, settings = method.partition(":")
    return re.sub(r"[^A-Za-z0-9.]+", "-", f"{name.rstrip('/').rpartition('/')[2]}:{settings}").strip("-")


_evaluation: Evaluation  # of a worker process: its clips are read once


def _check_files(runs: Sequence[Run]) -> None:
    """Two methods in one file would pass for one."""
    seen: dict[Path, str] = {}
    for method, _, path in runs:
        if seen.setdefault(path, method) != method:
            raise UserError(f"{seen[path]} and {method} would both be written to {path}; rename one, or bench it apart")


def _share(
    what: dict[str, Any], groups: Sequence[Sequence[Run]], to_train: Mapping[str, str], jobs: int, progress: bool
) -> None:
    """What several runs need comes first: the raw baselines of a seed, and each training, of which some methods are
    only turns of a knob. A group of runs stays in one process.

    What can be measured is measured before the next training: whoever stops has whole rows of the first seeds.
    """
    waiting = [
        (group, {step for method, seed, _ in group for step in ((seed, ""), (seed, to_train.get(method, "")))})
        for group in groups
    ]
    steps = sorted({step for _, needs in waiting for step in needs})
    with (
        ProcessPoolExecutor(jobs, get_context("spawn"), _start, (what, jobs)) as pool,
        tqdm(total=len(steps) + len(groups), desc="bench", unit="run", disable=not progress) as bar,
    ):
        running: dict[Future[str], Step | None] = {}
        finished: set[Step | None] = set()
        try:
            while running or steps or waiting:
                while len(running) < jobs and (steps or waiting):
                    ready = next((entry for entry in waiting if entry[1] <= finished), None)
                    if ready:
                        waiting.remove(ready)
                        running[pool.submit(_run, ready[0])] = None
                    elif steps:
                        step = steps.pop(0)
                        running[pool.submit(_prepare, *step)] = step
                    else:
                        break
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    bar.set_postfix_str(done.result())
                    bar.update()
                    finished.add(running.pop(done))
        except BrokenProcessPool as error:
            killed = "a process was killed, most likely because memory ran out"
            raise ActonymError(f"{killed}; what is finished is kept: go on with fewer --jobs") from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _start(what: dict[str, Any], jobs: int) -> None:
    """A process of several, among which cores and memory are divided."""
    global _evaluation
    Thread(target=_leave_with_parent, daemon=True).start()
    heap.keep()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // jobs))
    Budget.processes = jobs
    _evaluation = Evaluation(**what, progress=False)


def _leave_with_parent() -> None:
    """Who is killed cannot stop its processes; they would work on for hours for nobody."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _prepare(seed: int, method: str) -> str:
    if not method:
        _evaluation.raw(seed)
        return f"raw baselines, seed {seed}"
    _evaluation.train(_evaluation.candidate(method), seed)
    return f"training of {method}, seed {seed}"


def _run(group: Sequence[Run]) -> str:
    for method, seed, path in group:
        _evaluation.run(method, seed, path)
    return f"{method}, seed {seed}"
