"""The first world: one of the puppets acts in a room, alone, beside a companion or before a stranger."""

from collections.abc import Sequence
from typing import ClassVar

import cv2
import numpy as np
from numpy.random import Generator

from actonym.data.base import ATTRIBUTES
from actonym.data.stage.actions import PUPPETS, perform
from actonym.data.stage.body import body, sticks
from actonym.data.stage.draw import Camera, Part
from actonym.data.stage.figure import Outfit, Subject, joints, looking, outfit, placed, subject, turned
from actonym.data.stage.film import canvas, hand_held, paintwork, passing, room, shoot, through, weathered
from actonym.data.stage.pose import Array, stand
from actonym.data.stage.world import Footage, Labels, Traits, World, describe


class Puppets(World):
    """The attributes: face, skin_color (dark or light), gender, nudity, relationship."""

    card = describe(
        "Stage", "synthetic puppets, 10 actions, 5 private attributes independent of the action, person masks and depth"
    )
    actions = PUPPETS
    attributes: ClassVar[Sequence[str]] = ATTRIBUTES
    traits: ClassVar[Sequence[int]] = (1, 2)
    salt: ClassVar[tuple[int, ...]] = ()
    hands = staticmethod(sticks)  # what they hold

    def called(self, traits: Traits) -> str:
        dark, woman = traits
        return f"{'dark' if dark else 'light'}-{'woman' if woman else 'man'}"

    def person(self, name: str, traits: Traits, rng: Generator) -> Subject:
        dark, woman = traits
        return subject(name, bool(woman), bool(dark), rng)

    def render(self, labels: Labels, frames: int, size: tuple[int, int], rng: Generator) -> Footage:
        camera = self.camera(frames, size, rng)
        parts = self.actor(labels, camera, rng)
        parts += self.others(labels, camera, rng)
        parts += self.things(labels, camera, rng)
        picture = through(camera, self.place(camera, rng))
        return shoot(parts, picture, room(camera), rng)

    def outfit(self, person: Subject, nude: bool, rng: Generator) -> Outfit:
        return outfit(person, nude, rng)

    def camera(self, frames: int, size: tuple[int, int], rng: Generator) -> Camera:
        return hand_held(frames, size, rng)

    def yaw(self, labels: Labels, frames: int, rng: Generator) -> float | Array:
        """Where the actor looks; frame by frame where that changes."""
        return looking(labels.privacy[0], rng)

    def actor(self, labels: Labels, camera: Camera, rng: Generator) -> list[Part]:
        yaw = self.yaw(labels, len(camera.zoom), rng)
        points = turned(joints(labels.actor, perform(labels.action, len(camera.zoom), rng)), yaw)
        clothes = self.outfit(labels.actor, bool(labels.privacy[3]), rng)
        return body(labels.actor, clothes, placed(points, 0.0, 0.0), yaw, camera, 1, self.hands)

    def others(self, labels: Labels, camera: Camera, rng: Generator) -> list[Part]:
        """A companion at the actor's side (a relationship), or now and then a stranger far behind."""
        face, _, _, nudity, relationship = labels.privacy
        if not relationship and rng.uniform() < 0.5:
            return []
        sign = rng.choice([-1, 1])
        me = labels.actor
        if relationship:
            other = subject("companion", me.woman, me.dark, rng)
            yaw = looking(face, rng)
            x, z = sign * rng.uniform(0.75, 0.95), rng.uniform(-0.3, -0.1)
            clothes = self.outfit(other, bool(nudity), rng)
        else:
            other = subject("stranger", bool(rng.integers(2)), bool(rng.integers(2)), rng)
            yaw = rng.uniform(-np.pi, np.pi)
            x, z = sign * rng.uniform(0.9, 1.9), rng.uniform(-3.2, -1.8)
            clothes = self.outfit(other, False, rng)
        frames = len(camera.zoom)
        pose = stand(frames, rng)
        pose.arms[..., 0] += 0.15 * np.sin(np.linspace(0, rng.uniform(2, 8), frames))[:, None, None]
        drift = np.linspace(-0.5, 0.5, frames)[:, None] * np.array([rng.normal(0, 0.12), 0.0, 0.0])
        points = {name: place + drift for name, place in turned(joints(other, pose), yaw).items()}
        return body(other, clothes, placed(points, x, z), yaw, camera, 2, self.hands)

    def things(self, labels: Labels, camera: Camera, rng: Generator) -> list[Part]:
        return passing(camera, rng)

    def place(self, camera: Camera, rng: Generator) -> Array:
        """Wall, floor and furniture, larger than the picture. [height, width, 3]"""
        scene, line = canvas(camera)
        height, width = scene.shape[:2]
        wall, floor = paintwork(rng), paintwork(rng) * 0.75
        scene[:line], scene[line:] = wall, floor
        for _ in range(rng.integers(4, 9)):
            x, y = rng.uniform(0, width), rng.uniform(0.1, 0.75) * height
            w, h = rng.uniform(0.05, 0.25) * width, rng.uniform(0.05, 0.35) * height
            colour = tuple(paintwork(rng))
            cv2.rectangle(scene, (int(x), int(y)), (int(x + w), int(y + h)), colour, -1)
            if rng.uniform() < 0.5:
                cv2.rectangle(scene, (int(x), int(y)), (int(x + w), int(y + h)), tuple(paintwork(rng)), 1)
        for x in np.arange(rng.uniform(0, 20), width, rng.uniform(0.05, 0.2) * width):
            cv2.line(scene, (int(x), line), (int(x + rng.normal(0, 0.1) * width), height), tuple(floor * 0.8), 1)
        return weathered(scene, rng)
