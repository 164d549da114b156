"""From joints to pixels: each part of a body is a shape with a colour and a distance, drawn far to near."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from actonym.data.stage.actions import Array
from actonym.data.stage.figure import Outfit, Subject

SHIFT = 4  # OpenCV takes coordinates in fixed point; four bits keep motion smooth below a pixel
ONE = 1 << SHIFT
BLACK, WHITE = np.zeros(3), np.full(3, 255.0)
SHOES, EYES, LIPS = np.array([45.0, 38, 36]), np.array([28.0, 22, 24]), np.array([150.0, 60, 60])
DISTANCE = 4.0  # metres from the camera to the actor, who stands at z = 0


@dataclass
class Part:
    """A convex shape over T frames."""

    points: Array  # [T, K, 2] pixels: a polygon, or the two ends of a limb
    near: Array  # [T] larger is nearer to the camera
    colour: Array
    person: int  # 0 for things
    radius: Array | None = None  # [T] pixels: a limb with round ends (K = 2) or a disc (K = 1)


@dataclass
class Camera:
    """A camera at eye height that looks straight ahead, for each frame."""

    zoom: Array  # [T] pixels per metre at the place of the actor
    centre: Array  # [T, 2] metres: where the picture's middle looks, to the right and up
    size: tuple[int, int]  # height, width

    def scale(self, z: Array) -> Array:
        """Pixels per metre at the distance of `z` `[T, ...]`: what is farther is smaller."""
        return self.zoom.reshape(-1, *[1] * (z.ndim - 1)) * (DISTANCE / (DISTANCE - z))

    def project(self, place: Array) -> Array:
        """Metres `[T, ..., 3]` to pixels `[T, ..., 2]`."""
        scale = self.scale(place[..., 2])
        centre = self.centre.reshape(-1, *[1] * (place.ndim - 2), 2)
        x = self.size[1] / 2 + scale * (place[..., 0] - centre[..., 0])
        y = self.size[0] / 2 - scale * (place[..., 1] - centre[..., 1])
        return np.stack([x, y], -1)


class Figure:
    """Collects the parts of one person whose joints are `at` in the world."""

    def __init__(self, person: Subject, at: dict[str, Array], camera: Camera, who: int) -> None:
        self.person, self.at, self.camera, self.who = person, at, camera, who
        self.parts: list[Part] = []

    def limb(self, a: str, b: str, width: float, colour: Array, lift: float = 0.0) -> None:
        """From joint to joint; `width` is a share of the body's height, `lift` brings it to the front."""
        near = (self.at[a][:, 2] + self.at[b][:, 2]) / 2 + lift
        points = self.camera.project(np.stack([self.at[a], self.at[b]], 1))
        radius = width * self.person.height * self.camera.scale(near) / 2
        self.parts.append(Part(points, near, _shade(colour, near), self.who, radius))

    def disc(self, place: Array, radius: float, colour: Array, lift: float = 0.0) -> None:
        points = self.camera.project(place)[:, None]
        scale = self.person.height * self.camera.scale(place[:, 2])
        self.parts.append(Part(points, place[:, 2] + lift, colour, self.who, radius * scale))

    def cloth(self, upper: tuple[Array, Array], lower: tuple[Array, Array], colour: Array, lift: float) -> None:
        """A piece between an upper and a lower edge, each from left to right."""
        points = self.camera.project(np.stack([upper[0], upper[1], lower[1], lower[0]], 1))
        near = (self.at["chest"][:, 2] + self.at["pelvis"][:, 2]) / 2 + lift
        self.parts.append(Part(points, near, colour, self.who))


def body(person: Subject, clothes: Outfit, at: dict[str, Array], yaw: float, camera: Camera, who: int) -> list[Part]:
    """The parts of one person who has turned by `yaw`."""
    figure = Figure(person, at, camera, who)
    skin, g = person.skin, person.girth
    sleeve = clothes.top if clothes.sleeves and not clothes.nude else skin
    shin = skin if clothes.nude or clothes.skirt else clothes.bottom
    for tag in ("l", "r"):
        figure.limb(f"{tag}_hip", f"{tag}_knee", 0.085 * g, clothes.bottom)
        figure.limb(f"{tag}_knee", f"{tag}_foot", 0.062 * g, shin)
        figure.limb(f"{tag}_foot", f"{tag}_toe", 0.045, skin if clothes.nude else SHOES)
        figure.limb(f"{tag}_shoulder", f"{tag}_elbow", 0.056 * g, skin if clothes.nude else clothes.top)
        figure.limb(f"{tag}_elbow", f"{tag}_hand", 0.044 * g, sleeve)
        # The stick is half black, half white: sharp in a fine picture, nothing in one that averages.
        figure.limb(f"{tag}_hand", f"{tag}_band", 0.012, BLACK, 0.3)
        figure.limb(f"{tag}_band", f"{tag}_tip", 0.012, WHITE, 0.3)
        figure.disc(at[f"{tag}_hand"], 0.027, skin, 0.32)
    _trunk(figure, clothes)
    _head(figure, yaw)
    return figure.parts


def _trunk(figure: Figure, clothes: Outfit) -> None:
    """Shoulders to hips as one piece, wide enough to be seen from the side too; trousers or a skirt below it."""
    at, person = figure.at, figure.person
    margin = np.array([0.055 * person.height * person.girth, 0, 0])

    def edge(left: Array, right: Array) -> tuple[Array, Array]:
        swapped = (left[:, 0] > right[:, 0])[:, None]
        return np.where(swapped, right, left) - margin, np.where(swapped, left, right) + margin

    shoulders = edge(at["l_shoulder"] * 0.9 + at["chest"] * 0.1, at["r_shoulder"] * 0.9 + at["chest"] * 0.1)
    hips = edge(at["l_hip"], at["r_hip"])
    figure.cloth(shoulders, hips, person.skin if clothes.nude else clothes.top, 0.03)
    if clothes.skirt and not clothes.nude:
        hem = edge(at["l_knee"] * 0.8 + at["l_hip"] * 0.2, at["r_knee"] * 0.8 + at["r_hip"] * 0.2)
        figure.cloth(hips, hem, clothes.bottom, 0.12)
    else:
        waist = (0.75 * hips[0] + 0.25 * shoulders[0], 0.75 * hips[1] + 0.25 * shoulders[1])
        figure.cloth(waist, (hips[0] - [0, 0.03, 0], hips[1] - [0, 0.03, 0]), clothes.bottom, 0.035)


def _head(figure: Figure, yaw: float) -> None:
    """Skull, hair and, seen from the front, a face."""
    person, head, h = figure.person, figure.at["head"], figure.person.height
    up, side = np.array([0.0, 1.0, 0.0]), np.array([np.cos(yaw), 0.0, -np.sin(yaw)])
    front = np.array([np.sin(yaw), 0.0, np.cos(yaw)])
    facing = front[2] > 0
    size = 0.078 * person.head
    figure.limb("neck", "chest", 0.05, person.skin, 0.01)
    figure.disc(head, size, person.skin if facing else person.hair, 0.05)
    if person.long_hair:
        figure.disc(head - up * 0.05 * h - front * 0.02, size * 1.1, person.hair, 0.04 if facing else 0.07)
        figure.disc(head - up * 0.10 * h - front * 0.02, size * 0.95, person.hair, 0.035 if facing else 0.068)
    figure.disc(head + up * 0.028 * h - front * 0.035, size * 0.98, person.hair, 0.045 if facing else 0.06)
    if not facing:
        return
    figure.disc(head + up * 0.035 * h - front * 0.01, size * 0.72, person.hair, 0.055)
    for sign in (-1, 1):
        eye = head + front * 0.04 * h + side * sign * 0.026 * h + up * 0.004
        figure.disc(eye, 0.016, EYES, 0.08)
    figure.disc(head + front * 0.04 * h - up * 0.04 * h, 0.017, LIPS, 0.08)


def _shade(colour: Array, near: Array) -> Array:
    """A limb behind the body is a little darker."""
    return colour * (0.94 if near.mean() > 0 else 0.82)


def paint(parts: list[Part], frames: Array, masks: Array, nearness: Array) -> None:
    """Draw the parts into `frames` [T, H, W, 3], person ids into `masks` [T, H, W], z into `nearness` [T, H, W]."""
    shapes = [_fixed(part) for part in parts]
    inks = [tuple(part.colour.tolist()) for part in parts]
    near = np.stack([part.near for part in parts])
    order = np.argsort(near, axis=0).T.tolist()
    owner = np.array([0, *(part.person for part in parts)], np.uint8)
    depth = np.concatenate([np.zeros((1, len(frames))), near]).astype(np.float32)
    labels = np.empty(frames.shape[1:3], np.uint8)
    for t, canvas in enumerate(frames):
        labels[:] = 0
        for k in order[t]:
            corners, ends, radii = shapes[k]
            if corners is not None:
                cv2.fillConvexPoly(canvas, corners[t], inks[k], cv2.LINE_AA, SHIFT)
                cv2.fillConvexPoly(labels, corners[t], k + 1, cv2.LINE_8, SHIFT)
            if radii:
                for end in ends[t]:
                    cv2.circle(canvas, end, radii[t], inks[k], -1, cv2.LINE_AA, SHIFT)
                    cv2.circle(labels, end, radii[t], k + 1, -1, cv2.LINE_8, SHIFT)
        drawn = labels > 0
        masks[t] = owner[labels]
        np.copyto(nearness[t], depth[labels, t], where=drawn)


def _fixed(part: Part) -> tuple[Array | None, list[Any], list[int]]:
    """A part in OpenCV's fixed point: its polygon (discs have none), its round ends and their radii."""
    ends = np.round(part.points * ONE).astype(np.int32)
    if part.radius is None:
        return ends, [], []
    radii = np.round(part.radius * ONE).astype(int).tolist()
    corners = None if ends.shape[1] == 1 else np.round(_outline(part.points, part.radius) * ONE).astype(np.int32)
    return corners, ends.tolist(), radii


def _outline(points: Array, radius: Array) -> Array:
    """The corners of the rectangle around a limb."""
    a, b = points[:, 0], points[:, 1]
    along = b - a
    across = np.stack([-along[:, 1], along[:, 0]], -1)
    across *= (radius / np.maximum(np.linalg.norm(across, axis=-1), 1e-6))[:, None]
    return np.stack([a + across, b + across, b - across, a - across], 1)
