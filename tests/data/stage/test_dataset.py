"""What holds in every world of the stage, and the dataset around them."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from actonym.data import Stage, load_clips, open_dataset
from actonym.data.cache import cache_dir
from actonym.data.stage.dataset import WORLDS
from actonym.errors import UserError

every_world = pytest.mark.parametrize("name", WORLDS)
OTHERS = ("bias-f", "bias-m", "watch", "walks")  # their labels are counted out, and tested by themselves
coins = pytest.mark.parametrize("name", [name for name in WORLDS if name not in OTHERS])


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """A small stage of each world, in a cache of their own."""
    patch = pytest.MonkeyPatch()
    patch.setenv("ACTONYM_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield {
        name: Stage(size=48, train=12, val=6, test=6, world=name, clips=min(3, WORLDS[name].clips)) for name in WORLDS
    }
    patch.undo()


@every_world
def test_a_sample_says_all_that_is_true(worlds, name):
    world = worlds[name]
    sample = world.samples("train")[0]
    frames = range(sample.video.length)
    assert sample.video.length == 16 * world.clips
    assert sample.video.frames(frames).shape == (3, 16 * world.clips, 48, 48)
    assert sample.video.frames(frames).dtype == torch.uint8
    assert set(sample.video.mask(frames).unique().tolist()) <= set(range(20))
    depth = sample.video.depth(frames)
    assert depth.shape == (1, 16 * world.clips, 48, 48) and depth.min() > 0 and depth.max() < 10
    assert len(sample.privacy) == len(world.attributes) and set(sample.privacy) <= {0, 1}
    assert sample.text == world.actions[sample.action].replace("_", " ")
    assert sample.domain == ("stage" if name == "puppets" else f"stage-{name}")
    clips = load_clips(world, "test", frames=8, size=32)
    assert clips.video.shape == (6, 3, 8, 32, 32) and clips.privacy.shape == (6, len(world.attributes))


@every_world
def test_people_are_where_the_mask_is_and_nearer_than_what_is_behind_them(worlds, name):
    for row in range(4):
        film = worlds[name].film("train", row)
        shown = film.mask[0] == 1  # in the first frame nothing hides them
        assert 0.01 < shown.mean() < 0.8, "there, and not everywhere"
        assert film.depth[0][shown].mean() < film.depth[0][film.mask[0] == 0].mean()


def test_nobody_is_in_two_splits_or_two_worlds(worlds):
    people = [{s.subject for s in world.samples(split)} for world in worlds.values() for split in world.counts]
    assert all(people) and sum(map(len, people)) == len(set.union(*people))


@every_world
def test_same_seed_same_pixels_other_seed_other_pixels(name):
    first, again, other = (Stage(size=32, seed=seed, world=name, clips=1).film("train", 5) for seed in (0, 0, 1))
    assert np.array_equal(first.frames, again.frames) and np.array_equal(first.depth, again.depth)
    assert not np.array_equal(first.frames, other.frames)


def test_pixels_are_the_same_in_another_process():
    code = "from actonym.data import Stage\n"
    code += "films = [Stage(size=32, world=name, clips=1).film('test', 3) for name in " + repr(list(WORLDS)) + "]\n"
    code += "print([int(film.frames.astype('int64').sum()) for film in films])"
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    here = [int(Stage(size=32, world=name, clips=1).film("test", 3).frames.astype("int64").sum()) for name in WORLDS]
    assert there.strip() == str(here) and len(set(here)) == len(WORLDS)


@every_world
def test_cache_gives_what_was_rendered(worlds, name):
    direct = torch.from_numpy(worlds[name].film("test", 4).frames).permute(3, 0, 1, 2)
    video = worlds[name].samples("test")[4].video
    assert torch.equal(video.frames(range(video.length)), direct)
    assert not list(cache_dir("stage").rglob("*.part"))


def bits(world, split="train"):
    samples = world.samples(split)
    return np.array([s.action for s in samples]), np.array([s.privacy for s in samples])


@coins
def test_attributes_are_independent_of_the_action(name):
    """2,000 videos: the share of an attribute within an action is within 4.5 sigma of its share."""
    world = Stage(train=2000, world=name)
    action, labels = bits(world)
    share = labels.mean(0)
    if name != "rooms":  # there one to three of eight objects are seen, and one or two of six scenes
        assert np.abs(share - 0.5).max() < 0.05, "fair coins"
    within = np.stack([labels[action == a].mean(0) for a in range(len(world.actions))])
    sigma = np.sqrt(share * (1 - share) / (2000 / len(world.actions)))
    assert (np.abs(within - share) < 4.5 * sigma).all()
    assert np.bincount(action).min() == np.bincount(action).max() == 2000 // len(world.actions)


@coins
@pytest.mark.parametrize("correlation", [0.5, 1.0])
def test_the_knob_ties_attributes_to_the_action(name, correlation):
    world = Stage(train=1000, correlation=correlation, world=name)
    action, labels = bits(world)
    base = bits(Stage(train=1000, world=name))[1].mean(0)
    tied = bits(Stage(train=len(world.actions), correlation=1.0, world=name))[1]
    share = np.stack([labels[action == a].mean(0) for a in range(len(world.actions))])
    assert np.abs(share - (correlation * tied + (1 - correlation) * base)).mean() < 0.05
    assert len(np.unique(tied, axis=0)) > 1


@every_world
def test_labels_do_not_depend_on_the_size_of_the_picture(name):
    small, large = (Stage(size=size, world=name).samples("val") for size in (64, 112))
    told = [[(s.name, s.privacy, s.actions, s.spans, s.segments) for s in samples] for samples in (small, large)]
    assert told[0] == told[1]


@every_world
def test_any_size_and_length(name):
    world = Stage(size=72, frames=9, train=1, val=1, test=1, world=name, clips=1)
    assert world.film("train", 0).frames.shape == (9, 72, 72, 3)
    assert Stage(size=600, frames=2, world=name, clips=1).film("train", 0).frames.shape == (2, 600, 600, 3)
    assert Stage(size=16, frames=2, world=name, clips=1).film("train", 1).mask.any(), "somebody even there"


def test_a_long_video_in_parts_is_the_video(monkeypatch):
    """However many frames are in memory at a time: what moves and the light go on."""
    stage = Stage(size=32, world="untrimmed", clips=3)
    whole = stage.film("train", 0)
    parts = list(stage.shots("train", 0))
    assert [len(part.mask) for part in parts] == [32, 16]
    assert np.array_equal(np.concatenate([part.frames for part in parts]), whole.frames)
    monkeypatch.setattr("actonym.data.stage.film.SHOT", 48)
    (one,) = stage.shots("train", 0)
    assert np.array_equal(one.mask, whole.mask) and np.array_equal(one.depth, whole.depth)
    steps = np.abs(np.diff(whole.frames.astype(int), axis=0)).mean((1, 2, 3))
    assert steps[31] < 2 * np.median(steps), "no jump from one part to the next"


def test_bad_settings_are_named():
    with pytest.raises(UserError, match="correlation"):
        Stage(correlation=2)
    with pytest.raises(UserError, match="nothing can be tied"):
        Stage(world="walks", correlation=0.5)
    with pytest.raises(UserError, match="12000 videos in its train split at most"):
        Stage(world="walks", train=12001).samples("train")
    with pytest.raises(UserError, match="clips must be a whole number from 1 up"):
        Stage(clips=0)
    with pytest.raises(UserError, match="train must be a whole number from 1 up, not 'many'"):
        open_dataset("stage:train=many")
    with pytest.raises(UserError, match="stage:correlation=high: '<='"):
        open_dataset("stage:correlation=high")
    with pytest.raises(UserError, match="did you mean 'stage'"):
        open_dataset("stge")
    with pytest.raises(UserError, match="did you mean 'size'"):
        open_dataset("stage:sizes=3")
    with pytest.raises(UserError, match="unknown split"):
        Stage().samples("training")
    with pytest.raises(UserError, match="unknown world of the stage 'parks'; did you mean 'park'"):
        open_dataset("stage:world=parks")
    with pytest.raises(UserError, match="the world park has no attributes of the kind 'scene'"):
        open_dataset("stage:world=park,hide=scene")
    with pytest.raises(UserError, match="unknown kind of tags to hide 'objects'; did you mean 'object'"):
        open_dataset("stage:world=rooms,hide=objects")


def test_a_full_disk_is_said_and_nothing_is_left(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path))
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1000})())
    with pytest.raises(UserError, match="ACTONYM_CACHE"):
        Stage(size=32, train=3).pixels("train")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
