"""Train without interruption in OUT/whole, and killed again and again, at moments drawn from SEED, in OUT/killed.

Run as a program: it forks, which is safe only in a process that has not trained anything itself. Prints how often the
run was killed, and in which functions.
"""

import json
import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import lightning_fabric  # noqa: F401 (once here, and not in every process that is to be killed)
import torch
from tiny import Tiny, clips, recognizers

import actonym.train
from actonym.train.method import train_method

EVENTS = 1_500  # at most so many calls and returns of the loop's own functions until a kill
HOME = (str(Path(actonym.train.__file__).parent), str(Path(__file__).parent / "tiny.py"))


def train(out: Path) -> None:
    method = Tiny(epochs=6, average=0.9, patience=4)
    train_method(method, clips(), recognizers(noisy=True), out=out, resume=True, progress=False, checkpoint_every=0.0)


def child(work: Callable[[], None]) -> int:
    """The signal that ended it, or 0."""
    process = os.fork()
    if process == 0:
        work()
        os._exit(0)
    status = os.waitpid(process, 0)[1]
    if not os.WIFSIGNALED(status) and os.waitstatus_to_exitcode(status):
        sys.exit("training failed")
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def killed_after(events: int, out: Path, where: Path) -> Callable[[], None]:
    """SIGKILL at the call or return with that number, wherever in the loop's code it is."""
    left = events

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        left -= event in ("call", "return") and frame.f_code.co_filename.startswith(HOME)
        if left == 0:
            with where.open("a") as file:
                file.write(frame.f_code.co_qualname + "\n")
            os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        sys.setprofile(count)
        train(out)

    return work


def main(out: Path, seed: int) -> None:
    torch.set_num_threads(1)
    where = out / "where.txt"
    where.touch()
    child(lambda: train(out / "whole"))
    moments = random.Random(seed)
    kills = 0
    while child(killed_after(moments.randint(1, EVENTS), out / "killed", where)) == signal.SIGKILL:
        kills += 1
    print(json.dumps({"kills": kills, "where": where.read_text().splitlines()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
