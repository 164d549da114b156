"""What pruning saves: STPrivacy as in its paper, at alpha 0.7 and at alpha 1.0, in turn in one run.

Prints a JSON object; run by hand on a quiet machine:
python benchmarks/stprivacy.py [--threads 2] [--clips 4] [--blocks 3 3 3]
"""

import argparse
import json
from statistics import median
from time import perf_counter

import torch

from actonym import methods
from actonym.methods.stprivacy import STPrivacy

KEEPS = (1.0, 0.7)


def seconds(method: STPrivacy, clip: torch.Tensor, keep: float) -> float:
    method.keep = keep
    start = perf_counter()
    with torch.inference_mode():
        method(clip)
    return perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clips", type=int, default=4, help="clips of 16 x 112 x 112 at once")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--blocks", type=int, nargs=3, default=None, help="layers of each block, if not the preset's")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    others = [f"method.blocks={asked.blocks}"] if asked.blocks else []
    method = methods.create("stprivacy", "paper", others).eval()
    assert isinstance(method, STPrivacy)
    clip = torch.rand(asked.clips, 3, 16, 112, 112)
    taken: dict[float, list[float]] = {keep: [] for keep in KEEPS}
    for number in range(asked.rounds + 1):
        for keep in KEEPS:
            spent = seconds(method, clip, keep)
            if number:  # the first round warms up
                taken[keep].append(spent)
    whole, pruned = (median(taken[keep]) for keep in KEEPS)
    found = {
        "frames_per_second": {str(keep): round(16 * asked.clips / median(taken[keep]), 1) for keep in KEEPS},
        "times_as_fast": round(whole / pruned, 3),
        "in_each_round": [round(a / b, 2) for a, b in zip(*(taken[keep] for keep in KEEPS), strict=True)],
        "threads": asked.threads,
        "clips": asked.clips,
    }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
