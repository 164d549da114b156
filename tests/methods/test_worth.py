"""What tubelets are worth: a slow twin, recognizers that look at one place, and recognizers that have changed since."""

import pytest
import torch
from torch import nn

from actonym.losses.action import action_loss
from actonym.methods.worth import Guide, Worth
from actonym.train.phase import Batch, Recognizers

TUBELET = (2, 4, 4)


class Place(nn.Module):
    """A recognizer that sees one tubelet's place of a clip and nothing else, in its first two frames."""

    def __init__(self, outputs, row, column):
        super().__init__()
        self.row, self.column, self.head = row, column, nn.Linear(3 * 2 * 4 * 4, outputs)

    def forward(self, clip):
        down, across = 4 * self.row, 4 * self.column
        return self.head(clip[:, :, :2, down : down + 4, across : across + 4].flatten(1))


@pytest.fixture
def nets():
    torch.manual_seed(0)
    return Recognizers(Place(3, 0, 0), Place(5, 1, 2), actions=3, attributes=5)


@pytest.fixture
def wide():
    """Recognizers that look everywhere."""
    torch.manual_seed(0)
    return Recognizers(*(nn.Sequential(nn.Flatten(), nn.Linear(3 * 4 * 12 * 12, n), nn.Tanh()) for n in (3, 5)))


def batch_of(count=4):
    clip = torch.rand(count, 3, 4, 12, 12, generator=torch.Generator().manual_seed(0))
    return Batch(clip, torch.arange(count) % 3, torch.eye(5)[:count], None, torch.arange(count))


def test_places_that_the_action_needs_are_worth_something(nets):
    worth = Worth(nets, TUBELET, 0.0, 1)(batch_of())
    assert worth.shape == (4, 2, 9)
    # Nine places are worth 1 on average, at all times the same: the one that is looked at 9.
    assert torch.allclose(worth, torch.tensor([9.0] + [0.0] * 8).expand(4, 2, 9), atol=1e-4)


def test_private_places_are_worth_less_than_nothing(nets):
    worth = Worth(nets, TUBELET, 0.5, 1)(batch_of())
    wanted = torch.zeros(9)
    wanted[0], wanted[3 + 2] = 9.0, -4.5
    assert torch.allclose(worth, wanted.expand(4, 2, 9), atol=1e-4)


def test_the_privacy_recognizer_is_shown_some_frames(nets):
    seen = []
    nets.privacy.register_forward_hook(lambda net, given, out: seen.append(given[0].shape[2]))
    for every in (1, 2):
        Worth(nets, TUBELET, 1.0, every)(batch_of())
    assert seen == [4, 2]


def test_twin(wide):
    batch = batch_of()
    worth = Worth(wide, TUBELET, 0.7, 1)(batch)
    clip = batch.clip.clone().requires_grad_()
    (needed,) = torch.autograd.grad(action_loss(wide.action(clip), batch.action), clip)
    (private,) = torch.autograd.grad(wide.privacy(clip).abs().sum(), clip)
    clip = clip.detach()
    for b in range(4):
        places = []
        for slope, usual in ((needed, clip.mean(2, keepdim=True)), (private, clip.mean((3, 4), keepdim=True))):
            weighed = (slope * (clip - usual)).abs()[b]
            sums = [weighed[:, :, 4 * i : 4 * i + 4, 4 * j : 4 * j + 4].sum() for i in range(3) for j in range(3)]
            places.append([value / (sum(sums) / 9) for value in sums])
        wanted = torch.tensor([a - 0.7 * p for a, p in zip(*places, strict=True)])
        assert torch.allclose(worth[b], wanted.expand(2, 9), atol=1e-4)


def test_it_keeps_to_what_the_recognizers_knew_when_first_asked(wide):
    worth, batch = Worth(wide, TUBELET, 0.5, 1), batch_of()
    before = Worth(wide, TUBELET, 0.5, 1)(batch)
    forget(wide)  # what they learn after it was made counts
    asked = worth(batch)
    assert not torch.allclose(asked, before)
    saved = worth.state_dict()
    forget(wide)  # and not what they learn after it was asked
    assert torch.equal(worth(batch), asked)
    resumed = Worth(wide, TUBELET, 0.5, 1)
    resumed.load_state_dict(saved)
    assert torch.equal(resumed(batch), asked), "nor in a run that was resumed"


def forget(nets):
    for net in (nets.action, nets.privacy):
        nn.init.normal_(net[1].weight, std=0.1)


def test_it_leaves_no_gradient_and_never_learns(nets):
    worth, batch = Worth(nets, TUBELET, 0.5, 1), batch_of()
    assert not worth(batch).requires_grad and not batch.clip.requires_grad
    assert all(parameter.grad is None for parameter in worth.parameters())
    assert not worth.train().training and not worth.action.training


def test_a_guide_tells_predictors_how_far_they_are_from_its_choice():
    """Of six tokens that are left, at some places of nine, the three that are worth most; who chooses is another's."""
    torch.manual_seed(0)
    worth, log_z = torch.rand(2, 1, 9).expand(2, 2, 9), torch.randn(2, 2, 6, 2).log_softmax(-1)
    place = torch.tensor([0, 2, 3, 5, 7, 8]).expand(2, 2, 6)
    guide, quiet = Guide(worth), Guide(worth, lambda log_z, place, count: ("theirs", count))
    best, ones = guide(log_z, place, 3)
    assert quiet(log_z, place, 3) == ("theirs", 3) and torch.equal(ones, torch.ones(2, 2, 3))
    told = 0.0
    for b in range(2):
        left = [worth[b, 0, n].item() for n in (0, 2, 3, 5, 7, 8)]
        good = sorted(range(6), key=left.__getitem__)[-3:]
        assert best[b].tolist() == [sorted(good)] * 2
        told -= sum(log_z[b, row, n, 0 if n in good else 1].item() for row in range(2) for n in range(6)) / 24
    assert guide.loss().item() == pytest.approx(told) == quiet.loss().item()
