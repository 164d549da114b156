"""Encoders by the names that users type: `i3d`, `r2plus1d-18:path/to/file`, `hub:MCG-NJU/videomae-base`, a folder."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from torch import Tensor, nn

from actonym import weights
from actonym.errors import UserError, unknown
from actonym.nets.encoder import IMAGENET, KINETICS, PLAIN, PRECISIONS, SYMMETRIC, Colours, Encoder
from actonym.nets.hub import hub_encoder
from actonym.nets.i3d import I3D
from actonym.nets.r3d import R3D18, R3D50
from actonym.nets.resnet import ResNet50
from actonym.nets.stage import DIM, FRAMES, SIZE, WEIGHTS, StageNet

HARA: Colours = ((0.4345, 0.4051, 0.3775), (0.2768, 0.2713, 0.2737))  # the release of R3D-50


@dataclass(frozen=True)
class Kind:
    """A network of ours that a state dict fills; `head` is the weight whose rows are the classes."""

    build: Callable[[int], nn.Module]
    head: str
    size: int
    frames: int
    dim: int
    colours: Colours
    exact: bool = False
    weights: str | None = None  # in the catalogue, for those that can be pulled
    shipped: Path | None = None  # in the package


KINDS = {
    "i3d": Kind(I3D, "logits.conv3d.weight", 224, 16, 1024, SYMMETRIC, weights="i3d-kinetics400"),
    "r2plus1d-18": Kind(partial(R3D18, factored=True), "fc.weight", 112, 16, 512, KINETICS),
    "r3d-18": Kind(R3D18, "fc.weight", 112, 16, 512, KINETICS),
    "r3d-50": Kind(R3D50, "fc.weight", 112, 16, 2048, HARA),
    "resnet-50": Kind(ResNet50, "fc.weight", 224, 4, 2048, IMAGENET, exact=True),
    "stage": Kind(StageNet, "motion.head.weight", SIZE, FRAMES, DIM, PLAIN, shipped=WEIGHTS),
}


def encoder(spec: str, precision: str = "32-true") -> Encoder:
    """A frozen encoder by its name.

    `i3d` is the pulled one; `stage` ships, and is for the stage alone; `NAME:FILE` takes the weights from a file;
    `hub:ID` or a folder is a network of transformers.
    """
    if precision not in PRECISIONS:
        raise unknown("precision of an encoder", precision, PRECISIONS)
    made = _find(spec)
    made.precision = precision
    return made


def _find(spec: str) -> Encoder:
    name, _, rest = spec.partition(":")
    if name == "hub":
        return hub_encoder(rest)
    if name not in KINDS:
        if Path(spec).is_dir():
            return hub_encoder(spec)
        raise unknown("encoder", name, [*KINDS, "hub:ID"])
    kind = KINDS[name]
    if not rest and not kind.weights and not kind.shipped:
        raise UserError(f"{name} needs a file with its weights: {name}:path/to/file (see: actonym weights list)")
    if not rest and kind.shipped and not kind.shipped.is_file():
        raise UserError(f"the encoder {name} is not in this package; make it: python scripts/train_encoder.py")
    network = load(kind, Path(rest) if rest else kind.shipped or weights.path(str(kind.weights)))
    return Encoder(network, kind.size, kind.frames, kind.dim, kind.colours, kind.exact)


def shown(spec: str) -> str:
    """An encoder as results show it: a file or folder goes by its name, for where it lies is the machine's business."""
    name, _, rest = spec.partition(":")
    if rest and (name in KINDS or Path(rest).is_dir()):
        return f"{name}:{Path(rest).name}"
    return Path(spec).name if Path(spec).is_dir() else spec


def load(kind: Kind, path: Path) -> nn.Module:
    """The network with the weights of a file; every name and shape must fit."""
    state = weights.state_dict(path)
    if kind.head not in state:
        raise UserError(f"{path} does not fit: it has no {kind.head}, but e.g. {', '.join(list(state)[:3])}")
    network = kind.build(len(state[kind.head]))
    try:
        network.load_state_dict(_counted(network, state))
    except RuntimeError as error:
        raise UserError(f"{path} does not fit: {' '.join(str(error).split())[:300]}") from error
    return network


def kinetics_labels() -> list[str]:
    """The names of I3D's 400 logits."""
    return weights.path("kinetics400-labels").read_text().splitlines()


def _counted(network: nn.Module, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Old files lack the batch counters, which no prediction depends on."""
    counters = {name: value for name, value in network.state_dict().items() if name.endswith("num_batches_tracked")}
    return {**counters, **state}
