"""Does CenterFace, which none of our finders uses, still find faces in real films after `actonym anonymize`?

python benchmarks/faces.py FOLDER [--method blacken] [--films 90] [--out RESULT.json]

FOLDER is VP-JHMDB's. One clip of each film is taken, those first that the person finder was not trained on, until
CenterFace has found a face in so many films. Each goes through the command, file to file, H.264 and all. Of the frames
in which CenterFace finds a face in the original at most 1 % may still have one, the same or any other.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from actonym import cli
from actonym.attacks.faces import both, stills
from actonym.data import Sample, open_dataset
from actonym.nets.centerface import Faces, find
from actonym.run.record import versions
from actonym.video import FileVideo

LIMIT = 0.01
FRAMES = 10  # of each clip in which faces are looked for, evenly spaced


def films(folder: Path) -> Iterator[tuple[str, Sample]]:
    """One clip of every film, and its part of the split."""
    dataset = open_dataset(f"vp-jhmdb:{folder}")
    for split in ("test", "val", "train"):
        first = {sample.source: sample for sample in reversed(dataset.samples(split))}
        yield from ((split, sample) for sample in first.values())


def after(source: Path, method: str) -> tuple[list[Faces], list[Faces]]:
    """The faces of the same frames before and after the command."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "safe.mp4"
        cli.main(["anonymize", str(source), str(target), "--method", method, "--quiet"])
        before, then = both(FileVideo(source), FileVideo(target), FRAMES)
        return find(before), find(then)


def measure(folder: Path, method: str, wanted: int) -> dict[str, object]:
    """Frames with a face before, those that have one after, and which clips these are of."""
    counts = {split: {"films": 0, "frames": 0, "still": 0} for split in ("test", "val", "train")}
    leaks: dict[str, list[int]] = {}
    for split, sample in films(folder):
        source = sample.video.path  # type: ignore[attr-defined]
        if not any(map(len, find(stills(sample.video, FRAMES)))):
            continue
        pairs = list(zip(*after(source, method), strict=True))
        still = [place for place, (before, then) in enumerate(pairs) if len(before) and len(then)]
        counts[split]["films"] += 1
        counts[split]["frames"] += sum(len(before) > 0 for before, _ in pairs)
        counts[split]["still"] += len(still)
        if still:
            leaks[source.name] = still
        if sum(count["films"] for count in counts.values()) == wanted:
            break
    whole = {key: sum(count[key] for count in counts.values()) for key in ("films", "frames", "still")}
    return {**whole, "rate": round(whole["still"] / whole["frames"], 4), "splits": counts, "leaks": leaks}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("folder", type=Path)
    parser.add_argument("--method", default="blacken")
    parser.add_argument("--films", type=int, default=90)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    result = measure(options.folder, options.method, options.films)
    result = {"method": options.method, "limit": LIMIT, **result, "versions": versions()}
    print(json.dumps(result, indent=2))
    if options.out:
        options.out.write_text(json.dumps(result, indent=2) + "\n")
    return 0 if result["rate"] <= LIMIT else 1  # type: ignore[operator]


if __name__ == "__main__":
    sys.exit(main())
