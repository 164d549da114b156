import pytest
import torch

from actonym import methods


def test_factor_two_averages_blocks_of_two():
    """Slow twin: means of 2x2 blocks; a picture made of such blocks keeps its block means in the middle of each."""
    clip = torch.rand(1, 3, 2, 8, 8)
    small = clip.reshape(1, 3, 2, 4, 2, 4, 2).mean((4, 6))
    out = methods.create("downsample:factor=2")(clip)
    again = out.reshape(1, 3, 2, 4, 2, 4, 2).mean((4, 6))
    assert torch.allclose(again.mean((-1, -2)), small.mean((-1, -2)), atol=0.05)
    constant = small[..., :1, :1].expand(1, 3, 2, 8, 8)
    assert torch.allclose(methods.create("downsample:factor=2")(constant), constant, atol=1e-6)


@pytest.mark.parametrize("factor", [1, 2, 3, 4, 7.5, 100])
def test_information_left(factor):
    """What comes out is made of at most (64 / factor)^2 numbers per plane: the rank of a frame tells."""
    frame = methods.create(f"downsample:factor={factor}")(torch.rand(1, 3, 1, 64, 64))[0, 0, 0]
    assert torch.linalg.matrix_rank(frame, atol=1e-4) <= max(1, round(64 / factor))
