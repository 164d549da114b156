"""How fast the finders are, and how well the person finder finds people in films it has never seen.

Prints a JSON object; run by hand: python benchmarks/finders.py [VP-JHMDB's folder] [--threads 2]
"""

import argparse
import json
from pathlib import Path
from time import perf_counter, process_time

import cv2
import torch

from actonym import heap
from actonym.data import Stage, open_dataset
from actonym.errors import UserError
from actonym.nets import person
from actonym.nets.finder import known, regions

FRAMES = 16
SIZES = ((240, 320), (720, 1280))


def speed(name: str, height: int, width: int, threads: int) -> dict[str, float]:
    """Of puppets without noise, the best of three clips; the first one warms up.

    On a machine that does other work too the frames per second say little, and the CPU's milliseconds still do.
    """
    torch.set_num_threads(threads)
    cv2.setNumThreads(threads)
    film = Stage(size=240, frames=FRAMES, train=1, val=1, test=1).samples("test")[0].video.frames(range(FRAMES))
    clip = torch.nn.functional.interpolate(film.transpose(0, 1).float() / 255, (height, width)).transpose(0, 1)[None]
    seconds = []
    for _ in range(4):
        start = perf_counter(), process_time()
        regions(clip, name)
        seconds.append((perf_counter() - start[0], process_time() - start[1]))
    wall, cpu = (min(values) for values in zip(*seconds[1:], strict=True))
    return {"frames_per_second": round(FRAMES / wall, 1), "cpu_ms_per_frame": round(1000 * cpu / FRAMES, 1)}


def quality(folder: Path, every: int = 4) -> dict[str, float]:
    """IoU of masks, mean over clips; person pixels that are missed, and that boxes leave to be seen."""
    overlaps, missed, bare, people = [], 0, 0, 0
    samples = open_dataset(f"vp-jhmdb:{folder}").samples("test")
    for sample in samples:
        indices = range(0, sample.video.length, every)
        clip = sample.video.frames(indices)[None].float() / 255
        truth = sample.video.mask(indices)
        assert truth is not None
        found, here = person.find(clip)[0, 0] > 0, truth[0].bool()
        overlaps.append(float((found & here).sum() / (found | here).sum()))
        missed += int((here & ~found).sum())
        bare += int((here & ~regions(clip, "person")[0, 0]).sum())
        people += int(here.sum())
    return {
        "films": len({sample.source for sample in samples}),
        "clips": len(samples),
        "iou": round(sum(overlaps) / len(overlaps), 4),
        "missed": round(missed / people, 4),
        "missed_by_boxes": round(bare / people, 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="VP-JHMDB's folder, for the quality")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    heap.keep()
    result: dict[str, object] = {"threads": options.threads}
    for name in ("person", "face", "both"):
        try:
            known(name)
        except UserError as error:
            result[name] = str(error)
            continue
        result[name] = {f"{w}x{h}": speed(name, h, w, options.threads) for h, w in SIZES}
    if options.folder:
        result["quality"] = quality(options.folder)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
