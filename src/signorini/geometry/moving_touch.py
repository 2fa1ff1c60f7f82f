r"""Where two surfaces face each other, and how that moves with the bodies: closest points with exact derivatives.

A layer that is deflected by :math:`\delta` shifts the surface inward. With the normal n from A to B (S3 spec, 4 and 5)

.. math::
    b - a = d\,n, \quad n = \sum_i l_i \nabla f_i(a), \quad -n = \sum_j k_j \nabla g_j(b), \quad n \cdot n = 1,
    \quad f_i(a + \delta_a n) = 0, \quad g_j(b - \delta_b n) = 0

for the active inequalities: these are level sets of f and g that lie :math:`\delta` below the surfaces along their
normals, and for :math:`\delta = 0` the closest points themselves. Derivatives follow from the implicit function
theorem. A twist of a body moves its points x by :math:`\delta x + \delta\varphi \times (x - X)` about its mass centre
X.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.geometry.implicit_touch import Touch, touch
from signorini.geometry.moving_kernels import (
    DEGENERATE,
    HALF_SPACE,
    LOST,
    PAIR_COLUMNS,
    PLANE,
    ROUNDED,
    SET,
    SUPERQUADRIC,
    SURFACES,
    TWISTS,
    closest_changes,
    closest_rows,
    desk,
    facing_rows,
)
from signorini.math.rotation import matrix
from signorini.model.convex_sets import ConvexSet, Placed, Planes, Rounded, Superquadric

_ITERATIONS = 25
_EXACT = 1e-15  # of the coordinates [m] and of unit vectors
_ACCEPTED = 1e-11
_PATIENCE = 4  # steps that lower nothing: weights and points settle one after the other
_LONGEST = 0.5  # of a step of normals, and of points beside the size of the bodies
_RANK = 1e-11


class Facing(NamedTuple):
    """Two deflected surfaces; derivatives by the twists of both bodies and both deflections."""

    gap: float
    """[m]"""
    normal: Array
    """From a to b, (3,)."""
    point_a: Array
    """On the deflected surface of a, (3,) [m]."""
    point_b: Array
    d_gap: Array
    """(14,)"""
    d_normal: Array
    """(3, 14)"""
    d_point_a: Array
    """(3, 14)"""
    d_point_b: Array
    touch: Touch
    """Where to begin the next time."""
    degenerate: bool
    """Whether the points are not unique; the nearest were taken."""


class Pair(Protocol):
    """Two surfaces on two bodies."""

    @property
    def row(self) -> Array | None:
        """The pair for :mod:`~signorini.geometry.moving_kernels`, (42,); None where these do not know it."""

    def start(self, q_a: Array, q_b: Array, normal: Array, point_a: Array, point_b: Array) -> Touch:
        """Return where to begin from what detection found."""

    def facing(self, q_a: Array, q_b: Array, depth: tuple[float, float], near: Touch) -> Facing | None:
        """Return where surfaces deflected by `depth` face each other at the poses (7,); None if nothing was found."""


def skew(x: Array) -> Array:
    """Return the matrix of ``x cross``, (3, 3)."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def rotation_of(q: Array) -> Array:
    """Return the rotation matrix of a pose (7,), (3, 3)."""
    return np.array(matrix(np.ascontiguousarray(q[3:]))).reshape(3, 3)


@dataclass(frozen=True, slots=True)
class SurfacePair:
    """Two convex sets on two bodies, in the frames of the bodies' mass centres."""

    A: Placed
    B: Placed
    size: float
    """Of the smaller one [m]."""

    @property
    def row(self) -> Array | None:
        """The pair for kernels, None if it is known by functions of users or more than one inequality."""
        row = np.zeros(PAIR_COLUMNS)
        row[0], row[1] = SURFACES, self.size
        for o, one in zip(SET, (self.A, self.B), strict=True):
            sizes = _set_row(one.base)
            if sizes is None:
                return None
            row[o], row[o + 1 : o + 4], row[o + 4 : o + 13] = sizes[0], one.position, one.rotation.ravel()
            row[o + 13 : o + 12 + sizes.size] = sizes[1:]
        return row

    def facing(self, q_a: Array, q_b: Array, depth: tuple[float, float], near: Touch) -> Facing | None:
        row = self.row
        if row is not None and near.weight_a.size:
            swiftly = facing_of(row, q_a, q_b, depth, near)
            if swiftly is not None:
                return swiftly
        A, B = (_at_pose(base, q) for base, q in ((self.A, q_a), (self.B, q_b)))
        found = _solved(A, B, depth, near, self.size) if near.weight_a.size else None
        if found is None:
            afresh = touch(A, B, np.inf)
            found = None if afresh is None else _solved(A, B, depth, afresh, self.size)
        if found is None:
            return None
        return _derived(A, B, depth, found, q_a[:3], q_b[:3])

    def start(self, q_a: Array, q_b: Array, normal: Array, point_a: Array, point_b: Array) -> Touch:
        """Return where to begin from what detection found; without weights where these are not to be guessed."""
        A, B = (_at_pose(base, q) for base, q in ((self.A, q_a), (self.B, q_b)))
        gap, none = float(normal @ (point_b - point_a)), np.zeros(0)
        if A.count > 1 or B.count > 1:
            return Touch(gap, normal, point_a, point_b, none, none)
        slopes = [one.gradients(x)[0] for one, x in ((A, point_a), (B, point_b))]
        weights = [1.0 / np.sqrt(np.array([slope @ slope])) for slope in slopes]
        return Touch(gap, normal, point_a, point_b, *weights)


def _at_pose(base: Placed, q: Array) -> Placed:
    """Return a set that is placed on a body where the body is."""
    R = rotation_of(q)
    return Placed(base.base, q[:3] + R @ base.position, R @ base.rotation)


class _System(NamedTuple):
    """The equations at one point."""

    rest: Array
    J: Array
    """By a, b, n, d, and the weights of active inequalities."""
    on_a: Array
    on_b: Array
    """Gradients of the active inequalities where they are asked to vanish."""
    H_a: Array
    H_b: Array


def _system(
    A: ConvexSet, B: ConvexSet, depth: tuple[float, float], at: Touch, active: tuple[BoolArray, BoolArray]
) -> _System:
    d, n, a, b, l, k = at
    size = 10 + int(active[0].sum()) + int(active[1].sum())
    y, z = a + depth[0] * n, b - depth[1] * n
    F, G = A.gradients(a), B.gradients(b)
    F_on = (F if depth[0] == 0.0 else A.gradients(y))[active[0]]
    G_on = (G if depth[1] == 0.0 else B.gradients(z))[active[1]]
    H_a, H_b = A.hessian(a, l), B.hessian(b, k)
    on = np.concatenate([A.values(y)[active[0]], B.values(z)[active[1]]])
    rest, J = np.zeros((size, 1)), np.zeros((size, size))
    row = np.concatenate([[d], n, a, b])
    closest_rows(row, l @ F, k @ G, H_a, H_b, F[active[0]], G[active[1]], F_on, G_on, on, *depth, rest, J)
    return _System(rest[:, 0], J, F_on, G_on, H_a, H_b)


def _set_row(one: ConvexSet) -> Array | None:
    """Return family and sizes of a set that kernels know."""
    match one:
        case Rounded():
            return np.concatenate([[ROUNDED], one.start, one.extent, [one.radius]])
        case Superquadric():
            return np.array([SUPERQUADRIC, *one.axes, one.exponent])
        case Planes() if one.count == 1:
            return np.array([HALF_SPACE, *one.normal[0], one.offset[0]])
    return None


def _solved(A: ConvexSet, B: ConvexSet, depth: tuple[float, float], near: Touch, size: float) -> Touch | None:
    """Solve by Newton's method from `near`; guessed active inequalities are corrected. None on failure."""
    active = tuple(_active(s, x, w) for s, x, w in ((A, near.point_a, near.weight_a), (B, near.point_b, near.weight_b)))
    for _ in range(6):
        if not (active[0].any() and active[1].any()):
            return None
        at = _newton(A, B, depth, near, (active[0], active[1]), size)
        if at is None:
            return None
        y, z = at.point_a + depth[0] * at.normal, at.point_b - depth[1] * at.normal
        wrong = [
            np.where(on, weight < -1e-8, s.values(x) > 1e-9 * size)
            for on, weight, s, x in ((active[0], at.weight_a, A, y), (active[1], at.weight_b, B, z))
        ]
        if not (wrong[0].any() or wrong[1].any()):
            return at
        active = tuple(on ^ bad for on, bad in zip(active, wrong, strict=True))
    return None


def _active(one: ConvexSet, x: Array, weight: Array) -> BoolArray:
    """Guess which inequalities hold with equality; of a single one that is known."""
    return np.ones(1, dtype=bool) if one.count == 1 else np.asarray(weight > np.maximum(-one.values(x), 1e-7))


def _newton(
    A: ConvexSet, B: ConvexSet, depth: tuple[float, float], at: Touch, active: tuple[BoolArray, BoolArray], size: float
) -> Touch | None:
    d, n, a, b = at[:4]
    l, k = (np.where(on, weight, 0.0) for on, weight in zip(active, at[4:], strict=True))
    p = int(active[0].sum())
    best, least, worse = at, np.inf, 0
    for _ in range(_ITERATIONS):
        now = Touch(d, n, a, b, l, k)
        rest, J, *_ = _system(A, B, depth, now, active)
        error = float(np.abs(rest).max())
        if not error < 0.99 * least:
            if least <= _ACCEPTED:
                break
            worse += 1
            if worse > _PATIENCE:
                return None
        else:
            best, least = now, error
        if error <= _EXACT * size:
            break
        step = solve_shortest(J, -rest)[0]
        if step is None:
            return None
        reach = max(float(np.abs(step[:6]).max()) / size, float(np.abs(step[6:9]).max()))
        step = step * min(1.0, _LONGEST / reach) if reach > 0.0 else step
        a, b, n, d = a + step[0:3], b + step[3:6], n + step[6:9], d + float(step[9])
        l, k = l.copy(), k.copy()
        l[active[0]] += step[10 : 10 + p]
        k[active[1]] += step[10 + p :]
    if not least <= _ACCEPTED:
        return None
    n = best.normal / float(np.sqrt(best.normal @ best.normal))
    return best._replace(normal=n, gap=float(n @ (best.point_b - best.point_a)))


def solve_shortest(J: Array, rest: Array) -> tuple[Array | None, bool]:
    """Return the solution, the shortest where there are several, None if J is not finite; and whether there are."""
    if not np.isfinite(J).all():
        return None, False
    try:
        x = np.asarray(np.linalg.solve(J, rest), dtype=np.float64)
        if np.abs(x).max(initial=0.0) * _RANK <= max(float(np.abs(rest).max(initial=0.0)), 1e-300):
            return x, False
    except np.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.lstsq(J, rest, rcond=_RANK)[0], dtype=np.float64), True


def _derived(A: ConvexSet, B: ConvexSet, depth: tuple[float, float], at: Touch, X_a: Array, X_b: Array) -> Facing:
    """Differentiate the solution by the implicit function theorem."""
    active = at.weight_a != 0.0, at.weight_b != 0.0
    _, J, F_on, G_on, H_a, H_b = _system(A, B, depth, at, active)
    change = np.zeros((J.shape[0], TWISTS))
    row, n = np.concatenate([[at.gap], at.normal, at.point_a, at.point_b]), at.normal
    closest_changes(row, H_a, H_b, F_on, G_on, *depth, X_a, X_b, change)
    moved, degenerate = solve_shortest(J, change)
    assert moved is not None
    return Facing(
        gap=at.gap,
        normal=n,
        point_a=at.point_a,
        point_b=at.point_b,
        d_gap=moved[9],
        d_normal=moved[6:9],
        d_point_a=moved[0:3],
        d_point_b=moved[3:6],
        touch=at,
        degenerate=degenerate,
    )


@dataclass(frozen=True, slots=True)
class PlanePair:
    r"""A half-space and a ball, ellipsoid or superellipsoid, by the support function: no equation is to be solved.

    With the outward normal m of the plane the lowest point of the body about X is :math:`X - \nabla h(m)`, of
    :math:`h(m) = |A R^T m|_q` with the semi-axes A and :math:`1/p + 1/q = 1` for the exponent p.
    """

    plane_first: bool
    """Whether body a carries the half-space."""
    normal: Array
    """Outward, in the frame of its body, (3,)."""
    offset: float
    """``normal . x`` on the plane, there [m]."""
    centre: Array
    """Of the round shape in the frame of its body, (3,) [m]."""
    rotation: Array
    """Its axes there, (3, 3)."""
    axes: Array
    """Its semi-axes, (3,) [m]."""
    exponent: float = 2.0

    @property
    def row(self) -> Array:
        row = np.zeros(PAIR_COLUMNS)
        row[0], row[1], row[2:5], row[5], row[6:9] = PLANE, self.plane_first, self.normal, self.offset, self.centre
        row[9:18], row[18:21], row[21] = self.rotation.ravel(), self.axes, self.exponent
        return row

    def start(self, q_a: Array, q_b: Array, normal: Array, point_a: Array, point_b: Array) -> Touch:
        """Return what detection found: nothing depends on it."""
        return Touch(float(normal @ (point_b - point_a)), normal, point_a, point_b, _ONE, _ONE)

    def facing(self, q_a: Array, q_b: Array, depth: tuple[float, float], near: Touch) -> Facing | None:
        return facing_of(self.row, q_a, q_b, depth, near)


_ONE = np.ones(1)


def facing_of(row: Array, q_a: Array, q_b: Array, depth: tuple[float, float], near: Touch) -> Facing | None:
    """Return where the surfaces of a row face each other, see :mod:`~signorini.geometry.moving_kernels`."""
    at, slopes = touch_row(near), np.zeros((10, TWISTS))
    found = facing_rows(row, np.array(q_a), np.array(q_b), float(depth[0]), float(depth[1]), at, slopes, desk())
    return None if found == LOST else facing_from(at, slopes, degenerate=found == DEGENERATE)


def touch_row(near: Touch) -> Array:
    """Return a touch of two single inequalities as a row, (12,)."""
    gap, normal, point_a, point_b, l, k = near
    return np.concatenate([[gap], normal, point_a, point_b, l[:1], k[:1]])


def facing_from(at: Array, slopes: Array, *, degenerate: bool) -> Facing:
    """Return a row with its slopes as a :class:`Facing`; copies."""
    at, slopes = at.copy(), slopes.copy()
    touch = Touch(float(at[0]), at[1:4], at[4:7], at[7:10], at[10:11], at[11:12])
    return Facing(*touch[:4], slopes[0], slopes[1:4], slopes[4:7], slopes[7:10], touch, degenerate)
