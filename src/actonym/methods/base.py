"""What every method is: a module with a card. The registry finds it by its decorator."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from inspect import Parameter, signature
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import torch
from huggingface_hub import PyTorchModelHubMixin
from torch import Tensor, nn

from actonym import presets
from actonym.data.clips import STATIC
from actonym.errors import UserError, unknown
from actonym.spec import Settings, assign, check, parse, put

if TYPE_CHECKING:
    from actonym.train.phase import Phase, Recognizers

WEIGHTS = "model.safetensors"
MODEL_CARD = "README.md"
NETWORKS: Settings = {"action": None, "privacy": None}  # None: the evaluation's recognizer and its first attacker
SHIPPED = Path(__file__).parent / "shipped"  # NAME/: checkpoints that come with the package


@dataclass(frozen=True)
class MethodCard:
    """What a reader wants to know of a method before using it."""

    title: str
    idea: str
    paper: str
    year: int
    needs: frozenset[str] = frozenset()  # labels its training reads: action, privacy, domain, mask
    knobs: dict[str, str] = field(default_factory=dict)  # settings that move the trade-off, in words
    live: frozenset[str] = frozenset()  # knobs that can be turned after training: attributes that may be set any time
    reported: dict[str, Any] = field(default_factory=dict)  # the paper's own numbers: {setting: {dataset: ...}}


class Method(nn.Module, PyTorchModelHubMixin):
    """An anonymizer and how it learns. `save` and `load` below keep it as a folder."""

    name: ClassVar[str]
    card: ClassVar[MethodCard]
    kind: ClassVar[str]
    game: ClassVar[type | None] = None  # how it learns: a dataclass with the keys of the preset's `train` section

    def __init__(self) -> None:
        super().__init__()
        self.training_settings: Settings = {}  # the preset's `train` section
        self.networks: Settings = {}  # the preset's `networks` section: its own choice of what it learns with

    def phases(self, recognizers: "Recognizers") -> "list[Phase]":
        """What the trainer runs, in order. A hand-made method has nothing to learn."""
        return []


M = TypeVar("M", bound=Method)


class PixelMethod(Method):
    """Maps clip to clip, `[B, 3, T, H, W]` in 0..1, same shape out as in."""

    kind = "pixel"
    working_size: int | None = None  # short side at which it works; None: at the video's own size
    working_frames: int = 16  # frames of one clip when a long video is cut into clips

    def forward(self, clip: Tensor, mask: Tensor | None = None) -> Tensor:
        """What ships to the camera. `mask` `[B, 1, T, H, W]` says where people are, where that is known."""
        raise NotImplementedError

    def between(self, clip: Tensor) -> dict[str, Tensor]:
        """The clip on its way, first to last, each with its name, for those who want to see how a method works."""
        return {}


class LatentMethod(Method):
    """Maps the features of a video, `[B, N, D]`, to features of the same shape, each video by itself."""

    kind = "latent"

    def forward(self, features: Tensor, present: Tensor | None = None) -> Tensor:
        """`present` `[B, N]` is false where a video of a batch has fewer clips than others."""
        raise NotImplementedError

    def with_static(self, features: Tensor, mask: Tensor | None = None) -> Tensor:
        """Clips of videos with their static clips behind them; each of these stands for a picture, seen by itself."""
        clips, still = features[:, :-STATIC], features[:, -STATIC:]
        alone = self(still.reshape(-1, 1, still.shape[-1])).view_as(still)
        return torch.cat([self(clips), alone], 1)


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
    """All that can be set: `method`, its own settings, `train`, those of its training, and `networks`, what it learns
    with; the preset over defaults.

    `name` may be `NAME@VARIANT`: the preset VARIANT, laid over `preset` if it only says what differs.
    """
    name, _, variant = name.partition("@")
    cls, chosen = find(name), presets.load(name, variant or preset, over=preset if variant else None)
    defaults = {"method": _defaults(cls.__init__), "train": _defaults(cls.game) if cls.game else {}}
    defaults["networks"] = NETWORKS if cls.game and issubclass(cls, PixelMethod) else {}
    return chosen | {section: values | chosen.get(section, {}) for section, values in defaults.items()}


def _defaults(call: Callable[..., Any]) -> Settings:
    return {p.name: p.default for p in signature(call).parameters.values() if p.default is not Parameter.empty}


def create(spec: str, preset: str = "stage", assignments: Sequence[str] = ()) -> Method:
    """A fresh method from `NAME` or `NAME@VARIANT`, with `:key=value,...` behind it; the rest is from its preset.

    `assignments` such as `method.factor=2` change values of the preset; so does `train.epochs=2` behind the name.
    """
    name, said = parse(spec)
    chosen = assign(settings(name, preset), assignments)
    for path in [key for key in said if "." in key]:
        put(chosen, path, said.pop(path), f"setting of {name}: ")
    cls = find(name.partition("@")[0])
    check(name, said, cls.__init__)
    try:
        method = cls(**chosen["method"] | said)
    except (TypeError, ValueError) as error:
        raise UserError(f"{spec}: {error}") from error
    method.training_settings, method.networks = chosen["train"], chosen["networks"]
    return method


def learned(method: nn.Module) -> bool:
    """Whether a method has something to learn: without its training it is noise."""
    return any(parameter.requires_grad for parameter in method.parameters())


def resolve(name_or_folder: str, preset: str = "paper") -> Method:
    """A method that is ready for video, from its name, its name with settings, or its checkpoint folder; in eval mode.

    By a name alone it is as in its paper: what somebody who has a video, and not the stage, wants. A learned method is
    the checkpoint that ships under its name; without one it is refused. Behind a checkpoint stand the knobs that are
    turned, `FOLDER:keep=0.5`.
    """
    folder, said = checkpoint(name_or_folder, shipped=True)
    if folder is not None:
        return turn(load(folder), said)
    method = create(name_or_folder, preset)
    if learned(method):
        raise UserError(
            f"{method.name} must be trained before it can anonymize: "
            f"actonym train {name_or_folder} --data ... --out DIR, then --method DIR"
        )
    return method.eval()


def checkpoint(text: str, shipped: bool = False) -> tuple[Path | None, Settings]:
    """The checkpoint folder that is named, or None, and the settings behind it.

    It is named by its path, or by `NAME@shipped`; with `shipped` the name alone means the one that ships, if one does.
    """
    place, _, tail = text.rpartition(":")
    for folder, said in ((text, ""), (place, tail)):
        if folder and (Path(folder) / "config.json").is_file():
            return Path(folder), parse(f"checkpoint:{said}")[1]
    name, settings = parse(text)
    owner, _, variant = name.partition("@")
    if Path(text).is_dir() and owner not in _REGISTRY:
        raise UserError(f"{text} is no checkpoint: it has no config.json")
    ships = (SHIPPED / owner / "config.json").is_file() and owner in _REGISTRY
    if variant == "shipped" and not ships:
        raise UserError(f"no trained {owner} ships with this version: train it")
    return SHIPPED / owner if ships and (variant == "shipped" or (shipped and not variant)) else None, settings


def turn(method: M, knobs: Mapping[str, Any]) -> M:
    """Set knobs of a method that may be trained already; others than its live ones are refused."""
    for name, value in knobs.items():
        if name not in method.card.live:
            live = ", ".join(sorted(method.card.live)) or "none"
            raise UserError(f"{method.name} has no {name} that can be turned after training; such knobs of it: {live}")
        if name == "keep" and not (isinstance(value, int | float) and 0 < value <= 1):
            raise UserError(f"keep is a share above 0 and at most 1, not {value!r}")
        try:
            setattr(method, name, value)
        except (TypeError, ValueError) as error:
            raise UserError(f"{method.name}: {error}") from error
    return method


def save(method: Method, folder: str | Path) -> Path:
    """Write `config.json`, `model.safetensors` and a model card; the hash of the weights goes into the config."""
    folder = Path(folder)
    method.save_pretrained(folder, config=config(method))
    whole = {"method": method.name, **config(method), "sha256": sha256(folder / WEIGHTS)}
    (folder / "config.json").write_text(json.dumps(whole, indent=2, sort_keys=True) + "\n")
    (folder / MODEL_CARD).write_text(model_card(method))  # instead of the hub library's, which says nothing
    return folder


def model_card(method: Method) -> str:
    """What somebody who finds a checkpoint wants to know of it; how it was trained, `history.json` beside it says."""
    card, weights = method.card, sum(p.numel() for p in method.parameters())
    knobs = [f"- `{name}`: {text}" for name, text in sorted(card.knobs.items()) if name in card.live]
    made_with = [f"{name} {value}" for name, value in sorted(config(method).items())]
    lines = [
        f"# {card.title}",
        "",
        card.idea,
        "",
        f"{', '.join([f'{weights:,} parameters', *made_with])}. {card.paper}.",
    ]
    if knobs:
        lines += ["", "May be turned without training:", "", *knobs]
    return "\n".join(lines) + "\n"


def config(method: Method) -> Settings:
    """The settings a method was made with, and its live knobs as they stand now."""
    made_with = dict(method._hub_mixin_config or {})  # type: ignore[arg-type]
    return made_with | {name: getattr(method, name) for name in sorted(method.card.live)}


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
        with redirect_stdout(StringIO()):  # the hub's library prints what it does
            return cls.from_pretrained(str(folder), strict=True).eval()
    except (RuntimeError, TypeError, ValueError) as error:
        raise UserError(f"{folder} does not fit the method {name!r}: {str(error).splitlines()[0]}") from error


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
