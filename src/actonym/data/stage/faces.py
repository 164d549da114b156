"""The third world: faces close up whose expression changes; their traits are private. As CelebV-HQ in STPrivacy."""

import cv2
import numpy as np
from numpy.random import Generator

from actonym.data.celebv_hq import ACTIONS, ATTRIBUTES
from actonym.data.stage.draw import Camera
from actonym.data.stage.expressions import form
from actonym.data.stage.face import Face, face
from actonym.data.stage.film import WALL, canvas, hand_held, paintwork, shoot, through, weathered
from actonym.data.stage.portrait import Head, portrait
from actonym.data.stage.pose import Array
from actonym.data.stage.world import Footage, Labels, Traits, World, describe


class Faces(World):
    """The action is the expression that forms: each clip starts from another one."""

    card = describe(
        "Stage, faces", "faces close up: 8 expressions that form over time to keep, 5 traits of the face to hide"
    )
    actions = ACTIONS
    attributes = ATTRIBUTES
    traits = tuple(range(len(ATTRIBUTES)))
    salt = (3,)
    prefix = "faces-"

    def called(self, traits: Traits) -> str:
        return "".join(map(str, traits))

    def person(self, name: str, traits: Traits, rng: Generator) -> Face:
        return face(name, traits, rng)

    def render(self, labels: Labels, frames: int, size: tuple[int, int], rng: Generator) -> Footage:
        camera = hand_held(frames, size, rng)
        look = form(labels.action, frames, rng)
        parts = portrait(labels.actor, look, _head(camera, rng), rng)
        picture = through(camera, _blurred(camera, rng))
        return shoot(parts, picture, np.full(picture.shape[:3], WALL, np.float32), rng)


def _wander(frames: int, reach: float, rng: Generator) -> Array:
    """A slow motion around some place. [T]"""
    time = np.linspace(0, 1, frames)
    return reach * (rng.uniform(-0.7, 0.7) + 0.5 * np.sin(rng.uniform(1, 5) * time + rng.uniform(0, 6)))


def _head(camera: Camera, rng: Generator) -> Head:
    """A head that nods, turns and tilts a little and fills half of the picture or more."""
    frames, (height, width) = len(camera.zoom), camera.size
    shift = (camera.centre - camera.centre.mean(0)) * camera.zoom.mean() * [-1, 1]
    place = np.stack([_wander(frames, 0.04, rng), _wander(frames, 0.03, rng)], -1)
    centre = np.array([width / 2, 0.48 * height]) + place * [width, height] + shift
    scale = height * rng.uniform(0.3, 0.4) * camera.zoom / camera.zoom.mean()
    return Head(centre, scale, *(_wander(frames, reach, rng) for reach in (0.2, 0.1, 0.1)))


def _blurred(camera: Camera, rng: Generator) -> Array:
    """What is behind the head, out of focus. [height, width, 3]"""
    scene, _ = canvas(camera)
    height, width = scene.shape[:2]
    scene[:] = paintwork(rng)
    for _ in range(rng.integers(4, 10)):
        middle = int(rng.uniform(0, width)), int(rng.uniform(0, height))
        cv2.circle(scene, middle, int(rng.uniform(0.04, 0.22) * width), tuple(paintwork(rng)), -1)
    small = cv2.resize(scene, (12, 12), interpolation=cv2.INTER_AREA)
    scene[:] = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    return weathered(scene, rng)
