"""The record of what was done to a video: enough to prove it later, and nothing about the machine."""

import json
import platform
from dataclasses import asdict, dataclass, field
from typing import Any

import av
import torch

import actonym


def versions() -> dict[str, str]:
    """Of everything that had a part in the output."""
    return {
        "actonym": actonym.__version__,
        "torch": torch.__version__,
        "av": av.__version__,
        "python": platform.python_version(),
    }


@dataclass(frozen=True)
class Record:
    """One anonymized video. Files go by their names alone; a stream by its kind, and it has no hash."""

    input: str
    input_sha256: str | None
    output: str
    output_sha256: str
    method: str
    settings: dict[str, Any]
    checkpoint_sha256: str | None
    audio: str  # drop or keep
    frames: int
    covered: int | None  # frames in which somebody was found and covered, the rest is as it was; None: all were changed
    damaged: int  # packets of the input that could not be decoded; their frames are missing
    width: int  # of the picture; H.264 has no odd sizes, so the file may have one more column
    height: int  # or row
    fps: float
    seconds: float
    versions: dict[str, str] = field(default_factory=versions)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2) + "\n"
