"""Names with settings, as users type them: `downsample:factor=2`, `stage:size=64,train=400`."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from inspect import Parameter, signature
from typing import Any

import yaml

from actonym.errors import UserError, unknown

Settings = dict[str, Any]


def parse(text: str) -> tuple[str, Settings]:
    """Split `name:key=value,...` into the name and its settings; values are read as YAML."""
    name, _, tail = text.partition(":")
    pairs = [part.partition("=") for part in tail.split(",") if part]
    for key, equals, _ in pairs:
        if not equals:
            raise UserError(f"cannot read {key!r} in {text!r}: settings are written name:key=value,key=value")
    return name.strip(), {key.strip(): _read(value) for key, _, value in pairs}


def text(name: str, settings: Mapping[str, Any]) -> str:
    """What `parse` reads."""
    values = {key: value if isinstance(value, str) else json.dumps(value) for key, value in settings.items()}
    tail = ",".join(f"{key}={value}" for key, value in values.items())
    return f"{name}:{tail}" if tail else name


def with_settings(said: str, settings: Mapping[str, Any]) -> str:
    """A name, or a folder, with these settings behind those that it may have already."""
    _, colon, tail = said.rpartition(":")
    return f"{said}{',' if colon and '=' in tail else ':'}{text('', settings).removeprefix(':')}"


def check(kind: str, settings: Mapping[str, Any], call: Callable[..., Any]) -> None:
    """Refuse settings that `call` does not take, naming the nearest one that it does."""
    known = [p.name for p in signature(call).parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    for key in settings:
        if key not in known:
            raise unknown(f"setting of {kind}", key, [name for name in known if name != "self"])


def assign(tree: Settings, assignments: Sequence[str]) -> Settings:
    """Apply `a.b=value` assignments to a nested dictionary; only keys that exist can be set."""
    result = deepcopy(tree)
    for text in assignments:
        path, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"cannot read --set {text!r}: write --set section.key=value")
        put(result, path.strip(), _read(value), "--set ")
    return result


def put(tree: Settings, path: str, value: Any, said: str = "") -> None:
    """Set what stands at `section.key` in a nested dictionary: it must exist, and a value be of its kind, or null.

    `said` is where the user wrote it.
    """
    *sections, key = path.split(".")
    node = tree
    for section in sections:
        if not isinstance(node.get(section), dict):
            raise unknown(f"{said}section", section, [k for k, v in node.items() if isinstance(v, dict)])
        node = node[section]
    if key not in node:
        raise unknown(f"{said}key", path, [".".join([*sections, k]) for k in node])
    wanted = _kind(node[key])
    if None not in (value, node[key]) and _kind(value) != wanted:
        raise UserError(f"{said}{path} must be {wanted}, not {value!r}")
    node[key] = value


def _read(value: str) -> Any:
    """As YAML; also 1e-3, which YAML takes for a word."""
    power = re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)e[-+]?\d+", value.strip(), re.IGNORECASE)
    return float(value) if power else yaml.safe_load(value)


def _kind(value: Any) -> str:
    """What it is to a user; where several words may stand, one may."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, dict):
        return "a section"
    numbers = isinstance(value, list | tuple) and {_kind(one) for one in value} == {"a number"}
    return "a list of numbers" if numbers else "a word or a list of words"


def merge(tree: Mapping[str, Any], changes: Mapping[str, Any]) -> Settings:
    """A nested dictionary with what `changes` say laid over it, section by section."""
    result = dict(tree)
    for key, value in changes.items():
        below = result.get(key)
        result[key] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return result
