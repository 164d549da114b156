"""How much an inversion brings back, to networks that were trained on raw features (SPLAVU, table 8)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from actonym.attacks.inversion import Search, black_box, recovered, white_box
from actonym.attacks.linkage import linkage
from actonym.bench.look import Look
from actonym.bench.measure import Measured, Plan, Splits, fresh
from actonym.bench.metrics import action_scores, privacy_scores
from actonym.bench.residue import actions_of, linkable, people_of
from actonym.data.base import Dataset
from actonym.data.clips import STATIC, Clips
from actonym.methods.base import LatentMethod
from actonym.train.fit import predict


def invert(
    method: LatentMethod,
    raw: Splits,
    anonymized: Splits,
    known: Measured,
    dataset: Dataset,
    plan: Plan,
    seed: int,
    look: Look,
) -> dict[str, Any]:
    """Each attack's test features before the networks of `known`, which were trained on raw ones.

    `observed` are the anonymized features as they are: what these networks make of them without any attack.
    """
    before, after = (
        {split: look(clips, "attribute", "").video for split, clips in of.items()} for of in (raw, anonymized)
    )
    network = black_box(
        after["train"], before["train"], (after["val"], before["val"]), Search(**plan["inversion"]["black_box"]), seed
    )
    observed = anonymized["test"].video[:, :-STATIC]
    with torch.inference_mode():
        guessed = network(observed)
    searched = white_box(method.eval(), observed, Search(**plan["inversion"]["white_box"]))
    found = {"observed": observed, "black_box": guessed, "white_box": searched}
    truth = raw["test"]
    return {
        name: _judged(replace(truth, video=features.flatten(0, 1), views=features.shape[1]), known, dataset)
        | _linked(features.mean(1), truth)
        | recovered(features, truth.video[:, :-STATIC])
        for name, features in found.items()
    }


def _judged(clips: Clips, known: Measured, dataset: Dataset) -> dict[str, Any]:
    """The utility that the recognizer reaches, and the leak to the strongest of the attackers of whole clips."""
    utility: dict[str, Any] = {}
    leaks: list[Mapping[str, Any]] = []
    for name, weights in known.weights.items():
        task, net_name, _ = name.split("/")
        if task == "frame":
            continue
        net = fresh(net_name, len(dataset.actions if task == "action" else dataset.attributes), clips, 0)
        net.load_state_dict(weights)
        logits = predict(net, clips)
        if task == "action":
            utility = action_scores(logits, clips.action, clips.views)
        else:
            leaks.append(privacy_scores(logits.sigmoid(), clips.privacy, dataset.attributes, clips.views))
    worst = max(leaks, key=lambda scores: scores["cmap"], default={})
    return {"utility": utility, **{key: worst[key] for key in ("cmap", "f1") if worst}}


def _linked(features: torch.Tensor, truth: Clips) -> dict[str, float]:
    """Rank-1 of linkage by the cosine, with the recovered or the raw features of other videos, whichever is worse."""
    if not linkable(truth):
        return {}
    labels = actions_of(truth), people_of(truth)
    galleries = features, truth.video[:, :-STATIC].mean(1)
    return {"rank1": max(linkage(features, gallery, *labels)["rank1"] for gallery in galleries)}
