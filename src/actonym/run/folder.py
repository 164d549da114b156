"""Anonymize all videos of a folder, or whatever else a user names."""

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypedDict, Unpack

from actonym.errors import ActonymError, UserError
from actonym.methods.base import PixelMethod, turn
from actonym.run.atomic import part_file, publish, write_failure
from actonym.run.file import anonymize_file
from actonym.run.record import Record
from actonym.video.writer import FORMATS

SUFFIXES = (
    *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".mts", ".m2ts"),
    *(".wmv", ".asf", ".flv", ".3gp", ".ogv"),
)


class Options(TypedDict, total=False):
    """What a file and a folder have in common; `anonymize_file` says what each means."""

    audio: str
    force: bool
    checkpoint: str | Path | None
    batch: int | None
    progress: bool


@dataclass(frozen=True)
class Failure:
    """A video of a folder that could not be done, and why."""

    input: str
    reason: str


Outcome = tuple[list[Record], list[Failure]]


def anonymize(
    source: str | Path,
    target: str | Path,
    method: PixelMethod,
    *,
    suffix: Sequence[str] = SUFFIXES,
    report: str | Path | None = None,
    keep: float | None = None,
    **options: Unpack[Options],
) -> Outcome:
    """A folder, or else a single file or stream: what was done, and (of a folder) what could not be.

    `keep` turns the knob of that name, for this job only; a method without it is refused.
    """
    if keep is not None:
        method = turn(deepcopy(method), {"keep": keep})
    if Path(source).is_dir():
        return anonymize_folder(source, target, method, suffix=suffix, report=report, **options)
    return [anonymize_file(source, target, method, report=report, **options)], []


def anonymize_folder(
    source: str | Path,
    target: str | Path,
    method: PixelMethod,
    *,
    suffix: Sequence[str] = SUFFIXES,
    report: str | Path | None = None,
    **options: Unpack[Options],
) -> Outcome:
    """Every video below `source` that ends in one of `suffix`, to the same place below `target`.

    A container that we do not write becomes .mp4. Videos that cannot be done are listed and the rest is done. Each
    output has its record beside it; `report` gets all records and failures in one file.
    """
    source, target = Path(source), Path(target)
    _check_folders(source, target)
    summary = None if report is None else _check_report(Path(report), options.get("force", False))
    records: list[Record] = []
    failures: list[Failure] = []
    for video, output in _jobs(source, target, suffix).items():
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            records.append(anonymize_file(video, output, method, **options))
        except (UserError, ActonymError, OSError) as error:
            failures.append(Failure(video.relative_to(source).as_posix(), str(error)))
    if summary is not None:
        _write_summary(summary, records, failures)
    return records, failures


def _check_folders(source: Path, target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise UserError(f"{source} is a folder, so the output must be one too; {target} is a file")
    inner, outer = target.resolve(), source.resolve()
    if inner == outer or outer in inner.parents:
        raise UserError(f"the output {target} lies inside the input {source}; choose a place outside of it")


def _check_report(report: Path, force: bool) -> Path:
    if report.suffix.lower() != ".json":
        raise UserError(f"the report is a JSON file: {report} must end in .json")
    if not report.parent.is_dir():
        raise UserError(f"there is no folder {report.parent}; create it first")
    if report.is_dir() or (report.exists() and not force):
        raise UserError(f"{report} exists; use --force to overwrite it")
    return report


def _jobs(source: Path, target: Path, suffix: Sequence[str]) -> dict[Path, Path]:
    """Which video goes where. Two that would become the same file are the user's to sort out."""
    endings = {"." + ending.lower().lstrip(".") for ending in suffix}
    jobs: dict[Path, Path] = {}
    taken: dict[Path, Path] = {}
    for video in sorted(source.rglob("*")):
        if video.suffix.lower() not in endings or video.name.startswith(".") or not video.is_file():
            continue
        output = target / video.relative_to(source)
        output = output if output.suffix.lower() in FORMATS else output.with_suffix(".mp4")
        if output in taken:
            both = f"{taken[output].relative_to(source)} and {video.relative_to(source)}"
            raise UserError(f"{both} would both become {output.name}; take one kind with --suffix")
        jobs[video], taken[output] = output, video
    if not jobs:
        raise UserError(f"there is no video in {source} that ends in {', '.join(sorted(endings))}")
    if clash := {video.resolve() for video in jobs} & {output.resolve() for output in taken}:
        raise UserError(f"the output would overwrite the input {min(clash).name}; choose another output folder")
    return jobs


def _write_summary(report: Path, records: list[Record], failures: list[Failure]) -> None:
    content = {"records": [asdict(record) for record in records], "failures": [asdict(item) for item in failures]}
    try:
        with part_file(report) as part:
            part.write_text(json.dumps(content, indent=2) + "\n")
            publish(part, report)
    except OSError as error:
        raise write_failure(error, report) from error
