"""The street under watch: weak labels to learn from, times to test by, and what is odd looks odd."""

import numpy as np
import pytest

from actonym.data import Stage, open_dataset
from actonym.data.stage.watch import LIKE, ODD, Event, Watch, punches, throws
from actonym.data.stage.world import FPS


def test_half_is_normal_and_only_testing_says_when():
    data = open_dataset("stage:world=watch")
    for split in ("train", "val", "test"):
        samples = data.samples(split)
        odd = [sample for sample in samples if sample.action]
        assert len(odd) == len(samples) / 2 and {sample.action for sample in odd} == {1, 2, 3}
        assert not any(sample.segments for sample in samples if sample.action == 0 or split != "test")
    for sample in odd:
        (segment,) = sample.segments
        assert segment.label == sample.action and 0 < segment.start < segment.end < sample.video.length / FPS
        assert 4 < segment.end - segment.start < 12


def test_attributes_are_fair_and_can_be_tied_to_what_is_odd():
    fair, tied = (
        np.array([[s.action > 0, *s.privacy] for s in Stage(world="watch", train=800, correlation=c).samples("train")])
        for c in (0.0, 1.0)
    )
    for odd in (0, 1):
        assert np.abs(fair[fair[:, 0] == odd, 1:].mean(0) - 0.5).max() < 0.11
    assert (tied[:, 1] == tied[:, 0]).all() and (tied[:, 2] == 1 - tied[:, 0]).all()


def film(what, action):
    world, rng = Watch(), np.random.default_rng
    event = Event(action, (0, 1), world.person("x", (0, 1), rng(0)), what=what, start=0.4, end=0.8)
    return world.render(event, 128, (64, 64), rng(1)).mask


def box(mask, who=1):
    rows, columns = np.nonzero(mask == who)
    return np.ptp(rows) + 1, np.ptp(columns) + 1


def test_who_falls_lies_on_the_ground_and_gets_up():
    mask = film("fall", "fall")
    for frame, lies in ((40, False), (75, True), (127, False)):
        high, wide = box(mask[frame])
        assert (wide > high) == lies
    high, wide = box(film("crouch", "normal")[75])
    assert high > wide, "who crouches does not lie there"


@pytest.mark.parametrize("what", ["fight", "meet"])
def test_two_stand_together_for_as_long_as_it_lasts(what):
    mask = film(what, "fight" if what == "fight" else "normal")
    middles = [np.nonzero(mask[75] == who)[1].mean() for who in (1, 2)]
    assert 4 < abs(middles[0] - middles[1]) < 24
    assert not (mask[0] == 2).any(), "before, the other one is not there yet"


def test_what_is_odd_moves_faster_than_what_is_like_it():
    rng = np.random.default_rng
    for pose in (punches(64, rng(0)), throws(64, rng(0))):
        assert np.abs(np.diff(pose.arms, axis=0)).max((1, 2, 3)).mean() > 0.15
    assert set(LIKE) == set(ODD)
