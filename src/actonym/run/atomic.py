"""Outputs appear whole or not at all, and a run that is ended leaves nothing half done behind."""

import errno
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from actonym.errors import ActonymError, UserError

try:
    import fcntl
except ImportError:  # Windows, which by itself refuses to remove a file in use
    fcntl = None  # type: ignore[assignment]

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def part_name(target: Path) -> Path:
    """Where the unfinished `target` lies: hidden, beside it, and known to be ours."""
    return target.with_name(f".{target.name}.actonym.part")


@contextmanager
def part_file(target: Path) -> Iterator[Path]:
    """A private file to be filled and then published as `target`; removed if anything at all goes wrong.

    It is locked as long as we live, so what a killed run left behind can be told from what another run is writing.
    """
    path = part_name(target)
    _remove_leftover(path, target)
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        _lock(handle)
        yield path
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def _remove_leftover(path: Path, target: Path) -> None:
    try:
        with path.open("rb") as leftover:
            _lock(leftover.fileno())
            path.unlink()
    except FileNotFoundError:
        pass
    except (BlockingIOError, PermissionError) as error:
        raise UserError(f"another run is writing {target}; wait for it, or choose another output") from error


def _lock(handle: int) -> None:
    """Raises BlockingIOError if another process has it. Some network drives have no locks; there we do without."""
    if fcntl is None:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, BlockingIOError):
            raise


def publish(part: Path, target: Path) -> None:
    """Bring the finished part to the disk, then to its name, with the permissions any new file gets."""
    mask = os.umask(0o077)
    os.umask(mask)
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.chmod(0o666 & ~mask)
    os.replace(part, target)


def write_failure(error: Exception, target: Path) -> ActonymError:
    """The line for an output that the machine could not take."""
    code = getattr(error, "errno", None)
    why = "the disk is full; free some space and run again" if code in FULL else getattr(error, "strerror", None)
    return ActonymError(f"could not write {target}: {why or error} (nothing was left behind)")


@contextmanager
def ended_orderly(live: bool) -> Iterator[Callable[[], bool]]:
    """Yields a question: was the run asked to stop?

    A file's run is broken off by SIGTERM as by Ctrl-C, through an exception that clears up. A live stream has no other
    end than these two: the first one asks it to stop and keep what it has, the second breaks it off.
    """
    asked = False

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if live and not asked:
            asked = True
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)

    before: dict[int, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():  # elsewhere signals are not ours to handle
            for number in (signal.SIGTERM, signal.SIGINT):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, on_signal)
        yield lambda: asked
    finally:
        for changed, handler in before.items():
            signal.signal(changed, handler)
