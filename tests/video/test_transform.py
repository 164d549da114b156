import pytest
import torch

from actonym.video import transform

LAYOUTS = [(3, 5, 12, 16), (2, 3, 5, 12, 16)]


@pytest.mark.parametrize("shape", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_resize_keeps_planes_and_frames_apart(shape, dtype):
    ids = torch.arange(15).view(3, 5, 1, 1).expand(shape).to(dtype)
    for size in [(6, 8), (24, 32), (7, 33)]:
        out = transform.resize(ids, size)
        assert out.shape == (*shape[:-2], *size) and out.dtype == dtype
        assert torch.allclose(out.float(), ids[..., :1, :1].float().expand(out.shape), atol=1e-4)


def test_shrinking_does_not_alias():
    stripes = (torch.arange(64) % 2).float().expand(3, 1, 64, 64)
    assert (transform.resize(stripes, (16, 16))[..., 2:-2] - 0.5).abs().max() < 0.05


def test_nearest_does_not_mix_values():
    mask = torch.tensor([0, 7]).repeat_interleave(8).expand(1, 2, 16, 16).to(torch.uint8)
    assert transform.resize(mask, (5, 5), nearest=True).unique().tolist() == [0, 7]
    assert transform.resize_short(mask, 32, nearest=True).unique().tolist() == [0, 7]
    assert len(transform.resize(mask, (5, 5)).unique()) > 2


@pytest.mark.parametrize("height, width, out", [(12, 16, (6, 8)), (16, 12, (8, 6)), (99, 98, (6, 6)), (3, 4, (6, 8))])
def test_resize_short(height, width, out):
    assert transform.resize_short(torch.zeros(3, 2, height, width), 6).shape[-2:] == out


@pytest.mark.parametrize("shape", LAYOUTS)
def test_crops_take_the_same_window_of_all_frames(shape):
    clip = torch.arange(12 * 16).view(12, 16).expand(shape)
    assert torch.equal(transform.crop(clip, 1, 2, 4, 5), clip[..., 1:5, 2:7])
    assert torch.equal(transform.centre_crop(clip, 8), clip[..., 2:10, 4:12])
    some = transform.random_crop(clip, 8, torch.Generator().manual_seed(0))
    assert torch.equal(some, transform.random_crop(clip, 8, torch.Generator().manual_seed(0)))
    flat = some.reshape(-1, 8, 8)
    assert (flat == flat[0]).all() and flat.shape[0] == clip[..., 0, 0].numel()


def test_random_crops_reach_every_corner():
    clip = torch.arange(12).view(3, 4).expand(3, 1, 3, 4)
    generator = torch.Generator().manual_seed(0)
    starts = {transform.random_crop(clip, 2, generator)[0, 0, 0, 0].item() for _ in range(100)}
    assert starts == {0, 1, 2, 4, 5, 6}


def test_a_window_outside_is_refused():
    with pytest.raises(ValueError, match="leaves a frame"):
        transform.centre_crop(torch.zeros(3, 1, 4, 4), 6)
    with pytest.raises(ValueError, match="leaves a frame"):
        transform.random_crop(torch.zeros(3, 1, 4, 4), 6)


def test_flip_mirrors_left_and_right():
    clip = torch.arange(4).expand(3, 2, 4, 4)
    assert transform.flip(clip)[0, 0, 0].tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("shape", LAYOUTS)
def test_normalize(shape):
    clip = torch.tensor([0.0, 0.5, 1.0]).view(3, 1, 1, 1).expand(shape)
    out = transform.normalize(clip, (0.0, 0.5, 0.5), (1.0, 1.0, 0.25))
    assert torch.equal(out, torch.tensor([0.0, 0.0, 2.0]).view(3, 1, 1, 1).expand(shape))
    assert transform.normalize(torch.full(shape, 255, dtype=torch.uint8), (0, 0, 0), (1, 1, 1)).max() == 1
