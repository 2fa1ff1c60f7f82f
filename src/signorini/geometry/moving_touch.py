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

from signorini._arrays import Array, BoolArray, IntArray
from signorini.geometry.implicit_touch import Touch, touch
from signorini.math.rotation import matrix
from signorini.model.convex_sets import ConvexSet, Placed

_ITERATIONS = 25
_EXACT = 1e-15  # of the coordinates [m] and of unit vectors
_ACCEPTED = 1e-11
_PATIENCE = 4  # steps that lower nothing: weights and points settle one after the other
_LONGEST = 0.5  # of a step of normals, and of points beside the size of the bodies
_RANK = 1e-11
TWISTS = 14
"""Columns of derivatives: twist of body a, twist of body b, deflections of both layers."""


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

    def facing(self, q_a: Array, q_b: Array, depth: tuple[float, float], near: Touch) -> Facing | None:
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
    p, q = (int(part.sum()) for part in active)
    y, z = a + depth[0] * n, b - depth[1] * n
    F, G = A.gradients(a), B.gradients(b)
    F_on = (F if depth[0] == 0.0 else A.gradients(y))[active[0]]
    G_on = (G if depth[1] == 0.0 else B.gradients(z))[active[1]]
    H_a, H_b = A.hessian(a, l), B.hessian(b, k)
    rest = np.concatenate(
        [b - a - d * n, l @ F - n, k @ G + n, [n @ n - 1.0], A.values(y)[active[0]], B.values(z)[active[1]]]
    )
    J = np.zeros((10 + p + q, 10 + p + q))
    J[0:3, 0:3], J[0:3, 3:6], J[0:3, 6:9], J[0:3, 9] = -_I, _I, -d * _I, -n
    J[3:6, 0:3], J[3:6, 6:9], J[3:6, 10 : 10 + p] = H_a, -_I, F[active[0]].T
    J[6:9, 3:6], J[6:9, 6:9], J[6:9, 10 + p :] = H_b, _I, G[active[1]].T
    J[9, 6:9] = 2.0 * n
    J[10 : 10 + p, 0:3], J[10 : 10 + p, 6:9] = F_on, depth[0] * F_on
    J[10 + p :, 3:6], J[10 + p :, 6:9] = G_on, -depth[1] * G_on
    return _System(rest, J, F_on, G_on, H_a, H_b)


_I = np.eye(3)


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
    p, n = F_on.shape[0], at.normal
    y, z = at.point_a + depth[0] * n, at.point_b - depth[1] * n
    change = np.zeros((J.shape[0], TWISTS))  # of the equations at a fixed point
    # gradients turn with the body; a point that stays moves back in the body
    change[3:6, 0:3], change[3:6, 3:6] = -H_a, -skew(n) + H_a @ skew(at.point_a - X_a)
    change[6:9, 6:9], change[6:9, 9:12] = -H_b, skew(n) + H_b @ skew(at.point_b - X_b)
    change[10 : 10 + p, 0:3], change[10 : 10 + p, 3:6] = -F_on, F_on @ skew(y - X_a)
    change[10 + p :, 6:9], change[10 + p :, 9:12] = -G_on, G_on @ skew(z - X_b)
    change[10 : 10 + p, 12], change[10 + p :, 13] = F_on @ n, -(G_on @ n)
    moved, degenerate = solve_shortest(J, -change)
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
    r"""A half-space and an ellipsoid or ball, by the support function: no equation is to be solved.

    With the outward normal m of the plane and :math:`S = R A^2 R^T` of the semi-axes A, the lowest point of the body
    about X is :math:`X - S m / \sqrt{m \cdot S m}`.
    """

    plane_first: bool
    """Whether body a carries the half-space."""
    normal: Array
    """Outward, in the frame of its body, (3,)."""
    offset: float
    """``normal . x`` on the plane, there [m]."""
    centre: Array
    """Of the round shape in the frame of its body, (3,) [m]."""
    square: Array
    """``R A^2 R^T`` there, (3, 3) [m^2]."""

    def start(self, q_a: Array, q_b: Array, normal: Array, point_a: Array, point_b: Array) -> Touch:
        """Return what detection found: nothing depends on it."""
        return Touch(float(normal @ (point_b - point_a)), normal, point_a, point_b, _ONE, _ONE)

    def facing(self, q_a: Array, q_b: Array, depth: tuple[float, float], near: Touch) -> Facing | None:
        (q_p, q_r), k = ((q_a, q_b), 0) if self.plane_first else ((q_b, q_a), 1)
        if depth[1 - k] != 0.0:
            return None
        R_p, R = rotation_of(q_p), rotation_of(q_r)
        m, S = R_p @ self.normal, R @ self.square @ R.T
        below = S @ m
        s = float(np.sqrt(m @ below))
        arm = R @ self.centre - below / s
        lowest = q_r[:3] + arm
        bare = float(m @ (lowest - q_p[:3])) - self.offset
        gap = bare + depth[k]
        foot, M = lowest - gap * m, skew(m)
        # by the twists of plane (0:6) and round body (6:12), and the deflection of the plane (12)
        d_m, d_low, d_gap = np.zeros((3, 13)), np.zeros((3, 13)), np.zeros(13)
        d_m[:, 3:6] = -M
        turned = S @ M - skew(below)
        d_s = np.zeros(13)
        d_s[9:12], d_s[3:6] = -m @ skew(below) / s, -below @ M / s
        d_low[:, 6:9], d_low[:, 9:12] = _I, -skew(R @ self.centre) - turned / s
        d_low[:, 3:6] = S @ M / s
        d_low += np.outer(below, d_s) / s**2
        d_gap[:6] = -np.concatenate([m, skew(lowest - bare * m - q_p[:3]) @ m])
        d_gap[6:12] = np.concatenate([m, skew(arm) @ m])
        d_gap[12] = 1.0
        d_foot = d_low - np.outer(m, d_gap) - gap * d_m
        order = _FIRST if self.plane_first else _SECOND
        d_m, d_low, d_foot = (_columns(part, order) for part in (d_m, d_low, d_foot))
        sign, d_gap = (1.0 if self.plane_first else -1.0), _columns(d_gap, order)
        if not self.plane_first:
            foot, lowest, d_foot, d_low = lowest, foot, d_low, d_foot
        touch = near._replace(gap=gap, normal=sign * m, point_a=foot, point_b=lowest)
        return Facing(gap, sign * m, foot, lowest, d_gap, sign * d_m, d_foot, d_low, touch, degenerate=False)


_ONE = np.ones(1)
_FIRST: IntArray = np.arange(13)
_SECOND: IntArray = np.array([6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 13])


def _columns(part: Array, order: IntArray) -> Array:
    """Return derivatives in the order of a :class:`Facing`."""
    out = np.zeros((*part.shape[:-1], TWISTS))
    out[..., order] = part
    return out
