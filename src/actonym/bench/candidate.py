"""A method under test, as a bench names it: what it is, and what must be done before it can be measured."""

from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actonym.errors import UserError
from actonym.methods.base import (
    LatentMethod,
    Method,
    PixelMethod,
    checkpoint,
    config,
    create,
    find,
    learned,
    load,
    settings,
    turn,
)
from actonym.spec import Settings, parse


@dataclass(frozen=True)
class Candidate:
    """`method` is as it was made or loaded; where there is something to `train` first, it is not ready yet."""

    name: str  # in results and tables
    method: Method
    base: str = ""  # the name without the knobs that are turned after training
    turned: Settings | None = None  # these knobs
    train: Callable[[], Method] | None = None  # makes the fresh method that is to be trained
    variant: dict[str, Any] | None = None  # for a chart of ablations: a variant of which method, its factor and label
    trained: Path | None = None  # the checkpoint that it is

    @property
    def knobs(self) -> dict[str, Any] | None:
        """Where the knobs stand that can be turned after training, as a result holds them; None without such knobs."""
        live = {name: getattr(self.method, name) for name in sorted(self.method.card.live)}
        return {"of": self.base, "values": live} if live and self.base else None


def candidate(method: str | Method, preset: str, dim: int | None = None) -> Candidate:
    """From a method itself, or from `NAME`, `NAME@VARIANT` or a checkpoint folder, with settings behind a colon.

    `dim` is that of the features that it is measured on; None: it is measured on video.
    """
    if isinstance(method, Method):
        return Candidate(method.name, _fitting(method, dim))
    folder, said = checkpoint(method)
    if folder is not None:
        ships = "@shipped" in method
        base = method.partition(":")[0] if ships else folder.resolve().name
        name = f"{base}:{method.rpartition(':')[2]}" if said else base
        return Candidate(name, _fitting(turn(load(folder), said), dim), base, trained=folder)
    latent = issubclass(find(parse(method)[0].partition("@")[0]), LatentMethod)
    sizes = [f"method.dim={dim}"] if latent and dim else []
    made = _fitting(create(method, preset, sizes), dim)
    if "domain" in made.card.needs:
        ready = "train it with actonym train --target NAME, then name its folder"
        raise UserError(f"{made.name} adapts to a world: {ready}")
    turned = {key: value for key, value in said.items() if key in made.card.live}
    turn(made, turned)  # a value that cannot be is told now
    base = _without(method, turned)
    about = settings(method.partition(":")[0], preset)
    variant = {"of": made.name, **{key: str(about[key]) for key in ("factor", "label")}} if "factor" in about else None
    train = (lambda: create(base, preset, sizes)) if learned(made) else None
    return Candidate(method, made, base, turned, train, variant)


def _without(text: str, keys: Container[str]) -> str:
    """A name with settings, without some of them."""
    name, _, tail = text.partition(":")
    kept = [part for part in tail.split(",") if part and part.partition("=")[0].strip() not in keys]
    return f"{name}:{','.join(kept)}" if kept else name


def _fitting(method: Method, dim: int | None) -> Method:
    """Latent methods are measured on a store of features, the others on video; raw is both."""
    if dim is None and isinstance(method, LatentMethod):
        raise UserError(f"{method.name} maps features, not video: measure it on a store, --data features:FOLDER")
    if dim is not None and isinstance(method, PixelMethod) and method.name != "raw":
        raise UserError(f"{method.name} maps video, not features: it cannot be measured on a store")
    if isinstance(method, LatentMethod) and config(method).get("dim", dim) != dim:
        raise UserError(f"{method.name} was trained for features of {config(method)['dim']} numbers, not {dim}")
    return method.eval()
