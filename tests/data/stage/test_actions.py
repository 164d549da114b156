"""Motions: no single frame gives the action away."""

import numpy as np
import pytest

from actonym.data.stage.actions import PARK, PUPPETS, perform
from actonym.data.stage.figure import joints, subject


def path(action, *names, seed=7, frames=16):
    """[T, joints, 3]: where joints of a figure are that does something."""
    person = subject("x", True, False, np.random.default_rng(0))
    at = joints(person, perform(action, frames, np.random.default_rng(seed)))
    return np.stack([at[name] for name in names], 1)


def ends(action, seed=7):
    return path(action, "l_hand", "r_hand", "head", "l_foot", "r_foot", seed=seed)


@pytest.mark.parametrize(
    ("forwards", "backwards"),
    [("raise_arm", "lower_arm"), ("sit_down", "stand_up"), ("spread", "gather"), ("lift_leg", "lower_leg")],
)
def test_paired_actions_are_one_motion_played_backwards(forwards, backwards):
    """With the same random numbers, up to the sway: so no single frame can tell which of the two it is."""
    ahead, back = ends(forwards), ends(backwards)
    assert np.abs(ahead - back[::-1]).max() < 0.15
    assert np.abs(ahead[0] - ahead[-1]).max() > 0.3, "much more than the sway"


def test_actions_of_the_hands_begin_in_one_pose():
    """The sticks and the elbows move; where the hands are on average does not tell which action it is."""
    places = [np.mean([ends(name, seed)[:, :3] for seed in range(40)], (0, 1)) for name in PUPPETS[4:]]
    assert np.abs(np.stack(places) - places[0]).max() < 0.1


@pytest.mark.parametrize(("one", "other"), [("march", "stamp"), ("hammer", "hoist"), ("stir_out", "stir_in")])
def test_single_frames_of_two_actions_are_drawn_from_one_distribution(one, other):
    """Of 300 first frames each: hands and feet have the same mean, spread and correlation, within 5 sigma."""
    first = [np.stack([ends(name, seed)[0].ravel() for seed in range(300)]) for name in (one, other)]
    spread = first[0].std(0) + 1e-9
    assert (np.abs(first[0].mean(0) - first[1].mean(0)) < 5 * spread * np.sqrt(2 / 300) + 1e-6).all()
    moves = spread > 0.01
    assert np.abs(first[1].std(0)[moves] / spread[moves] - 1).max() < 0.2
    tied = [np.corrcoef(frames[:, moves].T) for frames in first]
    assert np.abs(tied[0] - tied[1]).max() < 5 * np.sqrt(2 / 300)


def test_their_order_in_time_tells_them_apart():
    """A hammer comes down faster than it goes up; hands turn outwards or inwards; feet take turns or do not."""
    for seed in range(10):
        fall = {name: -np.diff(path(name, "l_hand", seed=seed)[:, 0, 1]) for name in ("hammer", "hoist")}
        assert fall["hammer"].max() > 1.5 * -fall["hammer"].min() and -fall["hoist"].min() > 1.5 * fall["hoist"].max()
        for name, sign in (("stir_out", 1), ("stir_in", -1)):
            way = path(name, "r_hand", seed=seed)[:, 0, :2]
            way = way - way.mean(0)
            area = np.sum(way[:-1, 0] * way[1:, 1] - way[1:, 0] * way[:-1, 1])
            assert sign * area < 0, "clockwise is outwards at the top, for a right hand"
        lifts = {name: np.ptp(path(name, "l_knee", "r_knee", seed=seed)[..., 2], axis=0) for name in ("march", "stamp")}
        assert lifts["march"].min() > 0.1 and lifts["stamp"].min() < 0.02 < 0.1 < lifts["stamp"].max()


@pytest.mark.parametrize("action", [*PUPPETS, *PARK])
def test_every_action_moves(action):
    person = subject("x", True, False, np.random.default_rng(0))
    at = joints(person, perform(action, 16, np.random.default_rng(1)))
    assert max(np.ptp(place, axis=0).max() for place in at.values()) > 0.15


def test_the_worlds_share_no_action_and_no_other_exists():
    assert not set(PUPPETS) & set(PARK) and len(PARK) >= 8
    with pytest.raises(StopIteration):
        perform("juggle", 16, np.random.default_rng(0))
