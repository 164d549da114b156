"""Does `anonymize` need more memory for a longer video? One minute against ten, 640x480, each in a fresh process.

python benchmarks/anonymize_memory.py [--method downsample] [--minutes 1 10] [--out RESULT.json]
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import torch

import actonym.methods  # noqa: F401  (fills the registry)
from actonym.methods.base import resolve
from actonym.run import anonymize_file
from actonym.run.record import versions

WIDTH, HEIGHT, FPS = 640, 480, 25
LIMIT = 1.2


def make_video(path: Path, minutes: float) -> None:
    """Stripes and a disc that move; two seconds of them again and again."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    loop = []
    for index in range(2 * FPS):
        angle = np.pi * index / FPS
        image = np.stack([(x + 4 * index) % 256, (y + 8 * index) % 256, (x + y) // 5], -1).astype(np.uint8)
        image[np.hypot(x - 320 - 150 * np.cos(angle), y - 240 - 150 * np.sin(angle)) < 60] = (220, 180, 150)
        loop.append(av.VideoFrame.from_ndarray(image, "rgb24").reformat(format="yuv420p"))
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for index in range(round(minutes * 60 * FPS)):
            frame = loop[index % len(loop)]
            frame.pts, frame.time_base = index, Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def measure_here(source: Path, method: str) -> dict[str, float]:
    """Anonymize in this process; its peak memory in MiB, frames and frames per second."""
    torch.set_num_threads(1)
    record = anonymize_file(source, source.with_suffix(".out.mp4"), resolve(method))  # type: ignore[arg-type]
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return {"peak_mib": round(peak, 1), "frames": record.frames, "fps": round(record.frames / record.seconds, 1)}


def measure(source: Path, method: str) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--method", method, "--measure", str(source)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="downsample")
    parser.add_argument("--minutes", type=float, nargs=2, default=(1, 10))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure_here(options.measure, options.method)))
        return 0
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for minutes in options.minutes:
            source = Path(folder) / f"{minutes:g}.mp4"
            make_video(source, minutes)
            runs.append({"minutes": minutes, **measure(source, options.method)})
            print(runs[-1])
    ratio = round(runs[1]["peak_mib"] / runs[0]["peak_mib"], 3)
    print(f"memory of the long video over the short one: {ratio} (at most {LIMIT})")
    result = {"method": options.method, "ratio": ratio, "limit": LIMIT, "runs": runs, "versions": versions()}
    if options.out:
        options.out.write_text(json.dumps(result, indent=2) + "\n")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
