"""Labels frame by frame, and whether the pictures agree with them."""

from itertools import pairwise

import numpy as np
import pytest

from actonym.data import Stage


@pytest.fixture(scope="module")
def world():
    return Stage(size=64, train=200, world="turning")


def by_frame(sample, frames=16):
    return np.array([sample.privacy_at(t) for t in range(frames)])


@pytest.mark.parametrize("frames", [2, 16, 40])
def test_a_video_has_what_some_frame_shows(frames):
    for sample in Stage(frames=frames, train=200, world="turning").samples("train"):
        assert tuple(by_frame(sample, frames).max(0)) == sample.privacy
        for spans in sample.spans:
            assert spans[0].first == 0 and spans[-1].last == frames - 1
            assert all(a.last + 1 == b.first and a.values != b.values for a, b in pairwise(spans))


def test_labels_change_within_a_clip(world):
    shown = np.stack([by_frame(sample) for sample in world.samples("train")])
    changes = (shown.min(1) != shown.max(1)).mean(0)
    assert (changes > 0.1).all(), "each attribute comes or goes in some clips"
    assert 0.1 < shown.mean() < 0.5
    values = {v for s in world.samples("train") for span in s.spans[0] for v in span.values}
    assert values == {0, 1, 2}, "a face is seen partly and fully"


def test_nobody_is_seen_where_the_labels_say_so(world):
    """Behind the screen next to nothing is left of people whose skin cannot be told."""
    checked = 0
    for row, sample in enumerate(world.samples("train")[:80]):
        shown = by_frame(sample)
        if sample.privacy[1] and shown[:, 1].min() == 0:
            mask = world.film("train", row).mask
            people = (mask > 0) if sample.privacy[4] else (mask == 1)
            area = people.mean((1, 2))
            assert area[shown[:, 1] == 0].max() < 0.25 * area.max()
            checked += 1
    assert checked >= 5


def test_a_companion_is_seen_where_the_labels_say_so(world):
    checked = 0
    for row, sample in enumerate(world.samples("train")[:40]):
        if sample.privacy[4]:
            mask, near = world.film("train", row).mask, by_frame(sample)[:, 4].astype(bool)
            beside = (mask == 2).mean((1, 2))
            assert beside[near].min() > 0.005, "whenever there is a relationship"
            assert not near.all() and beside[[0, -1]].min() < 0.5 * beside[[0, -1]].max(), "and not all the time"
            checked += 1
    assert checked >= 10
