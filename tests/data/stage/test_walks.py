"""Walks: named and divided as CASIA-B's, by people who are told by how they walk."""

import numpy as np
import pytest
import torch

from actonym.data import Stage, open_dataset
from actonym.data.casia_b import ACTIONS, GALLERY
from actonym.data.stage.figure import joints, subject
from actonym.data.stage.gait import gait, speed, walk
from actonym.tasks.base import VideoFeatures
from actonym.tasks.gait import gait as identify
from actonym.tasks.gait import walk_of


@pytest.fixture(scope="module")
def data():
    return open_dataset("stage:world=walks,train=80,val=40,test=160")


def test_everybody_walks_ten_times_and_is_seen_from_four_sides(data):
    for split, people in (("train", 2), ("val", 1), ("test", 4)):
        samples = data.samples(split)
        walks = [walk_of(sample.name) for sample in samples]
        assert len(set(walks)) == len(samples) == 40 * people
        assert {one.view for one in walks} == {"000", "054", "108", "162"}
        assert sum(one.walk in GALLERY for one in walks) == 16 * people
        for sample, said in zip(samples, walks, strict=True):
            assert sample.subject == f"walks-{said.person}"
            assert sample.text == ACTIONS[said.condition]
        assert len({sample.subject for sample in samples}) == people


def test_the_gait_protocol_runs_on_it(data):
    """Features that are the person identify them; features of the view alone do not, across views."""
    people = sorted({sample.subject for sample in data.samples("test")})

    def score(feature):
        return identify([VideoFeatures(feature(s)[None], s.name) for s in data.samples("test")])

    knows = score(lambda s: torch.eye(4)[people.index(s.subject)])
    assert knows["rank1"] == knows["any_view"] == 1 and {"nm", "bg", "cl"} <= set(knows)
    assert score(lambda s: torch.ones(4))["rank1"] == pytest.approx(1 / 4)


def test_one_walk_is_the_same_from_all_sides_and_clothes_change_from_walk_to_walk(data):
    first = [data.labels("test", row) for row in range(40)]
    assert len({id(labels.actor) for labels in first}) == 1
    wardrobe = first[0].actor.wardrobe
    assert [outfit.coat for outfit in wardrobe] == [False] * 8 + [True] * 2
    assert len({tuple(outfit.top) for outfit in wardrobe}) == 10


def test_people_walk_each_in_their_own_way():
    """The angles of the limbs over a pair of steps tell two people apart, and hardly two walks of one."""
    ways = [gait(np.random.default_rng(k)) for k in range(8)]

    def shape(way, start):
        pose = walk(way, 64, start)
        limbs = np.concatenate([pose.arms.reshape(64, -1), pose.legs.reshape(64, -1), pose.lean[:, None]], 1)
        return np.concatenate([limbs.mean(0), limbs.std(0)])

    one, two = (np.stack([shape(way, start) for way in ways]) for start in (0.0, 0.4))
    apart = np.linalg.norm(one[:, None] - two[None], axis=-1)
    assert (apart.argmin(1) == np.arange(8)).all()
    assert np.diag(apart).max() < 0.5 * np.median(apart)


def test_a_body_goes_as_far_as_its_feet_reach():
    """In a pair of steps: the reach of the left foot and of the right one together."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        person, way = subject("x", True, False, rng), gait(rng)
        at = joints(person, walk(way, 320, 0.0))
        reach = sum(np.ptp(at[f"{side}_foot"][:, 2]) for side in "lr")
        assert speed(person, way) * 16 / way.steps == pytest.approx(reach, rel=0.25)


def test_a_bag_and_a_coat_are_seen():
    """The same person and view, the same room and light: more is drawn."""
    world = Stage(size=64, world="walks", clips=1).world
    rng = np.random.default_rng
    person = world.person("walks-001", (), rng(0))
    cast = {(): [person]}
    plain, bag, coat = (world.render(world.labels(row, cast, 0.0, rng(0)), 4, (64, 64), rng(5)) for row in (1, 25, 33))
    assert (bag.frames != plain.frames).any(-1).mean() > 0.01
    assert (coat.mask[0] == 1).sum() > 1.05 * (plain.mask[0] == 1).sum()
