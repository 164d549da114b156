"""Codes: few vectors come out, whatever goes in."""

import pytest
import torch

from actonym.nets.codes import Codes

DIM = 8


def made():
    torch.manual_seed(0)
    net = Codes(DIM, 4).eval()
    x = torch.randn(60, DIM)
    net.set(x, torch.arange(60) % 3)
    return net, x


def test_each_vector_becomes_the_mean_of_the_chosen_label():
    net, x = made()
    assert torch.allclose(net.codes[1], x[1::3].mean(0), atol=1e-6)
    assert torch.allclose(net.codes[3], x.mean(0), atol=1e-6), "a label that nobody has gives nothing away"
    out = net(x.view(20, 3, DIM)).detach()
    assert out.shape == (20, 3, DIM)
    assert torch.allclose(out.view(60, DIM), net.codes[net.choose(x).argmax(-1)], atol=1e-6)


def test_an_attacker_has_gradients():
    net, x = made()
    x.requires_grad_()
    net(x).square().sum().backward()
    assert x.grad.abs().sum() > 0


def test_before_there_are_codes_nothing_passes():
    assert not Codes(DIM, 4).eval()(torch.randn(5, DIM)).any()
    with pytest.raises(ValueError, match="at least 2 codes"):
        Codes(DIM, 1)
