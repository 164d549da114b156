"""The linkage attack: does this clip show the same person and place as that one?

It needs no attribute labels. Clips are compared within one action only, so that the action, which must stay readable,
gives nothing away. Any dataset with a source film or a subject has it.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from actonym.errors import UserError

DIGITS = 6  # of a cosine; what differs by less is a tie, so that equal clips do not rank by rounding errors


def linkage(query: Tensor, gallery: Tensor, action: Tensor, source: Sequence[Hashable]) -> dict[str, Any]:
    """Rank-1 and mAP of finding another clip of the same source among the clips of the same action.

    `query` `[N, D]` are features of the clips as the attacker has them, `gallery` `[N, D]` of the same clips in the
    same order, anonymized too or raw; a clip is never its own candidate. Similarity is the cosine. Clips without source
    are left out, and queries without another clip of their source. `chance` is what a random ranking gets.
    """
    if not len(query) == len(gallery) == len(action) == len(source):
        raise ValueError(
            f"{len(query)} queries, {len(gallery)} gallery clips, {len(action)} actions, {len(source)} sources"
        )
    query, gallery = (normalize(features.double(), dim=1) for features in (query, gallery))
    numbers = source_numbers(source)
    scores, chances = [], []
    for one in action.unique():
        clips = ((action == one) & (numbers >= 0)).nonzero().flatten()
        if len(clips) < 2:
            continue
        same = numbers[clips][:, None] == numbers[clips][None]
        similarity = (query[clips] @ gallery[clips].T).round(decimals=DIGITS)
        asked = same.sum(1) > 1
        others = ~torch.eye(len(clips), dtype=torch.bool)
        shape = (len(clips), len(clips) - 1)
        similarity, same = similarity[others].view(shape)[asked], same[others].view(shape)[asked]
        scores.append(retrieval(similarity, same))
        chances.append(retrieval(torch.zeros_like(similarity), same))
    if not sum(map(len, scores)):
        raise UserError("linkage needs clips of the same action and the same source; there are none")
    (rank1, ap), (rank1_chance, ap_chance) = (torch.cat(part).mean(0).tolist() for part in (scores, chances))
    return {
        "rank1": rank1,
        "map": ap,
        "chance": {"rank1": rank1_chance, "map": ap_chance},
        "queries": sum(map(len, scores)),
    }


def retrieval(similarity: Tensor, same: Tensor) -> Tensor:
    """Rank-1 and average precision `[Q, 2]` of each query, from similarities and matches `[Q, C]`.

    Candidates that are equally similar are ranked by lot, and the scores are the exact expectation over the lots: at
    the i-th of n tied places, r of them matches, a match stands with probability r / n, and of the i - 1 places before
    it (i - 1) (r - 1) / (n - 1) are matches. Constant similarities give a random ranking's scores.
    """
    order = similarity.argsort(1, descending=True)
    similarity, matches = similarity.gather(1, order), same.gather(1, order).double()
    place = torch.arange(1, similarity.shape[1] + 1, dtype=torch.double).expand_as(similarity)
    starts = torch.ones_like(same)
    starts[:, 1:] = similarity[:, 1:] != similarity[:, :-1]
    group = starts.long().cumsum(1) - 1
    sizes = torch.zeros_like(matches).scatter_add_(1, group, torch.ones_like(matches))
    hits = torch.zeros_like(matches).scatter_add_(1, group, matches)
    n, r = sizes.gather(1, group), hits.gather(1, group)
    before = (sizes.cumsum(1) - sizes).gather(1, group)
    found = (hits.cumsum(1) - hits).gather(1, group)
    tied = (place - before - 1) * (r - 1) / (n - 1).clamp(min=1)
    precision = r / n * (found + 1 + tied) / place
    return torch.stack([hits[:, 0] / sizes[:, 0], precision.sum(1) / matches.sum(1).clamp(min=1)], 1)


def has_pairs(action: Tensor, source: Sequence[Hashable]) -> bool:
    """Whether some source has two clips of one action; without that there is nothing to link."""
    known = [(one, name) for one, name in zip(action.tolist(), source, strict=True) if name not in ("", None)]
    return len(set(known)) < len(known)


def people(subject: Sequence[str], source: Sequence[str]) -> list[str]:
    """What links clips: the person where persons are known, else the film. A clip with neither has an empty name."""
    named = [f"subject {one}" if one else "" for one in subject]
    films = [f"source {one}" if one else "" for one in source] or [""] * len(named)
    return [person or film for person, film in zip(named, films, strict=True)]


def source_numbers(source: Sequence[Hashable]) -> Tensor:
    """Equal sources have equal numbers; -1 is an unknown one."""
    numbers = {
        name: number for number, name in enumerate(dict.fromkeys(name for name in source if name not in ("", None)))
    }
    return torch.tensor([numbers.get(name, -1) for name in source], dtype=torch.long)
