"""dlib's face recognition (King, 2017): 128 numbers that tell people apart by their face, unlike SFace's."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from actonym import weights
from actonym.errors import UserError
from actonym.nets.align import DLIB, chip, padded

SIZE = 150
PADDING = 0.25  # with which its faces were cut in training
DIM = 128


def embed(frame: Tensor, points: Tensor) -> Tensor:
    """Unit vectors `[K, 128]` of the faces of `frame`, uint8 `[3, H, W]`, whose five points are `[K, 5, 2]`.

    dlib compares by distance; its vectors have nearly one length, so that their cosine ranks alike.
    """
    net = _load(weights.path("dlib-face") / "dlib_face_recognition_resnet_model_v1.dat")
    chips = [chip(frame, one, padded(DLIB, PADDING), SIZE).permute(1, 2, 0).contiguous().numpy() for one in points]
    found = [torch.from_numpy(np.array(net.compute_face_descriptor(one), dtype=np.float32)) for one in chips]
    return normalize(torch.stack(found), dim=1) if found else torch.zeros(0, DIM)


@lru_cache(maxsize=1)
def _load(path: Path) -> Any:
    try:
        import dlib
    except ImportError as error:
        raise UserError("dlib's face recognition needs dlib; run: pip install 'actonym[dlib]'") from error
    return dlib.face_recognition_model_v1(str(path))
