"""Attackers undo what can be undone, and not what is gone."""

import pytest
import torch

from actonym.attacks.inversion import Search, black_box, recovered, white_box

DIM = 12


@pytest.fixture(scope="module")
def raw():
    """Features of videos, `[V, N, D]`, correlated as real ones are."""
    torch.manual_seed(0)
    return torch.randn(300, 2, 6) @ torch.randn(6, DIM) + 0.3 * torch.randn(300, 2, DIM)


def rotate(features):
    """Looks like other features and hides nothing."""
    basis = torch.linalg.qr(torch.randn(DIM, DIM, generator=torch.Generator().manual_seed(1))).Q
    return torch.tanh(0.2 * features @ basis)


def erase(features):
    """Half of the numbers are gone."""
    return torch.cat([features[..., : DIM // 2], torch.zeros_like(features[..., DIM // 2 :])], -1)


def attack(anonymize, raw, steps=400):
    hidden = anonymize(raw).flatten(0, 1)
    flat = raw.flatten(0, 1)
    net = black_box(hidden[:400], flat[:400], (hidden[400:500], flat[400:500]), Search(steps, 3e-2))
    with torch.inference_mode():
        return recovered(net(hidden[500:]), flat[500:])


def test_black_box_learns_to_undo_a_rotation(raw):
    hidden = rotate(raw).flatten(0, 1)[500:]
    before = recovered(hidden, raw.flatten(0, 1)[500:])
    after = attack(rotate, raw)
    assert before["variance"] < 0.2 and after["variance"] > 0.9 and after["cosine"] > 0.95


def test_black_box_is_never_worse_than_what_it_saw(raw):
    """An anonymizer that does nothing: whatever training does, the start is kept if it is the best."""
    assert attack(lambda x: x, raw, steps=20)["variance"] > 0.999


def test_white_box_undoes_a_rotation(raw):
    found = white_box(rotate, rotate(raw[:20]), Search(600, 0.2))
    assert recovered(found, raw[:20])["variance"] > 0.95


def test_white_box_does_not_get_back_what_is_gone(raw):
    """It finds features that fit what it saw, and knows nothing of the rest."""
    found = white_box(erase, erase(raw[:20]), Search(200, 0.1))
    assert torch.allclose(erase(found), erase(raw[:20]), atol=1e-3)
    lost = (found - raw[:20])[..., DIM // 2 :].square().mean()
    assert lost > 0.5 * raw[:20, :, DIM // 2 :].square().mean()


def test_recovered_is_one_for_all_and_nought_for_the_mean(raw):
    assert recovered(raw, raw) == pytest.approx({"variance": 1.0, "cosine": 1.0}, abs=1e-5)
    mean = raw.flatten(0, 1).mean(0).expand_as(raw)
    assert recovered(mean, raw)["variance"] == pytest.approx(0, abs=1e-5)
