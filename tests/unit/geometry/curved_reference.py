"""Curved and other convex solids from their definitions: inequalities and support functions, written with NumPy.

Nothing here is shared with the library but the shapes' numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from signorini._arrays import Array
from signorini.scene.shapes import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Shape,
    Sphere,
    Superellipsoid,
)
from tests.unit.geometry.reference import turned

Rng = np.random.Generator

MAKERS: dict[str, Callable[[Rng], Shape]] = {
    "cylinder": lambda r: Cylinder(r.uniform(0.2, 0.8), r.uniform(0.2, 2.0)),
    "cone": lambda r: Cone(r.uniform(0.2, 0.8), r.uniform(0.3, 2.0)),
    "ellipsoid": lambda r: Ellipsoid(tuple(r.uniform(0.2, 1.0, 3))),
    "superellipsoid": lambda r: Superellipsoid(tuple(r.uniform(0.2, 1.0, 3)), r.choice([2.5, 3.0, 4.0, 8.0])),
    "sphere": lambda r: Sphere(r.uniform(0.2, 0.8)),
    "capsule": lambda r: Capsule(r.uniform(0.2, 0.5), r.uniform(0.2, 1.5)),
    "box": lambda r: Box(tuple(r.uniform(0.3, 1.5, 3))),
    "hull": lambda r: ConvexHull(tuple(map(tuple, 0.6 * r.normal(size=(r.integers(4, 12), 3))))),
}
CURVED = ("cylinder", "cone", "ellipsoid", "superellipsoid")
PAIRS = [(a, b) for a in CURVED for b in MAKERS if b not in CURVED[: CURVED.index(a)]]


def into(pose: Array, x: Array) -> Array:
    """Return world points in the frame of a body."""
    return turned(pose[3:] * [1.0, -1.0, -1.0, -1.0], x - pose[:3])


def support_value(shape: Shape, n: Array) -> Array:
    """Return ``max n . x`` over the shape for each row of directions in its frame."""
    wide = np.hypot(n[:, 0], n[:, 1])
    match shape:
        case Cylinder(r, l):
            value = r * wide + 0.5 * l * np.abs(n[:, 2])
        case Cone(r, h):
            value = np.maximum(r * wide - 0.25 * h * n[:, 2], 0.75 * h * n[:, 2])
        case Ellipsoid(axes):
            value = np.linalg.norm(n * axes, axis=1)
        case Superellipsoid(axes, p):
            value = (np.abs(n * axes) ** (p / (p - 1.0))).sum(axis=1) ** ((p - 1.0) / p)
        case _:
            polytope = shape.polytope()
            assert polytope is not None
            value = (n @ polytope.vertices.T).max(axis=1) + shape.rounding
    return np.asarray(value)


def separation_along(n: Array, shapes: list[Shape], poses: Array) -> Array:
    """Return the gap between the supporting planes of both bodies across each row of `n`."""
    a, b = (turned(pose[3:] * [1.0, -1.0, -1.0, -1.0], n) for pose in poses)
    return n @ (poses[1, :3] - poses[0, :3]) - support_value(shapes[0], a) - support_value(shapes[1], -b)


def inequalities(shape: Shape, x: Array) -> Array:
    """Return lengths that are at most 0 for points of the shape, in its frame; the largest is 0 on the surface."""
    wide = np.hypot(x[0], x[1])
    match shape:
        case Cylinder(r, l):
            return np.array([wide - r, x[2] - 0.5 * l, -x[2] - 0.5 * l])
        case Cone(r, h):
            return np.array([(h * wide - r * (0.75 * h - x[2])) / np.hypot(r, h), -0.25 * h - x[2]])
        case Ellipsoid(axes):
            return np.array([(np.linalg.norm(x / axes) - 1.0) * min(axes)])
        case Superellipsoid(axes, p):
            return np.array([((np.abs(x / axes) ** p).sum() ** (1.0 / p) - 1.0) * min(axes)])
        case Sphere(r):
            return np.array([np.linalg.norm(x) - r])
        case Capsule(r, l):
            return np.array([np.linalg.norm(x - [0.0, 0.0, np.clip(x[2], -0.5 * l, 0.5 * l)]) - r])
    polytope = shape.polytope()
    assert polytope is not None
    return np.asarray(polytope.normals @ x - polytope.offsets)


def off_surface(shape: Shape, pose: Array, x: Array) -> float:
    """Return how far a world point is off the surface of a body, to first order.

    A contact at the far end of an inclined capsule belongs to the ball about that end and may lie inside the capsule.
    """
    outside = float(inequalities(shape, into(pose, x)).max())
    return max(outside, 0.0) if isinstance(shape, Capsule) else abs(outside)


def distance_by_optimisation(shapes: list[Shape], poses: Array) -> float:
    """Return the least distance of two points that obey the inequalities of one body each (SLSQP)."""

    def inside(x: Array) -> Array:
        points = (x[:3], x[3:])
        return -np.concatenate([inequalities(s, into(p, y)) for s, p, y in zip(shapes, poses, points, strict=True)])

    # From points off the axes, where the radius of a cylinder has no derivative.
    start = np.concatenate([poses[0, :3] + 1e-2, poses[1, :3] - 2e-2])
    search: Any = minimize  # its types know no constraint of many values
    best = search(
        lambda x: float(0.5 * ((x[:3] - x[3:]) ** 2).sum()),
        start,
        jac=lambda x: np.concatenate([x[:3] - x[3:], x[3:] - x[:3]]),
        constraints={"type": "ineq", "fun": inside},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 300},
    )
    return float(np.linalg.norm(best.x[:3] - best.x[3:]))


def depth_by_search(shapes: list[Shape], poses: Array, rng: Rng) -> float:
    """Return the largest separation over all directions: minus the least translation that parts two bodies."""
    n = rng.normal(size=(2000, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    values = separation_along(n, shapes, poses)
    return max(_climbed(n[k], shapes, poses) for k in np.argsort(-values)[:2])


def _climbed(start: Array, shapes: list[Shape], poses: Array) -> float:
    """Return the largest separation near a direction (Nelder and Mead)."""

    def lost(x: Array) -> float:
        n = (start + x) / np.linalg.norm(start + x)
        return -float(separation_along(n[None], shapes, poses)[0])

    simplex = 0.03 * np.vstack([np.zeros(3), np.eye(3)])
    options: Any = {"xatol": 1e-6, "fatol": 1e-11, "maxiter": 300, "initial_simplex": simplex}
    return -float(minimize(lost, np.zeros(3), method="Nelder-Mead", options=options).fun)
