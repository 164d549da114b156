"""What several rooms' tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real annotations and clips that lie beside the repository on some machines; elsewhere such tests are skipped."""
    folder = Path(os.environ.get("ACTONYM_SHARED", Path(__file__).parents[2] / "shared"))
    if not folder.is_dir():
        pytest.skip("no shared annotations and clips on this machine (set ACTONYM_SHARED)")
    return folder
