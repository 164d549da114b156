import subprocess
import sys

import numpy as np
import pytest
import torch

from actonym.data import ATTRIBUTES, Stage, open_dataset
from actonym.data.stage.actions import ACTIONS, perform
from actonym.data.stage.figure import joints, subject
from actonym.errors import UserError


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("ACTONYM_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield Stage(size=48, train=24, val=12, test=12)
    patch.undo()


def test_a_sample_says_all_that_is_true(world):
    sample = world.samples("train")[0]
    frames = range(sample.video.length)
    assert sample.video.frames(frames).shape == (3, 16, 48, 48)
    assert sample.video.frames(frames).dtype == torch.uint8
    assert set(sample.video.mask(frames).unique().tolist()) <= {0, 1, 2}
    depth = sample.video.depth(frames)
    assert depth.shape == (1, 16, 48, 48) and depth.min() > 0 and depth.max() < 10
    assert len(sample.privacy) == len(ATTRIBUTES) == 5
    assert sample.text == ACTIONS[sample.action].replace("_", " ")


def test_people_are_nearer_than_the_room_behind_them(world):
    sample = world.samples("train")[0]
    depth, mask = sample.video.depth([8]), sample.video.mask([8])
    assert depth[mask == 1].mean() < depth[mask == 0].mean()
    assert 0.01 < (mask == 1).float().mean() < 0.5, "a figure, small but there"


def test_nobody_is_in_two_splits(world):
    subjects = {split: {s.subject for s in world.samples(split)} for split in ("train", "val", "test")}
    assert not subjects["train"] & subjects["test"]
    assert not subjects["train"] & subjects["val"]
    assert not subjects["val"] & subjects["test"]


def test_same_seed_same_pixels_other_seed_other_pixels():
    first, again, other = (Stage(size=32, seed=seed).film("train", 5) for seed in (0, 0, 1))
    assert np.array_equal(first.frames, again.frames) and np.array_equal(first.depth, again.depth)
    assert not np.array_equal(first.frames, other.frames)


def test_pixels_are_the_same_in_another_process():
    code = "from actonym.data import Stage; print(int(Stage(size=32).film('test', 3).frames.astype('int64').sum()))"
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(there) == int(Stage(size=32).film("test", 3).frames.astype("int64").sum())


def test_cache_gives_what_was_rendered(world):
    direct = torch.from_numpy(world.film("test", 4).frames).permute(3, 0, 1, 2)
    assert torch.equal(world.samples("test")[4].video.frames(range(16)), direct)
    assert not list(world_cache().rglob("*.part"))


def world_cache():
    from actonym.data.cache import cache_dir

    return cache_dir("stage")


def bits(world, split="train"):
    samples = world.samples(split)
    return np.array([s.action for s in samples]), np.array([s.privacy for s in samples])


def test_attributes_are_fair_coins_independent_of_the_action():
    """2,000 videos: a share is within 0.05 of one half, and its deviation within an action within 4 sigma."""
    action, labels = bits(Stage(train=2000))
    assert np.abs(labels.mean(0) - 0.5).max() < 0.05
    per_action = np.stack([labels[action == a].mean(0) for a in range(len(ACTIONS))])
    assert np.abs(per_action - 0.5).max() < 4 * 0.5 / np.sqrt(200)
    assert np.bincount(action).min() == np.bincount(action).max() == 200


@pytest.mark.parametrize("correlation", [0.5, 1.0])
def test_the_knob_ties_attributes_to_the_action(correlation):
    action, labels = bits(Stage(train=1000, correlation=correlation))
    share = np.stack([labels[action == a].mean(0) for a in range(len(ACTIONS))])
    assert np.abs(np.abs(share - 0.5).mean() - correlation / 2) < 0.05


def test_labels_do_not_depend_on_the_size_of_the_picture():
    assert [s.privacy for s in Stage(size=64).samples("val")] == [s.privacy for s in Stage(size=112).samples("val")]


def hands_and_head(action, seed=7):
    """[T, 3, 3]: where both hands and the head are."""
    person = subject("x", True, False, np.random.default_rng(0))
    at = joints(person, perform(action, 16, np.random.default_rng(seed)))
    return np.stack([at["l_hand"], at["r_hand"], at["head"]], 1)


@pytest.mark.parametrize(("forwards", "backwards"), [("raise_arm", "lower_arm"), ("sit_down", "stand_up")])
def test_paired_actions_are_one_motion_played_backwards(forwards, backwards):
    """With the same random numbers, up to the sway: so no single frame can tell which of the two it is."""
    ahead, back = hands_and_head(forwards), hands_and_head(backwards)
    assert np.abs(ahead - back[::-1]).max() < 0.15
    assert np.abs(ahead[0] - ahead[-1]).max() > 0.3, "much more than the sway"


def test_actions_of_the_hands_begin_in_one_pose():
    """The sticks and the elbows move; where the hands are on average does not tell which action it is."""
    places = [np.mean([hands_and_head(name, seed) for seed in range(40)], (0, 1)) for name in ACTIONS[4:]]
    assert np.abs(np.stack(places) - places[0]).max() < 0.1


def test_every_action_moves_and_no_other_exists():
    for action in ACTIONS:
        person = subject("x", True, False, np.random.default_rng(0))
        at = joints(person, perform(action, 16, np.random.default_rng(1)))
        assert max(np.ptp(place, axis=0).max() for place in at.values()) > 0.15, action
    with pytest.raises(StopIteration):
        perform("juggle", 16, np.random.default_rng(0))


def test_any_size_and_length():
    world = Stage(size=72, frames=9, train=1, val=1, test=1)
    assert world.film("train", 0).frames.shape == (9, 72, 72, 3)
    assert Stage(size=600, frames=2).film("train", 0).frames.shape == (2, 600, 600, 3)


def test_bad_settings_are_named():
    with pytest.raises(UserError, match="correlation"):
        Stage(correlation=2)
    with pytest.raises(UserError, match="did you mean 'stage'"):
        open_dataset("stge")
    with pytest.raises(UserError, match="did you mean 'size'"):
        open_dataset("stage:sizes=3")
    with pytest.raises(UserError, match="unknown split"):
        Stage().samples("training")


def test_a_full_disk_is_said_and_nothing_is_left(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path))
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1000})())
    with pytest.raises(UserError, match="ACTONYM_CACHE"):
        Stage(size=32, train=3).pixels("train")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
