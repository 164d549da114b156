"""Train a method on the stage, measure it, and put it into the package with its card.

python scripts/ship_method.py stprivacy [--seed 0] [--threads 2]

From then on its name alone is this checkpoint: `actonym anonymize film.mp4 safe.mp4 --method stprivacy`.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

import torch

from actonym import heap, methods
from actonym.bench.evaluate import Evaluation
from actonym.methods.base import MODEL_CARD, SHIPPED, WEIGHTS, model_card
from actonym.train.command import train

CARD = """{card}
## How it was made

By `scripts/ship_method.py {name}`: preset stage, seed {seed}, {minutes:.0f} minutes on {threads} threads. It learned
from {videos} videos of the stage and has seen nothing but synthetic people; what it does to real ones is not measured.

| on {tests} test videos of the stage | raw | anonymized |
|---|--:|--:|
| top-1 of the action, recognizer trained anew | {raw_top1:.3f} | {top1:.3f} |
| cMAP of the attributes, strongest of {attackers} attackers (chance {chance:.3f}) | {raw_cmap:.3f} | {cmap:.3f} |
| kept / closed | | {kept:.3f} / {closed:.3f} |
"""


def describe(method: methods.Method, result: Mapping[str, Any], seconds: float, seed: int, threads: int) -> str:
    """The card of a checkpoint with what was measured."""
    return CARD.format(
        card=model_card(method),
        name=method.name,
        seed=seed,
        minutes=seconds / 60,
        threads=threads,
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
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("method")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=None, help="default: where the package looks for it")
    options = parser.parse_args(argv)
    heap.keep()
    torch.set_num_threads(options.threads)
    out = options.out or SHIPPED / options.method.partition("@")[0]
    with TemporaryDirectory() as folder:
        made = Path(folder) / options.method
        history = train(options.method, "stage", "stage", made, options.seed)
        result = Evaluation("stage", "known", "stage").run(str(made), options.seed, Path(folder) / "result.json")
        seconds = sum(phase.seconds for phase in history.phases)
        card = describe(methods.load(made), result, seconds, options.seed, options.threads)
        out.mkdir(parents=True, exist_ok=True)
        for name in ("config.json", WEIGHTS):
            copyfile(made / name, out / name)
        (out / MODEL_CARD).write_text(card)
    print(f"{out}: kept {result['kept']:.3f}, closed {result['closed']:.3f}")


if __name__ == "__main__":
    main()
