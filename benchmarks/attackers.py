"""Whether attackers are trained long enough: those of the stage preset on a trained method, after one round of their
training and after three, whatever their curves say.

Prints a JSON object; run by hand: python benchmarks/attackers.py [METHOD_OR_FOLDER] [--threads 1]
"""

import argparse
import json

import torch

from actonym import heap, methods
from actonym.bench.evaluate import Evaluation
from actonym.bench.measure import Plan, Weights, attack, parse_attacker
from actonym.spec import merge

ATTACKERS = ["attribute/moving/scratch", "attribute/moving/fixed"]


def rounds(plan: Plan, count: int) -> Plan:
    """A plan whose attackers have so many rounds: no gain is so small that they are said to have converged."""
    return merge(plan, {"attack": {start: {"rounds": count, "min_gain": -1.0} for start in ("fit", "finetune")}})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", nargs="?", default="stprivacy@shipped")
    parser.add_argument("--data", default="stage")
    parser.add_argument("--attackers", nargs="+", default=ATTACKERS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    heap.keep()
    torch.set_num_threads(asked.threads)
    evaluation = Evaluation(asked.data, assignments=[f"attackers={json.dumps(asked.attackers)}"])
    what = {"dataset": evaluation.dataset, "seed": asked.seed, "look": evaluation.look}
    raw = evaluation.parts.data
    hidden = raw.map(methods.resolve(asked.method)).splits
    known: dict[str, Weights] = {}  # attackers of raw clips, from which others go on
    found: dict[str, dict[str, float]] = {}
    for name in asked.attackers:
        origin = "/".join([*parse_attacker(name)[:2], "scratch"])
        if name != origin and origin not in known:
            known[origin] = attack(origin, raw.splits, plan=rounds(evaluation.plan, 1), known={}, **what).weights()
        for count in (1, 3):
            about = attack(name, hidden, plan=rounds(evaluation.plan, count), known=known, **what).about
            found.setdefault(name, {})[f"{about['epochs']} epochs"] = round(about["cmap"], 4)
    print(json.dumps({"method": asked.method, "data": asked.data, "seed": asked.seed, "cmap": found}, indent=2))


if __name__ == "__main__":
    main()
