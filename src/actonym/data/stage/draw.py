"""From shapes to pixels: each part of a body or a thing has a colour and a distance, and is drawn far to near."""

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from actonym.data.stage.pose import Array

SHIFT = 4  # OpenCV takes coordinates in fixed point; four bits keep motion smooth below a pixel
ONE = 1 << SHIFT
DISTANCE = 4.0  # metres from the camera to the actor, who stands at z = 0


Shape = tuple[Array | None, list[Any], list[int]]  # in OpenCV's fixed point: a polygon, round ends, their radii


@dataclass
class Part:
    """A shape over T frames."""

    points: Array  # [T, K, 2] pixels: a polygon, or the two ends of a limb
    near: Array  # [T] larger is nearer to the camera
    colour: Array
    person: int  # 0 for things
    radius: Array | None = None  # [T] pixels: a limb with round ends (K = 2) or a disc (K = 1)
    shown: Array | None = None  # [T] in which frames it is there; in all of them by default
    concave: bool = False  # a polygon that may be; slower to draw
    inner: bool = False  # it lies within another part: it has a colour, and changes no mask

    def seen(self, span: slice) -> bool:
        """Whether it is there in some of these frames."""
        return self.shown is None or bool(self.shown[span].any())

    def cut(self, span: slice) -> "Part":
        """In these frames only."""
        radius, shown = (None if each is None else each[span] for each in (self.radius, self.shown))
        return replace(self, points=self.points[span], near=self.near[span], radius=radius, shown=shown)


@dataclass
class Camera:
    """A camera at eye height that looks straight ahead, for each frame."""

    zoom: Array  # [T] pixels per metre at the place of the actor
    centre: Array  # [T, 2] metres: where the picture's middle looks, to the right and up
    size: tuple[int, int]  # height, width

    def cut(self, span: slice) -> "Camera":
        return Camera(self.zoom[span], self.centre[span], self.size)

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


def paint(parts: list[Part], frames: Array, masks: Array, nearness: Array) -> None:
    """Draw the parts into `frames` [T, H, W, 3], person ids into `masks` [T, H, W], z into `nearness` [T, H, W]."""
    if not parts:
        return
    shapes = [_fixed(part) for part in parts]
    inks = [tuple(part.colour.tolist()) for part in parts]
    near = np.stack([part.near for part in parts])
    order = np.argsort(near, axis=0).T.tolist()
    hidden = [set() if part.shown is None else set(np.flatnonzero(~part.shown).tolist()) for part in parts]
    owner = np.array([0, *(part.person for part in parts)], np.uint8)
    depth = np.concatenate([np.zeros((1, len(frames))), near]).astype(np.float32)
    labels = np.empty(frames.shape[1:3], np.uint8)
    for t, canvas in enumerate(frames):
        labels[:] = 0
        for k in order[t]:
            if t in hidden[k]:
                continue
            _put(canvas, shapes[k], t, inks[k], cv2.LINE_AA, parts[k].concave)
            if not parts[k].inner:
                _put(labels, shapes[k], t, (k + 1,), cv2.LINE_8, parts[k].concave)
        drawn = labels > 0
        masks[t] = owner[labels]
        np.copyto(nearness[t], depth[labels, t], where=drawn)


def _put(target: Array, shape: Shape, t: int, ink: tuple[float, ...], line: int, concave: bool) -> None:
    corners, ends, radii = shape
    if corners is not None and concave:
        cv2.fillPoly(target, [corners[t]], ink, line, SHIFT)
    elif corners is not None:
        cv2.fillConvexPoly(target, corners[t], ink, line, SHIFT)
    if radii:
        for end in ends[t]:
            cv2.circle(target, end, radii[t], ink, -1, line, SHIFT)


def _fixed(part: Part) -> Shape:
    """A part as OpenCV draws it; discs have no polygon."""
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
