"""The second world: other actions, out of doors, in daylight, filmed by a camera that pans.

Same puppets, same attributes, nothing else in common: an anonymizer that was trained on the first world meets unseen
actions here.
"""

import cv2
import numpy as np
from numpy.random import Generator

from actonym.data.stage.actions import PARK
from actonym.data.stage.body import mittens
from actonym.data.stage.draw import Camera, Part
from actonym.data.stage.film import canvas, weathered
from actonym.data.stage.pose import Array
from actonym.data.stage.puppets import Puppets
from actonym.data.stage.world import Labels, describe

LEAVES = np.array([[196, 132, 40], [150, 60, 30], [110, 128, 50], [222, 190, 90]], float)


class Park(Puppets):
    """The five attributes of the first world."""

    card = describe(
        "Stage, park",
        "10 other actions of the puppets, outdoors: for anonymizers that meet actions they were not trained on",
    )
    actions = PARK
    salt = (1,)
    prefix = "park-"
    hands = staticmethod(mittens)

    def camera(self, frames: int, size: tuple[int, int], rng: Generator) -> Camera:
        """From higher up than in the room: it pans steadily to one side and hardly shakes."""
        tall = rng.uniform(0.36, 0.48)
        time = np.linspace(-0.5, 0.5, frames)
        zoom = tall * size[0] / 1.7 * (1 + rng.normal(0, 0.08) * time)
        pan = np.array([rng.choice([-1, 1]) * rng.uniform(0.15, 0.4), rng.normal(0, 0.02)])
        shake = rng.normal(0, 0.001, (frames, 2)).cumsum(0)
        return Camera(zoom, np.array([0.0, 1.2]) + rng.normal(0, [0.25, 0.1]) + time[:, None] * pan + shake, size)

    def things(self, labels: Labels, camera: Camera, rng: Generator) -> list[Part]:
        """Leaves that fall and birds that cross: motion that is nobody's action."""
        frames = len(camera.zoom)
        time = np.linspace(0, 1, frames)[:, None]
        parts = []
        for _ in range(rng.integers(2, 6)):
            bird = rng.uniform() < 0.3
            start = rng.uniform([-2.2, 1.9 if bird else 0.6], [2.2, 2.6])
            speed = rng.normal([0, 0], [1.6, 0.2]) if bird else rng.normal([0.2, -0.9], [0.2, 0.2])
            path = start + time * speed + 0.06 * np.sin(12 * time + rng.uniform(0, 6)) * [1, 0]
            near = np.full(frames, rng.choice([-1.8, 0.8], p=[0.7, 0.3]))
            points = camera.project(np.concatenate([path, near[:, None]], 1))[:, None]
            colour = np.full(3, 40.0) if bird else LEAVES[rng.integers(len(LEAVES))]
            parts.append(Part(points, near, colour, 0, rng.uniform(0.03, 0.06) * camera.scale(near)))
        return parts

    def place(self, camera: Camera, rng: Generator) -> Array:
        """Sky, hills, trees and a lawn with a path. [height, width, 3]"""
        scene, line = canvas(camera)
        height, width = scene.shape[:2]
        _sky(scene, line, rng)
        lawn = np.array([96.0, 130, 62]) * rng.uniform(0.6, 1.2) + rng.normal(0, 14, 3)
        scene[line:] = lawn
        _path(scene, line, rng)
        hill = lawn * 0.7 + np.array([30.0, 40, 60])
        for _ in range(rng.integers(2, 5)):
            middle = int(rng.uniform(0, width)), line
            axes = int(rng.uniform(0.2, 0.5) * width), int(rng.uniform(0.05, 0.16) * height)
            cv2.ellipse(scene, middle, axes, 0, 180, 360, tuple(hill + rng.normal(0, 8, 3)), -1)
        for _ in range(rng.integers(3, 8)):
            _tree(scene, line, rng)
        return weathered(scene, rng)


def _sky(scene: Array, line: int, rng: Generator) -> None:
    """From one colour above to a paler one at the horizon, with some clouds."""
    top = np.array([110.0, 150, 200]) * rng.uniform(0.6, 1.1) + rng.normal(0, 15, 3)
    low = top * 0.5 + rng.uniform(80, 125)
    share = np.linspace(0, 1, max(line, 1), dtype=np.float32)[:, None]
    scene[:line] = (top * (1 - share) + low * share)[:, None]
    height, width = scene.shape[:2]
    for _ in range(rng.integers(0, 4)):
        middle = int(rng.uniform(0, width)), int(rng.uniform(0, 0.8) * line)
        axes = int(rng.uniform(0.04, 0.14) * width), int(rng.uniform(0.01, 0.04) * height)
        cv2.ellipse(scene, middle, axes, 0, 0, 360, tuple(low * 0.4 + 150), -1)


def _path(scene: Array, line: int, rng: Generator) -> None:
    """It comes from the horizon and widens towards the camera."""
    height, width = scene.shape[:2]
    far, near = rng.uniform(0.2, 0.8) * width, rng.uniform(0.0, 1.0) * width
    half = rng.uniform(0.01, 0.03) * width, rng.uniform(0.1, 0.3) * width
    corners = [(far - half[0], line), (far + half[0], line), (near + half[1], height), (near - half[1], height)]
    cv2.fillConvexPoly(scene, np.array(corners, np.int32), tuple(rng.uniform(110, 190) + rng.normal(0, 8, 3)))


def _tree(scene: Array, line: int, rng: Generator) -> None:
    """A trunk and a crown of several balls; some stand far away, some nearer and lower in the picture."""
    height, width = scene.shape[:2]
    near = rng.uniform(0.3, 1.0)
    x, foot, tall = rng.uniform(0, width), line + 0.12 * near * height, rng.uniform(0.3, 0.55) * near * height
    trunk = np.array([92.0, 70, 50]) * rng.uniform(0.6, 1.2)
    w = max(1, round(0.018 * near * width))
    cv2.rectangle(scene, (int(x) - w, int(foot - tall * 0.6)), (int(x) + w, int(foot)), tuple(trunk), -1)
    green = np.array([70.0, 104, 50]) * rng.uniform(0.6, 1.3) + rng.normal(0, 12, 3)
    for _ in range(6):
        middle = int(x + rng.uniform(-0.18, 0.18) * tall), int(foot - tall * rng.uniform(0.62, 0.95))
        cv2.circle(scene, middle, int(rng.uniform(0.14, 0.22) * tall), tuple(green * rng.uniform(0.85, 1.1)), -1)
