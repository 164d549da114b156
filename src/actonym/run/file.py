"""Anonymize a file or a stream. Fails closed: without a whole, verified output and its record there is none."""

import os
import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path

import av
from tqdm import tqdm

from actonym.errors import ActonymError, UserError
from actonym.methods.base import WEIGHTS, PixelMethod, config, sha256
from actonym.run.atomic import ended_orderly, part_file, publish, write_failure
from actonym.run.record import Record
from actonym.run.stream import Tally, Timed, anonymized
from actonym.video import (
    AudioTrack,
    VideoInfo,
    VideoReader,
    VideoWriter,
    container_format,
    count_frames,
    is_live,
)

AUDIO = ("drop", "keep")


def anonymize_file(
    source: str | Path,
    target: str | Path,
    method: PixelMethod,
    *,
    audio: str = "drop",
    force: bool = False,
    report: str | Path | None = None,
    checkpoint: str | Path | None = None,
    batch: int | None = None,
    progress: bool = True,
) -> Record:
    """Anonymize one file or stream into `target`, and write the record of it to `report` (or `TARGET.json`).

    `audio` is "drop" or "keep"; `force` overwrites; `checkpoint` is the folder the method was loaded from, for the
    record; `batch` clips go through the method at once. A stream ends with Ctrl-C, and what was done so far is kept.
    """
    started = time.perf_counter()
    live, target = is_live(source), Path(target)
    report = target.with_name(target.name + ".json") if report is None else Path(report)
    _check_audio(audio, live)
    _check_outputs(source, target, report, force)
    with ended_orderly(live) as stop, VideoReader(source, short=method.working_size) as reader:
        try:
            with part_file(target) as part, part_file(report) as note:
                sound = Path(source) if audio == "keep" and reader.info.has_audio else None
                tally = Tally()
                frames = _progress(anonymized(reader, method, batch, stop, tally), reader, progress)
                written = _write(frames, part, container_format(target), reader.info, sound)
                _verify(part, written, target)
                record = Record(
                    input=_input_name(source, live),
                    input_sha256=None if live else sha256(Path(source)),
                    output=target.name,
                    output_sha256=sha256(part),
                    method=method.name,
                    settings=config(method),
                    checkpoint_sha256=None if checkpoint is None else sha256(Path(checkpoint) / WEIGHTS),
                    audio=audio,
                    frames=written,
                    covered=tally.covered,
                    damaged=reader.damaged,
                    width=reader.info.width,
                    height=reader.info.height,
                    fps=round(float(reader.info.fps), 3),
                    seconds=round(time.perf_counter() - started, 3),
                )
                note.write_text(record.to_json())
                _publish(part, target, note, report)
        except (OSError, av.FFmpegError) as error:
            raise write_failure(error, target) from error
    return record


def _check_audio(audio: str, live: bool) -> None:
    if audio not in AUDIO:
        raise UserError(f"audio must be {' or '.join(AUDIO)}, not {audio!r}")
    if audio == "keep" and live:
        raise UserError("the sound of a stream cannot be kept; use audio drop")


def _check_outputs(source: str | Path, target: Path, report: Path, force: bool) -> None:
    """Before anything is touched: may these two files be written?"""
    if target.is_dir():
        raise UserError(f"{target} is a folder; name the output file, for instance {target / Path(source).stem}.mp4")
    container_format(target)
    if report.absolute() == target.absolute():
        raise UserError(f"the report and the output are the same file: {target}")
    for output in (target, report):
        if output.exists() and os.path.exists(source) and output.samefile(source):
            raise UserError(f"{output} is the input itself; choose another output")
        if output.is_dir() or (os.path.lexists(output) and not force):
            raise UserError(f"{output} exists; use --force to overwrite it")
        if not output.parent.is_dir():
            raise UserError(f"there is no folder {output.parent}; create it first")
        if not os.access(output.parent, os.W_OK):
            raise UserError(f"the folder {output.parent} cannot be written to")


def _progress(frames: Iterable[Timed], reader: VideoReader, shown: bool) -> Iterable[Timed]:
    """A bar with frames per second; where nobody watches, a line now and then."""
    info = reader.info
    total = info.frames or (round(info.duration * info.fps) if info.duration else None)
    interval = 0.2 if sys.stderr.isatty() else 30
    return tqdm(frames, reader.name, total, unit=" frames", mininterval=interval, disable=not shown)


def _write(frames: Iterable[Timed], part: Path, format: str, info: VideoInfo, sound: Path | None) -> int:
    """Only anonymized frames come this way, so that is all an unfinished file can hold."""
    with ExitStack() as stack:
        audio = stack.enter_context(closing(AudioTrack(sound, info.start))) if sound else None
        writer = stack.enter_context(
            VideoWriter(
                part,
                info.width,
                info.height,
                info.fps,
                format=format,
                time_base=info.time_base,
                aspect=info.aspect,
                audio=audio,
            )
        )
        for frame, moment in frames:
            writer.write(frame, moment)
    return writer.frames


def _verify(part: Path, frames: int, target: Path) -> None:
    """Read back what was written: a disk may fail without a word."""
    try:
        found = count_frames(part)
    except UserError as error:
        raise ActonymError(f"{target} could not be read back after writing, so it was removed: {error}") from error
    if found != frames:
        raise ActonymError(f"{target} holds {found} of {frames} frames after writing, so it was removed")


def _publish(part: Path, target: Path, note: Path, report: Path) -> None:
    """The record first: an output never stands without it."""
    publish(note, report)
    try:
        publish(part, target)
    except BaseException:
        report.unlink(missing_ok=True)
        raise


def _input_name(source: str | Path, live: bool) -> str:
    """Nothing about the machine or the network: a file's own name, or what kind of stream it was."""
    if not live:
        return Path(source).name
    scheme, address, _ = str(source).partition("://")
    return f"{scheme if address else 'pipe'} stream"
