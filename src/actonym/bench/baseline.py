"""The baselines on raw video, kept in the user's cache: every method is compared with them."""

import hashlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path

import torch
from filelock import FileLock
from safetensors.torch import load_file, save_file

from actonym import attacks, losses, nets, tasks, train
from actonym.bench.measure import Measured, Plan, Splits
from actonym.bench.result import versions
from actonym.bench.training import begun_with, digest_of, source_of
from actonym.data.cache import cache_dir
from actonym.data.clips import Clips

# What else decides the numbers: of this room without tables and plots, and how clips become what networks see.
MEASURED_BY = [
    *(Path(__file__).with_name(f"{name}.py") for name in ("bias", "evaluate", "look", "measure", "metrics", "residue")),
    Path(inspect.getfile(Clips)),
]


def raw_baselines(
    find: Callable[[], Measured], recognizer: Splits, attackers: Splits, plan: Plan, seed: int
) -> Measured:
    """What `find` finds on these raw clips; it is asked once. Of two processes that want it the second one waits."""
    folder = cache_dir("raw", _key(recognizer, attackers, plan, seed))
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "measured.json").is_file():
            _store(find(), folder)
    return _recall(folder)


def _key(recognizer: Splits, attackers: Splits, plan: Plan, seed: int) -> str:
    """All that decides the raw baselines: the clips themselves, the plan, the seed and the program."""
    digest = hashlib.sha256(source_of((attacks, losses, nets, tasks, train), MEASURED_BY))
    for clips in {id(clips): clips for splits in (recognizer, attackers) for clips in splits.values()}.values():
        digest.update(digest_of(clips))
        if plan["linkage"]:
            digest.update(repr((clips.subject, clips.source)).encode())
    asked = {key: value for key, value in plan.items() if value and key != "pictures"} | {"images": begun_with(plan)}
    digest.update(json.dumps([asked, seed, versions(), torch.get_num_threads()], sort_keys=True).encode())
    return digest.hexdigest()[:20]


def _store(found: Measured, folder: Path) -> None:
    """The numbers go last: where they are, the weights are whole."""
    for name, weights in found.weights.items():
        save_file(dict(weights), folder / f"{name.replace('/', '-')}.safetensors")
    numbers = {key: value for key, value in vars(found).items() if key not in ("weights", "embed")}
    draft = folder / "measured.part"
    draft.write_text(json.dumps({**numbers, "weights": list(found.weights)}))
    draft.replace(folder / "measured.json")


def _recall(folder: Path) -> Measured:
    numbers = json.loads((folder / "measured.json").read_text())
    names = numbers.pop("weights")
    return Measured(**numbers, weights={n: load_file(folder / f"{n.replace('/', '-')}.safetensors") for n in names})
