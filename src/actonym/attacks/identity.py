"""The identity attack: does a face of the anonymized video match the person of the raw one?"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize
from torchmetrics.functional.classification import binary_auroc

from actonym.attacks.faces import Find, Footage, both, main_faces
from actonym.attacks.linkage import DIGITS, retrieval, source_numbers
from actonym.errors import UserError
from actonym.nets import centerface, dlib_face, sface

Embed = Callable[[Tensor, Tensor], Tensor]  # a frame [3, H, W] and points [K, 5, 2] of its faces to vectors [K, D]
Portraits = list[Tensor | None]  # of each video a unit vector [D]; None: no face was found in it

FRAMES = 8  # of a video that make its portrait


@dataclass
class Met:
    """The portraits one embedder made: of the raw videos, and of the anonymized ones by both attackers."""

    raw: Portraits = field(default_factory=list)
    found: Portraits = field(default_factory=list)  # faces that the detector finds in the anonymized video
    known: Portraits = field(default_factory=list)  # where the raw video has its faces: this attacker knows the place


def identity(
    pairs: Iterable[tuple[Footage, Footage]],
    person: Sequence[str],
    *,
    own: bool = True,
    count: int | None = None,
    find: Find = centerface.find,
    embedders: dict[str, Embed] | None = None,
) -> dict[str, Any]:
    """Who is it? Every attacker on pairs of raw and anonymized videos, `person` naming who (or which film) each shows.

    Attackers are named `identity/embedder/place`; the strongest has the best rank-1. See `identify` for the scores.
    """
    met = meet(pairs, count=count, find=find, embedders=embedders)
    tried = [
        {"name": f"identity/{name}/{place}", **identify(getattr(one, place), one.raw, person, own=own)}
        for name, one in met.items()
        for place in ("found", "known")
    ]
    return {"strongest": max(tried, key=lambda entry: entry["rank1"])["name"], "tried": tried}


def meet(
    pairs: Iterable[tuple[Footage, Footage]],
    *,
    count: int | None = None,
    find: Find = centerface.find,
    embedders: dict[str, Embed] | None = None,
) -> dict[str, Met]:
    """Portraits of all videos by each embedder; faces are looked for in all frames or in `count`, evenly spaced."""
    embedders = known_embedders() if embedders is None else embedders
    met = {name: Met() for name in embedders}
    for pair in pairs:
        raw, anonymized = both(*pair, count)
        before, after = main_faces(find(raw), FRAMES), main_faces(find(anonymized), FRAMES)
        for name, embed in embedders.items():
            met[name].raw.append(portrait(raw, before, embed))
            met[name].found.append(portrait(anonymized, after, embed))
            met[name].known.append(portrait(anonymized, before, embed))
    return met


def portrait(frames: Tensor, faces: Sequence[tuple[int, Tensor]], embed: Embed) -> Tensor | None:
    """The mean of the vectors of the given faces, at unit length."""
    vectors = [embed(frames[place], points) for place, points in faces]
    return normalize(torch.cat(vectors).mean(0), dim=0) if vectors else None


def identify(query: Portraits, raw: Portraits, person: Sequence[str], *, own: bool = True) -> dict[str, Any]:
    """Rank-1 and verification AUC of the portraits `query` against the people of the raw videos.

    The gallery has one entry for each person with a face in a raw video: the mean of their portraits. A query is asked
    if its raw video has a face. With `own` its raw video is part of the gallery; without, it is not, and people with no
    other video are not asked. A query without a face is a miss for `rank1`; `rank1_found` and `auc` leave it out.
    """
    numbers = source_numbers(person)
    there = torch.tensor([one is not None for one in raw]) & (numbers >= 0)
    people, entry = numbers[there].unique(return_inverse=True)
    videos = there.nonzero().flatten().tolist()
    if len(people) < 2:
        raise UserError(f"identity needs raw videos with faces of two people or more; there are {len(people)}")
    portraits = torch.stack([_vector(raw[video]) for video in videos])
    totals = torch.zeros(len(people), portraits.shape[1]).index_add_(0, entry, portraits)
    asked = torch.ones(len(videos), dtype=torch.bool) if own else torch.bincount(entry)[entry] > 1
    if not asked.any():
        raise UserError("identity without the query's own raw video needs people with two raw videos with faces")
    found = torch.tensor([query[video] is not None for video in videos]) & asked
    scores, same = _similarity(query, videos, portraits, totals, entry, own, found)
    hits = retrieval(scores.double().round(decimals=DIGITS), same)[:, 0].sum().item() if len(scores) else 0.0
    return {
        "rank1": hits / int(asked.sum()),
        "rank1_found": hits / len(scores) if len(scores) else None,
        "auc": binary_auroc((scores.flatten() + 1) / 2, same.flatten().long()).item() if len(scores) else None,
        "chance": {"rank1": 1 / len(people), "auc": 0.5},
        "queries": int(asked.sum()),
        "found": len(scores),
        "people": len(people),
    }


def known_embedders() -> dict[str, Embed]:
    """SFace, and dlib's network where dlib is installed."""
    return {"sface": sface.embed, **({"dlib": dlib_face.embed} if find_spec("dlib") else {})}


def _similarity(
    query: Portraits, videos: list[int], portraits: Tensor, totals: Tensor, entry: Tensor, own: bool, found: Tensor
) -> tuple[Tensor, Tensor]:
    """Cosines of the found queries and all people `[Q, P]`, and which are the right ones."""
    places = found.nonzero().flatten()
    same = entry[places][:, None] == torch.arange(len(totals))[None]
    if not len(places):
        return torch.zeros(same.shape), same
    vectors = torch.stack([_vector(query[videos[place]]) for place in places.tolist()])
    scores = vectors @ normalize(totals, dim=1).T
    if not own:
        others = normalize(totals[entry[places]] - portraits[places], dim=1)
        scores[same] = (vectors * others).sum(1)
    return scores, same


def _vector(portrait: Tensor | None) -> Tensor:
    assert portrait is not None
    return portrait
