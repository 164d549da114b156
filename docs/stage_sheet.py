"""Draws the contact sheets of the stage's worlds, docs/stage_WORLD.jpg: python docs/stage_sheet.py [WORLD ...]"""

import sys
from pathlib import Path

import cv2
import numpy as np

from actonym.data import Sample, Stage
from actonym.data.stage.dataset import WORLDS

SHOWN = (0, 3, 6, 9, 12, 15)  # frames of each clip
ROWS = {"watch": range(6), "walks": (0, 1, 2, 3, 25, 33, 41, 81)}  # videos, where not one of each action is shown
LONG = 10  # frames of a long video, evenly spaced
HEIGHT = 16  # pixels of a line of text


def write(text: str, width: int) -> np.ndarray:
    line = np.full((HEIGHT, width, 3), 255, np.uint8)
    cv2.putText(line, text, (3, 12), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 0), 1, cv2.LINE_AA)
    return line


def title(world: Stage, sample: Sample) -> str:
    """The action; in a world with several, all of them and what is private."""
    if not sample.actions:
        return world.actions[sample.action]
    there = [name for name, bit in zip(world.attributes, sample.privacy, strict=True) if bit]
    return f"{' + '.join(world.actions[action] for action in sample.actions)}   ({', '.join(there)})"


def story(world: Stage, sample: Sample) -> str:
    """A long video's name, its action, and what happens when."""
    times = [f"{world.actions[s.label]} {s.start:.0f}-{s.end:.0f} s" for s in sample.segments]
    return f"{sample.name}   {world.actions[sample.action]}   {', '.join(times)}"


def row(world: Stage, number: int) -> np.ndarray:
    """Frames of one clip, then the person mask and the depth of a middle frame, under what is true of it."""
    split = "test" if world.clips > 1 else "train"
    film, sample = world.film(split, number), world.samples(split)[number]
    if world.clips > 1:
        places = np.linspace(0, world.length - 1, LONG).round().astype(int)
        strip = np.concatenate(list(film.frames[places]), 1)
        return np.concatenate([write(story(world, sample), strip.shape[1]), strip])
    mask = np.repeat((film.mask[7] * 100)[..., None], 3, -1)
    near = np.clip(255 * (film.depth[7].max() - film.depth[7]) / np.ptp(film.depth[7]), 0, 255).astype(np.uint8)
    strip = np.concatenate([*film.frames[list(SHOWN)], mask, np.repeat(near[..., None], 3, -1)], 1)
    lines = [write(title(world, sample), strip.shape[1])]
    if sample.spans:
        seen = [[n[:4] for n, bit in zip(world.attributes, sample.privacy_at(t), strict=True) if bit] for t in SHOWN]
        lines.append(np.concatenate([write(" ".join(names), world.size) for names in [*seen, [], []]], 1))
    return np.concatenate([*lines, strip])


if __name__ == "__main__":
    drawn = [world for world in WORLDS if not world.startswith("bias")]  # those look like the first
    for name in sys.argv[1:] or drawn:
        stage = Stage(size=112, world=name)
        rows = ROWS.get(name, range(len(stage.actions)))
        sheet = np.concatenate([row(stage, number) for number in rows])
        path = Path(__file__).with_name(f"stage_{name}.jpg")
        cv2.imwrite(str(path), sheet[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 80])
