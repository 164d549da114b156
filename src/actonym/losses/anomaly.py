"""What MGFN learns by (Chen et al., AAAI 2023), from videos of which only is known whether something in them is odd."""

import torch
from torch import Tensor


def magnitude_contrast(normal: Tensor, anomalous: Tensor, margin: float = 200.0, apart: float = 0.001) -> Tensor:
    """L_mc (equation 8; 13 in SPLAVU) of the feature magnitudes `[B, k]` of the most marked segments.

    Squared distances within a class shall be small, those between the classes at least `margin`. Means over all pairs
    of two different videos: the paper sums over them, the release takes one half of the batch against the other.
    `apart` weights the term between the classes; it is the release's.
    """
    between = torch.cdist(anomalous, normal, compute_mode="donot_use_mm_for_euclid_dist")
    missing = (margin - between).clamp(min=0).square().mean()
    return _spread(normal) + _spread(anomalous) + apart * missing


def _spread(magnitudes: Tensor) -> Tensor:
    """The mean squared distance of two videos."""
    count = len(magnitudes)
    squared = (magnitudes[:, None] - magnitudes[None]).square().sum(-1)
    return squared.sum() / max(count * (count - 1), 1)


def sparsity(scores: Tensor) -> Tensor:
    """Few segments of anomalous videos are anomalous: the norm of their scores `[B, N]` over the batch.

    Sultani et al. (CVPR 2018) sum them; the norm is what the weight in MGFN's release fits. The release takes the
    normal videos' scores, against its paper (and SPLAVU's equation 12): ours are to be those of anomalous ones.
    """
    return scores.norm()


def smoothness(scores: Tensor) -> Tensor:
    """Scores of neighbouring segments are alike: the squared differences of anomalous videos' scores, summed
    (SPLAVU's equation 11; the release has the normal videos in it too)."""
    return scores.diff(dim=1).square().sum()
