"""Bias (SPLAVU 4.3): how often a recognizer is right about women and about men, and how far apart the two are."""

from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from actonym.bench.metrics import closed, mean_over_views
from actonym.data.clips import Clips
from actonym.data.genders import ATTRIBUTE
from actonym.errors import UserError

GROUPS = {1: ATTRIBUTE, 0: "male"}  # what the attribute says
LOTS = 200  # ours: random divisions of the test videos


def check_fairlearn() -> None:
    """Told before hours of work."""
    if find_spec("fairlearn") is None:
        raise UserError("protocol bias needs fairlearn; run: pip install 'actonym[bias]'")


def group_scores(logits: Tensor, test: Clips, place: int) -> dict[str, Any]:
    """Top-1 in each group, told apart by the attribute at `place`, and the gap between the best and the worst.

    `by_lot` is the gap that as large groups would have if they were drawn by lot: a smaller one says nothing.
    """
    from fairlearn.metrics import MetricFrame, count
    from sklearn.metrics import accuracy_score

    found = mean_over_views(logits.softmax(-1), len(test), test.views).argmax(1)
    group = test.privacy[:, place].long()
    frame = MetricFrame(
        metrics={"top1": accuracy_score, "videos": count},
        y_true=test.action.numpy(),
        y_pred=found.numpy(),
        sensitive_features=[GROUPS[int(bit)] for bit in group],
    )
    each = {name: {"top1": float(row["top1"]), "videos": int(row["videos"])} for name, row in frame.by_group.iterrows()}
    return {
        "attribute": ATTRIBUTE,
        "groups": each,
        "gap": float(frame.difference()["top1"]),
        "by_lot": gap_by_lot(found == test.action, int(group.sum())),
    }


def gap_by_lot(right: Tensor, size: int) -> float:
    """The mean gap between `size` of the videos and the others, over many random divisions."""
    lot = torch.rand(LOTS, len(right), generator=torch.Generator().manual_seed(0)).argsort(1)
    mixed = right.double()[lot]
    return (mixed[:, :size].mean(1) - mixed[:, size:].mean(1)).abs().mean().item()


def against_raw(utility: dict[str, Any], raw: dict[str, Any]) -> dict[str, Any]:
    """The utility with the share of the raw gap that is gone; unchanged where groups were not told apart."""
    if "bias" not in utility:
        return utility
    gone = closed(utility["bias"]["gap"], raw["bias"]["gap"], 0.0)
    return {**utility, "bias": {**utility["bias"], "closed": gone}}
