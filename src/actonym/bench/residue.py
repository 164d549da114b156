"""What anonymized video still gives away to attackers that need no attribute labels: linkage, and ready-made models."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from actonym import weights
from actonym.attacks.faces import Find, detect
from actonym.attacks.gender import gender
from actonym.attacks.identity import identity, known_embedders
from actonym.attacks.linkage import has_pairs, people
from actonym.attacks.linkers import Linked, link, strongest
from actonym.attacks.nudity import nudity
from actonym.attacks.places import place
from actonym.bench.measure import Splits
from actonym.data.base import SPLITS
from actonym.data.clips import Clips
from actonym.data.files import warn
from actonym.errors import UserError, unknown
from actonym.nets import centerface
from actonym.nets.centerface import Faces
from actonym.nets.runtime import runtime

Embed = Callable[[Clips], Tensor]  # videos to what linkage compares, [N, D]

DETECTORS = {  # and the weights that they need
    "faces": ("centerface",),
    "identity": ("centerface", "sface"),
    "nudity": ("open-nsfw",),
    "gender": ("centerface", "gender-age"),
}
FRAMES = 8  # of a video in which faces are looked for, evenly spaced


def link_splits(anonymized: Splits, raw: Splits | None, kinds: Mapping[str, Embed], seed: int) -> dict[str, Any]:
    """Every linkage attacker on the test videos, by what it compares; the strongest counts.

    `raw` is None where the videos are raw themselves.
    """
    tried: list[dict[str, Any]] = []
    for name, embed in kinds.items():
        train, val, test = (
            Linked(
                embed(anonymized[split]),
                actions_of(anonymized[split]),
                people_of(anonymized[split]),
                None if raw is None else embed(raw[split]),
            )
            for split in SPLITS
        )
        tried += link(test, train, val, name=name, seed=seed)
    best = strongest(tried)
    scores = {key: best[key] for key in ("rank1", "map", "chance", "queries")}
    return {**scores, "strongest": best["name"], "tried": tried}


def linkable(clips: Clips) -> bool:
    """Whether some person or source has two clips of one action."""
    return has_pairs(actions_of(clips), people_of(clips))


def places(clips: Clips) -> Tensor:
    """What the background of each video looks like, `[N, D]`."""
    return torch.stack([place(video) for video in clips.video[:: clips.views]])


def detectors(
    raw: Clips, anonymized: Clips, attributes: Sequence[str], names: Sequence[str], find: Find
) -> dict[str, Any]:
    """What each of the ready-made models `names` finds in the anonymized videos; `find` finds faces."""
    found: dict[str, Any] = {}
    if "faces" in names:
        found["faces"] = detect(_pairs(raw, anonymized), count=FRAMES, find=find)
    if "identity" in names:
        try:
            found["identity"] = identity(_pairs(raw, anonymized), people_of(raw), count=FRAMES, find=find)
        except UserError as error:  # too few people: that is the data's, and no reason to lose all the rest
            warn(f"identity is left out: {error}")
    if "nudity" in names:
        labels = raw.privacy[:, attributes.index("nudity")].int().tolist() if "nudity" in attributes else None
        found["nudity"] = nudity(_pairs(raw, anonymized), labels)
    if "gender" in names:  # the datasets do not say which value of their label is which: the raw video is the truth
        found["gender"] = gender(_pairs(raw, anonymized), count=FRAMES, find=find)
    return found


def check_detectors(names: Sequence[str]) -> None:
    """Whether they exist and all that they need is here: told before hours of work."""
    needed: dict[str, None] = {}
    for name in names:
        if name not in DETECTORS:
            raise unknown("detector", name, DETECTORS)
        needed |= dict.fromkeys(DETECTORS[name])
    if "identity" in names and "dlib" in known_embedders():
        needed["dlib-face"] = None
    if needed:
        runtime()
        weights.need(*needed)


def actions_of(clips: Clips) -> Tensor:
    """int64 `[N]`; of several actions at once the whole set counts as one."""
    return clips.action.unique(dim=0, return_inverse=True)[1] if clips.action.ndim == 2 else clips.action


def people_of(clips: Clips) -> list[str]:
    return people(clips.subject, clips.source)


def _pairs(raw: Clips, anonymized: Clips) -> Iterator[tuple[Tensor, Tensor]]:
    """The first view of each video, before and after."""
    return zip(raw.video[:: raw.views], anonymized.video[:: anonymized.views], strict=True)


def remembered_faces() -> Find:
    """CenterFace, which looks at no frame twice: several attacks, and every method, ask for those of raw frames."""
    known: dict[bytes, Sequence[Faces]] = {}

    def ask(frames: Tensor) -> Sequence[Faces]:
        key = hashlib.sha256(frames.contiguous().numpy().data).digest()
        if key not in known:
            known[key] = list(centerface.find(frames))
        return known[key]

    return ask
