"""What every learned per-frame method must keep: a frame of the output is made of that frame of the input alone."""

import pytest
import torch

from actonym import methods
from actonym.methods.per_frame import PerFrame

NAMES = [name for name, method in methods.registry().items() if issubclass(method, PerFrame)]


def small(name):
    torch.manual_seed(0)
    return methods.create(f"{name}:width=2,side=32").eval()


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_depends_on_that_frame_only(name):
    """All three planes: the first 'picture' of a wrong reshape is the red plane of three frames."""
    method = small(name)
    clip = torch.rand(1, 3, 5, 32, 32, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        before = method(clip)
        for frame in range(5):
            for plane in range(3):
                changed = clip.clone()
                changed[0, plane, frame] = 1 - changed[0, plane, frame]
                moved = (method(changed) - before).abs().amax((0, 1, 3, 4))
                assert moved[frame] > 1e-7, f"plane {plane} of frame {frame} is not seen"
                assert (moved[torch.arange(5) != frame] < 1e-6).all(), f"frame {frame} is seen in other frames"


@pytest.mark.parametrize("name", NAMES)
def test_frames_in_another_order_come_out_in_that_order(name):
    method = small(name)
    clip = torch.rand(2, 3, 4, 32, 32)
    order = [2, 0, 3, 1]
    with torch.inference_mode():
        assert torch.allclose(method(clip[:, :, order]), method(clip)[:, :, order], atol=1e-5)


def test_large_video_is_worked_on_at_the_side_that_was_learned():
    method, sizes = small("spact"), []
    method.net.register_forward_pre_hook(lambda _, inputs: sizes.append(tuple(inputs[0].shape[-2:])))
    out = method(torch.rand(1, 3, 1, 96, 128))
    assert out.shape == (1, 3, 1, 96, 128)
    assert sizes == [(32, 64)], "32 x 43, filled up to a multiple of 32: squares of two pixels, halved four times"
