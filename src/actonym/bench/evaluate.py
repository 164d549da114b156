"""Protocol `known`: anonymize a dataset, train recognizers and attackers on it anew, and write down the result."""

import hashlib
import json
import platform
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from safetensors.torch import load_file, save_file

import actonym
from actonym import methods, presets
from actonym.bench import result
from actonym.bench.floors import floors
from actonym.bench.look import Frozen
from actonym.bench.measure import Measured, Plan, Splits, load_splits, make_look, measure
from actonym.bench.metrics import closed, kept, mean_over_views
from actonym.bench.report import picture
from actonym.bench.residue import Embed, check_detectors, detectors, link_splits, linkable, places
from actonym.bench.result import Result
from actonym.data.base import Dataset, open_dataset
from actonym.data.cache import cache_dir
from actonym.data.clips import Clips
from actonym.data.files import warn
from actonym.errors import UserError, unknown
from actonym.methods.base import Method, PixelMethod, config
from actonym.spec import assign

PROTOCOLS = ("known",)
UNASKED: Plan = {"linkage": False, "detectors": []}  # attacks that a plan may ask for


class Evaluation:
    """One dataset under one plan: its clips are read once and its raw baselines are trained once per seed."""

    def __init__(
        self,
        data: str,
        protocol: str = "known",
        preset: str = "stage",
        assignments: Sequence[str] = (),
        progress: bool = True,
    ) -> None:
        if protocol not in PROTOCOLS:
            raise unknown("protocol", protocol, PROTOCOLS)
        self.data, self.protocol, self.preset, self.progress = data, protocol, preset, progress
        self.plan: Plan = assign({**UNASKED, **presets.load("evaluation", preset)}, list(assignments))
        clip = self.plan["clip"]
        self.dataset: Dataset = open_dataset(data, size=clip["size"], frames=clip["frames"])
        check_detectors(self.plan["detectors"])
        self.look = make_look(self.plan, progress)
        self._splits: Splits | None = None
        self._raw: dict[int, Measured] = {}
        self._anonymized: tuple[str | Method, Splits] | None = None
        self._detected: dict[str | Method, dict[str, Any]] = {}

    @property
    def splits(self) -> Splits:
        if self._splits is None:
            self._splits = load_splits(self.dataset, self.plan)
        return self._splits

    def run(self, method: str | Method, seed: int, out: Path) -> Result:
        """Measure a method (a name, a name with settings, a checkpoint folder, or the thing itself) into `out`."""
        start = perf_counter()
        name, anonymizer = self.resolve(method)
        raw = self.raw(seed)
        anonymized = self._anonymize(method, anonymizer)
        is_raw = anonymizer.name == "raw"
        found = raw if is_raw else self._measure(anonymized, seed, raw)
        strip = out.with_suffix(".png")
        strip.parent.mkdir(parents=True, exist_ok=True)
        picture([self.splits["test"].video[0], anonymized["test"].video[0]], strip)
        entry = self._result(name, anonymizer, seed, found, raw) | {"picture": strip.name}
        if self.plan["detectors"]:
            entry["detectors"] = self._detect(method, anonymized["test"])
        entry |= {"seconds": perf_counter() - start, "flags": []}
        entry["flags"] = result.flags(entry)
        result.write(entry, out)
        return entry

    def _anonymize(self, spec: str | Method, method: PixelMethod) -> Splits:
        """The clips after a method; the last are kept for the next seed, if a name or folder says what made them."""
        if self._anonymized is None or self._anonymized[0] != spec or isinstance(spec, Method):
            self._anonymized = None  # a split may fill a good part of the memory
            self._anonymized = spec, {split: clips.map(method) for split, clips in self.splits.items()}
        return self._anonymized[1]

    def _detect(self, spec: str | Method, test: Clips) -> dict[str, Any]:
        """What ready-made models find; it does not depend on the seed."""
        if isinstance(spec, Method) or spec not in self._detected:
            names = self.plan["detectors"]
            self._detected[spec] = detectors(self.splits["test"], test, self.dataset.attributes, names)
        return self._detected[spec]

    def resolve(self, method: str | Method) -> tuple[str, PixelMethod]:
        """What a method is called in the result, and the method itself."""
        if isinstance(method, Method):
            name, found = method.name, method
        else:
            name = Path(method).name if Path(method).is_dir() else method
            found = methods.resolve(method, "paper" if self.preset == "paper" else "stage")
        if not isinstance(found, PixelMethod):
            raise UserError(f"{name} maps features, not video: protocol {self.protocol} needs a pixel method")
        return name, found.eval()

    def _result(self, name: str, method: Method, seed: int, found: Measured, raw: Measured) -> Result:
        train, test = self.splits["train"], self.splits["test"]
        floor = floors(train.action, train.privacy, test.action, test.privacy, self.dataset.attributes)
        entry: Result = {
            "schema": 1,
            "method": name,
            "data": self.data,
            "protocol": self.protocol,
            "preset": self.preset,
            "seed": seed,
            "utility": found.utility,
            "privacy": found.privacy,
            "attacker": found.attacker,
            "floors": floor,
            "raw": {"top1": raw.utility["top1"], "cmap": raw.privacy["cmap"], "f1": raw.privacy["f1"]},
            "kept": kept(found.utility["top1"], raw.utility["top1"]),
            "closed": closed(found.privacy["cmap"], raw.privacy["cmap"], floor["chance"]),
            "reported": _reported(method),
            "clips": {split: len(clips) for split, clips in self.splits.items()},
            "settings": self.plan,
            "versions": versions(),
        }
        if found.linkage and raw.linkage:
            entry["raw"]["linkage"] = before = raw.linkage["rank1"]
            gone = closed(found.linkage["rank1"], before, found.linkage["chance"]["rank1"])
            entry["linkage"] = {**found.linkage, "closed": gone}
        return entry

    def raw(self, seed: int) -> Measured:
        """The baselines on raw video; kept in the user's cache, for every method is compared with them."""
        if seed not in self._raw:
            folder = cache_dir("raw", self._key(seed))
            if not (folder / "measured.json").is_file():
                _store(self._measure(self.splits, seed), folder)
            self._raw[seed] = _recall(folder)
        return self._raw[seed]

    def _measure(self, splits: Splits, seed: int, raw: Measured | None = None) -> Measured:
        """`raw` are the baselines that anonymized clips are measured against; None where the clips are raw."""
        weights = None if raw is None else raw.weights
        found = measure(splits, self.dataset, self.plan, seed, self.look, weights, self.progress)
        if self.plan["linkage"] and self._linkable:
            found.linkage = link_splits(splits, None if raw is None else self.splits, self._kinds(found), seed)
        return found

    @cached_property
    def _linkable(self) -> bool:
        able = all(map(linkable, self.splits.values()))
        if not able:
            warn(f"{self.data} names nobody with two clips of one action in each split, so linkage is left out")
        return able

    def _kinds(self, found: Measured) -> dict[str, Embed]:
        """What linkage compares: places, what the strongest attacker sees, and an encoder's features if there are."""
        kinds: dict[str, Embed] = {"place": places}
        if found.embed is not None:
            kinds["attacker"] = found.embed
        if isinstance(look := self.look, Frozen):
            kinds["features"] = lambda clips: mean_over_views(look(clips, "linkage", "").video, len(clips), clips.views)
        return kinds

    def _key(self, seed: int) -> str:
        """All that decides the raw baselines: the clips themselves, the plan, the seed and the program."""
        digest = hashlib.sha256()
        for clips in self.splits.values():
            digest.update(clips.video.contiguous().numpy().data)
            digest.update(repr((clips.action.tolist(), clips.privacy.tolist())).encode())
            if self.plan["linkage"]:
                digest.update(repr((clips.subject, clips.source)).encode())
        asked = {key: value for key, value in self.plan.items() if value}
        digest.update(json.dumps([asked, seed, versions(), torch.get_num_threads()], sort_keys=True).encode())
        return digest.hexdigest()[:20]


def _reported(method: Method) -> dict[str, Any] | None:
    """The paper's own numbers for these settings, if its card has them."""
    settings = {f"{key}={value}" for key, value in config(method).items()}
    for said, numbers in method.card.reported.items():
        if not said or set(said.split(",")) <= settings:
            return numbers
    return None


def versions() -> dict[str, str]:
    return {"actonym": actonym.__version__, "torch": torch.__version__, "python": platform.python_version()}


def _store(found: Measured, folder: Path) -> None:
    """The numbers go last: where they are, the weights are whole."""
    for name, weights in found.weights.items():
        save_file(weights, folder / f"{name.replace('/', '-')}.safetensors")
    numbers = {key: value for key, value in vars(found).items() if key not in ("weights", "embed")}
    draft = folder / "measured.part"
    draft.write_text(json.dumps({**numbers, "weights": list(found.weights)}))
    draft.replace(folder / "measured.json")


def _recall(folder: Path) -> Measured:
    numbers = json.loads((folder / "measured.json").read_text())
    names = numbers.pop("weights")
    return Measured(**numbers, weights={n: load_file(folder / f"{n.replace('/', '-')}.safetensors") for n in names})
