from dataclasses import replace

import pytest
import torch
from layouts import film

from actonym.data import Clips, Sample, Stage, load_clips
from actonym.data.clips import to_bytes, to_floats
from actonym.errors import UserError
from actonym.methods import create
from actonym.video import FileVideo


def clips_of(n=3, views=2):
    generator = torch.Generator().manual_seed(0)
    video = torch.randint(0, 256, (n * views, 3, 8, 16, 16), dtype=torch.uint8, generator=generator)
    return Clips(video, torch.arange(n), torch.eye(3)[:n], ["a"] * n, torch.ones_like(video[:, :1]), views)


def test_bytes_survive_floats():
    video = torch.arange(256, dtype=torch.uint8)
    assert torch.equal(to_bytes(to_floats(video)), video)


def test_large_clips_go_through_a_method_a_few_at_a_time(monkeypatch):
    video, seen = torch.randint(0, 256, (7, 3, 2, 8, 8), dtype=torch.uint8), []
    clips = Clips(video, torch.zeros(7, dtype=torch.long), torch.zeros(7, 1), [""] * 7)
    monkeypatch.setattr("actonym.data.clips.AT_ONCE", 2 * video[0].numel())
    assert torch.equal(clips.map(lambda clip, mask: seen.append(len(clip)) or clip).video, video)
    assert seen == [2, 2, 2, 1]


def test_map_applies_a_method_clip_by_clip_with_its_mask():
    clips = clips_of()
    assert torch.equal(clips.map(create("raw"), batch=4).video, clips.video)
    assert clips.map(create("blacken"), batch=4).video.max() == 0
    assert clips.video.max() > 0, "the raw clips stay"


def test_thinned_takes_evenly_spaced_frames():
    clips = clips_of()
    assert torch.equal(clips.thinned(2).video, clips.video[:, :, [2, 6]])
    assert torch.equal(clips.thinned(100).video, clips.video)


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path))
    return Stage(size=32, frames=20, train=4, val=2, test=2)


def test_load_clips_reads_every_view_of_a_video(world):
    clips = load_clips(world, "train", frames=16, size=32, clips=3, crops=1)
    assert clips.video.shape == (12, 3, 16, 32, 32) and clips.views == 3 and len(clips) == 4
    first = world.samples("train")[0].video.frames(range(20))
    assert torch.equal(clips.video[0], first[:, :16]) and torch.equal(clips.video[2], first[:, 4:])
    assert clips.mask.shape == (12, 1, 16, 32, 32)


def test_a_dataset_knows_which_frames_the_papers_take(world, monkeypatch):
    clips = {rate: load_clips(world, "train", frames=4, size=32, rate=rate).video for rate in (None, 2, 4)}
    assert torch.equal(clips[None], clips[2])
    monkeypatch.setattr(type(world), "card", replace(world.card, rate=4))
    assert torch.equal(load_clips(world, "train", frames=4, size=32, rate=None).video, clips[4])
    assert not torch.equal(clips[2], clips[4])


def test_load_clips_resizes_masks_without_mixing_people(world):
    clips = load_clips(world, "train", frames=16, size=24)
    assert clips.video.shape[-2:] == (24, 24)
    assert set(clips.mask.unique().tolist()) <= {0, 1, 2}


class Videos:
    """A dataset of files, each either a video or rubbish."""

    name = "mine"
    actions, attributes = ("a",), ()

    def __init__(self, folder, good, bad):
        paths = [folder / f"{kind}{k}.mp4" for kind, count in (("bad", bad), ("good", good)) for k in range(count)]
        film(*paths)
        for path in paths[:bad]:
            path.write_bytes(b"rubbish")
        self.paths = paths

    def samples(self, split):
        return [Sample(path.name, FileVideo(path), k) for k, path in enumerate(self.paths)]


def test_a_corrupt_video_is_named_skipped_and_counted(tmp_path, capsys):
    clips = load_clips(Videos(tmp_path, good=4, bad=1), "train", frames=4, size=16)
    assert clips.action.tolist() == [1, 2, 3, 4] and clips.skipped == ["bad0.mp4"] and len(clips.video) == 4
    err = capsys.readouterr().err
    assert "skipped bad0.mp4" in err and "1 of 5 train videos of mine were skipped" in err


@pytest.mark.parametrize(("good", "bad", "message"), [(0, 1, "1 of the first 1"), (10, 2, "2 of the first 2")])
def test_too_many_corrupt_videos_are_an_error(tmp_path, good, bad, message):
    with pytest.raises(UserError, match=f"{message} train videos of mine cannot be read"):
        load_clips(Videos(tmp_path, good, bad), "train", frames=4, size=16)


@pytest.mark.parametrize("progress", [True, False])
def test_reading_shows_a_bar_unless_it_is_to_be_quiet(tmp_path, capsys, monkeypatch, progress):
    monkeypatch.setattr("actonym.data.clips.SHOW_PROGRESS", 1)
    load_clips(Videos(tmp_path, good=2, bad=0), "train", frames=4, size=16, progress=progress)
    assert ("reading mine (train)" in capsys.readouterr().err) == progress
