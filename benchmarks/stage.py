"""How fast the stage is rendered, and whether a single frame gives the action away.

Prints a JSON object; run by hand: python benchmarks/stage.py [--clips 100] [--train] [--world park]
"""

import argparse
import json
from time import process_time

import cv2
import torch

from actonym import heap, presets
from actonym.attacks.frame import single_frames
from actonym.bench.measure import load_splits
from actonym.data import Stage, open_dataset
from actonym.data.stage.dataset import WORLDS
from actonym.nets.recognizers import build
from actonym.tasks.recognition import train_recognizer, utility
from actonym.train.fit import Fit, predict


def rendering(clips: int, world: str) -> dict[str, float]:
    """Milliseconds of work per clip of 16 frames at 112x112, on one core."""
    cv2.setNumThreads(1)
    stage = Stage(size=112, train=clips, world=world)
    stage.film("train", 0)
    start = process_time()
    for row in range(clips):
        stage.film("train", row)
    return {"ms_per_clip": 1000 * (process_time() - start) / clips}


def single_frame(world: str) -> dict[str, float]:
    """Top-1 on raw clips of the video recognizer, and of a network that sees one frame (scores averaged over 4)."""
    heap.keep()
    plan = presets.load("evaluation", "stage")
    dataset = open_dataset(f"stage:world={world}", **{key: plan["clip"][key] for key in ("size", "frames")})
    splits = load_splits(dataset, plan)
    frames = {split: single_frames(clips, 4) for split, clips in splits.items()}
    found: dict[str, float] = {}
    for name, net, seen in (("video", plan["recognizer"]["net"], splits), ("frame", "frame", frames)):
        torch.manual_seed(0)
        network = build(net, len(dataset.actions), *seen["train"].video.shape[2:4])
        fitted = train_recognizer(network, seen["train"], seen["val"], Fit(**plan["recognizer"]["fit"]))
        found |= {name: utility(predict(network, seen["test"]), seen["test"]), f"{name}_seconds": fitted.seconds}
    return found | {"points_between": 100 * (found["video"] - found["frame"])}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=100)
    parser.add_argument("--train", action="store_true", help="also train the two recognizers (minutes)")
    parser.add_argument("--world", choices=list(WORLDS), default="puppets")
    options = parser.parse_args()
    found = rendering(options.clips, options.world) | (single_frame(options.world) if options.train else {})
    print(json.dumps({"world": options.world} | found, indent=2))
