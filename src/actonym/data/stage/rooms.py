"""The fourth world: people do one or two things, among objects, in places. As P-HVU in STPrivacy.

All three are labelled with as many tags as are true. The actions are to be kept; objects and scenes are private.
"""

from dataclasses import fields

import numpy as np
from numpy.random import Generator

from actonym.data.p_hvu import hidden
from actonym.data.stage.actions import perform
from actonym.data.stage.body import bare, body
from actonym.data.stage.draw import Camera, Part
from actonym.data.stage.figure import Subject, joints, looking, outfit, placed, subject, turned
from actonym.data.stage.film import hand_held, room, shoot, through
from actonym.data.stage.pose import Array, Pose, stand
from actonym.data.stage.props import HELD, OBJECTS, build
from actonym.data.stage.scenery import SCENES, scenery
from actonym.data.stage.world import Cast, Footage, Labels, Traits, World, describe

ARMS = ("raise_arm", "lower_arm", "hammer", "hoist")
LEGS = ("sit_down", "stand_up", "march", "stamp")
TAGS = {"object": list(OBJECTS), "scene": list(SCENES)}
FREE = 0.4  # metres around a figure in which no object stands
HOLD = 0.5  # share of the videos in which an object is held, if there is one that can be


class Rooms(World):
    """The attributes are named as those of P-HVU: `object: ball`, `scene: kitchen`."""

    card = describe(
        "Stage, rooms", "one or two of 8 actions at once or in turn to keep; 8 kinds of objects and 6 of scenes to hide"
    )
    actions = (*ARMS, *LEGS)
    attributes = tuple(hidden(TAGS, "both"))
    traits = ()
    salt = (4,)
    prefix = "rooms-"

    def called(self, traits: Traits) -> str:
        return "somebody"

    def person(self, name: str, traits: Traits, rng: Generator) -> Subject:
        return subject(name, bool(rng.integers(2)), bool(rng.integers(2)), rng)

    def labels(self, row: int, cast: Cast, correlation: float, rng: Generator) -> Labels:
        """Half of the videos have two actions, a third has two scenes; one to three kinds of objects are there."""
        first = row % len(self.actions)
        other = (first + rng.integers(1, len(self.actions))) % len(self.actions)
        actions = [self.actions[first], self.actions[other]][: 1 + rng.integers(2)]
        objects = rng.permutation(len(OBJECTS))[: rng.integers(1, 4)].tolist()
        scenes = rng.permutation(len(SCENES))[: 1 + (rng.uniform() < 1 / 3)].tolist()
        if rng.uniform() < correlation:
            objects, scenes = list(range(first % 2, len(OBJECTS), 2)), [first % len(SCENES)]
        there = {*objects, *(len(OBJECTS) + scene for scene in scenes)}
        people = cast[()]
        bits = tuple(int(place in there) for place in range(len(self.attributes)))
        return Labels(actions[0], bits, people[rng.integers(len(people))], tuple(actions))

    def render(self, labels: Labels, frames: int, size: tuple[int, int], rng: Generator) -> Footage:
        there = [name for name, bit in zip((*OBJECTS, *SCENES), labels.privacy, strict=True) if bit]
        camera = hand_held(frames, size, rng)
        poses = staged(labels.actions, frames, rng)
        middle = camera.centre[:, 0].mean()
        xs = [rng.uniform(-0.2, 0.2)] if len(poses) == 1 else [-rng.uniform(0.5, 0.7), rng.uniform(0.5, 0.7)]
        people = [labels.actor, subject("partner", bool(rng.integers(2)), bool(rng.integers(2)), rng)]
        parts: list[Part] = []
        hands: list[Array] = []
        for who, (person, pose, x) in enumerate(zip(people, poses, rng.permutation(xs), strict=False), 1):
            yaw = looking(int(rng.integers(2)), rng)
            at = placed(turned(joints(person, pose), yaw), middle + x, rng.uniform(-0.2, 0.1))
            hands += [at["l_hand"], at["r_hand"]]
            parts += body(person, outfit(person, False, rng), at, yaw, camera, who, bare)
        parts += _objects([name for name in there if name in OBJECTS], middle, xs, hands, camera, rng)
        picture = through(camera, scenery([name for name in there if name in SCENES], camera, rng))
        return shoot(parts, picture, room(camera), rng)


def staged(actions: tuple[str, ...], frames: int, rng: Generator) -> list[Pose]:
    """Who does what: one figure or two, both things at once or one after the other. The pose of each figure."""
    if len(actions) == 1:
        return [perform(actions[0], frames, rng), stand(frames, rng)][: 1 + rng.integers(2)]
    ways = ["two people", "in turn"]
    arms, legs = ([name for name in actions if name in group] for group in (ARMS, LEGS))
    if arms and legs:
        ways.append("at once")
    way = ways[rng.integers(len(ways))]
    if way == "two people":
        return [perform(action, frames, rng) for action in actions]
    if way == "at once":
        above, below = perform(arms[0], frames, rng), perform(legs[0], frames, rng)
        return [Pose(above.arms, below.legs, above.wrists, below.lean, above.turn)]
    order = rng.permutation(2)
    return [in_turn(actions[order[0]], actions[order[1]], frames, rng)]


def in_turn(first: str, second: str, frames: int, rng: Generator) -> Pose:
    """Each takes half of the clip; in between the limbs go over from one to the other."""
    half = frames // 2 + 1
    before, after = perform(first, half, rng), perform(second, half, rng)
    share = np.clip((np.arange(frames) - (frames - half) + 0.5) / (2 * half - frames), 0, 1)

    def joined(a: Array, b: Array) -> Array:
        early = np.concatenate([a, np.repeat(a[-1:], frames - half, 0)])
        late = np.concatenate([np.repeat(b[:1], frames - half, 0), b])
        weight = share.reshape(-1, *[1] * (a.ndim - 1))
        return early * (1 - weight) + late * weight

    return Pose(*(joined(getattr(before, field.name), getattr(after, field.name)) for field in fields(Pose)))


def _objects(
    names: list[str], middle: float, people: list[float], hands: list[Array], camera: Camera, rng: Generator
) -> list[Part]:
    """One of the small ones may be held; the others stand where nobody does, apart and in the picture.

    Of the five places at least three are free, and there are no more objects than that.
    """
    parts: list[Part] = []
    small = [name for name in names if name in HELD]
    held = small[rng.integers(len(small))] if small and rng.uniform() < HOLD else ""
    places = [x for x in np.linspace(-1.5, 1.5, 5) if min(abs(x - person) for person in people) > FREE]
    for name, x in zip(rng.permutation(names), rng.permutation(places), strict=False):
        if name == held:
            grip = np.array([0.0, -0.2, 0.0])
            parts += build(held, camera, hands[rng.integers(len(hands))] + grip, rng, lift=0.34)
        else:
            at = np.array([middle + x + rng.uniform(-0.08, 0.08), 0.0, rng.uniform(-0.9, -0.1)])
            parts += build(str(name), camera, np.tile(at, (len(camera.zoom), 1)), rng)
    return parts
