import pytest
import torch

from actonym.nets.tubelets import cosines, cut, filled, grid_of, join, low_frequencies, rarity


def test_cut_takes_boxes_and_join_puts_them_back():
    clip = torch.rand(2, 3, 4, 6, 8)
    box = (2, 3, 4)
    parts = cut(clip, box)
    assert parts.shape == (2, 2, 4, 3 * 24) and grid_of(clip, box) == (2, 2, 2)
    assert torch.equal(parts[1, 1, 2].view(3, 2, 3, 4), clip[1, :, 2:4, 3:6, 0:4])
    assert torch.equal(join(parts, grid_of(clip, box), box), clip)


def test_filled_repeats_the_end():
    clip = torch.rand(1, 3, 3, 5, 8)
    whole = filled(clip, (2, 4, 4))
    assert whole.shape == (1, 3, 4, 8, 8)
    assert torch.equal(whole[:, :, 3, :5], clip[:, :, 2]) and torch.equal(whole[:, :, :3, 6], clip[:, :, :, 4])
    assert filled(whole, (2, 4, 4)) is whole


def test_cosines_are_orthonormal():
    assert torch.allclose(cosines(8) @ cosines(8).T, torch.eye(8), atol=1e-6)


def test_low_frequencies_hold_what_is_smooth():
    basis = low_frequencies((2, 8, 8), 96)
    assert torch.allclose(basis @ basis.T, torch.eye(96), atol=1e-5)
    ramp = torch.linspace(0, 1, 8).expand(3, 2, 8, 8).flatten()
    assert torch.allclose(basis.T @ (basis @ ramp), ramp, atol=0.02)
    assert torch.allclose(low_frequencies((2, 2, 2), 24).T @ low_frequencies((2, 2, 2), 24), torch.eye(24), atol=1e-5)
    with pytest.raises(ValueError, match="fewer than 25"):
        low_frequencies((2, 2, 2), 25)


def test_what_is_rare_is_made_loud():
    """In the order of the waves: the mean brightness, then what is as slow across, down and in time."""
    assert rarity((2, 8, 8), 4).tolist() == [1.0, 2.0, 2.0, 8.0]
