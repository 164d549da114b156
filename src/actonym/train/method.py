"""Train a method: run its phases, then save it beside the log."""

import json
import shutil
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict
from functools import partial
from multiprocessing import parent_process
from pathlib import Path
from signal import SIG_DFL, SIGINT, signal
from typing import TYPE_CHECKING, Any

from safetensors.torch import load_model
from torch.distributed import destroy_process_group
from torch.multiprocessing import ProcessRaisedException

from actonym import methods
from actonym.data.clips import Clips
from actonym.errors import ActonymError, UserError
from actonym.methods.base import WEIGHTS, Method
from actonym.train import checkpoint
from actonym.train.batches import Data
from actonym.train.fabric import make_fabric, spawns
from actonym.train.history import History
from actonym.train.loop import run
from actonym.train.phase import Phase, Recognizers

if TYPE_CHECKING:
    from lightning_fabric import Fabric

HISTORY = "history.json"  # beside the checkpoint: every phase's curves, and what validation found after each epoch
SHARED = Path("/dev/shm")  # where Linux keeps what processes share


def train_method(
    method: Method,
    data: Data,
    recognizers: Recognizers,
    *,
    out: Path,
    seed: int = 0,
    devices: int = 1,
    precision: str = "32-true",
    accelerator: str = "auto",
    resume: bool = False,
    progress: bool = True,
    checkpoint_every: float = 60.0,
    settings: Mapping[str, Any] | None = None,
) -> History:
    """`method` ends trained, in eval mode, and saved in `out`. With several devices `recognizers` stay as they were."""
    fabric = make_fabric(devices, precision, accelerator)
    if spawns(devices):
        check_shared(data)
    work = partial(
        _work,
        method=method,
        data=data,
        recognizers=recognizers,
        out=out,
        seed=seed,
        resume=resume,
        progress=progress,
        checkpoint_every=checkpoint_every,
        settings={"method": method.name, **(settings or {})},
    )
    try:
        history: History = fabric.launch(work)
    except ProcessRaisedException as error:
        raise _plain(error) from error
    if devices > 1:
        load_model(method, out / WEIGHTS)
    method.eval()
    return history


def check_shared(data: Data) -> None:
    """Spawned processes share clips through a folder of the system, and crash without a word where that is full."""
    if isinstance(data, Clips) and SHARED.is_dir() and data.video.nbytes > shutil.disk_usage(SHARED).free:
        needed, there = data.video.nbytes / 1e9, shutil.disk_usage(SHARED).free / 1e9
        raise UserError(
            f"several devices share the clips, {needed:.1f} GB, in {SHARED}, which has {there:.1f} GB left: enlarge it "
            "(mount -o remount,size=...), or train on one device"
        )


def _work(
    fabric: "Fabric", *, method: Method, data: Data, recognizers: Recognizers, out: Path, resume: bool, **how: Any
) -> History:
    """What each process does."""
    if parent_process() is not None:
        # torch sends SIGINT to a spawned process whose parent has died. Under nohup it would be ignored, and the orphan
        # would go on writing to a folder in which the run may have been resumed.
        signal(SIGINT, SIG_DFL)
    if fabric.world_size > 1:  # spawned processes get the parent's tensors as shared memory: each trains its own copy
        method, recognizers = deepcopy((method, recognizers))
    phases = phases_of(method, recognizers)
    history = History()
    if phases:
        history = run(phases, data, fabric=fabric, out=out, resume=resume, **how)
    elif not resume:
        checkpoint.begin(out, resume)  # refuses a folder that is not empty
    fabric.barrier()
    if fabric.is_global_zero:
        methods.save(method, out)
        (out / HISTORY).write_text(json.dumps([asdict(phase) for phase in history.phases], indent=2) + "\n")
    fabric.barrier()
    if fabric.world_size > 1:  # at the interpreter's end gloo's threads may be found running, and the process aborts
        destroy_process_group()
    return history


def phases_of(method: Method, recognizers: Recognizers) -> list[Phase]:
    try:
        phases = method.phases(recognizers)
        for phase in phases:
            phase.check_rates()
        return phases
    except ValueError as error:  # a setting that makes no sense
        raise UserError(f"{method.name}: {error}") from error


def _plain(error: ProcessRaisedException) -> Exception:
    """The error of a process in its own type again; torch hands on the text of the traceback only."""
    last = str(error).strip().splitlines()[-1]
    for kind in (UserError, ActonymError):
        prefix = f"{kind.__module__}.{kind.__name__}: "
        if last.startswith(prefix):
            return kind(last.removeprefix(prefix))
    return error
