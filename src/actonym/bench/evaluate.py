"""Measure a method: train it if it must learn, anonymize, train recognizer and attackers anew, write the result."""

from collections.abc import Hashable, Sequence
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import torch
from torch import Tensor

from actonym import presets
from actonym.bench import protocols, result
from actonym.bench.baseline import raw_baselines
from actonym.bench.bias import against_raw
from actonym.bench.candidate import Candidate, candidate
from actonym.bench.floors import floors
from actonym.bench.inverted import invert
from actonym.bench.measure import Measured, Plan, Splits, check_attackers, load_splits, make_look, measure
from actonym.bench.metrics import closed, kept, mean_over_views
from actonym.bench.protocols import Part, Parts, Without
from actonym.bench.report import picture
from actonym.bench.residue import (
    Embed,
    check_detectors,
    detectors,
    link_splits,
    linkable,
    places,
    remembered_faces,
)
from actonym.bench.result import Result
from actonym.bench.tasks import Tasks
from actonym.bench.training import told, train_once
from actonym.data.base import Dataset, open_dataset, shown
from actonym.data.clips import Clips, to_bytes, to_floats
from actonym.data.features import KIND, Stored, is_stored
from actonym.data.files import warn
from actonym.errors import UserError
from actonym.methods.base import LatentMethod, Method, PixelMethod, config, turn
from actonym.nets import encoders
from actonym.spec import assign
from actonym.train.command import check_plan

LEARNED_FROM = ("train", "val")  # the parts of a source
RAW_UTILITY = {"top1": "top1", "cmap": "action_cmap"}  # beside which the cMAP of the leak stands
# What a plan may ask for: attacks; pictures of raw and anonymized frames, which show real people to whom they may; and
# a file with the weights of an image transformer, with which video transformers begin.
UNASKED: Plan = {"linkage": False, "detectors": [], "pictures": False, "images": None}


class Evaluation:
    """One protocol, its data and a plan: clips are read once and the raw baselines are trained once per seed."""

    def __init__(
        self,
        data: str,
        protocol: str = "known",
        preset: str = "stage",
        assignments: Sequence[str] = (),
        progress: bool = True,
        source: str | None = None,
        tasks: str = "",
    ) -> None:
        self.data, self.source, self.preset, self.progress = data, source, preset, progress
        self.protocol = protocols.find(protocol)
        self.size = "paper" if preset == "paper" else "stage"  # the preset of methods
        stored = is_stored(data)
        plan: Plan = assign({**UNASKED, **presets.load("evaluation", KIND if stored else preset)}, list(assignments))
        if preset == KIND and not stored:
            raise UserError(f"preset {KIND} is for a store: --data features:FOLDER")
        if stored and (plan["detectors"] or plan["pictures"]):
            raise UserError(f"{KIND} have no frames, so there is nothing for detectors and pictures")
        check_attackers(plan["attackers"])
        check_detectors(plan["detectors"])
        check_plan(plan)
        self.plan: Plan = {**plan, "attackers": self.protocol.attackers(plan)}
        if self.protocol.groups:
            self.plan["groups"] = self.protocol.groups
        # A method learns with networks that see clips; a plan with an encoder has heads only.
        self._apart = "encoder" in plan
        self.lessons: Plan = {**UNASKED, **presets.load("evaluation", self.size)} if self._apart else plan
        self.parts = self._open(self.plan)
        self.protocol.check(self.dataset, None if self.parts.source is None else self.parts.source.dataset)
        self.look = make_look(self.dataset, self.plan, progress)
        self.tasks: Tasks | None = None
        if isinstance(self.dataset, Stored):
            self.plan["encoder"] = self.dataset.store.about["encoder"]
            self.tasks = Tasks(tasks, self.dataset.store.dim, self.size, progress) if tasks else None
        elif tasks:
            raise UserError(f"tasks are of {KIND}, not of video: measure a store, --data features:FOLDER")
        self._raw: dict[int, Measured] = {}
        self._anonymized: tuple[Hashable, Parts] | None = None
        self._detected: dict[Hashable, dict[str, Any]] = {}
        self._find = remembered_faces()

    def run(self, method: str | Method, seed: int, out: Path) -> Result:
        """Measure a method (a name, a name with settings, a checkpoint folder, or the thing itself) into `out`."""
        start = perf_counter()
        who = self.candidate(method)
        anonymizer, training = self.train(who, seed)
        raw = self.raw(seed)
        # What made them tells clips apart; a method that was handed over may have changed since.
        key = None if isinstance(method, Method) else (who.name, seed if who.train else None)
        anonymized = self._anonymize(key, anonymizer)
        found = raw if anonymizer.name == "raw" else self._measure(anonymized, seed, raw)
        test, hidden = (each.data.splits["test"] for each in (self.parts, anonymized))
        entry = self._result(who, anonymizer, seed, found, raw) | {"picture": None}
        if self.dataset.card.synthetic or self.plan["pictures"]:
            strip = out.with_suffix(".png")
            shown = on_the_way(cast(PixelMethod, anonymizer), test.video[0])
            picture([test.video[0], *shown.values(), hidden.video[0]], strip)
            entry |= {"picture": strip.name, "shown": ["raw", *shown, "anonymized"]}
        if training:
            entry["training"] = training
        if isinstance(anonymizer, LatentMethod) and self.plan["inversion"]:
            splits = self.parts.data.splits, anonymized.data.splits
            entry["inversion"] = invert(anonymizer, *splits, raw, self.dataset, self.plan, seed, self.look)
        if self.tasks:
            entry["tasks"] = self.tasks.run(anonymizer, seed)
        if self.plan["detectors"]:
            entry["detectors"] = self._detect(key, test, hidden)
        entry |= {"seconds": perf_counter() - start, "flags": []}
        entry["flags"] = result.flags(entry)
        result.write(entry, out)
        return entry

    def candidate(self, method: str | Method) -> Candidate:
        """A method as this evaluation can measure it."""
        return candidate(method, self.size, self.dataset.store.dim if isinstance(self.dataset, Stored) else None)

    def train(self, who: Candidate, seed: int) -> tuple[Method, dict[str, Any] | None]:
        """The method, ready to be measured, and what its training was like; None where nothing is known of any."""
        if who.train is None:
            return who.method, None if who.trained is None else told(who.trained)
        part = self._lesson
        others = self.tasks.lessons(seed) if self.tasks else []
        method, training = train_once(who.train, part.splits, part.dataset, self.lessons, seed, self.progress, others)
        return turn(method, who.turned or {}), training

    def raw(self, seed: int) -> Measured:
        """The baselines on raw video."""
        if seed not in self._raw:
            clips = self.protocol.for_recognizer(self.parts), self._attacked
            self._raw[seed] = raw_baselines(lambda: self._measure(self.parts, seed), *clips, self.plan, seed)
        return self._raw[seed]

    def read(self) -> None:
        """Read (or render) all clips now, so that processes that are started later find them."""
        for part in (self.parts.data, self.parts.source):
            if part is not None:
                part.splits  # noqa: B018

    def _open(self, plan: Plan) -> Parts:
        """The data, and the source without what is tested; their clips as the plan wants them."""
        data = _opened(self.data, plan)
        whole = Part(data, lambda: load_splits(data, plan, progress=self.progress))
        if self.source is None:
            return Parts(whole)
        source = cast(Dataset, Without(_opened(self.source, plan), data.samples("test")))
        return Parts(whole, Part(source, lambda: load_splits(source, plan, LEARNED_FROM, self.progress)))

    @property
    def dataset(self) -> Dataset:
        return self.parts.data.dataset

    @cached_property
    def _lesson(self) -> Part:
        """What methods are trained on."""
        return self.protocol.for_method(self._open(self.lessons) if self._apart else self.parts)

    @cached_property
    def _attacked(self) -> Splits:
        """What attackers see of raw video; the floors are those of its labels."""
        return self.protocol.for_attackers(self.parts, self.plan)

    def _anonymize(self, key: Hashable, method: Method) -> Parts:
        """The clips after a method; the last are kept for the next seed, if `key` says what made them."""
        if self._anonymized is None or key is None or self._anonymized[0] != key:
            self._anonymized = None  # a split may fill a good part of the memory
            self._anonymized = key, self.parts.map(method)
        return self._anonymized[1]

    def _measure(self, parts: Parts, seed: int, raw: Measured | None = None) -> Measured:
        """`raw` are the baselines that anonymized clips are measured against; None where the clips are raw."""
        weights = None if raw is None else raw.weights
        seen = self._attacked if raw is None else self.protocol.for_attackers(parts, self.plan)
        learn = self.protocol.for_recognizer(parts)
        found = measure(learn, seen, self.dataset, self.plan, seed, self.look, weights, self.progress)
        if self.plan["linkage"] and self._linkable:
            before = None if raw is None else self.parts.data.splits
            found.linkage = link_splits(parts.data.splits, before, self._kinds(found), seed)
        return found

    def _detect(self, key: Hashable, raw: Clips, anonymized: Clips) -> dict[str, Any]:
        """What ready-made models find; seeds in which the same clips are tested share it."""
        if key is None or key not in self._detected:
            names = self.plan["detectors"]
            self._detected[key] = detectors(raw, anonymized, self.dataset.attributes, names, self._find)
        return self._detected[key]

    @cached_property
    def _linkable(self) -> bool:
        able = all(map(linkable, self.parts.data.splits.values()))
        if not able:
            warn(f"{self.data} names nobody with two clips of one action in each split, so linkage is left out")
        return able

    def _kinds(self, found: Measured) -> dict[str, Embed]:
        """What linkage compares: places, what the strongest attacker sees, and an encoder's features if there are."""
        kinds: dict[str, Embed] = {} if is_stored(self.data) else {"place": places}
        if found.embed is not None:
            kinds["attacker"] = found.embed
        if "encoder" in self.plan:
            kinds["features"] = lambda clips: _means(self.look(clips, "linkage", ""))
        return kinds

    def _result(self, who: Candidate, method: Method, seed: int, found: Measured, raw: Measured) -> Result:
        train, test = self._attacked["train"], self._attacked["test"]
        floor = floors(train.action, train.privacy, test.action, test.privacy, self.dataset.attributes)
        useful = result.main_utility(found.utility)
        before = {RAW_UTILITY[useful]: raw.utility[useful], "cmap": raw.privacy["cmap"], "f1": raw.privacy["f1"]}
        entry: Result = {
            "schema": 1,
            "method": who.name,
            "data": self.dataset.name if is_stored(self.data) else shown(self.data),
            "protocol": self.protocol.name,
            "preset": self.preset,
            "seed": seed,
            "utility": against_raw(found.utility, raw.utility),
            "privacy": found.privacy,
            "attacker": found.attacker,
            "floors": floor,
            "raw": before,
            "kept": kept(found.utility[useful], raw.utility[useful]),
            "closed": closed(found.privacy["cmap"], raw.privacy["cmap"], floor["chance"]),
            "reported": _reported(method) if self._as_reported(useful) and who.variant is None else None,
            "clips": self._counts(),
            "settings": self._settings(),
            "versions": result.versions(),
        }
        if "bias" in raw.utility:
            before["gap"] = raw.utility["bias"]["gap"]
        source = None if self.source is None else shown(self.source)
        known = {"source": source, "knobs": who.knobs, "variant": who.variant}
        entry |= {key: value for key, value in known.items() if value is not None}
        if found.linkage and raw.linkage:
            before["linkage"] = raw.linkage["rank1"]
            gone = closed(found.linkage["rank1"], before["linkage"], found.linkage["chance"]["rank1"])
            entry["linkage"] = {**found.linkage, "closed": gone}
        return entry

    def _as_reported(self, useful: str) -> bool:
        """The papers' numbers on cards are of known actions, one per video."""
        return self.protocol.name == "known" and useful == "top1"

    def _settings(self) -> Plan:
        """The plan as results show it; what was measured stands elsewhere in them, whatever the preset would choose."""
        plan = {key: value for key, value in self.plan.items() if key not in ("data", "methods")}
        if "rate" in plan["clip"]:  # of a source it may be another
            parts = {"rate": self.parts.data, "source_rate": self.parts.source}
            rates = {key: part.dataset.card.rate for key, part in parts.items() if part is not None}
            plan["clip"] = plan["clip"] | {key: plan["clip"]["rate"] or rate for key, rate in rates.items()}
        shown = {"encoder": encoders.shown(self.plan["encoder"])} if "encoder" in self.plan else {}
        return plan | shown | ({"images": Path(self.plan["images"]).name} if self.plan["images"] else {})

    def _counts(self) -> dict[str, int]:
        """How many videos the recognizer learns from and is tested on, and how many frames attackers see."""
        videos = {split: len(clips) for split, clips in self.protocol.for_recognizer(self.parts).items()}
        frames = {f"{split} frames": len(clips) for split, clips in self._attacked.items()}
        return videos | (frames if self.protocol.name == "frame" else {})


@torch.inference_mode()
def on_the_way(method: PixelMethod, video: Tensor) -> dict[str, Tensor]:
    """What a video looks like between raw and anonymized, as bytes; nothing for most methods."""
    return {name: to_bytes(clip[0]) for name, clip in method.between(to_floats(video[None])).items()}


def _opened(data: str, plan: Plan) -> Dataset:
    """A store of features, or a dataset; those that can be rendered as it is wanted are."""
    if is_stored(data):
        return cast(Dataset, Stored(data))
    return open_dataset(data, **{key: plan["clip"][key] for key in ("size", "frames")})


def _means(clips: Clips) -> Tensor:
    return mean_over_views(clips.video, len(clips), clips.views)


def _reported(method: Method) -> dict[str, Any] | None:
    """The paper's own numbers for these settings, if its card has them."""
    settings = {f"{key}={value}" for key, value in config(method).items()}
    for said, numbers in method.card.reported.items():
        if not said or set(said.split(",")) <= settings:
            return numbers
    return None
