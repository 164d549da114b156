"""How long methods take to train: some steps of every phase are timed, and multiplied by how many there are.

Prints minutes as a JSON object; run by hand on a quiet machine: python benchmarks/training.py spact [--threads 2]
What comes only now and then is missed: VITA waits for its action recognizer and restarts its privacy networks.
"""

import argparse
import json
from itertools import islice
from time import perf_counter

import torch

from actonym import heap, methods
from actonym.bench.evaluate import Evaluation
from actonym.data.clips import Clips
from actonym.train.batches import Batches
from actonym.train.command import recognizers
from actonym.train.fabric import make_fabric
from actonym.train.phase import Phase
from actonym.train.running import Running

WARM = 2  # steps that are not counted


def minutes(phase: Phase, clips: Clips, steps: int) -> float:
    """Of all its epochs, with what validation takes after each."""
    fabric = make_fabric()
    batches = Batches(clips, phase, 0, 0, fabric)
    running = Running(phase, 0, batches, fabric, 0)
    for number, batch in enumerate(islice(batches.epoch(0), WARM + steps)):
        if number == WARM:
            start = perf_counter()
        running.advance(batch)
    epoch = (perf_counter() - start) / (number + 1 - WARM) * batches.steps
    if phase.validate is not None:
        running.networks.eval()
        start = perf_counter()
        with torch.no_grad():
            phase.validate()
        epoch += perf_counter() - start
    return phase.epochs * epoch / 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="+")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    asked = parser.parse_args()
    heap.keep()
    torch.set_num_threads(asked.threads)
    evaluation = Evaluation("stage", progress=False)
    clips = evaluation.parts.data.splits
    found = {}
    for name in asked.methods:
        method = methods.create(name, "stage")
        learn_with = recognizers(evaluation.plan, evaluation.dataset, clips["val"], method.networks)
        taken = {phase.name: minutes(phase, clips["train"], asked.steps) for phase in method.phases(learn_with)}
        found[name] = {phase: round(time, 2) for phase, time in taken.items()} | {"all": round(sum(taken.values()), 1)}
    print(json.dumps({"minutes": found, "threads": asked.threads}, indent=2))


if __name__ == "__main__":
    main()
