"""A camera in perspective that frames given points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from signorini._arrays import Array

_HALF_VIEW = 0.23  # tangent of half the view's height: a long lens, little distortion
_MARGIN = 1.08


class Camera(NamedTuple):
    """Eye and axes; a point at ``depth`` along `forward` is seen at ``(right, up)/depth``."""

    eye: Array
    right: Array
    up: Array
    forward: Array
    centre: tuple[float, float]
    """Of the picture, in the plane at depth 1."""
    half: tuple[float, float]
    """Half width and height of the picture, in the plane at depth 1."""

    def rays(self, width: int, height: int) -> Array:
        """Return the unit directions through the pixels, row by row from the top, (height, width, 3)."""
        x = self.centre[0] + self.half[0] * (2.0 * (np.arange(width) + 0.5) / width - 1.0)
        y = self.centre[1] - self.half[1] * (2.0 * (np.arange(height) + 0.5) / height - 1.0)
        d = self.forward + x[None, :, None] * self.right + y[:, None, None] * self.up
        rays: Array = d / np.linalg.norm(d, axis=2, keepdims=True)
        return rays

    def window(self, vertices: Array, radius: float, width: int, height: int) -> tuple[int, int, int, int]:
        """Return first and last rows and columns of pixels that contain the image of a polytope rounded by a radius.

        The last ones are excluded.
        """
        x, y, depth = self.seen(vertices).T
        if depth.min() <= 1.01 * radius:
            return 0, height, 0, width
        # A ball off the axis looks longer by up to 1/cos of the angle; the half view is small, 1.3 is ample.
        r = 1.3 * radius / np.sqrt(depth**2 - radius**2) * np.hypot(1.0, np.hypot(x, y))
        left, right = ((x - r).min() - self.centre[0]) / self.half[0], ((x + r).max() - self.centre[0]) / self.half[0]
        lower, upper = ((y - r).min() - self.centre[1]) / self.half[1], ((y + r).max() - self.centre[1]) / self.half[1]
        rows = max(0, int(0.5 * height * (1.0 - upper))), min(height, int(0.5 * height * (1.0 - lower)) + 2)
        columns = max(0, int(0.5 * width * (1.0 + left))), min(width, int(0.5 * width * (1.0 + right)) + 2)
        return *rows, *columns

    def seen(self, points: Array) -> Array:
        """Return picture coordinates and depth of points, (n, 3)."""
        d = points - self.eye
        depth = d @ self.forward
        safe = np.where(np.abs(depth) < 1e-12, 1e-12, depth)
        return np.column_stack([d @ self.right / safe, d @ self.up / safe, depth])


def frame(points: Array, radii: Array, direction: Array, aspect: float) -> Camera:
    """Return the camera that looks against `direction` and holds all balls in a picture of the given width/height."""
    back = direction / np.linalg.norm(direction)
    sideways = np.cross([0.0, 0.0, 1.0], back)
    # Straight from above, "up" in the picture is world y.
    right = sideways / np.linalg.norm(sideways) if np.linalg.norm(sideways) > 1e-6 else np.array([1.0, 0.0, 0.0])
    up = np.cross(back, right)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    size = float(np.linalg.norm(points - middle, axis=1).max() + radii.max())
    near, far = size, 200.0 * size
    for _ in range(40):
        distance = 0.5 * (near + far)
        camera = Camera(middle + distance * back, right, up, -back, (0.0, 0.0), (aspect * _HALF_VIEW, _HALF_VIEW))
        low, high = _extent(camera, points, radii)
        if np.all(_MARGIN * (high - low) <= 2.0 * np.array(camera.half)):
            far = distance
        else:
            near = distance
    centre = 0.5 * (low + high)
    return camera._replace(centre=(float(centre[0]), float(centre[1])))


def _extent(camera: Camera, points: Array, radii: Array) -> tuple[Array, Array]:
    seen = camera.seen(points)
    if seen[:, 2].min() <= radii.max():
        return np.full(2, -np.inf), np.full(2, np.inf)
    r = (radii / seen[:, 2])[:, None]
    return (seen[:, :2] - r).min(axis=0), (seen[:, :2] + r).max(axis=0)
