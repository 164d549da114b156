"""Presets: NAME/paper.yaml and NAME/stage.yaml, every value with its source beside it.

A file that says `base: stage` holds only what differs from stage.yaml: a variant of the method, `NAME@FILE`. With
`base: [stage, paper]` it is a variant of both; what stands below `times` are factors on its base's numbers. For a chart
of ablations it may say which `factor` it changes, and a `label` for its value.
"""

from pathlib import Path
from typing import Any

import yaml

from actonym.errors import UserError, unknown
from actonym.spec import merge

FOLDER = Path(__file__).parent


def names(owner: str) -> list[str]:
    """The presets that exist for a method (or for `evaluation`)."""
    return sorted(path.stem for path in (FOLDER / owner).glob("*.yaml"))


def load(owner: str, preset: str, over: str | None = None) -> dict[str, Any]:
    """One preset as a nested dictionary. An owner without any preset folder has an empty one: its own defaults.

    What only says differences is laid over the preset `over`, which must be among the bases that it names, or else over
    the first of these.
    """
    known = names(owner)
    if not known and preset in ("paper", "stage"):
        return {}
    if preset not in known:
        raise unknown(f"preset of {owner}", preset, known or ["paper", "stage"])
    said = yaml.safe_load((FOLDER / owner / f"{preset}.yaml").read_text()) or {}
    base = said.pop("base", None)
    if base is None:
        return said
    bases = [base] if isinstance(base, str) else base
    if over is not None and over not in bases:
        raise UserError(f"{owner}@{preset} is a variant of the preset {' or '.join(bases)}, not of {over}")
    factors = said.pop("times", {})
    return _scaled(merge(load(owner, over or bases[0]), said), factors)


def _scaled(tree: dict[str, Any], factors: dict[str, Any]) -> dict[str, Any]:
    """A nested dictionary in which the numbers that `factors` names are so many times as large."""
    changed = {k: _scaled(tree[k], by) if isinstance(by, dict) else tree[k] * by for k, by in factors.items()}
    return tree | changed
