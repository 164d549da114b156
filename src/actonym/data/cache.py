"""Where things that can be made again are kept."""

import os
from pathlib import Path


def cache_dir(*parts: str) -> Path:
    """A folder of the user's cache (`ACTONYM_CACHE` moves it), made if it is not there."""
    root = (
        os.environ.get("ACTONYM_CACHE") or Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "actonym"
    )
    folder = Path(root, *parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
