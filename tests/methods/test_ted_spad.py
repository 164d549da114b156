"""TeD-SPAD: the released settings, the triplets, and the sum of its losses."""

import pytest
import torch
from game import batch_of, losses, recognizers
from torch.nn.functional import cross_entropy

from actonym import methods
from actonym.losses.contrastive import triplet
from actonym.methods.ted_spad import TeDSPAD, TeDSPADGame, halves, there_and_back


def test_the_paper_preset_is_the_papers():
    with torch.device("meta"):
        method = methods.create("ted-spad", "paper")
    settings = method.training_settings
    assert (settings["action"], settings["temporal"], settings["margin"], settings["privacy"]) == (0.7, 0.1, 1.0, 1.0)
    assert (settings["lr"], settings["recognizer_lr"], settings["privacy_lr"]) == (4e-5, 1e-4, 1e-4)
    assert "privacy" not in method.card.needs


def test_halves_are_different_times():
    clip = torch.arange(5.0).view(1, 1, 5, 1, 1)
    seen = {tuple(tuple(half.flatten().tolist()) for half in halves(clip)) for _ in range(30)}
    assert seen == {((0, 1), (3, 4)), ((3, 4), (0, 1))}
    assert there_and_back(clip[:, :, :2], 5).flatten().tolist() == [0, 1, 1, 0, 0]
    assert there_and_back(clip[:, :, :3], 6).flatten().tolist() == [0, 1, 2, 2, 1, 0]


def test_the_losses_against_sums_written_out(monkeypatch):
    """Without the crop, so that anchor and positive are the same frames: 0.7 (CE + 0.1 triplet) - NT-Xent."""
    monkeypatch.setattr("actonym.methods.ted_spad.flip_and_shift", lambda clip, mask, noise, flip: (clip / 2, mask))
    torch.manual_seed(0)
    method, nets, batch = TeDSPAD(2, 16), recognizers(), batch_of()
    game = TeDSPADGame(method, nets, hidden_layer=8, embedding=4, action=0.7, temporal=0.1, margin=1.0)
    monkeypatch.setattr(game, "contrast", lambda clip: torch.tensor([0.5, 1.5]))
    name, loss = losses(game.phases()[-1].step, batch)[0]
    out = method(batch.clip).detach()
    pool = nets.action[:2]
    slow = []
    for first, second in ((out[:, :, :2], out[:, :, 2:]), (out[:, :, 2:], out[:, :, :2])):
        a, p, n = (pool(torch.cat([x, x.flip(2)], 2)) for x in (first, first / 2, second))
        distinct = float(triplet(a, p, n, 1.0).mean())
        slow.append(0.7 * (float(cross_entropy(nets.action(out), batch.action)) + 0.1 * distinct) - 1.0)
    assert name == "anonymizer" and any(loss == pytest.approx(value, rel=1e-4) for value in slow), (loss, slow)
