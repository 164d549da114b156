"""Collective: style and content against slow twins, and that no privacy label is read."""

import pytest
import torch
from game import batch_of, clips, losses, recognizers

from actonym.methods.collective import Collective, CollectiveGame, apart, gram, style
from actonym.train import make_fabric, run


def small():
    torch.manual_seed(0)
    return Collective(2, 1, 16)


def test_gram_against_a_slow_twin():
    x = torch.randn(2, 3, 5)
    for b in range(2):
        for i in range(3):
            for j in range(3):
                slow = sum(float(x[b, i, n] * x[b, j, n]) for n in range(5)) / 5
                assert float(gram(x)[b, i, j]) == pytest.approx(slow, abs=1e-5)


def test_style_has_the_clip_and_every_convolution():
    net = recognizers().privacy.eval()
    clip = torch.rand(2, 3, 2, 16, 16)
    maps = style(net, clip)
    assert [tuple(one.shape) for one in maps] == [(2, 3, 3), (2, 4, 4), (2, 8, 8)]
    frames = clip.transpose(1, 2).reshape(4, 3, 16, 16) * 2 - 1
    first = net.layers[0][0](frames).view(2, 2, 4, -1)
    slow = torch.einsum("btcn,btdn->bcd", first, first) / (2 * first.shape[-1])
    assert torch.allclose(maps[1], slow, atol=1e-4)


def test_noise_has_the_style_of_noise_and_a_picture_has_not():
    game = CollectiveGame(small(), recognizers(), frames=4)
    torch.manual_seed(0)
    batch = batch_of()
    noise, flat = torch.rand_like(batch.clip), torch.full_like(batch.clip, 0.5)
    assert game.hidden(noise, batch) < 0.1 * game.hidden(flat, batch)


def test_content_is_what_the_recognizer_sees():
    nets, batch = recognizers(), batch_of()
    game = CollectiveGame(small(), nets)
    assert float(game.kept(batch.clip, batch)) == 0
    pool, other = nets.action[:2], batch.clip.flip(-1)
    slow = (pool(other) - pool(batch.clip)).square().mean() / pool(batch.clip).square().mean()
    assert float(game.kept(other, batch)) == pytest.approx(float(slow), rel=1e-4)
    assert float(apart(torch.tensor([3.0]), torch.tensor([2.0]))) == pytest.approx(0.25)


def test_the_anonymizers_loss_against_sums_written_out(monkeypatch):
    """`action` times the content and `privacy` times the style, the mean over maps of their distance to noise."""
    monkeypatch.setattr("torch.rand_like", lambda x: torch.linspace(0, 1, x.numel()).view_as(x))
    method, nets, batch = small(), recognizers(), batch_of()
    game = CollectiveGame(method, nets, action=2.0, privacy=3.0, frames=4)
    name, loss = losses(game.phases()[-1].step, batch)[0]
    out = method(batch.clip).detach()
    noise = torch.linspace(0, 1, out.numel()).view_as(out)
    away = []
    for shown, wanted in zip(style(game.spy, out), style(game.spy, noise), strict=True):
        mean = sum(wanted) / len(wanted)
        away.append(
            sum(float((one - mean).square().mean()) for one in shown) / len(shown) / float(mean.square().mean())
        )
    slow = 2 * float(game.kept(out, batch)) + 3 * sum(away) / len(away)
    assert name == "anonymizer" and loss == pytest.approx(slow, rel=1e-3)


def test_nobody_attacks_and_no_private_label_is_read():
    def trained(garbage):
        method, nets = small(), recognizers()
        nets.validation = clips(8, garbage)
        game = CollectiveGame(method, nets, rehearsal=1, adversarial=1)
        assert "privacy" not in dict(losses(game.phases()[-1].step, batch_of()))
        history = run(game.phases(), clips(12, garbage), fabric=make_fabric(accelerator="cpu"), seed=0, progress=False)
        return method.state_dict(), history.phases[-1].points

    (one, first), (other, second) = trained(False), trained(True)
    assert first == second and all(torch.equal(one[key], other[key]) for key in one)
