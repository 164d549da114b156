"""Rooms: several actions, and objects and scenes as P-HVU names them."""

import numpy as np
import pytest

from actonym.data import Stage, open_dataset
from actonym.data.stage import rooms
from actonym.data.stage.props import OBJECTS
from actonym.data.stage.rooms import ARMS, LEGS, in_turn, staged
from actonym.data.stage.scenery import SCENES
from actonym.data.stage.world import Labels


def test_labels_are_as_in_p_hvu():
    data = open_dataset("stage:world=rooms,train=400")
    assert data.attributes == (*(f"object: {o}" for o in OBJECTS), *(f"scene: {s}" for s in SCENES))
    samples = data.samples("train")
    assert all(s.action == s.actions[0] and len(set(s.actions)) == len(s.actions) in (1, 2) for s in samples)
    assert {len(s.actions) for s in samples} == {1, 2}
    bits = np.array([s.privacy for s in samples])
    assert set(bits[:, :8].sum(1)) == {1, 2, 3} and set(bits[:, 8:].sum(1)) == {1, 2}
    every = np.zeros((len(samples), 8))
    for row, sample in enumerate(samples):
        every[row, list(sample.actions)] = 1
    assert np.abs(every.mean(0) - every.mean()).max() < 0.08, "second actions are spread evenly too"


@pytest.mark.parametrize(("hide", "part"), [("object", slice(0, 8)), ("scene", slice(8, 14))])
def test_one_kind_can_be_hidden(hide, part):
    some, both = open_dataset(f"stage:world=rooms,hide={hide}"), open_dataset("stage:world=rooms")
    assert some.attributes == both.attributes[part]
    assert [s.privacy for s in some.samples("val")] == [s.privacy[part] for s in both.samples("val")]


def moves(pose):
    return np.ptp(pose.arms, axis=0).max() > 0.4, np.ptp(pose.legs, axis=0).max() > 0.4


def test_two_things_are_done_at_once_in_turn_or_by_two_people():
    ways = {"two": 0, "one": 0}
    for seed in range(40):
        poses = staged(("hammer", "sit_down"), 16, np.random.default_rng(seed))
        ways["two" if len(poses) == 2 else "one"] += 1
        seen = np.array([moves(pose) for pose in poses])
        assert seen[:, 0].any() and seen[:, 1].any(), "whoever it is: arms move and legs do"
    assert min(ways.values()) > 5
    assert all(
        len(staged((a, b), 16, np.random.default_rng(3))) in (1, 2) for a in ARMS for b in (*ARMS, *LEGS) if a != b
    )


def test_in_turn_each_has_its_half():
    for seed in range(10):
        pose = in_turn("hoist", "sit_down", 16, np.random.default_rng(seed))
        knees = pose.legs[:, :, 0, 0].mean(1)
        assert np.ptp(knees[:7]) < 0.05 < 0.3 < np.ptp(knees[8:])
    assert len(in_turn("hoist", "march", 2, np.random.default_rng(0)).lean) == 2


def test_all_objects_of_the_labels_are_there(monkeypatch):
    """Each once, and so that it is in the picture."""
    built = []

    def build(name, camera, at, rng, lift=0.0):
        built.append((name, camera.project(at)))
        return original(name, camera, at, rng, lift)

    original = rooms.build
    monkeypatch.setattr(rooms, "build", build)
    world = Stage(size=64, world="rooms")
    for row in range(30):
        built.clear()
        labels = world.labels("train", row)
        world.film("train", row)
        assert sorted(name for name, _ in built) == sorted(np.array(OBJECTS)[np.array(labels.privacy[:8], bool)])
        assert all((place > 0).all() and (place < 64).all() for _, place in built)


@pytest.mark.parametrize("place", range(14))
def test_every_object_and_scene_can_be_seen(place):
    """The same video with and without: much changes for a scene, a little for an object."""
    world, rng = rooms.Rooms(), np.random.default_rng
    base = [0] * 14
    base[0 if place != 0 else 1] = base[8 if place != 8 else 9] = 1
    more = list(base)
    more[place] = 1
    if place >= 8:
        more[8 if place != 8 else 9] = 0
    person = world.person("x", (), rng(0))
    films = [world.render(Labels("march", tuple(b), person, ("march",)), 2, (64, 64), rng(1)) for b in (base, more)]
    gap = np.abs(films[0].frames.astype(int) - films[1].frames).max(-1) > 25
    assert gap.mean() > (0.1 if place >= 8 else 0.002)
