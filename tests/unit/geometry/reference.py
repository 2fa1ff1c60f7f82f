"""Distance and depth of rounded polytopes from their definitions, by methods that the library does not use.

A shape is its points (vertices in the world) and a radius. Apart: the point of least norm in the convex hull of all
differences, by non-negative least squares. Overlapping: the least distance from the origin to a facet of that
hull, by Qhull.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

from signorini._arrays import Array
from signorini.geometry.detect import detect_arrays
from signorini.model import Contacts, Materials
from signorini.scene.shapes import PlacedShape, Shape, encode

ANY_PAIR = Materials(
    friction=np.array([0.5]),
    restitution=np.zeros(1),
    torsional=np.zeros(1),
    rolling=np.zeros(1),
    ellipsoid=np.zeros((1, 3)),
    pair=np.zeros(0, dtype=np.int64),
    pair_material=np.zeros(0, dtype=np.int64),
)


@dataclass(frozen=True)
class Solid:
    """Convex hull of points, rounded."""

    points: Array
    radius: float


def turned(e: Array, x: Array) -> Array:
    """Return the rows of `x` turned by the unit quaternion `e`."""
    w, u = e[0], e[1:]
    return np.asarray(x + 2.0 * np.cross(u, np.cross(u, x) + w * x))


def solid(shape: Shape, pose: Array) -> Solid:
    """Return the shape in the world."""
    polytope = shape.polytope()
    assert polytope is not None
    return Solid(turned(pose[3:], polytope.vertices) + pose[:3], shape.rounding)


def _least_norm(points: Array) -> float:
    """Return the distance of the origin from the convex hull of points of size 1."""
    u, _ = nnls(np.vstack([points.T, np.ones(len(points))]), np.array([0.0, 0.0, 0.0, 1.0]), maxiter=10000)
    return float(np.linalg.norm(points.T @ (u / u.sum())))


def signed_distance(a: Solid, b: Solid, dimension: int = 3) -> float:
    """Return the distance of two solids, or minus the least translation that parts them."""
    differences = (b.points[:, None] - a.points[None]).reshape(-1, 3)
    scale = float(np.abs(differences).max())
    distance = _least_norm(differences / scale)
    if distance < 1e-8:
        outside = float(ConvexHull(differences[:, :dimension] / scale).equations[:, -1].max())
        distance = outside if outside < 0.0 else distance
    return distance * scale - a.radius - b.radius


def separation_along(n: Array, a: Solid, b: Solid) -> float:
    """Return the gap between the supporting planes of both solids across `n`."""
    return float((b.points @ n).min() - (a.points @ n).max() - a.radius - b.radius)


def off_surface(p: Array, a: Solid, dimension: int = 3) -> float:
    """Return how far `p` lies off the surface of a polytope, or outside of a rounded one.

    A contact at the far end of an inclined capsule belongs to the ball about that end and may lie inside the capsule.
    """
    scale = float(np.ptp(np.vstack([a.points, p]), axis=0).max())
    outside = _least_norm((a.points - p) / scale) * scale - a.radius
    if a.radius > 0.0 or outside > 1e-6 * scale:
        return max(outside, 0.0)
    planes = ConvexHull(a.points[:, :dimension]).equations
    return abs(float((planes[:, :-1] @ p[:dimension] + planes[:, -1]).max()))


def contacts_of(
    shapes: Sequence[Shape | PlacedShape],
    poses: Array,
    reach: float | Array,
    fixed: int = 0,
    materials: Materials = ANY_PAIR,
    *,
    facets: bool = False,
) -> Contacts:
    """Detect the contacts of bodies with one shape each; nearly flat caps by their closest points, or as facets."""
    placed = [(b, s if isinstance(s, PlacedShape) else s.at()) for b, s in enumerate(shapes)]
    arrays, hulls = encode(placed, np.zeros((len(shapes), 3)))
    reaches = np.broadcast_to(reach, len(shapes)).astype(float)
    return detect_arrays(arrays, hulls, materials, fixed, poses, reaches, facets=facets)


def random_quaternion(rng: np.random.Generator) -> Array:
    """Return an orientation without preference."""
    e = rng.normal(size=4)
    return np.asarray(e / np.linalg.norm(e))
