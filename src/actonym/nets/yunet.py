"""Faces with YuNet (Wu et al., 2023), a detector of 0.1 MB, through OpenCV, which is a dependency anyway."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor

from actonym import weights

SCORE = 0.35  # low: a face that is covered for nothing costs less than one that is shown
OVERLAP = 0.3  # of two boxes that are one face
SIDES = (320, 640, 1280)  # long sides at which a frame is looked at: small faces need large pictures
GROW = (1.8, 2.0)  # width and height of the covered head over those of the face: hair, ears and chin
RAISE = 0.15  # of the face's height by which the head's middle lies above the face's

Box = tuple[float, float, float, float]  # x, y, width, height


@lru_cache(maxsize=1)
def _detector() -> Any:
    log = cv2.utils.logging
    level = log.setLogLevel(log.LOG_LEVEL_ERROR)  # it would warn that it runs on the CPU
    try:
        return cv2.FaceDetectorYN.create(str(weights.path("yunet")), "", (320, 320), SCORE, OVERLAP, 1000)
    finally:
        log.setLogLevel(level)


def sides(height: int, width: int) -> tuple[int, ...]:
    """The long sides at which a frame is looked at: up to twice its own, a large frame at several."""
    return tuple(side for side in SIDES if side <= 2 * max(height, width)) or SIDES[:1]


def boxes(picture: np.ndarray, score: float = SCORE, at: Sequence[int] = ()) -> list[Box]:
    """The faces of an RGB picture, uint8 `[H, W, 3]`, at all scales together, or at the long sides `at`."""
    height, width = picture.shape[:2]
    found: list[Box] = []
    scores: list[float] = []
    for side in at or sides(height, width):
        scale = side / max(height, width)
        size = max(32, round(width * scale)), max(32, round(height * scale))
        seen = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        detector = _detector()
        detector.setInputSize(size)
        faces = detector.detect(np.ascontiguousarray(seen[..., ::-1]))[1]
        for face in () if faces is None else faces:
            if face[14] >= score:
                across, down = width / size[0], height / size[1]
                found.append((face[0] * across, face[1] * down, face[2] * across, face[3] * down))
                scores.append(float(face[14]))
    kept: Sequence[int] = cv2.dnn.NMSBoxes(found, scores, score, OVERLAP) if found else ()
    return [found[k] for k in kept]


def find(clip: Tensor) -> Tensor:
    """The finder `face`: a rounded region around each head, `[B, 1, T, H, W]`: 0 nobody, k head k."""
    pictures = clip.detach().clamp(0, 1).mul(255).byte().permute(0, 2, 3, 4, 1).cpu().numpy()
    masks = np.zeros(pictures.shape[:-1], np.uint8)
    for place in np.ndindex(masks.shape[:2]):
        picture, mask = pictures[place], masks[place]
        for number, (x, y, w, h) in enumerate(boxes(picture)[:255], 1):
            centre = round(x + w / 2), round(y + (0.5 - RAISE) * h)
            axes = max(2, round(GROW[0] * w / 2)), max(2, round(GROW[1] * h / 2))
            cv2.ellipse(mask, centre, axes, 0, 0, 360, number, -1)
    return torch.from_numpy(masks)[:, None].to(clip.device)
