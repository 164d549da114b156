"""Train the stage's own encoder on two of its worlds, and write it with its card.

python scripts/train_encoder.py [--epochs 32] [--videos 1600] [--threads 2]

It learns 20 actions and five private attributes at once, as an encoder of real video knows both, whatever it was
trained for; from still clips (one frame repeated) it learns the attributes alone. People and rooms are those of a seed
of their own: nobody of the stage that tasks are measured on has been seen.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from actonym import heap
from actonym.bench.metrics import privacy_scores
from actonym.data import Clips, Stage, load_clips
from actonym.data.base import ATTRIBUTES
from actonym.nets.stage import DIM, FRAMES, SIZE, WEIGHTS, StageNet
from actonym.train.fit import Fit, fit, predict
from actonym.train.phase import Batch

WORLDS = ("puppets", "park")
SEED = 1000
STILL = 0.25  # still clips for every clip
NONE = -100  # the action of a still clip: torch's losses leave it out


def stage_clips(videos: int) -> tuple[dict[str, Clips], list[str]]:
    """The clips of both worlds, split by split, and all their actions one after the other."""
    counts = {"train": videos, "val": max(1, videos // 8), "test": max(1, videos // 4)}
    worlds = [Stage(size=SIZE, frames=FRAMES, seed=SEED, world=name, **counts) for name in WORLDS]
    splits = {}
    for split in counts:
        parts, first = [], 0
        for world in worlds:
            part = load_clips(world, split, frames=FRAMES, size=SIZE)
            parts.append(replace(part, action=part.action + first, mask=None))
            first += len(world.actions)
        splits[split] = joined(parts)
    return splits, [action for world in worlds for action in world.actions]


def joined(parts: Sequence[Clips]) -> Clips:
    tensors = {key: torch.cat([getattr(part, key) for part in parts]) for key in ("video", "action", "privacy")}
    return Clips(subject=[name for part in parts for name in part.subject], **tensors)


def still(clips: Clips, count: int) -> Clips:
    """The first frame of some clips, repeated; they show no action."""
    some = torch.arange(count) * len(clips) // max(1, count)
    video = clips.video[some, :, :1].expand(-1, -1, clips.video.shape[2], -1, -1)
    none = torch.full((count,), NONE)
    return Clips(video.contiguous(), none, clips.privacy[some], [clips.subject[k] for k in some.tolist()])


def train(net: StageNet, splits: dict[str, Clips], actions: int, epochs: int, seed: int, progress: bool) -> None:
    """The best epoch is chosen on validation clips: the mean of top-1 and the attributes' cMAP."""

    def loss(logits: Tensor, batch: Batch) -> Tensor:
        told = binary_cross_entropy_with_logits(logits[:, actions:], batch.privacy)
        if (batch.action == NONE).all():
            return told
        return cross_entropy(logits[:, :actions], batch.action) + told

    def score(logits: Tensor, clips: Clips) -> float:
        found = scores(logits, clips, actions)
        return (found["top1"] + found["cmap"]) / 2

    how = Fit(epochs=epochs, rounds=1, batch_size=16, lr=5e-3, rise=0.2, average=0.99)
    learn = joined([splits["train"], still(splits["train"], round(STILL * len(splits["train"])))])
    fit(net, learn, splits["val"], loss, score, how, seed=seed, progress=progress, title="encoder")


def scores(logits: Tensor, clips: Clips, actions: int) -> dict[str, float]:
    right = logits[:, :actions].argmax(1) == clips.action
    leak = privacy_scores(logits[:, actions:].sigmoid(), clips.privacy, ATTRIBUTES)
    return {"top1": right.double().mean().item(), "cmap": leak["cmap"]}


def save(net: StageNet, path: Path, card: str) -> None:
    """Kernels as half floats, which halves the file."""
    state = {key: value.half() if value.ndim > 3 else value for key, value in net.state_dict().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({key: value.contiguous() for key, value in state.items()}, path)
    path.with_suffix(".md").write_text(card)


CARD = """# The stage's encoder

A small video network of two streams, motion in 3-D and pictures in 2-D ({parameters:,} parameters), that turns a clip
of {frames} frames of {size} pixels into {dim} numbers. It plays on the stage what I3D is on real video:
`--encoder stage`.

- Made by `scripts/train_encoder.py` in {epochs} epochs of {videos} videos of each of the worlds {worlds}, seed {seed};
  nothing but synthetic video (Apache-2.0). It was taught {actions} actions and five private attributes, and from still
  clips the attributes alone. The stage that it is used on has another seed: other people, other rooms.
- {minutes:.0f} CPU minutes to train, {milliseconds:.1f} ms of one core for a clip.

| test clips | top-1 of {actions} actions | cMAP of the attributes |
|---|---|---|
| clips | {top1:.3f} | {cmap:.3f} |
| still clips | – | {still:.3f} |

It knows nothing of real video.
"""


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--epochs", type=int, default=32)
    parser.add_argument("--videos", type=int, default=1600, help="training videos of each world")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args(argv)
    heap.keep()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    splits, names = stage_clips(options.videos)
    net = StageNet(len(names) + len(ATTRIBUTES))
    train(net, splits, len(names), options.epochs, options.seed, not options.quiet)
    test = splits["test"]
    start = perf_counter()
    found = scores(predict(net, test), test, len(names))
    milliseconds = 1000 * (perf_counter() - start) / len(test)
    frozen = still(test, len(test))
    alone = scores(predict(net, frozen), frozen, len(names))["cmap"]
    card = CARD.format(
        parameters=sum(p.numel() for p in net.parameters()),
        frames=FRAMES,
        size=SIZE,
        dim=DIM,
        epochs=options.epochs,
        videos=options.videos,
        worlds=" and ".join(WORLDS),
        seed=SEED,
        actions=len(names),
        minutes=process_time() / 60,
        milliseconds=milliseconds * options.threads,
        still=alone,
        **found,
    )
    save(net, options.out, card)
    print(json.dumps({**found, "still_cmap": alone, "cpu_minutes": process_time() / 60}, indent=2))


if __name__ == "__main__":
    main()
