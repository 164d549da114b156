"""Draws docs/stage.png, the contact sheet of the stage: python docs/stage_sheet.py"""

from pathlib import Path

import cv2
import numpy as np

from actonym.data import Stage
from actonym.data.stage.actions import ACTIONS

SHOWN = (0, 3, 6, 9, 12, 15)  # frames of each clip


def row(world: Stage, number: int) -> np.ndarray:
    """Frames of one clip, then the person mask and the depth of a middle frame, under the action's name."""
    film = world.film("train", number)
    mask = np.repeat((film.mask[7] * 100)[..., None], 3, -1)
    near = np.clip(255 * (film.depth[7].max() - film.depth[7]) / np.ptp(film.depth[7]), 0, 255).astype(np.uint8)
    strip = np.concatenate([*film.frames[list(SHOWN)], mask, np.repeat(near[..., None], 3, -1)], 1)
    title = np.full((16, strip.shape[1], 3), 255, np.uint8)
    cv2.putText(
        title, world.labels("train", number).action, (3, 12), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 0), 1, cv2.LINE_AA
    )
    return np.concatenate([title, strip])


if __name__ == "__main__":
    stage = Stage(size=112)
    sheet = np.concatenate([row(stage, number) for number in range(len(ACTIONS))])
    cv2.imwrite(str(Path(__file__).with_name("stage.png")), sheet[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 9])
