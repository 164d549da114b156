"""Train recognizers and attackers on clips and test them: the same for raw and anonymized video."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from actonym import presets
from actonym.attacks.attribute import train_attacker
from actonym.bench.bias import group_scores
from actonym.bench.look import Frozen, Look, pixels, stored
from actonym.bench.metrics import action_scores, mean_over_views, privacy_scores
from actonym.data.base import SPLITS, Dataset
from actonym.data.clips import Clips, load_clips
from actonym.data.features import Stored, load_features
from actonym.errors import UserError, unknown
from actonym.nets.heads import head
from actonym.nets.recognizers import build
from actonym.tasks.recognition import train_recognizer
from actonym.train.fit import Fit, Fitted, predict

Plan = dict[str, Any]  # an evaluation preset
Splits = dict[str, Clips]  # train, val, test
Weights = Mapping[str, Tensor]

ATTACKS = ("attribute", "frame")
STARTS = ("scratch", "raw", "fixed")  # fixed: from raw, and clips are not moved, as the grid of a method is not
FEW, MANY = "few", "many"


@dataclass
class Measured:
    """What recognizer and attackers reached on one set of clips."""

    utility: dict[str, Any]
    privacy: dict[str, Any]  # of the strongest attacker
    attacker: dict[str, Any]
    weights: dict[str, Weights] = field(default_factory=dict)  # of recognizer and attackers from scratch
    linkage: dict[str, Any] | None = None  # where the plan asks for it
    embed: Callable[[Clips], Tensor] | None = None  # clips to what the strongest attacker makes of them, [N, D]


def load_splits(dataset: Dataset, plan: Plan, splits: Sequence[str] = SPLITS, progress: bool = True) -> Splits:
    """Train, validation and test clips. Only the test videos are looked at from several views."""
    clip = plan["clip"]
    if isinstance(dataset, Stored):
        return {split: load_features(dataset.store, split, clip["clips"]) for split in splits}
    single = {**clip, "clips": 1, "crops": 1}
    views = {split: clip if split == "test" else single for split in splits}
    return {split: load_clips(dataset, split, **how, progress=progress) for split, how in views.items()}


def measure(
    recognizer: Splits,
    attackers: Splits,
    dataset: Dataset,
    plan: Plan,
    seed: int,
    look: Look,
    raw_weights: Mapping[str, Weights] | None = None,
    progress: bool = True,
) -> Measured:
    """What the recognizer reaches on its clips and the attackers on theirs; `look` says what the networks see.

    `raw_weights` are attackers trained on raw clips, from which all but those from scratch are fine-tuned.

    Without them the clips are raw: those attackers then go on from what was just trained, so that raw video meets
    attackers that were trained as long.
    """
    utility, known = _utility(recognizer, dataset, plan, seed, look, progress)
    attacked = _leak(attackers, dataset, plan, seed, look, raw_weights, progress)
    strongest = max(attacked, key=lambda one: one.about["cmap"])
    return Measured(
        utility,
        strongest.privacy,
        {"strongest": strongest.name, "tried": [one.about for one in attacked]},
        known | {one.name: one.weights() for one in attacked if one.about["start"] == "scratch"},
        embed=lambda clips: embed(strongest.net, look(clips, *parse_attacker(strongest.name)[:2])),
    )


def make_look(dataset: Dataset, plan: Plan, progress: bool = True) -> Look:
    """Features where there is nothing else; of a plan with an `encoder` its features; else the clips themselves."""
    frames = plan["attack"]["frames"]
    if isinstance(dataset, Stored):
        return stored(frames)
    return Frozen(plan["encoder"], frames, progress, plan["precision"]) if "encoder" in plan else pixels(frames)


def _utility(
    splits: Splits, dataset: Dataset, plan: Plan, seed: int, look: Look, progress: bool
) -> tuple[dict[str, Any], dict[str, Weights]]:
    """Of several recognizers the one that is best on validation counts; its scores, and its weights by name."""
    how = Fit(**plan["recognizer"]["fit"])
    names = plan["recognizer"]["net"]
    trained = []
    for name in [names] if isinstance(names, str) else names:
        seen = {split: look(clips, "action", name) for split, clips in splits.items()}
        net = fresh(name, len(dataset.actions), seen["train"], seed, plan.get("images"))
        fitted = train_recognizer(net, seen["train"], seen["val"], how, seed=seed, progress=progress)
        trained.append((fitted.validation, name, fitted, seen["test"]))
    _, name, fitted, test = max(trained, key=lambda entry: entry[0])
    logits = predict(fitted.net, test)
    found: dict[str, Any] = action_scores(logits, test.action, test.views)
    if plan.get("groups"):
        found["bias"] = group_scores(logits, test, dataset.attributes.index(plan["groups"]))
    about = {"net": name, "start": "scratch", **_training(fitted)}
    return {**found, "recognizer": about}, {f"action/{name}/scratch": weights_of(fitted.net)}


@dataclass(frozen=True)
class Attacked:
    """One attacker after its training."""

    net: nn.Module
    privacy: dict[str, Any]  # its scores on the test videos
    about: dict[str, Any]

    @property
    def name(self) -> str:
        return self.about["name"]

    def weights(self) -> dict[str, Tensor]:
        return weights_of(self.net)


def _leak(
    splits: Splits,
    dataset: Dataset,
    plan: Plan,
    seed: int,
    look: Look,
    raw_weights: Mapping[str, Weights] | None,
    progress: bool,
) -> list[Attacked]:
    """Every attacker of the plan, trained and tested."""
    attacked: list[Attacked] = []
    known = dict(raw_weights or {})
    for name in plan["attackers"]:
        attacked.append(attack(name, splits, dataset, plan, seed, look, known, progress))
        if raw_weights is None:
            known[name] = attacked[-1].weights()
    return attacked


def attack(
    name: str,
    splits: Splits,
    dataset: Dataset,
    plan: Plan,
    seed: int,
    look: Look,
    known: Mapping[str, Weights],
    progress: bool = True,
) -> Attacked:
    """One attacker; those that do not start from scratch start from one that is `known`."""
    kind, net_name, start = parse_attacker(name)
    seen = {split: look(clips, kind, net_name) for split, clips in splits.items()}
    net = fresh(net_name, len(dataset.attributes), seen["train"], seed, plan.get("images"))
    if start != "scratch":
        net.load_state_dict(known[f"{kind}/{net_name}/scratch"])
    how = how_to_fit(plan["attack"], net_name, start)
    fitted = train_attacker(net, seen["train"], seen["val"], how, seed=seed, progress=progress)
    test = seen["test"]
    scores = privacy_scores(predict(net, test).sigmoid(), test.privacy, dataset.attributes, test.views)
    about = {"name": name, "attack": kind, "net": net_name, "start": start}
    about |= {"cmap": scores["cmap"], "f1": scores["f1"], **_training(fitted)}
    return Attacked(net, scores, about)


def how_to_fit(section: Mapping[str, Any], net: str, start: str) -> Fit:
    """How attackers with this start are trained; what is `own` to a family of networks (`frame`: frame-wide) counts."""
    own = section.get("own", {}).get(net.split("-")[0], {})
    how = Fit(**section["fit" if start == "scratch" else "finetune"] | own)
    return replace(how, shift=0.0) if start == "fixed" else how


def weights_of(net: nn.Module) -> dict[str, Tensor]:
    return {key: value.clone() for key, value in net.state_dict().items()}


def embed(net: nn.Module, clips: Clips) -> Tensor:
    """What a network makes of videos before its last layer, `[N, D]`: the mean over a video's views."""
    last = [module for module in net.modules() if isinstance(module, nn.Linear)][-1]
    made: list[Tensor] = []
    hook = last.register_forward_pre_hook(lambda _, inputs: made.append(inputs[0].cpu()))
    try:
        predict(net, clips)
    finally:
        hook.remove()
    return mean_over_views(torch.cat(made), len(clips), clips.views)


def choose_attackers(which: str, preset: str) -> list[str]:
    """What `--attackers few|many` means, as assignments to a plan: `few` are the plan's own."""
    if which not in (FEW, MANY):
        raise unknown("set of attackers", which, (FEW, MANY))
    return [] if which == FEW else [f"attackers={json.dumps(presets.load('attackers', preset)['many'])}"]


def parse_attacker(name: str) -> tuple[str, str, str]:
    """`attack/network/start`, checked."""
    parts = name.split("/")
    if len(parts) != 3:
        raise UserError(f"cannot read the attacker {name!r}: write attack/network/start")
    attack, net, start = parts
    if attack not in ATTACKS:
        raise unknown("attack", attack, ATTACKS)
    if start not in STARTS:
        raise unknown("start of an attacker", start, STARTS)
    return attack, net, start


def check_attackers(names: Sequence[str]) -> None:
    """Told before anything is trained: whether each name can be read, and whether what it starts from comes first."""
    for number, name in enumerate(names):
        attack, net, start = parse_attacker(name)
        origin = f"{attack}/{net}/scratch"
        if start != "scratch" and origin not in names[:number]:
            raise UserError(f"the attacker {name} goes on from {origin}: name that one too, before it")


def fresh(net: str, outputs: int, clips: Clips, seed: int, images: str | None = None) -> nn.Module:
    """A network for such clips or features; `images`: see `build`."""
    torch.manual_seed(seed)
    if clips.video.ndim == 2:
        return head(net, outputs, clips.video.shape[1])
    return build(net, outputs, clips.video.shape[2], clips.video.shape[-1], images)


def _training(fitted: Fitted) -> dict[str, Any]:
    return {key: value for key, value in vars(fitted).items() if key != "net"}
