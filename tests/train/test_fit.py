"""Training until the score stops rising, and no longer."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from actonym.data import Clips
from actonym.train.fit import Fit, fit, predict

EPOCHS = 4


def clips(count=8):
    video = torch.randint(0, 256, (count, 3, 2, 4, 4), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    return Clips(video, torch.arange(count) % 2, torch.zeros(count, 1), [""] * count)


def fitted(scores, **how):
    """A small network, and what its training was like if validation gave these scores; and the weights by epoch."""
    torch.manual_seed(0)
    net, seen, left = nn.Sequential(nn.Flatten(), nn.Linear(96, 2)), [], iter(scores)

    def score(logits, val):
        seen.append({name: value.clone() for name, value in net.state_dict().items()})
        return next(left)

    def loss(logits, batch):
        return cross_entropy(logits, batch.action)

    return fit(net, clips(), clips(), loss, score, Fit(epochs=EPOCHS, **how), progress=False), seen


def test_what_has_converged_is_trained_once():
    done, _ = fitted([0.5, 0.6, 0.7, 0.71])
    assert done.converged and done.epochs == EPOCHS and done.validation == 0.71


def test_what_still_rises_is_trained_on_until_it_stops():
    done, seen = fitted([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.7, 0.7])
    assert done.converged and done.epochs == 2 * EPOCHS and done.validation == 0.7
    assert not torch.equal(seen[3]["1.weight"], seen[4]["1.weight"])


def test_what_never_stops_rising_is_said_so():
    done, _ = fitted([0.05 * k for k in range(12)])
    assert not done.converged and done.epochs == 3 * EPOCHS
    done, _ = fitted([0.05 * k for k in range(12)], rounds=1)
    assert not done.converged and done.epochs == EPOCHS


@pytest.mark.parametrize(
    ("scores", "best"), [([0.1, 0.2, 0.3, 0.9, 0.5, 0.6, 0.5, 0.5], 3), ([0.1, 0.2, 0.3, 0.9, 0.5, 0.95, 0.5, 0.5], 5)]
)
def test_the_best_epoch_of_all_rounds_is_kept(scores, best):
    done, seen = fitted(scores)
    assert done.epochs == len(scores)
    assert all(torch.equal(value, seen[best][name]) for name, value in done.net.state_dict().items())


def test_features_are_learned_from_as_they_are():
    features = torch.randn(12, 5, generator=torch.Generator().manual_seed(0))
    known = Clips(features, torch.arange(12) % 2, torch.zeros(12, 1), [""] * 12)
    net = nn.Linear(5, 2)
    how = Fit(epochs=1, rounds=1)
    fit(
        net,
        known,
        known,
        lambda logits, batch: cross_entropy(logits, batch.action),
        lambda *_: 0.5,
        how,
        progress=False,
    )
    assert torch.allclose(predict(net, known), net(features))


@pytest.mark.parametrize(("shift", "places"), [(0.0, 1), (0.25, 9)])  # a quarter of four pixels is one, either way
def test_clips_are_moved_by_a_share_of_their_size_or_not_at_all(shift, places):
    lit = clips()
    lit.video.zero_()[:, :, :, 1, 1] = 255
    seen = set()

    class Net(nn.Linear):
        def forward(self, clip):
            if self.training:
                seen.update(map(tuple, clip[:, 0, 0].nonzero()[:, 1:].tolist()))
            return super().forward(clip.flatten(1))

    def loss(logits, batch):
        return cross_entropy(logits, batch.action)

    how = Fit(epochs=8, rounds=1, flip=False, shift=shift)
    fit(Net(96, 2), lit, lit, loss, lambda *_: 0.0, how, progress=False)
    assert len(seen) == places and (1, 1) in seen
