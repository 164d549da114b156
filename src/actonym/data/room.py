"""Where clips are held: in memory, or, where it is too small for them, on disk in a file without a name."""

import os
from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import torch
from torch import Tensor

from actonym.data.cache import cache_dir
from actonym.errors import UserError

SHARE = 0.25  # of the free memory that one tensor may take: there are raw and anonymized ones, each of three splits
ROWS = 64  # that are copied at once
LIMITS = (  # of a container: what it may take, and what it has taken
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


class Budget:
    """How many processes, each with clips of its own, divide the memory."""

    processes = 1


def room(shape: Sequence[int], dtype: torch.dtype = torch.uint8) -> Tensor:
    """A tensor to be filled. On disk it lies in the user's cache, where nobody can open it, and is gone with us."""
    size = prod(shape) * dtype.itemsize
    if size <= SHARE * free_memory() / Budget.processes:
        return torch.empty(*shape, dtype=dtype)
    folder = cache_dir("clips")
    try:
        with TemporaryFile(dir=folder) as file:
            allocate(file.fileno(), size)
            held = np.memmap(file, torch.empty(0, dtype=dtype).numpy().dtype, "r+", shape=tuple(shape))
    except OSError as error:
        raise UserError(
            f"clips of {size / 1e9:.1f} GB do not fit into memory, nor can they lie in {folder} ({error.strerror}): "
            "set ACTONYM_CACHE to a folder on a larger disk"
        ) from error
    return torch.from_numpy(held)


def changed(rows: Tensor, change: Callable[[Tensor], Tensor]) -> Tensor:
    """`change` of all rows, made a few rows at a time; each becomes as many rows as the first one does."""
    first = change(rows[:1])
    out = room((len(rows) * len(first), *first.shape[1:]), first.dtype)
    for at in range(0, len(rows), ROWS):
        made = change(rows[at : at + ROWS])
        out[at * len(first) :][: len(made)] = made
    return out


def allocate(file: int, size: int) -> None:
    """A full disk is told now, not by a crash when it is written, where the system can."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:
        os.truncate(file, size)


def free_memory() -> int:
    """Bytes that programs may still take; where the system does not say, half of all."""
    told = Path("/proc/meminfo")
    lines = told.read_text().splitlines() if told.is_file() else []
    available = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    left = available or [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2]
    for limit, taken in LIMITS:
        try:
            left.append(int(Path(limit).read_text()) - int(Path(taken).read_text()))
        except (OSError, ValueError):  # no such container, or one without a limit
            continue
    return max(0, min(left))
