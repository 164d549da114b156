"""A bench's process that works for a minute; it prints its number when it has started."""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from actonym.bench import bench


class Nothing:
    """Instead of an evaluation, which would read clips."""

    def __init__(self, **_: object) -> None:
        pass


def start(jobs: int) -> None:
    bench.Evaluation = Nothing  # type: ignore[assignment, misc]
    bench._start({}, jobs)


def work() -> None:
    print(os.getpid(), flush=True)
    time.sleep(60)


if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("spawn"), start, (1,)) as pool:
        pool.submit(work).result()
