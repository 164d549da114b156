"""Whether attackers are trained long enough: those of the stage preset on a trained method, after one round of their
training and after three, whatever their curves say.

Prints a JSON object; run by hand: python benchmarks/attackers.py [METHOD_OR_FOLDER] [--threads 1]
"""

import argparse
import json
from dataclasses import replace

import torch
from torch import nn

from actonym import heap, methods
from actonym.attacks.attribute import train_attacker
from actonym.bench.evaluate import Evaluation
from actonym.bench.measure import Splits, Weights, fresh, how_to_fit, parse_attacker, weights_of
from actonym.bench.metrics import privacy_scores
from actonym.data import Clips
from actonym.train.fit import Fitted, predict

NEVER = -1.0  # a gain that every round has: nobody is said to have converged
ROUNDS = 3


def attack(evaluation: Evaluation, name: str, rounds: int, clips: Splits, start: Weights | None, seed: int) -> Fitted:
    _, network, begins = parse_attacker(name)
    net = fresh(network, len(evaluation.dataset.attributes), clips["train"], seed)
    if start is not None:
        net.load_state_dict(dict(start))
    how = replace(how_to_fit(evaluation.plan["attack"], network, begins), rounds=rounds, min_gain=NEVER)
    return train_attacker(net, clips["train"], clips["val"], how, seed=seed)


def leak(evaluation: Evaluation, net: nn.Module, test: Clips) -> float:
    names = evaluation.dataset.attributes
    return round(privacy_scores(predict(net, test).sigmoid(), test.privacy, names, test.views)["cmap"], 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", nargs="?", default="stprivacy@shipped")
    parser.add_argument("--data", default="stage")
    parser.add_argument("--attackers", nargs="+", default=["attribute/moving/scratch", "attribute/moving/fixed"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    heap.keep()
    torch.set_num_threads(asked.threads)
    evaluation = Evaluation(asked.data, assignments=[f"attackers={json.dumps(asked.attackers)}"])
    raw = evaluation.parts.data
    hidden = raw.map(methods.resolve(asked.method))
    known: dict[str, Weights] = {}  # attackers of raw clips, from which others go on
    found: dict[str, dict[str, float]] = {}
    for name in asked.attackers:
        kind, net, start = parse_attacker(name)
        before, seen = (
            {split: evaluation.look(clips, kind, net) for split, clips in part.splits.items()} for part in (raw, hidden)
        )
        origin = f"{kind}/{net}/scratch"
        if start != "scratch" and origin not in known:
            known[origin] = weights_of(attack(evaluation, origin, 1, before, None, asked.seed).net)
        begin = None if start == "scratch" else known[origin]
        for rounds in (1, ROUNDS):
            fitted = attack(evaluation, name, rounds, seen, begin, asked.seed)
            found.setdefault(name, {})[f"{fitted.epochs} epochs"] = leak(evaluation, fitted.net, seen["test"])
    print(json.dumps({"method": asked.method, "data": asked.data, "seed": asked.seed, "cmap": found}, indent=2))


if __name__ == "__main__":
    main()
