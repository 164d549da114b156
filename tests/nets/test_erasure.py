"""Erasure: what two stills of a video agree in is gone, the rest is as it was."""

import torch

from actonym.nets.erasure import Erasure

DIM, VIDEOS = 8, 400


def stills():
    """Numbers 0 and 1 are a video's own; the others are new in every still."""
    own, new = torch.randn(VIDEOS, 2), torch.randn(2, VIDEOS, DIM - 2)
    return (torch.cat([own + 0.1 * torch.randn(VIDEOS, 2), one], 1) + 3 for one in new)


def test_it_begins_as_the_identity():
    x = torch.randn(4, 3, DIM)
    assert torch.equal(Erasure(DIM)(x), x)


def test_what_stills_have_in_common_is_gone_and_the_rest_stays():
    torch.manual_seed(0)
    net, (first, second) = Erasure(DIM), stills()
    assert net.set(first, second, 0.5) == 2
    shown = net(first)
    # With 400 videos directions are found to within some hundredths.
    assert shown[:, :2].std(0).max() < 0.1 and (shown[:, :2].mean(0) - 3).abs().max() < 0.2
    assert (shown[:, 2:] - first[:, 2:]).abs().mean() < 0.1
    own = first[:, 0] - first[:, 0].mean()
    linear = torch.linalg.lstsq(net(second) - net(second).mean(0), own[:, None]).solution
    left = ((net(second) - net(second).mean(0)) @ linear)[:, 0].std() / own.std()
    assert left < 0.2, "no line finds it"  # eight numbers of noise fit 400 points to about a seventh


def test_a_share_that_nothing_reaches_erases_nothing():
    torch.manual_seed(0)
    net, (first, second) = Erasure(DIM), stills()
    assert net.set(first, second, 1.1) == 0
    assert torch.allclose(net(first), first, atol=1e-5)


def test_numbers_that_never_change_do_no_harm():
    torch.manual_seed(0)
    net, (first, second) = Erasure(DIM), stills()
    first[:, -1] = second[:, -1] = 7.0
    net.set(first, second, 0.5)
    assert torch.allclose(net(first)[:, -1], torch.tensor(7.0), atol=1e-3) and net(first).isfinite().all()
