"""A result is one JSON file: one method, dataset, protocol and seed. `result.schema.json` says what is in it."""

import json
import os
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import torch
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

import actonym
from actonym.errors import ActonymError, UserError

Result = dict[str, Any]

SCHEMA = Path(__file__).with_name("result.schema.json")
IDENTITY = ("data", "source", "protocol", "preset", "method", "seed")  # no two results of one report share all of these

NO_GAP = "raw gap no larger than by lot"  # between groups of people
HIGH_KEPT = 0.8  # ours: with this much utility kept, the action label is there for an attacker to use
NAMED = 5  # attributes in a flag; more are counted
TOLERANCE = 0.02  # ours: a floor measured on a few hundred test videos is not sharper than this
WEAK_MARGIN = 0.05  # ours: a raw leak this near to chance leaves nothing to close


def write(result: Result, path: str | Path) -> Path:
    """Check `result` and write it whole or not at all."""
    path = Path(path)
    if wrong := problem(result):
        raise ActonymError(f"the result for {path} does not fit the schema: {wrong}")
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(result, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ActonymError(f"cannot write {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ActonymError(f"the result for {path} holds a number that is not finite") from error
    return path


def read(path: str | Path) -> Result:
    """The result in a file; a damaged or foreign file is refused."""
    try:
        result = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged: it is not JSON") from error
    if wrong := problem(result):
        raise UserError(f"{path} is not a result of actonym evaluate: {wrong}")
    return result


def read_folder(folder: str | Path) -> dict[Path, Result]:
    """Every result in a folder and below, by path. Two files of one run are refused: they would pass for two seeds."""
    if not Path(folder).is_dir():
        raise UserError(f"{folder} is not a folder")
    results = {path: read(path) for path in sorted(Path(folder).rglob("*.json"))}
    if not results:
        raise UserError(f"{folder} holds no results; make some with actonym evaluate or actonym bench")
    seen: dict[tuple[Any, ...], Path] = {}
    for path, result in results.items():
        first = seen.setdefault(tuple(result.get(key) for key in IDENTITY), path)
        if first != path:
            raise UserError(f"{first} and {path} are the same {', '.join(IDENTITY)}; keep one")
    return results


def problem(result: Any) -> str | None:
    """What is wrong with a result, in one line; None if nothing is."""
    error = best_match(_validator().iter_errors(result))
    if error is None:
        attacker = result["attacker"]
        known = attacker["strongest"] in [entry["name"] for entry in attacker["tried"]]
        return None if known else f"attacker: {attacker['strongest']!r} is not among those tried"
    where = error.json_path.removeprefix("$").removeprefix(".")
    text = " ".join(error.message.split())
    return (f"{where}: " if where else "") + (text if len(text) <= 160 else text[:157] + "...")


def flags(result: Mapping[str, Any]) -> list[str]:
    """What a reader must know before trusting a result (all but its `flags` filled in)."""
    attacker, floors, raw = result["attacker"], result["floors"], result["raw"]
    unfinished = [entry["name"] for entry in attacker["tried"] if not entry["converged"]]
    weaker = [name for name in unfinished if name != attacker["strongest"]]
    every = result["privacy"]["per_attribute"]
    left_out = [name for name, entry in every.items() if entry["ap"] is None]
    named = ", ".join(left_out) if len(left_out) <= NAMED else f"{len(left_out)} of {len(every)}"
    bias = result["utility"].get("bias")
    below = result["privacy"]["cmap"] < floors["action_prior"] - TOLERANCE
    found = {
        "attacker did not converge": attacker["strongest"] in unfinished,
        f"weaker attacker did not converge: {', '.join(weaker)}": weaker,
        "recognizer did not converge": not result["utility"]["recognizer"]["converged"],
        "below the action-prior floor": below and (result["kept"] or 0) >= HIGH_KEPT,
        "raw attacker weak": raw["cmap"] < floors["chance"] + WEAK_MARGIN,
        f"attribute left out: {named}": left_out,
        NO_GAP: bias and raw["gap"] <= bias["by_lot"],
    }
    return [flag for flag, raised in found.items() if raised]


def main_utility(utility: Mapping[str, Any]) -> str:
    """Which number of a result's utility counts: top-1, or where videos have several actions, their cMAP."""
    return "top1" if "top1" in utility else "cmap"


def versions() -> dict[str, str]:
    """Of what a number depends on."""
    return {"actonym": actonym.__version__, "torch": torch.__version__, "python": platform.python_version()}


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")  # Python's reader takes NaN and Infinity, JSON does not
