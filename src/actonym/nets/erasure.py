"""A linear map that forgets what two stills of one video agree in."""

import torch
from torch import Tensor, nn

RIDGE = 1e-4  # of the mean variance: directions that hardly vary are not enlarged without end


class Erasure(nn.Module):
    """Features of the same shape, each vector by itself; before it is `set` it is the identity."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.line = nn.Linear(dim, dim)
        with torch.no_grad():
            nn.init.eye_(self.line.weight)
            self.line.bias.zero_()

    def forward(self, features: Tensor) -> Tensor:
        return self.line(features)

    @torch.no_grad()
    def set(self, first: Tensor, second: Tensor, share: float) -> int:
        """Rows k of both, `[M, D]`, are two stills of video k. Returns how many directions are erased.

        Those in which more than `share` of the stills' variance is common to both. With C the covariance of stills and
        B that between the two of a video they are the first eigenvectors U of C^-1/2 B C^-1/2, and the map is
        I - C^1/2 U U' C^-1/2: of all maps after which no linear attacker finds them, the one nearest to the identity in
        the stills' own metric (Belrose et al., LEACE, NeurIPS 2023, with the video as what is to be forgotten).
        """
        stills = torch.stack([first, second]).double()
        centre = stills.mean((0, 1))
        one, other = stills - centre
        count = 2 * len(first)
        covariance = (one.T @ one + other.T @ other) / count
        common = (one.T @ other + other.T @ one) / count
        values, vectors = torch.linalg.eigh(covariance)
        spread = (values.clamp_min(0) + RIDGE * values.mean()).sqrt()
        white, back = (vectors / spread) @ vectors.T, (vectors * spread) @ vectors.T
        shares, directions = torch.linalg.eigh(white @ common @ white)
        found = directions[:, shares > share]
        weight = torch.eye(len(centre), dtype=centre.dtype, device=centre.device) - back @ found @ found.T @ white
        self.line.weight.copy_(weight)
        self.line.bias.copy_(centre - weight @ centre)
        return found.shape[1]
