"""Protocols: who is trained on what and tested on what.

A method learns from raw videos. The recognizer and the attackers, who judge it, see nothing but anonymized ones: they
are trained on training videos, chosen on validation videos and tested on test videos.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from actonym.attacks.frame import labelled_frames
from actonym.bench.bias import check_fairlearn
from actonym.bench.measure import Plan, Splits, parse_attacker
from actonym.data.base import Dataset, Sample
from actonym.data.files import warn
from actonym.data.genders import ATTRIBUTE
from actonym.errors import UserError, unknown
from actonym.methods.base import LatentMethod, Method
from actonym.train.fabric import make_fabric


class Part:
    """A dataset and its clips, raw or anonymized; they are made when somebody needs them."""

    def __init__(self, dataset: Dataset, make: Callable[[], Splits]) -> None:
        self.dataset, self._make = dataset, make

    @cached_property
    def splits(self) -> Splits:
        return self._make()

    def map(self, method: Method) -> "Part":
        """The same clips after a method."""
        return Part(self.dataset, lambda: self._after(method))

    def _after(self, method: Method) -> Splits:
        if isinstance(method, LatentMethod):
            return {split: clips.map(method.with_static) for split, clips in self.splits.items()}
        method.to(make_fabric().device)  # where there is a GPU it is used
        done = {split: clips.map(method) for split, clips in self.splits.items()}
        method.cpu()
        return done


@dataclass(frozen=True)
class Parts:
    data: Part
    source: Part | None = None  # a second dataset, of which there are training and validation clips only

    def map(self, method: Method) -> "Parts":
        return Parts(self.data.map(method), self.source and self.source.map(method))


class Known:
    """Known actions (STPrivacy 4.4): method, recognizer and attackers learn from the same training videos."""

    name: ClassVar[str] = "known"
    source: ClassVar[str] = "refused"  # or needed, or optional: a second dataset
    groups: ClassVar[str] = ""  # the attribute that tells groups of people apart, where they are compared

    def for_method(self, parts: Parts) -> Part:
        return parts.data

    def for_recognizer(self, parts: Parts) -> Splits:
        return parts.data.splits

    def for_attackers(self, parts: Parts, plan: Plan) -> Splits:
        return parts.data.splits

    def attackers(self, plan: Plan) -> list[str]:
        """Those of the plan that this protocol is about."""
        return list(plan["attackers"])

    def check(self, data: Dataset, source: Dataset | None) -> None:
        """Whether the datasets have what is needed."""
        if self.source == "needed" and source is None:
            raise UserError(f"protocol {self.name} needs the dataset that methods are trained on: add --source NAME")
        if self.source == "refused" and source is not None:
            raise UserError(f"protocol {self.name} has no --source: everything is trained on --data {data.name}")


class Unseen(Known):
    """Unseen actions (STPrivacy 4.4): the method learns from a source dataset; all else is as in `known`.

    The method never sees a video of the data, nor need the actions and attributes be the same. Methods without anything
    to learn give the same numbers as under `known`.
    """

    name = "unseen"
    source = "needed"

    def for_method(self, parts: Parts) -> Part:
        assert parts.source is not None
        return parts.source


class Frame(Known):
    """Frame-level privacy (STPrivacy 4.7): attackers see single frames, with the labels of that very frame.

    The recognizer is trained on clips, on those of a larger source dataset with the same actions if there is one, as
    the papers train on HMDB51 and test on PA-HMDB51. So is the method.
    """

    name = "frame"
    source = "optional"

    def for_method(self, parts: Parts) -> Part:
        return parts.source or parts.data

    def for_recognizer(self, parts: Parts) -> Splits:
        learn = parts.source or parts.data
        return {**learn.splits, "test": parts.data.splits["test"]}

    def for_attackers(self, parts: Parts, plan: Plan) -> Splits:
        count, crops = plan["attack"]["frames"], plan["clip"]["crops"]
        return {
            split: labelled_frames(clips, count, crops if split == "test" else 1)
            for split, clips in parts.data.splits.items()
        }

    def attackers(self, plan: Plan) -> list[str]:
        found = [name for name in super().attackers(plan) if parse_attacker(name)[0] == "frame"]
        if not found:
            raise UserError(f"protocol frame needs an attacker of frames; the plan has {', '.join(plan['attackers'])}")
        return found

    def check(self, data: Dataset, source: Dataset | None) -> None:
        super().check(data, source)
        if not all(sample.spans for split in ("train", "val", "test") for sample in data.samples(split)):
            raise UserError(f"protocol frame needs labels of single frames, which {data.name} does not have")
        if source is not None and list(source.actions) != list(data.actions):
            raise UserError(f"protocol frame needs a source with the actions of {data.name}; {source.name} has others")


class Bias(Known):
    """Gender bias (SPLAVU 4.3): as `known`, and the recognizer's accuracy for women and for men, and the gap."""

    name = "bias"
    groups = ATTRIBUTE

    def check(self, data: Dataset, source: Dataset | None) -> None:
        super().check(data, source)
        check_fairlearn()
        if ATTRIBUTE not in data.attributes:
            raise UserError(
                f"protocol bias needs data with the attribute {ATTRIBUTE!r}, which {data.name} has not: "
                "ntu-bias-f, ntu-bias-m, ntu60 or toyota-smarthome with genders=CSV, or stage:world=bias-f"
            )
        place, tested = list(data.attributes).index(ATTRIBUTE), data.samples("test")
        if len({sample.privacy[place] for sample in tested}) < 2:
            raise UserError(f"protocol bias needs women and men among the test videos of {data.name}")
        if all(sample.actions and not sample.segments for sample in tested):
            raise UserError(f"protocol bias needs videos of one action each; those of {data.name} have several")


PROTOCOLS: dict[str, Known] = {protocol.name: protocol for protocol in (Known(), Unseen(), Frame(), Bias())}


def find(name: str) -> Known:
    if name not in PROTOCOLS:
        raise unknown("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]


class Without:
    """A dataset without the videos that are tested, and without all that was cut from the same films."""

    def __init__(self, dataset: Dataset, tested: Sequence[Sample]) -> None:
        self._dataset = dataset
        self._names = {sample.name for sample in tested}
        self._films = {sample.source for sample in tested if sample.source}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dataset, name)

    def samples(self, split: str) -> Sequence[Sample]:
        every = self._dataset.samples(split)
        kept = [one for one in every if one.name not in self._names and one.source not in self._films]
        if len(kept) < len(every):
            lost = f"{len(every) - len(kept)} of {len(every)} {split} videos of {self.name}"
            warn(f"{lost} are left out: they or their films are among the test videos")
        return kept
