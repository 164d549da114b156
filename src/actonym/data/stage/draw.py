"""From joints to pixels: each part of a body is a shape with a colour and a distance, drawn far to near."""

from dataclasses import dataclass

import cv2
import numpy as np

from actonym.data.stage.actions import Array
from actonym.data.stage.figure import Outfit, Subject

SHIFT = 4  # OpenCV takes coordinates in fixed point; four bits keep motion smooth below a pixel
ONE = 1 << SHIFT
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


def body(person: Subject, clothes: Outfit, at: dict[str, Array], yaw: float, camera: Camera, who: int) -> list[Part]:
    """The parts of one figure whose joints are `at` in the world."""
    h, skin = person.height, person.skin
    top = skin if clothes.nude else clothes.top
    arm_lower = clothes.top if clothes.sleeves and not clothes.nude else skin
    thigh = clothes.bottom
    shin = skin if clothes.nude or clothes.skirt else clothes.bottom
    pixels = {name: camera.project(place) for name, place in at.items()}
    parts: list[Part] = []

    def limb(a: str, b: str, width: float, colour: Array, lift: float = 0.0) -> None:
        near = (at[a][:, 2] + at[b][:, 2]) / 2 + lift
        points = np.stack([pixels[a], pixels[b]], 1)
        parts.append(Part(points, near, _shade(colour, near), who, width * h * camera.scale(near) / 2))

    def disc(place: Array, radius: float, colour: Array, lift: float = 0.0) -> None:
        points = camera.project(place)[:, None]
        parts.append(Part(points, place[:, 2] + lift, colour, who, radius * h * camera.scale(place[:, 2])))

    g = person.girth
    for tag in ("l", "r"):  # the stick is half black, half white: sharp when near, nothing when averaged
        limb(f"{tag}_hip", f"{tag}_knee", 0.085 * g, thigh)
        limb(f"{tag}_knee", f"{tag}_foot", 0.062 * g, shin)
        limb(f"{tag}_foot", f"{tag}_toe", 0.045, np.array([45.0, 38, 36]) if not clothes.nude else skin)
        limb(f"{tag}_shoulder", f"{tag}_elbow", 0.056 * g, top)
        limb(f"{tag}_elbow", f"{tag}_hand", 0.044 * g, arm_lower)
        limb(f"{tag}_hand", f"{tag}_band", 0.012, np.zeros(3), 0.3)
        limb(f"{tag}_band", f"{tag}_tip", 0.012, np.full(3, 255.0), 0.3)
        disc(at[f"{tag}_hand"], 0.027, skin, 0.32)
    _trunk(parts, person, clothes, at, camera, top, who)
    _head(parts, person, at, yaw, camera, who, disc, limb)
    return parts


def _trunk(
    parts: list[Part], person: Subject, clothes: Outfit, at: dict[str, Array], camera: Camera, top: Array, who: int
) -> None:
    """Shoulders to hips as one polygon, wide enough to be seen from the side too; trousers or a skirt below it."""
    thick = 0.055 * person.height * person.girth
    wide = np.array([thick, 0, 0])

    def pair(left: Array, right: Array) -> tuple[Array, Array]:
        swapped = (left[:, 0] > right[:, 0])[:, None]
        low, high = np.where(swapped, right, left), np.where(swapped, left, right)
        return low - wide, high + wide

    def polygon(upper: tuple[Array, Array], lower: tuple[Array, Array], colour: Array, lift: float) -> None:
        points = camera.project(np.stack([upper[0], upper[1], lower[1], lower[0]], 1))
        near = (at["chest"][:, 2] + at["pelvis"][:, 2]) / 2 + lift
        parts.append(Part(points, near, colour, who))

    shoulders = pair(at["l_shoulder"] * 0.9 + at["chest"] * 0.1, at["r_shoulder"] * 0.9 + at["chest"] * 0.1)
    hips = pair(at["l_hip"], at["r_hip"])
    polygon(shoulders, hips, top, 0.03)
    if clothes.skirt and not clothes.nude:
        hem = pair(at["l_knee"] * 0.8 + at["l_hip"] * 0.2, at["r_knee"] * 0.8 + at["r_hip"] * 0.2)
        polygon(hips, hem, clothes.bottom, 0.12)
    else:
        waist = tuple(0.75 * hip + 0.25 * shoulder for hip, shoulder in zip(hips, shoulders, strict=True))
        polygon((waist[0], waist[1]), (hips[0] - [0, 0.03, 0], hips[1] - [0, 0.03, 0]), clothes.bottom, 0.035)


def _head(parts, person, at, yaw, camera, who, disc, limb) -> None:  # type: ignore[no-untyped-def]
    """Skull, hair and, seen from the front, a face."""
    head = at["head"]
    front = np.array([np.sin(yaw), 0.0, np.cos(yaw)])
    facing = front[2] > 0
    size = 0.078 * person.head
    limb("neck", "chest", 0.05, person.skin, 0.01)
    disc(head, size, person.skin if facing else person.hair, 0.05)
    up = np.array([0.0, 1.0, 0.0])
    if person.long_hair:
        disc(head - up * 0.05 * person.height - front * 0.02, size * 1.1, person.hair, 0.04 if facing else 0.07)
        disc(head - up * 0.10 * person.height - front * 0.02, size * 0.95, person.hair, 0.035 if facing else 0.068)
    disc(head + up * 0.028 * person.height - front * 0.035, size * 0.98, person.hair, 0.045 if facing else 0.06)
    if not facing:
        return
    disc(head + up * 0.035 * person.height - front * 0.01, size * 0.72, person.hair, 0.055)
    side = np.array([np.cos(yaw), 0.0, -np.sin(yaw)])
    for sign in (-1, 1):
        eye = head + front * 0.04 * person.height + side * sign * 0.026 * person.height + up * 0.004
        disc(eye, 0.016, np.array([28.0, 22, 24]), 0.08)
    disc(head + front * 0.04 * person.height - up * 0.04 * person.height, 0.017, np.array([150.0, 60, 60]), 0.08)


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


def _fixed(part: Part) -> tuple[Array | None, list, list]:
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
