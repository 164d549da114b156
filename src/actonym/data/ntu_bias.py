"""NTU-Bias-F and NTU-Bias-M (SPLAVU, appendix A): gender as a shortcut to one action of NTU RGB+D 60."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from actonym.data import ntu60
from actonym.data.base import DatasetCard, register
from actonym.data.files import VAL_SHARE, FolderDataset, Label, folder
from actonym.data.genders import ATTRIBUTE, read_genders, with_genders
from actonym.errors import UserError, unknown

COMMON = 0.95  # of a gender's videos, in all actions but the flipped one; of the other gender's, the rest
FLIPPED = "brush hair"  # section 5.2
FEMALE, MALE = 1, 0


class NtuBias(FolderDataset):
    """In training nearly all videos of an action show one gender; in one action, the flipped one, the other.

    As in the paper: as many women as men and as many videos of either in each action, in training and in testing; then
    95 % and 5 % of them in training, and all of them in testing. Ours, since the paper does not say: people are
    divided as in the cross-subject protocol; who and which videos stay follows from a hash and the seed, the same
    recordings for every action, so that no background is a shortcut; validation is biased as training is, with as
    many women as men. The paper's list of genders is not released: bring yours.
    """

    actions = ntu60.ACTIONS
    attributes = (ATTRIBUTE,)
    subset = True
    total = ntu60.Ntu60.total
    rare: int = FEMALE  # who is rare in all actions but the flipped one

    def __init__(
        self, path: str, genders: str = "", flipped: str = FLIPPED, seed: int = 0, partial: bool = False
    ) -> None:
        """`genders` is a CSV with the columns subject and gender; `flipped` the action that is the shortcut."""
        if not genders:
            raise UserError(f"{self.name} needs the gender of the subjects: write {self.name}:path=FOLDER,genders=CSV")
        files = ntu60.list_videos(folder(path))
        labels = read_labels(files, read_genders(genders), self.rare, flipped, seed)
        super().__init__(labels, files, partial)


def _card(letter: str, common: str, other: str) -> DatasetCard:
    return replace(
        ntu60.CARD,
        title=f"NTU-Bias-{letter} (SPLAVU): NTU RGB+D 60 with a shortcut",
        about=f"{COMMON:.0%} {common} in training, but in one action {COMMON:.0%} {other}; testing is balanced",
        layout=f"{ntu60.CARD.layout}; and a CSV with subject and gender, given as genders=",
    )


@register("ntu-bias-f")
class NtuBiasF(NtuBias):
    card = _card("F", "men", "women")
    rare = FEMALE


@register("ntu-bias-m")
class NtuBiasM(NtuBias):
    card = _card("M", "women", "men")
    rare = MALE


def read_labels(
    names: Iterable[str], genders: Mapping[int, int], rare: int = FEMALE, flipped: str = FLIPPED, seed: int = 0
) -> list[Label]:
    """NTU's labels with gender; those that the protocol leaves out are in no split."""
    if flipped not in ntu60.ACTIONS:
        raise unknown("action of ntu60", flipped, ntu60.ACTIONS)
    labels = with_genders(ntu60.read_labels(names), genders, needed=True)
    place = choose_people(labels, seed)
    labels = balanced([replace(label, split=place[label.subject]) for label in labels], seed)

    def share(label: Label) -> float:
        if label.split == "test":
            return 1
        return COMMON if (label.privacy[0] == rare) == (label.action == flipped) else 1 - COMMON

    return thinned(labels, share, seed)


def choose_people(labels: Sequence[Label], seed: int) -> dict[str, str]:
    """The split of each subject, as many of either gender in each; nothing for those who are too many."""
    place: dict[str, str] = {}
    for split in ("train", "test"):
        people = {label.subject: label.privacy[0] for label in labels if label.split == split}
        sides = [
            sorted((name for name, bit in people.items() if bit == side), key=lambda name: _hash(seed, name))
            for side in (FEMALE, MALE)
        ]
        count = min(map(len, sides))
        if not count:
            raise UserError(f"the bias protocol needs women and men among the {split} subjects {', '.join(people)}")
        val = min(count - 1, max(1, round(VAL_SHARE * count))) if split == "train" else 0
        for side in sides:
            place |= {name: "val" if at < val else split if at < count else "" for at, name in enumerate(side)}
    return place


def balanced(labels: Sequence[Label], seed: int) -> list[Label]:
    """As many videos of either gender in each action and split, of the same recordings in every action."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for label in labels:
        counts[label.split, label.action][label.privacy[0]] += 1

    def wanted(cell: Sequence[Label]) -> int:
        return min(counts[cell[0].split, cell[0].action])

    return _keep(labels, wanted, lambda label: _hash(seed, label.name[:-4]))  # without the action's A001


def thinned(labels: Sequence[Label], share: Callable[[Label], float], seed: int) -> list[Label]:
    """Of each action, split and gender the share that is wanted, at least one video."""
    return _keep(
        labels, lambda cell: max(1, round(share(cell[0]) * len(cell))), lambda label: _hash(seed, "thin", label.name)
    )


def _keep(
    labels: Sequence[Label], wanted: Callable[[Sequence[Label]], int], order: Callable[[Label], bytes]
) -> list[Label]:
    """The first `wanted` of each split, action and gender stay in their split."""
    cells: dict[tuple[str, str, int], list[Label]] = defaultdict(list)
    for label in labels:
        if label.split:
            cells[label.split, label.action, label.privacy[0]].append(label)
    kept = {label.name for cell in cells.values() for label in sorted(cell, key=order)[: wanted(cell)]}
    return [label if label.name in kept else replace(label, split="") for label in labels]


def _hash(*words: object) -> bytes:
    return hashlib.sha256(" ".join(map(str, words)).encode()).digest()
