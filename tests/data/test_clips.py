import pytest
import torch

from actonym.data import Clips, Stage, load_clips
from actonym.data.clips import to_bytes, to_floats
from actonym.methods import create


def clips_of(n=3, views=2):
    generator = torch.Generator().manual_seed(0)
    video = torch.randint(0, 256, (n * views, 3, 8, 16, 16), dtype=torch.uint8, generator=generator)
    return Clips(video, torch.arange(n), torch.eye(3)[:n], ["a"] * n, torch.ones_like(video[:, :1]), views)


def test_bytes_survive_floats():
    video = torch.arange(256, dtype=torch.uint8)
    assert torch.equal(to_bytes(to_floats(video)), video)


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


def test_load_clips_resizes_masks_without_mixing_people(world):
    clips = load_clips(world, "train", frames=16, size=24)
    assert clips.video.shape[-2:] == (24, 24)
    assert set(clips.mask.unique().tolist()) <= {0, 1, 2}
