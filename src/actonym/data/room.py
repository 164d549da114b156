"""Where clips are held: in memory, or, where it is too small for them, on disk in a file without a name."""

import os
from collections.abc import Sequence
from math import prod
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import torch
from torch import Tensor

from actonym.data.cache import cache_dir
from actonym.errors import UserError

SHARE = 0.5  # of the free memory that clips may take; what is learned from them needs some too


def room(shape: Sequence[int], dtype: torch.dtype = torch.uint8) -> Tensor:
    """A tensor to be filled. On disk it lies in the user's cache, where nobody can open it, and is gone with us."""
    size = prod(shape) * dtype.itemsize
    if size <= SHARE * free_memory():
        return torch.empty(*shape, dtype=dtype)
    folder = cache_dir("clips")
    try:
        with TemporaryFile(dir=folder) as file:
            allocate(file.fileno(), size)
            held = np.memmap(file, torch.empty(0, dtype=dtype).numpy().dtype, "r+", shape=tuple(shape))
    except OSError as error:
        raise UserError(
            f"clips of {size / 1e9:.0f} GB fit neither into memory nor into {folder} ({error.strerror}): make room, "
            "set ACTONYM_CACHE to a larger disk, or take fewer views (--set clip.crops=1)"
        ) from error
    return torch.from_numpy(held)


def allocate(file: int, size: int) -> None:
    """A full disk is told now, not by a crash when it is written, where the system can."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:
        os.truncate(file, size)


def free_memory() -> int:
    """Bytes that programs may still take."""
    told = Path("/proc/meminfo")
    if told.is_file():
        for line in told.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
