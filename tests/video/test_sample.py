import pytest
import torch
from make_video import RED, close, frame_id, make

from actonym.video.sample import FileVideo, clip_indices, views


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


def test_three_views_lie_along_the_long_side():
    clip = torch.arange(8.0).expand(3, 2, 4, 8)
    left, centre, right = views(clip, 4, crops=3)
    assert left.shape == (3, 2, 4, 4)
    assert [view[0, 0, 0, 0].item() for view in (left, centre, right)] == [0, 2, 4]
    assert torch.equal(views(clip, 4)[0], centre)
    tall = views(clip.transpose(-1, -2), 4, crops=3)
    assert [view[0, 0, 0, 0].item() for view in tall] == [0, 2, 4]


def test_views_bring_the_short_side_to_size():
    assert views(torch.zeros(2, 3, 5, 24, 32), 12, crops=3).shape == (3, 2, 3, 5, 12, 12)


def test_file_video(tmp_path):
    video = FileVideo(make(tmp_path / "a.mp4", count=20))
    assert video.length == 20 and video.mask([0]) is None
    frames = video.frames([12, 3, 3, 19])
    assert frames.shape == (3, 4, 48, 64) and frames.dtype == torch.uint8 and frames.is_contiguous()
    assert [frame_id(frame.permute(1, 2, 0).numpy()) for frame in frames.unbind(1)] == [12, 3, 3, 19]
    assert close(frames[:, 0, 10, 10].tolist(), RED)


def test_file_video_reads_no_further_than_needed(tmp_path):
    path = make(tmp_path / "a.mkv", count=50)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 9 // 10])
    assert FileVideo(path).frames([0, 1, 2]).shape[1] == 3
