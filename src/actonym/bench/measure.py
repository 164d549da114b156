"""Train recognizers and attackers on clips and test them: the same for raw and anonymized video."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from actonym.attacks.attribute import train_attacker
from actonym.attacks.frame import single_frames
from actonym.bench.metrics import action_scores, privacy_scores
from actonym.data.base import SPLITS, Dataset
from actonym.data.clips import Clips, load_clips
from actonym.errors import UserError, unknown
from actonym.nets.recognizers import build
from actonym.tasks.recognition import train_recognizer
from actonym.train.fit import Fit, Fitted, predict

Plan = dict[str, Any]  # an evaluation preset
Splits = dict[str, Clips]  # train, val, test
Weights = Mapping[str, Tensor]

ATTACKS = ("attribute", "frame")
STARTS = ("scratch", "raw")


@dataclass
class Measured:
    """What recognizer and attackers reached on one set of clips."""

    utility: dict[str, Any]
    privacy: dict[str, Any]  # of the strongest attacker
    attacker: dict[str, Any]
    weights: dict[str, dict[str, Tensor]] = field(default_factory=dict)  # of attackers trained from scratch


def load_splits(dataset: Dataset, plan: Plan) -> Splits:
    """Train, validation and test clips. Only the test videos are looked at from several views."""
    clip = plan["clip"]
    single = {**clip, "clips": 1, "crops": 1}
    return {split: load_clips(dataset, split, **(clip if split == "test" else single)) for split in SPLITS}


def measure(
    splits: Splits,
    dataset: Dataset,
    plan: Plan,
    seed: int,
    raw_weights: Mapping[str, Weights] | None = None,
    progress: bool = True,
) -> Measured:
    """`raw_weights` are attackers trained on raw clips, from which those that start at `raw` are fine-tuned.

    Without them the clips are raw: those attackers then go on from what was just trained, so that raw video meets
    attackers that were trained as long.
    """
    utility = _utility(splits, dataset, plan, seed, progress)
    privacy, tried, weights = _leak(splits, dataset, plan, seed, raw_weights, progress)
    strongest = max(tried, key=lambda entry: entry["cmap"])["name"]
    return Measured(utility, privacy[strongest], {"strongest": strongest, "tried": tried}, weights)


def _utility(splits: Splits, dataset: Dataset, plan: Plan, seed: int, progress: bool) -> dict[str, Any]:
    name = plan["recognizer"]["net"]
    net = _fresh(name, len(dataset.actions), splits["train"], seed)
    how = Fit(**plan["recognizer"]["fit"])
    fitted = train_recognizer(net, splits["train"], splits["val"], how, seed=seed, progress=progress)
    test = splits["test"]
    return {
        **action_scores(predict(net, test), test.action, test.views),
        "recognizer": {"net": name, "start": "scratch", **_training(fitted)},
    }


def _leak(
    splits: Splits,
    dataset: Dataset,
    plan: Plan,
    seed: int,
    raw_weights: Mapping[str, Weights] | None,
    progress: bool,
) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, dict[str, Tensor]]]:
    """Every attacker of the plan: its scores by name, how it was trained, and the weights of those from scratch."""
    privacy: dict[str, Any] = {}
    tried: list[dict[str, Any]] = []
    weights: dict[str, dict[str, Tensor]] = {}
    for name in plan["attackers"]:
        attack, net_name, start = parse_attacker(name)
        seen = {split: _seen(clips, attack, net_name, plan["attack"]["frames"]) for split, clips in splits.items()}
        net = _fresh(net_name, len(dataset.attributes), seen["train"], seed)
        if start == "raw":
            net.load_state_dict((weights if raw_weights is None else raw_weights)[f"{attack}/{net_name}/scratch"])
        how = Fit(**plan["attack"]["fit" if start == "scratch" else "finetune"])
        fitted = train_attacker(net, seen["train"], seen["val"], how, seed=seed, progress=progress)
        test = seen["test"]
        scores = privacy_scores(predict(net, test).sigmoid(), test.privacy, dataset.attributes, test.views)
        privacy[name] = scores
        about = {"name": name, "attack": attack, "net": net_name, "start": start}
        tried.append({**about, "cmap": scores["cmap"], "f1": scores["f1"], **_training(fitted)})
        if start == "scratch":
            weights[name] = {key: value.clone() for key, value in net.state_dict().items()}
    return privacy, tried, weights


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


def _seen(clips: Clips, attack: str, net: str, frames: int) -> Clips:
    """What an attacker looks at: single frames, some frames for a net that sees frames one by one, or all."""
    if attack == "frame":
        return single_frames(clips, frames)
    return clips.thinned(frames) if net == "frame" else clips


def _fresh(net: str, outputs: int, clips: Clips, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return build(net, outputs, clips.video.shape[2], clips.video.shape[-1])


def _training(fitted: Fitted) -> dict[str, Any]:
    return {key: value for key, value in vars(fitted).items() if key != "net"}
