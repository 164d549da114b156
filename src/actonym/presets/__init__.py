"""Presets: NAME/paper.yaml and NAME/stage.yaml, every value with its source beside it."""

from pathlib import Path
from typing import Any

import yaml

from actonym.errors import unknown

FOLDER = Path(__file__).parent


def names(owner: str) -> list[str]:
    """The presets that exist for a method (or for `evaluation`)."""
    return sorted(path.stem for path in (FOLDER / owner).glob("*.yaml"))


def load(owner: str, preset: str) -> dict[str, Any]:
    """One preset as a nested dictionary. An owner without any preset folder has an empty one: its own defaults."""
    known = names(owner)
    if not known and preset in ("paper", "stage"):
        return {}
    if preset not in known:
        raise unknown(f"preset of {owner}", preset, known or ["paper", "stage"])
    return yaml.safe_load((FOLDER / owner / f"{preset}.yaml").read_text()) or {}
