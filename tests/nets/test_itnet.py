"""ITNet's start: a sharp picture before anything was learned."""

import torch

from actonym.nets.itnet import ITNet


def correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    return float(torch.corrcoef(torch.stack([a.flatten(), b.flatten()]))[0, 1])


def test_it_starts_by_showing_the_brightness() -> None:
    """Noise has every frequency: whatever is lost on the way down and up again would be missed."""
    torch.manual_seed(0)
    images = torch.rand(4, 3, 32, 32)
    net = ITNet(8, 2, 5)
    before = net(images).detach()
    net.start_as_identity()
    after = net(images).detach()
    for picture, old, new in zip(images.mean(1), before, after, strict=True):
        assert abs(correlation(picture, old[0])) < 0.8
        assert correlation(picture, new[0]) > 0.95
    assert 0.05 < after.std() < 0.3, "neither flat nor cut off"


def test_and_all_of_it_still_learns() -> None:
    torch.manual_seed(0)
    net = ITNet(8, 1, 3)
    net.start_as_identity()
    net(torch.rand(2, 3, 16, 16)).square().sum().backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in net.parameters())
