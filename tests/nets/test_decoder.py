import pytest
import torch

from actonym.errors import UserError
from actonym.nets.decoder import Decoder


@pytest.mark.parametrize("size", [16, 32, 64])
def test_begins_as_the_mean_picture_and_adds_the_line_and_the_layers(size):
    torch.manual_seed(0)
    net, picture = Decoder(5, size, width=4), torch.rand(3, size, size)
    features = torch.randn(7, 5)
    features[:, 0] = 3  # a feature that says nothing does not become infinite
    net.begin(features, picture)
    assert torch.equal(net(features), picture.expand(7, -1, -1, -1))
    net.line[1] = 0.5
    added = net(features) - picture
    assert torch.allclose(added, 0.5 * net.scaled(features)[:, 1, None, None, None].expand_as(added), atol=1e-5)
    net(features).square().sum().backward()
    assert all(value.grad is not None and value.grad.isfinite().all() for value in net.parameters())


@pytest.mark.parametrize("size", [0, 8, 48, 100])
def test_sizes_that_no_doubling_reaches_are_refused(size):
    with pytest.raises(UserError, match=f"not {size}"):
        Decoder(5, size)
