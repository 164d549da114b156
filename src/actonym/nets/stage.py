"""The stage's own video encoder: small, trained on worlds of the stage, frozen. It plays what I3D is on real video."""

from pathlib import Path

from torch import Tensor

from actonym.nets.d3d import D3D

WEIGHTS = Path(__file__).parent / "shipped" / "stage.safetensors"  # made by scripts/train_encoder.py
SIZE = 64  # pixels of a side
FRAMES = 16
WIDTHS = (32, 64, 128)
DIM = 2 * WIDTHS[-1]


class StageNet(D3D):
    """Sees colours and how they move. Its outputs are actions, and then private attributes."""

    def __init__(self, outputs: int) -> None:
        super().__init__(outputs, "both", WIDTHS)

    def features(self, clip: Tensor) -> Tensor:
        """`[B, DIM]`: what the last layer sees."""
        return self.pooled(clip)
