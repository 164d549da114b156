import pytest
import torch

from actonym.video.sample import clip_indices


def test_one_clip_is_the_centre():
    assert clip_indices(10, 4).tolist() == [[3, 4, 5, 6]]


def test_several_clips_span_the_video():
    clips = clip_indices(100, 4, rate=2, clips=5)
    assert clips.shape == (5, 4)
    assert clips[0, 0] == 0 and clips[-1, -1] == 99
    gaps = clips[:, 0].diff()
    assert gaps.max() - gaps.min() <= 1
    assert (clips.diff(dim=1) == 2).all()


def test_too_short_for_the_rate_lowers_the_rate():
    assert clip_indices(9, 4, rate=4).tolist() == [[1, 3, 5, 7]]


def test_shorter_than_the_clip_repeats_the_last_frame():
    assert clip_indices(3, 5, rate=4, clips=2).tolist() == [[0, 1, 2, 2, 2]] * 2
    assert clip_indices(1, 3).tolist() == [[0, 0, 0]]


def test_random_clips_come_from_the_generator_and_stay_inside():
    def draw(seed: int) -> torch.Tensor:
        return clip_indices(40, 8, rate=2, clips=200, generator=torch.Generator().manual_seed(seed))

    assert torch.equal(draw(1), draw(1)) and not torch.equal(draw(1), draw(2))
    assert draw(1).min() == 0 and draw(1).max() == 39


@pytest.mark.parametrize("length", [1, 7, 15, 16, 17, 40])
@pytest.mark.parametrize("frames, rate", [(1, 1), (16, 1), (16, 3), (16, 8)])
def test_every_index_is_a_frame(length, frames, rate):
    for clips in (1, 2, 5):
        indices = clip_indices(length, frames, rate, clips)
        assert indices.shape == (clips, frames) and indices.dtype == torch.int64
        assert indices.min() >= 0 and indices.max() < length
        assert (indices.diff(dim=1) >= 0).all()


def test_nothing_to_take_is_refused():
    with pytest.raises(ValueError, match="0 frames"):
        clip_indices(0, 4)
