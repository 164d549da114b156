"""Train a method on the stage, measure it, and put it into the package with its card.

python scripts/ship_method.py stprivacy [--seed 0] [--threads 2] [--others results/stage-stprivacy]

It is the method of the bench: where a bench of as many threads has trained it already, that training is taken. From
then on its name alone is this checkpoint: `actonym anonymize film.mp4 safe.mp4 --method stprivacy`.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from actonym import heap, methods
from actonym.bench.evaluate import Evaluation
from actonym.bench.result import read, read_folder
from actonym.bench.summary import Row
from actonym.methods.base import MODEL_CARD, SHIPPED, model_card

CARD = """{card}
## How it was made

By `scripts/ship_method.py {name}`: preset stage, seed {seed}, trained in {minutes:.0f} minutes. It learned from
{videos} videos of the stage and has seen nothing but synthetic people; what it does to real ones is not measured.

| on {tests} test videos of the stage | raw | anonymized |
|---|--:|--:|
| top-1 of the action, recognizer trained anew | {raw_top1:.3f} | {top1:.3f} |
| cMAP of the attributes, strongest of {attackers} attackers (chance {chance:.3f}) | {raw_cmap:.3f} | {cmap:.3f} |
| kept / closed | | {kept:.3f} / {closed:.3f} |
{others}"""
OTHERS = """
It is one of {count} that were trained with as many seeds: on average these keep {kept} and close {closed}.
"""


def describe(method: methods.Method, result: Mapping[str, Any], others: Sequence[Mapping[str, Any]] = ()) -> str:
    """The card of a checkpoint with what was measured of it, and of the same method with all seeds."""
    row = Row(method.name, tuple(dict(one) for one in others if one["method"] == result["method"]))
    known = {"count": len(row.results), "kept": row.mean("kept").text(), "closed": row.mean("closed").text()}
    return CARD.format(
        card=model_card(method),
        name=method.name,
        seed=result["seed"],
        minutes=result["training"]["seconds"] / 60,
        videos=result["clips"]["train"],
        tests=result["clips"]["test"],
        attackers=len(result["attacker"]["tried"]),
        chance=result["floors"]["chance"],
        top1=result["utility"]["top1"],
        cmap=result["privacy"]["cmap"],
        raw_top1=result["raw"]["top1"],
        raw_cmap=result["raw"]["cmap"],
        kept=result["kept"],
        closed=result["closed"],
        others=OTHERS.format(**known) if row.results else "",
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("method")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--result", type=Path, default=Path("shipped.json"), help="measured into it if it is not there")
    parser.add_argument("--others", type=Path, default=None, help="a folder with results of all seeds, for the card")
    parser.add_argument("--out", type=Path, default=None, help="default: where the package looks for it")
    options = parser.parse_args(argv)
    heap.keep()
    torch.set_num_threads(options.threads)
    evaluation = Evaluation("stage", "known", "stage")
    if not options.result.is_file():
        evaluation.run(options.method, options.seed, options.result)
    result = read(options.result)
    if (result["method"], result["seed"]) != (options.method, options.seed):
        parser.error(f"{options.result} is of {result['method']}, seed {result['seed']}")
    trained, _ = evaluation.train(evaluation.candidate(options.method), options.seed)
    out = methods.save(trained, options.out or SHIPPED / trained.name)
    others = list(read_folder(options.others).values()) if options.others else []
    (out / MODEL_CARD).write_text(describe(trained, result, others))
    print(f"{out}: kept {result['kept']:.3f}, closed {result['closed']:.3f}")


if __name__ == "__main__":
    main()
