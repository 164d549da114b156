"""Faces: expressions form, traits are seen."""

import cv2
import numpy as np
import pytest

from actonym.data import Stage, open_dataset
from actonym.data.celebv_hq import ACTIONS, ATTRIBUTES
from actonym.data.stage.expressions import UNITS, form
from actonym.data.stage.face import face
from actonym.data.stage.faces import Faces
from actonym.data.stage.world import Labels


def test_labels_are_those_of_celebv_hq():
    world = open_dataset("stage:world=faces")
    assert tuple(world.actions) == tuple(ACTIONS) and tuple(world.attributes) == tuple(ATTRIBUTES)


def typical(expression):
    """The mean of many faces at the end of a clip in which an expression forms."""
    last = [form(expression, 16, np.random.default_rng(seed)).moved[-1] for seed in range(100)]
    return np.mean([np.abs(look) if expression == "contempt" else look for look in last], 0).mean(-1)


@pytest.fixture(scope="module")
def looks():
    return np.stack([typical(name) for name in ACTIONS])


def nearest(look, looks):
    """Which expression one frame looks like."""
    return np.argmin(((looks - look.mean(-1)) ** 2).sum(-1))


def test_expressions_differ(looks):
    gaps = np.linalg.norm(looks[:, None] - looks[None], axis=-1) + 9 * np.eye(len(looks))
    assert gaps.min() > 0.3 and looks.shape == (8, len(UNITS))


def test_a_frame_alone_does_not_give_the_expression_away(looks):
    """The last one does mostly, the first one hardly ever, any one about every second time."""
    hits = np.zeros(16)
    for label, name in enumerate(ACTIONS):
        for seed in range(1000, 1030):
            moved = form(name, 16, np.random.default_rng(seed)).moved
            hits += [nearest(look, looks) == label for look in moved]
    hits /= 30 * len(ACTIONS)
    assert hits[-1] > 0.7 and hits[0] < 0.2 and hits.mean() < 0.6


def test_contempt_is_on_one_side():
    look = form("contempt", 16, np.random.default_rng(1))["corner"][-1]
    assert np.abs(look).max() > 3 * np.abs(look).min()


def colours(traits, at):
    """The colour of a place of the picture (share of height) with and without a trait, mean over people and clips."""
    found = []
    for seed in range(12):
        person = face("x", traits, np.random.default_rng(seed))
        film = Faces().render(Labels("neutral", traits, person), 4, (96, 96), np.random.default_rng(seed))
        rows, cols = np.where(film.mask[0] == 1)
        found.append(film.frames[0][rows.min() + int(at * 96), int(np.median(cols))])
    return np.mean(found, 0)


def test_hair_is_brown_or_not():
    """At the top of the head: brown hair is darker than the others on average, and more red than blue."""
    brown, other = colours((1, 0, 0, 0, 1), 0.05), colours((1, 0, 0, 0, 0), 0.05)
    assert brown[0] > 1.2 * brown[2] and np.abs(brown - other).max() > 15


@pytest.mark.parametrize("place", range(5))
def test_every_trait_changes_the_picture_of_the_same_person(place):
    """With all other random numbers equal the pictures differ where the head is, and nowhere is noise to blame."""
    traits = [0, 0, 0, 0, 0]
    other = list(traits)
    other[place] = 1
    films = []
    for each in (traits, other):
        person = face("x", each, np.random.default_rng(3))
        films.append(Faces().render(Labels("happy", tuple(each), person), 4, (96, 96), np.random.default_rng(5)))
    gap = np.abs(films[0].frames.astype(int) - films[1].frames).max(-1)
    people = (films[0].mask | films[1].mask).max(0)
    outside = cv2.dilate(people, np.ones((5, 5), np.uint8)) == 0  # edges are smooth, masks are not
    assert gap[:, outside].max() <= 1 < 20 < gap.max()


def test_heads_move_and_stay_in_the_picture():
    world = Stage(size=64, world="faces")
    for row in range(6):
        mask = world.film("train", row).mask
        assert mask[:, 32, 24:40].all() and not mask[:, 1].any(), "the middle is face, above it is none"
        assert (mask[0] != mask[-1]).any()
