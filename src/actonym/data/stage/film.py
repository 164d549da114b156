"""How a scene is filmed, whatever happens in it: the camera, the light, the sensor."""

from collections.abc import Iterator
from functools import cache

import cv2
import numpy as np
from numpy.random import Generator

from actonym.data.stage.draw import DISTANCE, Camera, Part, paint
from actonym.data.stage.pose import Array
from actonym.data.stage.world import Footage

MARGIN = 1.6  # the painted background is this much larger than the picture, so that the camera can move
WALL = -3.5  # metres behind the actor
CELLS = 12  # patches of wandering light along a side of the picture
SHOT = 32  # frames of a long video that are in memory at a time
EVERY = 48  # frames of a long video between two things that pass
LIGHT = (0.06, 0.15)  # how strong it is: the deviation of its logarithm


def shoot(parts: list[Part], picture: Array, nearness: Array, rng: Generator) -> Footage:
    """Draw the parts into the empty scene, then let the sensor see it."""
    mask = np.zeros(picture.shape[:3], np.uint8)
    paint(parts, picture, mask, nearness)
    return Footage(Sensor(rng)(picture), mask, np.float32(DISTANCE) - nearness)


def shots(parts: list[Part], camera: Camera, scene: Array, rng: Generator) -> Iterator[Footage]:
    """A long video, some frames at a time: what moves, the camera and the light go on from one to the next."""
    sensor = Sensor(rng)
    for first in range(0, len(camera.zoom), SHOT):
        span = slice(first, first + SHOT)
        picture, nearness = through(camera, scene, span), room(camera.cut(span))
        mask = np.zeros(picture.shape[:3], np.uint8)
        paint([part.cut(span) for part in parts if part.seen(span)], picture, mask, nearness)
        yield Footage(sensor(picture), mask, np.float32(DISTANCE) - nearness)


def hand_held(frames: int, size: tuple[int, int], rng: Generator) -> Camera:
    """A hand-held camera: it drifts, zooms a little and shakes."""
    tall = rng.uniform(0.32, 0.45)  # of a 1.7 m figure, as a share of the picture: small figures, as in real footage
    time = np.linspace(-0.5, 0.5, frames)
    zoom = tall * size[0] / 1.7 * (1 + rng.normal(0, 0.05) * time)
    drift = rng.normal(0, [0.08, 0.025])
    shake = rng.normal(0, 0.002, (frames, 2)).cumsum(0)
    return Camera(zoom, np.array([0.0, 0.95]) + rng.normal(0, [0.3, 0.12]) + time[:, None] * drift + shake, size)


def on_tripod(frames: int, size: tuple[int, int], rng: Generator, tall: tuple[float, float]) -> Camera:
    """A camera that watches for long: it sways slowly and trembles. `tall` is a 1.7 m figure's share of the picture."""
    time = np.arange(frames)[:, None] / rng.uniform(20, 60, 3) + rng.uniform(0, 6, 3)  # radians; up, across and in
    zoom = rng.uniform(*tall) * size[0] / 1.7 * (1 + 0.02 * np.sin(time[:, 2]))
    sway = np.sin(time[:, :2]) * rng.uniform(0.02, 0.06, 2)
    centre = np.array([0.0, 0.95]) + rng.normal(0, [0.15, 0.08]) + sway + rng.normal(0, 0.003, (frames, 2))
    return Camera(zoom, centre, size)


def room(camera: Camera) -> Array:
    """z of the empty room: the floor comes nearer towards the lower edge, the wall stands behind. [T, H, W]"""
    rows = np.arange(camera.size[0])[None] - camera.size[0] / 2
    below = np.maximum(rows, 1e-3) / (camera.zoom * camera.centre[:, 1])[:, None]
    floor = DISTANCE - DISTANCE / below
    return np.repeat(np.maximum(floor, WALL).astype(np.float32)[:, :, None], camera.size[1], 2)


def passing(camera: Camera, rng: Generator) -> list[Part]:
    """Balls, birds, passing things: motion that is nobody's action."""
    parts = []
    frames = len(camera.zoom)
    for _ in range(rng.integers(1, 4)):
        start, speed = rng.uniform([-2.0, 0.0], [2.0, 2.4]), rng.normal(0, [0.9, 0.25])
        path = start + np.linspace(0, 1, frames)[:, None] * speed
        near = np.full(frames, rng.choice([-1.5, 0.8], p=[0.8, 0.2]))
        points = camera.project(np.concatenate([path, near[:, None]], 1))[:, None]
        parts.append(Part(points, near, rng.uniform(20, 235, 3), 0, rng.uniform(0.03, 0.11) * camera.scale(near)))
    return parts


def traffic(camera: Camera, rng: Generator) -> list[Part]:
    """The same for a long video: now and then something crosses the picture."""
    frames = len(camera.zoom)
    parts = []
    for start in range(int(rng.integers(0, EVERY)), frames, EVERY):
        span = np.clip((np.arange(frames) - start) / rng.uniform(0.3, 0.9) / EVERY, -0.01, 1.01)
        side, height = rng.choice([-1, 1]), rng.uniform(0.1, 2.2)
        path = np.stack([side * 5.0 * (span - 0.5), height + rng.normal(0, 0.3) * span], -1)
        near = np.full(frames, rng.choice([-1.5, 0.8], p=[0.8, 0.2]))
        points = camera.project(np.concatenate([path, near[:, None]], 1))[:, None]
        radius = rng.uniform(0.03, 0.11) * camera.scale(near)
        parts.append(Part(points, near, rng.uniform(20, 235, 3), 0, radius, shown=(span >= 0) & (span <= 1)))
    return parts


def paintwork(rng: Generator) -> Array:
    """The colour of a wall or a piece of furniture: muted, at any brightness."""
    return np.clip(rng.uniform(50, 215) + rng.normal(0, 22, 3), 0, 255)


def canvas(camera: Camera) -> tuple[Array, int]:
    """An empty background, float `[height, width, 3]`, and the row at which wall and floor meet."""
    height, width = (round(MARGIN * side) for side in camera.size)
    zoom, centre = camera.zoom.mean(), camera.centre.mean(0)
    line = round(height / 2 + zoom * centre[1] * DISTANCE / (DISTANCE - WALL))
    return np.empty((height, width, 3), np.float32), line


def weathered(scene: Array, rng: Generator) -> Array:
    """Nothing is of one colour: soft stains and a fine grain, in place."""
    height, width = scene.shape[:2]
    cloud = rng.normal(0, 1, (7, 9, 3)).astype(np.float32)
    scene += 14 * cv2.resize(cloud, (width, height), interpolation=cv2.INTER_CUBIC)
    grain = rng.normal(0, 1, (height // 2, width // 2, 1)).astype(np.float32)
    scene += 7 * cv2.resize(grain, (width, height))[..., None]
    return scene


def through(camera: Camera, scene: Array, span: slice = slice(None)) -> Array:
    """The background, painted once, as the moving camera sees it, in all frames or some. uint8 [T, H, W, 3]"""
    height, width = scene.shape[:2]
    zoom, centre, size = camera.zoom.mean(), camera.centre.mean(0), camera.size
    zooms, centres = camera.zoom[span], camera.centre[span]
    scene8 = np.clip(scene, 0, 255).astype(np.uint8)
    out = np.empty((len(zooms), *size, 3), np.uint8)
    middle = np.array([width / 2, height / 2])
    for t in range(len(out)):
        scale = zooms[t] / zoom
        look = middle + (centres[t] - centre) * [1, -1] * zoom
        offset = np.array([size[1], size[0]]) / 2 - scale * look
        matrix = np.array([[scale, 0, offset[0]], [0, scale, offset[1]]])
        cv2.warpAffine(scene8, matrix, (size[1], size[0]), dst=out[t], borderMode=cv2.BORDER_REPLICATE)
    return out


@cache
def _noise() -> Array:
    """A fixed tile of sensor noise; each frame looks at another part of it."""
    return np.random.default_rng(0).normal(0, 1, (512, 512, 3)).astype(np.float32)


class Sensor:
    """What the camera makes of light: exposure, a colour cast, noise. It may be shown a video in several parts.

    And light that wanders over the scene, as under leaves or from a screen: soft, never still. It has no edges, so it
    hides little in a sharp picture and much in a coarse one.
    """

    def __init__(self, rng: Generator) -> None:
        self.rng = rng
        self.gain = (rng.uniform(0.75, 1.15) * (1 + rng.normal(0, 0.04, 3))).astype(np.float32)
        self.noise = np.float32(rng.uniform(1.0, 3.0))
        self.light = np.float32(rng.uniform(*LIGHT))
        self.cells: Array | None = None  # of the light in the last frame

    def __call__(self, frames: Array) -> Array:
        """uint8 [T, H, W, 3]"""
        height, width = frames.shape[1:3]
        tile = _noise()
        if max(height, width) > 448:
            tile = np.tile(tile, (-(-height // 448), -(-width // 448), 1))
        light = self._light(len(frames), (height, width))
        gains = np.repeat(light, 3, -1) * np.tile(self.gain, width)  # colours side by side: long rows are fast
        out = np.empty_like(frames)
        for t, frame in enumerate(frames):
            y, x = self.rng.integers(0, [tile.shape[0] - height + 1, tile.shape[1] - width + 1])
            noisy = (frame.reshape(height, -1) * gains[t]).reshape(frame.shape)
            noisy += self.noise * tile[y : y + height, x : x + width]
            np.clip(noisy, 0, 255, out=noisy)
            out[t] = noisy
        return out

    def _light(self, frames: int, size: tuple[int, int]) -> Array:
        """[T, H, W]"""
        field = self.rng.normal(0, 1, (frames, CELLS, CELLS)).astype(np.float32)
        for t in range(frames):
            before = field[t - 1] if t else self.cells
            if before is not None:
                field[t] = 0.6 * before + 0.8 * field[t]
        self.cells = field[-1]
        soft = [cv2.resize(cells, size[::-1], interpolation=cv2.INTER_LINEAR) for cells in field]
        return np.exp(self.light * np.stack(soft))
