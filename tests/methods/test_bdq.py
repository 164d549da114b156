"""BDQ: blur, difference and quantization against slow twins; scaled per clip, never over the batch."""

from math import exp, log

import pytest
import torch
from game import batch_of, losses, recognizers

from actonym import methods
from actonym.errors import UserError
from actonym.methods.bdq import BDQ, BDQGame, difference


def test_sixteen_numbers_are_learned():
    method = methods.create("bdq", "paper")
    assert sum(p.numel() for p in method.parameters() if p.requires_grad) == 16
    assert method.steps.tolist() == [k + 0.5 for k in range(15)] and method.slope == 5.0
    settings = method.training_settings
    assert settings["privacy"] == 2.0 and settings["objective"] == "certainty" and settings["optimizer"] == "sgd"


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_blur_against_a_slow_twin(sigma):
    clip = torch.rand(1, 3, 2, 6, 7)
    weights = [[exp(-(i * i + j * j) / (2 * sigma**2)) for j in range(-2, 3)] for i in range(-2, 3)]
    total = sum(map(sum, weights))
    slow = torch.zeros_like(clip)
    for y in range(6):
        for x in range(7):
            for i in range(-2, 3):
                for j in range(-2, 3):
                    seen = clip[..., min(max(y + i, 0), 5), min(max(x + j, 0), 6)]
                    slow[..., y, x] += weights[i + 2][j + 2] / total * seen
    assert torch.allclose(BDQ(sigma=sigma, side=6).blur(clip), slow, atol=1e-5)


def test_differences_of_neighbours_as_many_as_frames():
    clip = torch.tensor([1.0, 3.0, 4.0, 2.0]).view(1, 1, 4, 1, 1)
    assert difference(clip).flatten().tolist() == [2, 2, 1, -2]
    assert difference(clip[:, :, :1]).flatten().tolist() == [0]


def test_quantization_against_a_slow_twin():
    torch.manual_seed(0)
    method = BDQ(levels=4, side=2)
    with torch.no_grad():
        method.steps.copy_(torch.tensor([-1.0, 0.7, 2.0, 9.0]))  # two of them out of range
    moved = torch.randn(2, 3, 2, 2, 2)
    found = method.quantize(moved)
    for clip in range(2):
        low, high = float(moved[clip].min()), float(moved[clip].max())
        for value, out in zip(moved[clip].flatten().tolist(), found[clip].flatten().tolist(), strict=True):
            scaled = (value - low) / (high - low) * 4
            slow = sum(1 / (1 + exp(-5 * (scaled - min(max(step, 0), 4)))) for step in (-1.0, 0.7, 2.0, 9.0)) / 4
            assert out == pytest.approx(slow, abs=1e-5)


def test_a_wilder_clip_in_the_batch_changes_nothing():
    method = BDQ(side=16).eval()
    calm, wild = 0.5 + 0.01 * torch.rand(1, 3, 4, 16, 16), torch.rand(1, 3, 4, 16, 16)
    assert torch.allclose(method(torch.cat([calm, wild]))[:1], method(calm), atol=1e-6)


def test_what_stands_still_is_not_shown():
    still = torch.rand(1, 3, 1, 16, 16).expand(1, 3, 4, 16, 16)
    out = BDQ(side=16)(still)
    assert out.std() < 1e-3, "rounding is not stretched to a picture"


def test_the_networks_rehearse_on_what_it_shows():
    method, nets, batch = BDQ(side=16), recognizers(), batch_of()
    given = losses(BDQGame(method, nets).phases()[0].step, batch)
    assert [name for name, _ in given] == ["action", "privacy"], "there is nothing to reconstruct"
    shown = method(batch.clip).detach()
    assert given[0][1] == pytest.approx(float(torch.nn.functional.cross_entropy(nets.action(shown), batch.action)))


def test_the_anonymizers_loss_against_sums_written_out():
    """CE - 2 * entropy of the privacy network's answers, which here are five of yes or no."""
    method, nets, batch = BDQ(side=16), recognizers(), batch_of()
    nets.privacy.eval()  # without its dropout
    game = BDQGame(method, nets, action=1.0, privacy=2.0, objective="certainty")
    name, loss = losses(game.phases()[-1].step, batch)[0]
    shown = method(batch.clip).detach()
    entropies = []
    for answer in nets.privacy(shown).sigmoid().flatten().tolist():
        entropies.append(-answer * log(answer) - (1 - answer) * log(1 - answer))
    own = float(torch.nn.functional.cross_entropy(nets.action(shown), batch.action))
    assert name == "anonymizer" and loss == pytest.approx(own - 2 * sum(entropies) / len(entropies), rel=1e-4)


def test_settings_that_cannot_be():
    with pytest.raises(UserError, match="kernel must be odd"):
        methods.create("bdq:kernel=4")
