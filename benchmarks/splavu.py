"""What SPLAVU costs: its adapter beside the encoder, and training from a store beside training from video.

Prints a JSON object; run by hand: python benchmarks/splavu.py [--threads 1]. Times are the CPU's. The weights are
random, for they decide no time.
"""

import argparse
import json
from collections.abc import Callable
from time import process_time
from typing import Any

import torch
from torch import nn

from actonym import heap, methods
from actonym.data.clips import STATIC
from actonym.methods.splavu import SPLAVU
from actonym.nets.encoder import SYMMETRIC, Encoder
from actonym.nets.i3d import I3D
from actonym.train.phase import Batch, Recognizers

CLIPS, VIDEOS, EPOCHS = 5, 32, 100  # of a video; of a step; of the paper's training
CEILINGS = {"adapter_share": 0.01}
FLOORS = {"store_over_video": 30.0}


def seconds(work: Callable[[], Any], times: int = 3) -> float:
    """The best of several; the first one warms up."""
    found = []
    for _ in range(times + 1):
        start = process_time()
        work()
        found.append(process_time() - start)
    return min(found[1:])


def encoder_per_clip(batch: int = 2) -> float:
    encoder = Encoder(I3D(), size=224, frames=16, dim=1024, colours=SYMMETRIC)
    clips = torch.rand(batch, 3, 16, 240, 320)
    with torch.inference_mode():
        return seconds(lambda: encoder.encode(clips), 2) / batch


def adapter_per_clip(method: SPLAVU) -> float:
    """Of one video at a time, as features are anonymized."""
    video = torch.rand(1, CLIPS, 1024)
    with torch.inference_mode():
        return seconds(lambda: method.eval()(video), 10) / CLIPS


def step_per_video(method: SPLAVU) -> float:
    """A step of the training, its optimizer's included."""
    phase = method.phases(Recognizers(nn.Identity(), nn.Identity(), actions=51, attributes=5))[-1]
    optimizer = phase.optimizers["method"]
    features, actions = torch.rand(VIDEOS, CLIPS + STATIC, 1024), torch.arange(VIDEOS) % 51
    batch = Batch(features, actions, torch.zeros(VIDEOS, 5), None, torch.arange(VIDEOS))

    def update(name: str, loss: torch.Tensor, retain_graph: bool = False) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    method.train()
    return seconds(lambda: phase.step(batch, update)) / VIDEOS


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    torch.set_num_threads(parser.parse_args().threads)
    heap.keep()
    torch.manual_seed(0)
    method = methods.create("splavu", "paper")
    assert isinstance(method, SPLAVU)
    encode, adapt, step = encoder_per_clip(), adapter_per_clip(method), step_per_video(method)
    extraction = (CLIPS + STATIC) * encode
    found = {
        "encoder_ms_per_clip": round(1000 * encode, 1),
        "adapter_ms_per_clip": round(1000 * adapt, 2),
        "adapter_share": round(adapt / encode, 5),
        "step_ms_per_video": round(1000 * step, 1),
        # All epochs: from video every clip is encoded in each of them, from a store once.
        "store_over_video": round(EPOCHS * (extraction + step) / (EPOCHS * step), 1),
        "with_extraction": round(EPOCHS * (extraction + step) / (extraction + EPOCHS * step), 1),
    }
    kept = all(found[key] <= most for key, most in CEILINGS.items())
    print(json.dumps({**found, "holds": kept and all(found[key] >= least for key, least in FLOORS.items())}, indent=2))


if __name__ == "__main__":
    main()
