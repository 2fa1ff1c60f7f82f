"""Where rays enter cylinders, cones, ellipsoids and superellipsoids, in the frames of these solids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from signorini._arrays import Array
from signorini.visual.solids import Surface

Pixels = NDArray[np.float32]
_STEPS = 40  # of Newton's method; rays that graze a flat spot need most


def enter_surface(surface: Surface, origin: Pixels, d: Pixels) -> tuple[Pixels, Pixels]:
    """Return where rays enter a curved solid (inf where they miss it) and its normal there, (n,), (n, 3)."""
    o = (np.asarray(origin, dtype=np.float64) - surface.centre) @ surface.axes
    u = np.asarray(d, dtype=np.float64) @ surface.axes
    o = np.broadcast_to(o, u.shape)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if surface.form == "superellipsoid":
            t, normal = _superellipsoid(surface.size, o, u)
        else:
            t, normal = _turned(surface, o, u)
    length = np.linalg.norm(normal, axis=1)
    normal = normal / np.where(length > 0.0, length, 1.0)[:, None]
    return t.astype(np.float32), (normal @ surface.axes.T).astype(np.float32)


def _superellipsoid(size: Array, o: Array, u: Array) -> tuple[Array, Array]:
    """Go from the entry into the box: the function is convex along a ray, so Newton's method comes from one side."""
    a, p = size[:3], size[3]
    x, v = o / a, u / a
    ends = np.stack([(-1.0 - x) / v, (1.0 - x) / v])
    t = np.nanmax(ends.min(axis=0), axis=1)
    last = np.nanmin(ends.max(axis=0), axis=1)
    hit = (t < last) & (t > 0.0) & ~((v == 0.0) & (np.abs(x) > 1.0)).any(axis=1)
    for _ in range(_STEPS):
        y = np.abs(x + t[:, None] * v)
        f = (y**p).sum(axis=1) - 1.0
        slope = p * (y ** (p - 1.0) * np.sign(x + t[:, None] * v) * v).sum(axis=1)
        hit &= (slope < 0.0) | (f <= 1e-9)
        step = np.where(hit & (f > 1e-9), -f / slope, 0.0)
        if not step.any():
            break
        t = t + step
    y = x + t[:, None] * v
    hit &= (np.abs(y) ** p).sum(axis=1) < 1.001
    y = np.where(hit[:, None], y, 0.0)
    return np.where(hit, t, np.inf), np.sign(y) * np.abs(y) ** (p - 1.0) / a


def _turned(surface: Surface, o: Array, u: Array) -> tuple[Array, Array]:
    """Enter a cylinder or cone by its side, of radius ``r - k z`` between two ends, or by an end."""
    a, b = surface.size[:2]
    low, high, k, r = (-b, b, 0.0, a) if surface.form == "cylinder" else (-0.25 * b, 0.75 * b, a / b, 0.75 * a)
    # (o + t u)_x^2 + (o + t u)_y^2 = (r - k z)^2
    w, s = r - k * o[:, 2], -k * u[:, 2]
    A = u[:, 0] ** 2 + u[:, 1] ** 2 - s**2
    B = o[:, 0] * u[:, 0] + o[:, 1] * u[:, 1] - w * s
    C = o[:, 0] ** 2 + o[:, 1] ** 2 - w**2
    root = np.sqrt(B * B - A * C)
    best, normal = np.full(len(u), np.inf), np.zeros_like(u)
    for t in ((-B - root) / A, (-B + root) / A):
        z = o[:, 2] + t * u[:, 2]
        good = (t > 0.0) & (z >= low) & (z <= high) & (t < best)
        x = o + np.where(good, t, 0.0)[:, None] * u
        side = np.column_stack([x[:, 0], x[:, 1], k * (r - k * x[:, 2])])
        good &= np.einsum("ij,ij->i", side, u) < 0.0
        best, normal = np.where(good, t, best), np.where(good[:, None], side, normal)
    for level, sign in ((low, -1.0), (high, 1.0)):
        t = (level - o[:, 2]) / u[:, 2]
        x = o[:, :2] + t[:, None] * u[:, :2]
        good = (t > 0.0) & (t < best) & (sign * u[:, 2] < 0.0) & (np.hypot(x[:, 0], x[:, 1]) <= r - k * level)
        best, normal = np.where(good, t, best), np.where(good[:, None], [0.0, 0.0, sign], normal)
    return best, normal
