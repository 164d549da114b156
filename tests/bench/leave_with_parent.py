"""A process with a child that works for a minute, as those of a bench do; it prints the child's number."""

import time
from multiprocessing import get_context
from threading import Thread

from actonym.bench.bench import _leave_with_parent


def work() -> None:
    Thread(target=_leave_with_parent, daemon=True).start()
    time.sleep(60)


if __name__ == "__main__":
    child = get_context("spawn").Process(target=work)
    child.start()
    print(child.pid, flush=True)
    child.join()
