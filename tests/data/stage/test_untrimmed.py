"""Untrimmed videos: segments as THUMOS14 has them, in which the action is really seen."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from actonym.data import open_dataset
from actonym.data.stage.untrimmed import Untrimmed
from actonym.data.stage.world import FPS


@pytest.fixture(scope="module")
def data():
    return open_dataset("stage:world=untrimmed,size=32")


def test_segments_are_as_in_thumos14(data):
    for sample in data.samples("train"):
        times = [(s.start, s.end) for s in sample.segments]
        assert 2 <= len(times) <= 5 and times[0][0] > 0 and times[-1][1] < sample.video.length / FPS
        assert all(end - start > 1 for start, end in times), "longer than a clip"
        assert all(a[1] + 1 < b[0] for a, b in pairwise(times)), "a pause between any two"
        counts = Counter(segment.label for segment in sample.segments)
        assert set(counts) == set(sample.actions)
        assert counts[sample.action] > sum(counts.values()) / 2, "the main action is the one seen most often"
    labels = Counter(s.label for sample in data.samples("train") for s in sample.segments)
    assert len(labels) == len(data.actions) and min(labels.values()) > 0.6 * max(labels.values())


def test_the_hands_or_feet_move_in_the_segments_and_little_outside(monkeypatch):
    """Joint angles change several times as fast while an action lasts. Without what is done in pauses."""
    seen = []
    monkeypatch.setattr("actonym.data.stage.untrimmed.joints", lambda person, pose: seen.append(pose) or {})
    monkeypatch.setattr("actonym.data.stage.untrimmed.body", lambda *_: [])
    world, rng = Untrimmed(), np.random.default_rng
    cast = world.cast("train", 8, lambda k, kind: rng([k, kind]))
    for row in range(8):
        labels = world.labels(row, cast, 0.0, rng(row))
        object.__setattr__(labels, "pauses", ())
        world.actor(labels, world.camera(512, (32, 32), rng(row)), rng(row))
        pose = seen.pop()
        limbs = np.concatenate([x.reshape(512, -1) for x in (pose.arms, pose.legs, pose.wrists)], 1)
        speed = np.abs(np.diff(limbs, axis=0)).max(1)
        inside = np.zeros(511, bool)
        outside = np.ones(511, bool)
        for segment in world.segments(labels, 512):
            first, last = round(segment.start * FPS), round(segment.end * FPS)
            inside[first : last - 1] = True
            outside[first - 6 : last + 6] = False
        assert np.median(speed[inside]) > 5 * np.median(speed[outside])


def test_an_action_goes_on_at_the_same_pace_however_long_it_lasts():
    """A sine of 1 to 1.8 cycles in 16 frames crosses zero 2 to 3.6 times in each 16 of them."""
    from actonym.data.stage.pose import again

    wave = again(160, np.random.default_rng(0), 1.0, 1.8)
    assert 19 <= (np.diff(np.sign(wave)) != 0).sum() <= 37
