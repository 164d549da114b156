"""What several rooms' tests share."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

# Before torch is there: on tensors as small as these a second thread gains nothing, and beside another job the two wait
# for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """A shell that puts tests in the background has them ignore Ctrl-C, and all they start; some are about Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real annotations and clips that lie beside the repository on some machines; elsewhere such tests are skipped."""
    folder = Path(os.environ.get("ACTONYM_SHARED", Path(__file__).parents[2] / "shared"))
    if not folder.is_dir():
        pytest.skip("no shared annotations and clips on this machine (set ACTONYM_SHARED)")
    return folder


@pytest.fixture(scope="module")
def learnable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A tiny learned method, registered with presets of its own: `tint`, `tint@dark` and `tint@slow`."""
    from learnable import DARK, SLOW, STAGE, Tint

    from actonym import presets
    from actonym.methods import base

    folder = tmp_path_factory.mktemp("presets") / "presets"
    shutil.copytree(presets.FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tint").mkdir()
    (folder / "tint" / "stage.yaml").write_text(STAGE)
    (folder / "tint" / "paper.yaml").write_text(STAGE.replace("0.75", "0.5"))
    (folder / "tint" / "dark.yaml").write_text(DARK)
    (folder / "tint" / "slow.yaml").write_text(SLOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(presets, "FOLDER", folder)
        patch.setitem(base._REGISTRY, "tint", Tint)
        yield "tint"
