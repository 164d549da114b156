"""Reconstruction: from the features of a clip back to its picture (SPLAVU, appendix C, figure 4).

The paper fine-tunes VideoMAE's own decoder. Ours is trained anew and needs nothing but pairs of features and pictures
that the attacker has observed, so that it works on features of any encoder, before and after any method.
"""

from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import mse_loss
from torchmetrics.functional.image import peak_signal_noise_ratio, structural_similarity_index_measure

from actonym.attacks.linkage import DIGITS, retrieval
from actonym.data.clips import Clips, to_floats
from actonym.nets.decoder import Decoder
from actonym.train.fit import Fit, Fitted, fit, predict
from actonym.train.phase import Batch

SCORES = ("ssim", "psnr", "rank1")
SHARPEST = 60.0  # dB: what rounding to bytes alone costs; a perfect picture would be infinite
RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # ours: strengths, as shares of the variance of a feature
BATCH = 64  # pictures compared at once, which bounds the memory


@dataclass(frozen=True)
class Pairs:
    """Clips as an attacker has observed them: their features, the picture in their middle, and their action."""

    features: Tensor  # float [M, D]
    pictures: Tensor  # uint8 [M, 3, size, size]
    action: Tensor  # int64 [M]


def train_decoder(
    train: Pairs, val: Pairs, how: Fit, *, width: int = 16, seed: int = 0, progress: bool = True
) -> Fitted:
    """A network from features to pictures; the best epoch is chosen on `val`.

    It learns by the mean squared error, of which the mean picture is the best that can be had without features. It
    begins as a straight line, or as the mean picture where no line is better on `val`, and stays there if no epoch is
    better still. Its validation score is the share of the variance about the mean picture that it brings back.
    """
    torch.manual_seed(seed)
    net = Decoder(train.features.shape[1], train.pictures.shape[-1], width)
    net.begin(train.features, mean_picture(train))
    truth = to_floats(val.pictures)
    missed = mse_loss(net.picture.expand_as(truth), truth).clamp_min(1e-12)
    net.line.copy_(_line(net, train, val))
    start = deepcopy(net)

    def loss(made: Tensor, batch: Batch) -> Tensor:
        return mse_loss(made, to_floats(train.pictures[batch.index.cpu()]).to(made.device))

    def score(made: Tensor, _: Clips) -> float:
        return float(1 - mse_loss(made.cpu(), truth) / missed)

    before = score(predict(start, _clips(val)), _clips(val))
    fitted = fit(net, _clips(train), _clips(val), loss, score, how, seed=seed, progress=progress, title="decoder")
    return fitted if fitted.validation > before else replace(fitted, net=start, validation=before)


@torch.inference_mode()
def _line(net: Decoder, train: Pairs, val: Pairs) -> Tensor:
    """Ridge regression, its strength chosen on `val`; zeros if none helps. With few videos it is hard to beat."""
    seen, others = net.scaled(train.features), net.scaled(val.features)
    truth = (to_floats(val.pictures) - net.picture).flatten(1)
    values, basis = (found.float() for found in torch.linalg.eigh(seen.double().T @ seen.double()))
    target = torch.zeros_like(net.line)
    for part, pictures in zip(seen.split(BATCH), train.pictures.split(BATCH), strict=True):
        target += (part @ basis).T @ (to_floats(pictures) - net.picture).flatten(1)
    best, chosen = float(truth.square().mean()), torch.zeros_like(target)
    for strength in RIDGES:
        weights = target / (values + strength * len(seen))[:, None]
        if (error := float((others @ basis @ weights - truth).square().mean())) < best:
            best, chosen = error, weights
    return basis @ chosen


def reconstruct(fitted: Fitted, pairs: Pairs) -> Tensor:
    """The pictures that a decoder makes of features, float `[M, 3, size, size]` in 0..1."""
    return predict(fitted.net, _clips(pairs)).clamp(0, 1)


def mean_picture(pairs: Pairs) -> Tensor:
    """The best picture without any access to a video, by the squared error."""
    return pairs.pictures.mean(0, dtype=torch.float32) / 255


def action_pictures(train: Pairs, action: Tensor) -> Tensor:
    """The best pictures from the true action alone: the mean one of its training clips, `[M, 3, size, size]`.

    One imagined clip per action shows the overall mean, as in the floors of attributes.
    """
    mean = mean_picture(train)
    means = {}
    for one in action.unique().tolist():
        same = train.pictures[train.action == one]
        means[one] = (same.sum(0, dtype=torch.float32) / 255 + mean) / (len(same) + 1)
    return torch.stack([means[one] for one in action.tolist()])


def scores(made: Tensor, pictures: Tensor) -> dict[str, float]:
    """How near pictures `[M, 3, size, size]` in 0..1 come to the true ones (bytes), and do they tell which is which?

    `rank1`: how often the true picture is the nearest of all M to what was made, by the squared error. Ties are broken
    by lot, in expectation, so that pictures that are all the same reach 1 / M.
    """
    truth = to_floats(pictures)
    parts = list(zip(made.split(BATCH), truth.split(BATCH), strict=True))
    ssim = [structural_similarity_index_measure(*part, data_range=1.0, reduction="none") for part in parts]
    psnr = [peak_signal_noise_ratio(*part, data_range=1.0, reduction="none", dim=(1, 2, 3)) for part in parts]
    distance = torch.cdist(made.flatten(1).double(), truth.flatten(1).double()) / truth[0].numel() ** 0.5
    found = retrieval(-distance.round(decimals=DIGITS), torch.eye(len(truth), dtype=torch.bool))
    return {
        "ssim": float(torch.cat([part.view(-1) for part in ssim]).mean()),  # type: ignore[union-attr]
        "psnr": float(torch.cat(psnr).clamp(max=SHARPEST).mean()),
        "rank1": float(found[:, 0].mean()),
    }


def _clips(pairs: Pairs) -> Clips:
    """The loop draws features by their place; a step looks up the picture that is there."""
    count = len(pairs.features)
    return Clips(pairs.features, pairs.action, torch.zeros(count, 0), [""] * count)
