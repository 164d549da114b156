import cv2
import numpy as np
import pytest
import torch

from actonym import methods
from actonym.errors import UserError
from actonym.methods.blur import gaussian_blur


def box_mask(clip):
    mask = torch.zeros_like(clip[:, :1])
    mask[..., 10, 8] = mask[..., 20, 12] = 1
    return mask


def test_gaussian_against_opencv():
    """OpenCV blurs bytes and floats with the same kernel; borders repeat as ours do."""
    frame = np.random.default_rng(0).random((40, 50, 3), np.float32)
    ours = gaussian_blur(torch.from_numpy(frame).permute(2, 0, 1)[None, :, None], 2.0)[0, :, 0].permute(1, 2, 0).numpy()
    theirs = cv2.GaussianBlur(frame, (13, 13), 2.0, borderType=cv2.BORDER_REPLICATE)
    assert np.abs(ours - theirs).max() < 1e-5


def test_a_wide_gaussian_is_taken_on_a_smaller_picture():
    """Within 2 % of the exact one, on a picture with edges."""
    frame = np.zeros((240, 320, 3), np.float32)
    frame[60:180, 100:150] = 1
    ours = (
        gaussian_blur(torch.from_numpy(frame).permute(2, 0, 1)[None, :, None], 14.4)[0, :, 0].permute(1, 2, 0).numpy()
    )
    theirs = cv2.GaussianBlur(frame, (87, 87), 14.4, borderType=cv2.BORDER_REPLICATE)
    assert np.abs(ours - theirs).max() < 0.02


def test_only_the_persons_box_changes():
    clip = torch.rand(1, 3, 4, 32, 32)
    out = methods.create("blur:strength=strong")(clip, box_mask(clip))
    inside = torch.zeros(32, 32, dtype=torch.bool)
    inside[10:21, 8:13] = True
    changed = (out != clip).any(1)[0]
    assert changed[:, inside].all() and not changed[:, ~inside].any()


def test_strong_is_stronger_than_weak_and_both_scale_with_the_frame():
    clip = torch.rand(1, 3, 1, 64, 64)
    weak, strong = (methods.create(f"blur:strength={s},finder=everywhere")(clip).std() for s in ("weak", "strong"))
    assert strong < weak < clip.std()
    large = torch.nn.functional.interpolate(clip[:, :, 0], scale_factor=4, mode="nearest")[:, :, None]
    assert abs(methods.create("blur:strength=weak,finder=everywhere")(large).std() - weak) < 0.2 * weak


def test_the_whole_frame_can_be_covered():
    clip = torch.rand(1, 3, 2, 32, 32)
    assert (methods.create("blur:finder=everywhere")(clip) != clip).float().mean() > 0.99
    assert methods.create("blacken:finder=everywhere")(clip).max() == 0


def test_each_person_has_a_box_of_their_own():
    clip = torch.ones(1, 3, 1, 32, 32)
    mask = torch.zeros_like(clip[:, :1])
    mask[..., 2:6, 2:6], mask[..., 20:30, 20:30] = 1, 2
    out = methods.create("blacken")(clip, mask)
    assert out[..., 2:6, 2:6].max() == 0 and out[..., 20:30, 20:30].max() == 0
    assert out[..., 10:15, 10:15].min() == 1, "what lies between two people stays"


def test_unknown_strength_and_finder():
    with pytest.raises(UserError, match="weak, strong"):
        methods.create("blur:strength=medium")
    with pytest.raises(UserError, match="unknown finder"):
        methods.create("blur:finder=nobody")
