"""The gender attack: a network that knows faces tells men from women in the anonymized video."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torchmetrics.functional.classification import binary_auroc

from actonym.attacks.faces import Find, Footage, both, main_faces
from actonym.errors import UserError
from actonym.nets import centerface, face_gender

Score = Callable[[Tensor, Tensor], Tensor]  # a frame and points [K, 5, 2] to the probability [K] of a man
Scores = list[float | None]  # of each video; None: no face was found in it

FRAMES = 8  # of a video whose faces are looked at


def gender(
    pairs: Iterable[tuple[Footage, Footage]],
    labels: Sequence[int | None] | None = None,
    *,
    count: int | None = None,
    find: Find = centerface.find,
    score: Score = face_gender.male,
) -> dict[str, Any]:
    """Every attacker on pairs of raw and anonymized videos; `labels` are 1 for a man, 0 for a woman, None if unknown.

    Attackers are named `gender/place`: `found` looks at the faces that the detector finds in the anonymized video,
    `known` where the raw video has them. Without labels the truth is what the same network says of the raw video.
    """
    raw_scores: Scores = []
    seen: dict[str, Scores] = {"found": [], "known": []}
    for pair in pairs:
        raw, anonymized = both(*pair, count)
        before, after = main_faces(find(raw), FRAMES), main_faces(find(anonymized), FRAMES)
        raw_scores.append(_mean(raw, before, score))
        seen["found"].append(_mean(anonymized, after, score))
        seen["known"].append(_mean(anonymized, before, score))
    truth = [None if one is None else int(one > 0.5) for one in raw_scores] if labels is None else labels
    tried = [{"name": f"gender/{place}", **gender_leak(scores, truth)} for place, scores in seen.items()]
    return {
        "truth": "raw" if labels is None else "labels",
        "strongest": max(tried, key=lambda entry: entry["accuracy"])["name"],
        "tried": tried,
        "raw": None if labels is None else gender_leak(raw_scores, truth),
    }


def gender_leak(scores: Scores, labels: Sequence[int | None]) -> dict[str, Any]:
    """How often the scores (a man above .5) are right, among the videos with a label.

    Of a video without a score the attacker guesses the more frequent gender, whose share is the floor.
    """
    known = [(score, label) for score, label in zip(scores, labels, strict=True) if label is not None]
    if not known:
        raise UserError("gender needs labels, or faces in the raw videos; there are none")
    men = sum(label for _, label in known) / len(known)
    found = torch.tensor([(score, label) for score, label in known if score is not None]).view(-1, 2)
    target = found[:, 1].long()
    right = int(((found[:, 0] > 0.5) == target).sum())
    guessed = sum(label == (men > 0.5) for score, label in known if score is None)
    return {
        "accuracy": (right + guessed) / len(known),
        "accuracy_found": right / len(found) if len(found) else None,
        "auc": binary_auroc(found[:, 0], target).item() if target.unique().numel() == 2 else None,
        "chance": {"accuracy": max(men, 1 - men), "auc": 0.5},
        "videos": len(known),
        "found": len(found),
    }


def _mean(frames: Tensor, faces: Sequence[tuple[int, Tensor]], score: Score) -> float | None:
    scores = [score(frames[place], points) for place, points in faces]
    return torch.cat(scores).mean().item() if scores else None
