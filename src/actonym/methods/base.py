"""What every method is: a module with a card. The registry finds it by its decorator."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from huggingface_hub import PyTorchModelHubMixin
from torch import Tensor, nn

from actonym import presets
from actonym.errors import UserError, unknown
from actonym.spec import Settings, assign, check, parse

if TYPE_CHECKING:
    from actonym.train.phase import Phase, Recognizers

WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class MethodCard:
    """What a reader wants to know of a method before using it."""

    title: str
    idea: str
    paper: str
    year: int
    needs: frozenset[str] = frozenset()  # labels its training reads: action, privacy, domain, mask
    knobs: dict[str, str] = field(default_factory=dict)  # settings that move the trade-off, in words
    reported: dict[str, Any] = field(default_factory=dict)  # the paper's own numbers: {setting: {dataset: ...}}


class Method(nn.Module, PyTorchModelHubMixin):
    """An anonymizer and how it learns. `save` and `load` below keep it as a folder."""

    name: ClassVar[str]
    card: ClassVar[MethodCard]
    kind: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.training_settings: Settings = {}  # the preset's `train` section

    def phases(self, recognizers: "Recognizers") -> "list[Phase]":
        """What the trainer runs, in order. A hand-made method has nothing to learn."""
        return []


class PixelMethod(Method):
    """Maps clip to clip, `[B, 3, T, H, W]` in 0..1, same shape out as in."""

    kind = "pixel"
    working_size: int | None = None  # short side at which it works; None: at the video's own size
    working_frames: int = 16  # frames of one clip when a long video is cut into clips

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        """What ships to the camera. `mask` `[B, 1, T, H, W]` says where people are, where that is known."""
        raise NotImplementedError

    def between(self, clip: Tensor) -> list[Tensor]:
        """The clip on its way, first to last, for those who want to see how a method works; most show nothing."""
        return []


_REGISTRY: dict[str, type[Method]] = {}


def register(name: str) -> Callable[[type[Method]], type[Method]]:
    """Class decorator: makes a method known by `name` to the command line, the contract tests and the bench."""

    def add(cls: type[Method]) -> type[Method]:
        if name in _REGISTRY and _REGISTRY[name].__qualname__ != cls.__qualname__:
            raise ValueError(f"two methods are called {name!r}")
        cls.name = name
        _REGISTRY[name] = cls
        return cls

    return add


def registry() -> dict[str, type[Method]]:
    """All methods by name."""
    return dict(sorted(_REGISTRY.items()))


def find(name: str) -> type[Method]:
    if name not in _REGISTRY:
        raise unknown("method", name, _REGISTRY)
    return _REGISTRY[name]


def settings(name: str, preset: str = "stage") -> Settings:
    """All that can be set: `method`, its own settings, and `train`, those of its training; the preset over defaults."""
    parameters = signature(find(name).__init__).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not Parameter.empty}
    chosen = presets.load(name, preset)
    return {**chosen, "method": defaults | chosen.get("method", {}), "train": chosen.get("train", {})}


def create(spec: str, preset: str = "stage", assignments: Sequence[str] = ()) -> Method:
    """A fresh method from `name` or `name:key=value,...`; what is not said is from its preset.

    `assignments` such as `method.factor=2` change values of the preset.
    """
    name, said = parse(spec)
    chosen = assign(settings(name, preset), assignments)
    check(name, said, find(name).__init__)
    try:
        method = find(name)(**chosen["method"] | said)
    except (TypeError, ValueError) as error:
        raise UserError(f"{spec}: {error}") from error
    method.training_settings = chosen["train"]
    return method


def resolve(name_or_folder: str, preset: str = "paper") -> Method:
    """A method from its name, its name with settings, or the folder of a trained one; in eval mode.

    By a name alone it is as in its paper: what somebody who has a video, and not the stage, wants.
    """
    if (Path(name_or_folder) / "config.json").is_file():
        return load(name_or_folder)
    if Path(name_or_folder).is_dir():
        raise UserError(f"{name_or_folder} is no checkpoint: it has no config.json")
    return create(name_or_folder, preset).eval()


def save(method: Method, folder: str | Path) -> Path:
    """Write `config.json`, `model.safetensors` and a model card; the hash of the weights goes into the config."""
    folder = Path(folder)
    method.save_pretrained(folder, config=config(method))
    whole = {"method": method.name, **config(method), "sha256": sha256(folder / WEIGHTS)}
    (folder / "config.json").write_text(json.dumps(whole, indent=2, sort_keys=True) + "\n")
    return folder


def config(method: Method) -> Settings:
    """The settings a method was made with."""
    return dict(method._hub_mixin_config or {})  # type: ignore[arg-type]


def load(folder: str | Path) -> Method:
    """The method in a checkpoint folder, in eval mode. A wrong or tampered file is refused."""
    folder = Path(folder)
    try:
        made_with = json.loads((folder / "config.json").read_text())
        name, said = made_with.pop("method"), made_with.pop("sha256")
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise UserError(f"{folder} is no checkpoint: its config.json is missing or damaged") from error
    if not (folder / WEIGHTS).is_file():
        raise UserError(f"{folder} is no whole checkpoint: {WEIGHTS} is missing")
    if sha256(folder / WEIGHTS) != said:
        raise UserError(f"{folder / WEIGHTS} is not the file this checkpoint was saved with (SHA-256 differs); refused")
    cls = find(name)
    check(name, made_with, cls.__init__)
    try:
        return cls.from_pretrained(str(folder), strict=True).eval()
    except (RuntimeError, TypeError, ValueError) as error:
        raise UserError(f"{folder} does not fit the method {name!r}: {str(error).splitlines()[0]}") from error


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
