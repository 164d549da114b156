"""The stage's own video encoder: small, trained on worlds of the stage, frozen. It plays what I3D is on real video."""

from pathlib import Path

import torch
from torch import Tensor, nn

from actonym.nets.d3d import D3D
from actonym.nets.encoder import spread
from actonym.nets.frame import FrameNet

WEIGHTS = Path(__file__).parent / "shipped" / "stage.safetensors"  # made by scripts/train_encoder.py
SIZE = 64  # pixels of a side
FRAMES = 16
SEEN = 4  # frames of a clip that are looked at as pictures
MOTION = (32, 64, 128)
LOOK = (24, 48, 64, 96)
DIM = 2 * MOTION[-1] + 2 * LOOK[-1]


class StageNet(nn.Module):
    """Two streams, how things move and what they look like: real encoders know both. Learned in one, the easier would
    leave the other behind. Its outputs are actions, and then private attributes."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.motion = D3D(outputs, "motion", MOTION)
        self.look = FrameNet(outputs, LOOK)

    def forward(self, clip: Tensor) -> Tensor:
        """The streams' answers summed: one linear layer on the features of both."""
        return self.motion(clip) + self.look(spread(clip, SEEN))

    def features(self, clip: Tensor) -> Tensor:
        """`[B, DIM]`: what the last layers see."""
        return torch.cat([self.motion.pooled(clip), self.look.pooled(spread(clip, SEEN))], 1)
