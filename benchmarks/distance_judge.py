"""What distance, depth and normal of two solids must be, by methods that the library's kernels do not use.

A direction n and a pair of points prove a distance: the gap between the supporting planes across n is a lower bound of
the signed distance, for solids apart the distance of any two of their points is an upper bound. Both are evaluated from
closed forms. Depth and normal are compared with convex programs over the solids' inequalities, and with `coal` where it
is installed and knows the shape.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import signorini as sg
from signorini._arrays import Array
from signorini.geometry.detect import detect_arrays
from signorini.geometry.implicit_touch import Touch, plane_touch, touch
from signorini.math.rotation import multiply
from signorini.model import Contacts, Materials
from signorini.model.convex_sets import Placed
from signorini.scene import Shape, compile_scene
from signorini.scene.encode import encode

Rng = np.random.Generator


def _any_pair() -> Materials:
    """Return contact data without exceptions."""
    scene = sg.Scene()
    scene.add_body(sg.Sphere(1.0), position=(0, 0, 0))
    return compile_scene(scene).materials


ANY_PAIR = _any_pair()
_SPACING = 40.0  # between pairs that are looked at together [m]: far beyond their reach, near enough for all digits
_REACH = 5.0
_EDGE = 6


@cache
def random_hull(seed: int) -> sg.ConvexHull:
    """Return one of many convex hulls; making one takes longer than looking at it."""
    r = np.random.default_rng(seed)
    return sg.ConvexHull(0.6 * r.normal(size=(int(r.integers(5, 20)), 3)))


SOLIDS: dict[str, Callable[[Rng], Shape]] = {
    "half_space": lambda r: sg.HalfSpace(),
    "sphere": lambda r: sg.Sphere(r.uniform(0.2, 1.0)),
    "capsule": lambda r: sg.Capsule(r.uniform(0.2, 0.6), r.uniform(0.2, 2.0)),
    "box": lambda r: sg.Box(r.uniform(0.3, 1.5, 3)),
    "hull": lambda r: random_hull(int(r.integers(200))),
    "cylinder": lambda r: sg.Cylinder(r.uniform(0.2, 0.8), r.uniform(0.2, 2.0)),
    "cone": lambda r: sg.Cone(r.uniform(0.2, 0.8), r.uniform(0.3, 2.0)),
    "ellipsoid": lambda r: sg.Ellipsoid(r.uniform(0.2, 1.0, 3)),
    "superellipsoid": lambda r: sg.Superellipsoid(r.uniform(0.2, 1.0, 3), r.uniform(2.0, 6.0)),
}
COMBINATIONS = [pair for pair in itertools.combinations_with_replacement(SOLIDS, 2) if pair[1] != "half_space"]
SMOOTH = ("half_space", "sphere", "capsule", "cylinder", "cone", "ellipsoid", "superellipsoid")


def matrix_of(pose: Array) -> Array:
    """Return the rotation matrix of a pose."""
    w, x, y, z = pose[3:]
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + 2.0 * w * K + 2.0 * K @ K)


def support(shape: Shape, pose: Array, n: Array) -> float:
    """Return the largest ``n . x`` over the solid, from its definition."""
    m = n @ matrix_of(pose)
    across = float(np.hypot(m[0], m[1]))
    match shape:
        case sg.HalfSpace():
            aligned = float(np.linalg.norm(m - shape.normal)) < 1e-12
            own = shape.offset if aligned else np.inf
        case sg.Sphere():
            own = shape.radius
        case sg.Capsule():
            own = shape.radius + 0.5 * shape.length * abs(m[2])
        case sg.Box():
            own = float(0.5 * np.abs(m) @ shape.size)
        case sg.ConvexHull():
            own = float((np.array(shape.points) @ m).max())
        case sg.Cylinder():
            own = shape.radius * across + 0.5 * shape.length * abs(m[2])
        case sg.Cone():
            own = max(0.75 * shape.height * m[2], shape.radius * across - 0.25 * shape.height * m[2])
        case sg.Ellipsoid():
            own = float(np.linalg.norm(m * shape.semi_axes))
        case sg.Superellipsoid():
            q = shape.exponent / (shape.exponent - 1.0)  # the dual norm
            u = np.abs(m * shape.semi_axes)
            own = float(u.max() * ((u / u.max()) ** q).sum() ** (1.0 / q))
        case _:
            raise NotImplementedError(shape)
    return float(own + n @ pose[:3])


def separation(a: Shape, pose_a: Array, b: Shape, pose_b: Array, n: Array) -> float:
    """Return the gap between the supporting planes of both solids across `n`, a lower bound of the signed distance."""
    return -support(a, pose_a, n) - support(b, pose_b, -n)


def outside(shape: Shape, pose: Array, x: Array) -> float:
    """Return how far beyond its surface the solid's inequalities put a point [m], 0 inside."""
    return max(0.0, float(shape.inequalities().values((x - pose[:3]) @ matrix_of(pose)).max()))


def judge(a: Shape, pose_a: Array, b: Shape, pose_b: Array) -> Touch:
    """Return distance or depth, normal and points by convex programs over the solids' inequalities."""
    sets = [Placed(s.inequalities(), p[:3] - pose_b[:3], matrix_of(p)) for s, p in ((a, pose_a), (b, pose_b))]
    if isinstance(a, sg.HalfSpace):
        n = sets[0].gradients(np.zeros(3))[0]
        found = plane_touch(n, -float(sets[0].values(np.zeros(3))[0]), sets[1])
    else:
        found_or_none = touch(sets[0], sets[1], 1e9)
        assert found_or_none is not None
        found = found_or_none
    return found._replace(point_a=found.point_a + pose_b[:3], point_b=found.point_b + pose_b[:3])


def detected(pairs: list[tuple[Shape, Shape]], poses: Array) -> list[Contacts]:
    """Return the contacts of each of many pairs at poses (n, 2, 7), detected together as one scene.

    All half-spaces are one, on which the other shapes stand side by side.
    """
    planes = isinstance(pairs[0][0], sg.HalfSpace)
    edge = _EDGE if not planes else 15
    cells = np.array([(x, y, z) for x in range(edge) for y in range(edge) for z in range(1 if planes else edge)])
    grid = _SPACING * (cells - 0.5 * edge * np.array([1.0, 1.0, 0.0 if planes else 1.0]))
    found: list[Contacts] = []
    for first in range(0, len(pairs), len(grid)):
        part, q = pairs[first : first + len(grid)], poses[first : first + len(grid)]
        shift, turn = grid[: len(part)], [np.eye(3)] * len(part)
        if planes:
            turn = [matrix_of(pose) for pose in q[:, 0]]
            back = q[:, 0] * np.array([-1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0])
            seen = np.array([R.T @ (x - o) for R, x, o in zip(turn, q[:, 1, :3], q[:, 0, :3], strict=True)])
            turned = np.array([multiply(e, f) for e, f in zip(back[:, 3:], q[:, 1, 3:], strict=True)])
            bodies = np.vstack([np.append(np.zeros(3), [1.0, 0.0, 0.0, 0.0]), np.hstack([seen + shift, turned])])
            placed = [(0, sg.HalfSpace().at()), *((k + 1, b.at()) for k, (_, b) in enumerate(part))]
        else:
            bodies = q.copy()
            bodies[:, :, :3] += shift[:, None]
            bodies = bodies.reshape(-1, 7).copy()
            placed = [(2 * k + side, pair[side].at()) for k, pair in enumerate(part) for side in range(2)]
        arrays, hulls = encode(placed, np.zeros((len(bodies), 3)))
        contacts = detect_arrays(arrays, hulls, ANY_PAIR, 0, bodies, np.full(len(bodies), _REACH))
        owner = contacts.body_b - 1 if planes else contacts.body_a // 2
        starts = np.searchsorted(owner, np.arange(len(part) + 1))
        for k, R in enumerate(turn):
            mine = Contacts._make(column[starts[k] : starts[k + 1]] for column in contacts)
            origin = q[k, 0, :3] if planes else np.zeros(3)
            found.append(
                mine._replace(
                    point_a=(mine.point_a - shift[k]) @ R.T + origin,
                    point_b=(mine.point_b - shift[k]) @ R.T + origin,
                    normal=mine.normal @ R.T,
                )
            )
    return found


def random_pairs(first: str, second: str, count: int, r: Rng) -> tuple[list[tuple[Shape, Shape]], Array]:
    """Return pairs of random size and pose: a third apart or overlapping, two thirds within 1e-3 ... 1e-12 of touch."""
    pairs = [(SOLIDS[first](r), SOLIDS[second](r)) for _ in range(count)]
    poses = np.zeros((count, 2, 7))
    e = r.normal(size=(count, 2, 4))
    poses[:, :, 3:] = e / np.linalg.norm(e, axis=2)[:, :, None]
    u = r.normal(size=(count, 3))
    poses[:, 1, :3] = r.uniform(0.0, 2.5, (count, 1)) * u / np.linalg.norm(u, axis=1)[:, None]
    some = [k for k in range(count) if k % 3]
    if some:
        poses[some, 1, :3] += 3.0 * u[some] / np.linalg.norm(u[some], axis=1)[:, None]  # apart, then brought together
        for k, contacts in zip(some, detected([pairs[k] for k in some], poses[some]), strict=True):
            if contacts.contact_count:
                c = int(contacts.gap.argmin())
                gap = (-1.0) ** int(r.integers(2)) * 10.0 ** r.uniform(-12.0, -3.0)
                poses[k, 1, :3] += (gap - contacts.gap[c]) * contacts.normal[c]
    return pairs, poses


def coal_shape(shape: Shape) -> Any:
    """Return the shape as `coal` knows it and where its frame lies in ours, None if it does not know it."""
    import coal

    z = np.zeros(3)
    match shape:
        case sg.HalfSpace():
            return coal.Halfspace(np.array(shape.normal), shape.offset), z
        case sg.Sphere():
            return coal.Sphere(shape.radius), z
        case sg.Capsule():
            return coal.Capsule(shape.radius, shape.length), z
        case sg.Box():
            return coal.Box(*shape.size), z
        case sg.ConvexHull():
            polytope = shape.polytope()
            points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
            for x in polytope.vertices:
                points.append(x)
            for loop in polytope.faces:
                for i in range(1, len(loop) - 1):
                    triangles.append(coal.Triangle(loop[0], loop[i], loop[i + 1]))
            return coal.Convex(points, triangles), z
        case sg.Cylinder():
            return coal.Cylinder(shape.radius, shape.length), z
        case sg.Cone():
            # The middle of the height is coal's origin.
            return coal.Cone(shape.radius, shape.height), np.array([0.0, 0.0, 0.25 * shape.height])
        case sg.Ellipsoid():
            return coal.Ellipsoid(*shape.semi_axes), z
    return None


def coal_placed(shape: Shape, pose: Array) -> Any:
    """Return coal's shape and transform, None if coal does not know it."""
    import coal

    known = coal_shape(shape)
    if known is None:
        return None
    R = matrix_of(pose)
    return known[0], coal.Transform3s(R, pose[:3] + R @ known[1])


def coal_request(tolerance: float = 1e-12) -> Any:
    """Return the request of a signed distance to the given tolerance."""
    import coal

    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = tolerance
    request.gjk_max_iterations, request.epa_max_iterations = 1000, 500
    return request


def coal_distance(a: Any, b: Any, request: Any) -> tuple[float, Array]:
    """Return signed distance and normal as `coal` finds them."""
    import coal

    result = coal.DistanceResult()
    d = coal.distance(a[0], a[1], b[0], b[1], request, result)
    return float(d), np.array(result.normal)
