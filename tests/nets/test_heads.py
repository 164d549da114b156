import pytest
import torch
from torch import nn

from actonym.nets.heads import features_and_answers, last_linear, projecting
from actonym.nets.recognizers import NETS, build
from actonym.nets.reversal import reverse


@pytest.mark.parametrize("name", ["frame", "d3d", "vit-tiny"])
def test_features_are_what_the_last_layer_sees(name):
    assert name in NETS
    torch.manual_seed(0)
    net = build(name, 5, 4, 32).eval()
    clip = torch.rand(2, 3, 4, 32, 32)
    features, answers = features_and_answers(net, clip)
    assert torch.equal(answers, net(clip))
    assert torch.allclose(last_linear(net)[1](features), answers, atol=1e-6)


def test_a_projection_takes_the_place_of_the_answers():
    net = build("frame", 5, 2, 32)
    projected = projecting(net, 16, 8)
    assert projected(torch.rand(2, 3, 1, 32, 32)).shape == (2, 8)
    assert net(torch.rand(2, 3, 1, 32, 32)).shape == (2, 5), "the recognizer itself stays as it was"
    assert not {id(p) for p in net.parameters()} & {id(p) for p in projected.parameters()}


def test_a_network_without_a_last_linear_layer_has_no_features():
    with pytest.raises(ValueError, match="no linear layer"):
        projecting(nn.Sequential(nn.Conv2d(3, 3, 1)), 4, 4)


def test_reversal_turns_the_gradient_round():
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    out = reverse(x, 0.5)
    assert torch.equal(out, x)
    (out * torch.tensor([3.0, 4.0])).sum().backward()
    assert torch.equal(x.grad, torch.tensor([-1.5, -2.0]))
