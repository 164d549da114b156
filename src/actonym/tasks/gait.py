"""Who walks there? Gait identification on CASIA-B, by features alone. Nothing is trained.

SPLAVU keeps it among its tasks to show what latent consistency leaves in the features (its table 7): here a high score
is a leak, not a use.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from actonym.data.casia_b import ACTIONS, GALLERY
from actonym.errors import UserError
from actonym.tasks.base import VideoFeatures
from actonym.tasks.retrieval import whole


@dataclass(frozen=True)
class Walk:
    """What a video's name says, as in `001-nm-05-090`."""

    person: str
    walk: str
    view: str

    @property
    def condition(self) -> str:
        return self.walk[:2]


def walk_of(name: str) -> Walk:
    found = re.fullmatch(rf"(\d{{3}})-((?:{'|'.join(ACTIONS)})-\d\d)-(\d{{3}})", name)
    if found is None:
        raise UserError(f"gait: {name!r} is not named as CASIA-B's videos are, 001-nm-01-000")
    return Walk(*found.groups())


def gait(videos: Sequence[VideoFeatures]) -> dict[str, float]:
    """Rank-1 of the nearest gallery video being of the same person, by cosine.

    The gallery are normal walks 1 to 4. `nm`, `bg`, `cl`: probes are normal walks 5 and 6, walks with a bag, in a coat;
    each probe view is looked up in each other view of the gallery by itself, and the shares are averaged over pairs of
    views, as the gait literature does; `rank1` is their mean. `any_view` is SPLAVU's single number: all probes in the
    whole gallery, whatever the view.
    """
    walks = [walk_of(video.name) for video in videos]
    features = whole(videos)
    known = torch.tensor([walk.walk in GALLERY for walk in walks])
    if known.all() or not known.any():
        raise UserError("gait needs videos of the gallery (nm-01 to nm-04) and others to look for")
    person, view = (_numbers([getattr(walk, key) for walk in walks]) for key in ("person", "view"))
    scores = {}
    for condition in ACTIONS:
        probe = ~known & torch.tensor([walk.condition == condition for walk in walks])
        if probe.any():
            scores[condition] = _across_views(features, person, view, probe, known)
    scores["rank1"] = sum(scores.values()) / len(scores)
    scores["any_view"] = _rank1(features, person, ~known, known)
    return scores


def _across_views(features: Tensor, person: Tensor, view: Tensor, probe: Tensor, known: Tensor) -> float:
    """The mean of rank-1 over all pairs of two different views."""
    shares = [
        _rank1(features, person, probe & (view == seen), known & (view == other))
        for seen in view[probe].unique()
        for other in view[known].unique()
        if seen != other
    ]
    if not shares:
        raise UserError("gait needs videos from two views or more")
    return sum(shares) / len(shares)


def _rank1(features: Tensor, person: Tensor, probe: Tensor, known: Tensor) -> float:
    """Expected where several are equally near: features that are all alike identify at chance."""
    similarity = features[probe].double() @ features[known].double().T
    nearest = similarity >= similarity.amax(1, keepdim=True) - 1e-6
    same = person[probe][:, None] == person[known]
    return ((nearest & same).sum(1) / nearest.sum(1)).mean().item()


def _numbers(names: Sequence[str]) -> Tensor:
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    return torch.tensor([numbers[name] for name in names])
