r"""Surfaces that face each other at given poses, with derivatives, on rows of numbers.

The pairs of :mod:`~signorini.geometry.moving_touch` and :mod:`~signorini.geometry.moving_features` are rows here:

=========  ====================================================================================================
kind       columns after it
=========  ====================================================================================================
PLANE      1 if body a has the half-space; its outward normal (3) and offset; centre (3), axes (9), semi-axes (3) and
           exponent of the superquadric, all in the frames of the bodies
SURFACES   size of the smaller one; then of either set: family, position (3), rotation (9), sizes (7)
FACE       centres (3, 3), radii (2), normal (3) and the side that carries it
EDGES      centres (3, 3), radii (2), directions (3, 3)
=========  ====================================================================================================

Derivatives are by the twists of both bodies and both deflections, in `slopes` (10, 14): of the gap, of the normal, and
of the points on a and on b.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import bare_kernel, inner_kernel
from signorini.math.dense_lu import factor_dense, solve_dense
from signorini.math.rotation import matrix

UNKNOWN, PLANE, SURFACES, FACE, EDGES = range(5)
ROUNDED, SUPERQUADRIC, HALF_SPACE = range(3)
"""Families of sets: a segment (start, extent) with a radius, semi-axes with an exponent, a normal with an offset."""
SET = 2, 22
"""Columns where the two sets begin."""
PAIR_COLUMNS = 42
EXPONENT = 21
"""Column of a plane and a superquadric."""
GAP, NORMAL, POINT_A, POINT_B, WEIGHT_A, WEIGHT_B = 0, 1, 4, 7, 10, 11
"""Columns of a touch; weights of sets of one inequality."""
TOUCH_COLUMNS = 12
TWISTS = 14
BEND_COLUMNS = 18
"""See :func:`flat_rows`."""
LOST, FOUND, DEGENERATE = range(3)
"""What :func:`facing_rows` returns; of degenerate pairs the points are not unique."""

Triple = tuple[float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]
_ITERATIONS = 25
_EXACT = 1e-15  # of the coordinates [m] and of unit vectors
_ACCEPTED = 1e-11
_PATIENCE = 4  # steps that lower nothing: weights and points settle one after the other
_LONGEST = 0.5  # of a step of normals, and of points beside the size of the bodies
_RANK = 1e-11
_CHART = 0.05  # of what the largest coordinate has left, and of the largest component
_FLAT = 1e-6  # share of a direction in a support up to which its curvature is that of this share


class Desk(NamedTuple):
    """Scratch memory of one pair."""

    frame: Array
    """Of both sets in the world: position and rotation, (2, 12)."""
    surface: Array
    """Value, gradient and Hessian of both sets at their points, and where the surface is, (4, 13)."""
    J: Array
    """(12, 12)"""
    order: IntArray
    """(12,)"""
    rest: Array
    """(12, 1)"""
    change: Array
    """(12, 14)"""
    pull: Array
    """Weighted gradients, (2, 3)."""
    H: Array
    """Weighted Hessians, (2, 3, 3)."""
    F: Array
    """Gradients at both points, and where the surfaces would be without deflection, (4, 1, 3)."""
    on: Array
    """Values there, (2,)."""


def desk() -> Desk:
    """Return scratch memory."""
    order = np.zeros(12, dtype=np.int64)
    return Desk(
        np.zeros((2, 12)),
        np.zeros((4, 13)),
        np.zeros((12, 12)),
        order,
        np.zeros((12, 1)),
        np.zeros((12, 14)),
        np.zeros((2, 3)),
        np.zeros((2, 3, 3)),
        np.zeros((4, 1, 3)),
        np.zeros(2),
    )


# --- closest points of level sets ------------------------------------------------


@bare_kernel
def closest_rows(
    touch: Array,
    pull_a: Array,
    pull_b: Array,
    H_a: Array,
    H_b: Array,
    F: Array,
    G: Array,
    F_on: Array,
    G_on: Array,
    on: Array,
    depth_a: float,
    depth_b: float,
    rest: Array,
    J: Array,
) -> None:
    """Fill the equations of closest points at one point, with their derivatives by a, b, n, d and the weights.

    `pull` are the weighted gradients at the points (3,), H the weighted Hessians (3, 3), F and G the gradients of
    active inequalities there (p, 3), (q, 3), and F_on, G_on with their values `on` (p + q,) those where surfaces
    would be without deflection.
    """
    p, q, d = F.shape[0], G.shape[0], touch[GAP]
    J[:] = 0.0
    rest[9, 0] = -1.0
    for i in range(3):
        n = touch[NORMAL + i]
        rest[i, 0] = touch[POINT_B + i] - touch[POINT_A + i] - d * n
        rest[3 + i, 0] = pull_a[i] - n
        rest[6 + i, 0] = pull_b[i] + n
        rest[9, 0] += n * n
        J[i, i], J[i, 3 + i], J[i, 6 + i], J[i, 9] = -1.0, 1.0, -d, -n
        J[3 + i, 6 + i], J[6 + i, 6 + i], J[9, 6 + i] = -1.0, 1.0, 2.0 * n
        for j in range(3):
            J[3 + i, j] = H_a[i, j]
            J[6 + i, 3 + j] = H_b[i, j]
        for k in range(p):
            J[3 + i, 10 + k] = F[k, i]
            J[10 + k, i], J[10 + k, 6 + i] = F_on[k, i], depth_a * F_on[k, i]
        for k in range(q):
            J[6 + i, 10 + p + k] = G[k, i]
            J[10 + p + k, 3 + i], J[10 + p + k, 6 + i] = G_on[k, i], -depth_b * G_on[k, i]
    for k in range(p + q):
        rest[10 + k, 0] = on[k]


@inner_kernel
def _turning(A: Array, x0: float, x1: float, x2: float, i: int, change: Array, row: int, column: int) -> None:
    """Add row `i` of ``A (x cross)`` to three columns."""
    a0, a1, a2 = A[i, 0], A[i, 1], A[i, 2]
    change[row, column] += a1 * x2 - a2 * x1
    change[row, column + 1] += a2 * x0 - a0 * x2
    change[row, column + 2] += a0 * x1 - a1 * x0


@bare_kernel
def closest_changes(
    touch: Array,
    H_a: Array,
    H_b: Array,
    F_on: Array,
    G_on: Array,
    depth_a: float,
    depth_b: float,
    q_a: Array,
    q_b: Array,
    change: Array,
) -> None:
    """Fill minus the change of the equations at a fixed point as bodies and deflections move, (10 + p + q, 14)."""
    p, q = F_on.shape[0], G_on.shape[0]
    change[:] = 0.0
    n0, n1, n2 = touch[NORMAL], touch[NORMAL + 1], touch[NORMAL + 2]
    a0, a1, a2 = touch[POINT_A] - q_a[0], touch[POINT_A + 1] - q_a[1], touch[POINT_A + 2] - q_a[2]
    b0, b1, b2 = touch[POINT_B] - q_b[0], touch[POINT_B + 1] - q_b[1], touch[POINT_B + 2] - q_b[2]
    for i in range(3):
        # gradients turn with the body; a point that stays moves back in the body
        for j in range(3):
            change[3 + i, j] = H_a[i, j]
            change[6 + i, 6 + j] = H_b[i, j]
        _turning(H_a, -a0, -a1, -a2, i, change, 3 + i, 3)
        _turning(H_b, -b0, -b1, -b2, i, change, 6 + i, 9)
    change[3, 4] -= n2
    change[3, 5] += n1
    change[4, 3] += n2
    change[4, 5] -= n0
    change[5, 3] -= n1
    change[5, 4] += n0
    change[6, 10] += n2
    change[6, 11] -= n1
    change[7, 9] -= n2
    change[7, 11] += n0
    change[8, 9] += n1
    change[8, 10] -= n0
    for k in range(p):
        for j in range(3):
            change[10 + k, j] = F_on[k, j]
        _turning(F_on, -a0 - depth_a * n0, -a1 - depth_a * n1, -a2 - depth_a * n2, k, change, 10 + k, 3)
        change[10 + k, 12] = -(F_on[k, 0] * n0 + F_on[k, 1] * n1 + F_on[k, 2] * n2)
    for k in range(q):
        for j in range(3):
            change[10 + p + k, 6 + j] = G_on[k, j]
        _turning(G_on, -b0 + depth_b * n0, -b1 + depth_b * n1, -b2 + depth_b * n2, k, change, 10 + p + k, 9)
        change[10 + p + k, 13] = G_on[k, 0] * n0 + G_on[k, 1] * n1 + G_on[k, 2] * n2


@inner_kernel
def _place_set(pair: Array, o: int, q: Array, frame: Array, k: int) -> None:
    """Write position and rotation of a set in the world."""
    R = matrix((q[3], q[4], q[5], q[6]))
    for i in range(3):
        r0, r1, r2 = R[3 * i], R[3 * i + 1], R[3 * i + 2]
        frame[k, i] = q[i] + r0 * pair[o + 1] + r1 * pair[o + 2] + r2 * pair[o + 3]
        for j in range(3):
            frame[k, 3 + 3 * i + j] = r0 * pair[o + 4 + j] + r1 * pair[o + 7 + j] + r2 * pair[o + 10 + j]


@inner_kernel
def _power(u: float, p: float) -> float:
    """Return u^p; of most exponents there is a shorter way."""
    if p == 0.0:
        return 1.0
    if p == 1.0:
        return u
    if p == 2.0:
        return u * u
    return float(u**p)


@inner_kernel
def _surface(
    pair: Array, o: int, frame: Array, k: int, x0: float, x1: float, x2: float, curved: bool, out: Array, row: int
) -> None:
    """Write value, gradient and, if `curved`, Hessian of a set at a point, as :mod:`signorini.model.convex_sets`."""
    y0, y1, y2 = x0 - frame[k, 0], x1 - frame[k, 1], x2 - frame[k, 2]
    l0 = frame[k, 3] * y0 + frame[k, 6] * y1 + frame[k, 9] * y2
    l1 = frame[k, 4] * y0 + frame[k, 7] * y1 + frame[k, 10] * y2
    l2 = frame[k, 5] * y0 + frame[k, 8] * y1 + frame[k, 11] * y2
    s = o + 13
    h0, h1, h2, e0, e1, e2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if pair[o] == SUPERQUADRIC:
        a0, a1, a2, p = pair[s], pair[s + 1], pair[s + 2], pair[s + 3]
        least = min(a0, a1, a2)
        u0, u1, u2 = abs(l0 / a0), abs(l1 / a1), abs(l2 / a2)
        value = (_power(u0, p) + _power(u1, p) + _power(u2, p) - 1.0) * (least / p)
        g0 = math.copysign(least * _power(u0, p - 1.0) / a0, l0)
        g1 = math.copysign(least * _power(u1, p - 1.0) / a1, l1)
        g2 = math.copysign(least * _power(u2, p - 1.0) / a2, l2)
        if curved:
            f = least * (p - 1.0)
            h0 = f * _power(u0, p - 2.0) / (a0 * a0)
            h1 = f * _power(u1, p - 2.0) / (a1 * a1)
            h2 = f * _power(u2, p - 2.0) / (a2 * a2)
    elif pair[o] == ROUNDED:
        r, d0, d1, d2 = pair[s + 6], pair[s + 3], pair[s + 4], pair[s + 5]
        l0, l1, l2 = l0 - pair[s], l1 - pair[s + 1], l2 - pair[s + 2]
        dd = d0 * d0 + d1 * d1 + d2 * d2
        along = (l0 * d0 + l1 * d1 + l2 * d2) / (dd if dd > 0.0 else 1.0)
        part = min(max(along, 0.0), 1.0)
        l0, l1, l2 = l0 - part * d0, l1 - part * d1, l2 - part * d2
        value = 0.5 * (l0 * l0 + l1 * l1 + l2 * l2 - r * r) / r
        g0, g1, g2 = l0 / r, l1 / r, l2 / r
        h0, h1, h2 = 1.0 / r, 1.0 / r, 1.0 / r
        if 0.0 < along < 1.0:
            f = math.sqrt(1.0 / (dd * r))
            e0, e1, e2 = f * d0, f * d1, f * d2
    else:
        g0, g1, g2 = pair[s], pair[s + 1], pair[s + 2]
        value = l0 * g0 + l1 * g1 + l2 * g2 - pair[s + 3]
    out[row, 0] = value
    for i in range(3):
        r0, r1, r2 = frame[k, 3 + 3 * i], frame[k, 4 + 3 * i], frame[k, 5 + 3 * i]
        out[row, 1 + i] = r0 * g0 + r1 * g1 + r2 * g2
    if curved:
        for i in range(3):
            r0, r1, r2 = frame[k, 3 + 3 * i], frame[k, 4 + 3 * i], frame[k, 5 + 3 * i]
            across = r0 * e0 + r1 * e1 + r2 * e2
            for j in range(3):
                t0, t1, t2 = frame[k, 3 + 3 * j], frame[k, 4 + 3 * j], frame[k, 5 + 3 * j]
                out[row, 4 + 3 * i + j] = (
                    r0 * h0 * t0 + r1 * h1 * t1 + r2 * h2 * t2 - across * (t0 * e0 + t1 * e1 + t2 * e2)
                )


@inner_kernel
def _equations(pair: Array, depth_a: float, depth_b: float, touch: Array, w: Desk) -> None:
    """Fill the equations of two sets at a touch."""
    out = w.surface
    for k in range(2):
        x = POINT_A if k == 0 else POINT_B
        depth = depth_a if k == 0 else -depth_b
        weight = touch[WEIGHT_A + k]
        x0, x1, x2 = touch[x], touch[x + 1], touch[x + 2]
        _surface(pair, SET[k], w.frame, k, x0, x1, x2, True, out, k)
        if depth != 0.0:
            y0, y1, y2 = x0 + depth * touch[NORMAL], x1 + depth * touch[NORMAL + 1], x2 + depth * touch[NORMAL + 2]
            _surface(pair, SET[k], w.frame, k, y0, y1, y2, False, out, 2 + k)
        else:
            for i in range(4):
                out[2 + k, i] = out[k, i]
        for i in range(3):
            w.pull[k, i] = weight * out[k, 1 + i]
            for j in range(3):
                w.H[k, i, j] = weight * out[k, 4 + 3 * i + j]
            w.F[k, 0, i], w.F[2 + k, 0, i] = out[k, 1 + i], out[2 + k, 1 + i]
        w.on[k] = out[2 + k, 0]
    closest_rows(
        touch,
        w.pull[0],
        w.pull[1],
        w.H[0],
        w.H[1],
        w.F[0],
        w.F[1],
        w.F[2],
        w.F[3],
        w.on,
        depth_a,
        depth_b,
        w.rest,
        w.J,
    )


@inner_kernel
def _close_in(pair: Array, depth_a: float, depth_b: float, touch: Array, w: Desk) -> bool:
    """Find the closest points of two sets by Newton's method from `touch`, in place."""
    size, least, worse = pair[1], np.inf, 0
    best = w.change
    for _ in range(_ITERATIONS):
        _equations(pair, depth_a, depth_b, touch, w)
        error = 0.0
        for i in range(12):
            error = max(error, abs(w.rest[i, 0]))
            if not abs(w.rest[i, 0]) < 1e300:
                return False
        if not error < 0.99 * least:
            if least <= _ACCEPTED:
                break
            worse += 1
            if worse > _PATIENCE:
                return False
        else:
            least = error
            for i in range(TOUCH_COLUMNS):
                best[i, 0] = touch[i]
        if error <= _EXACT * size:
            break
        for i in range(12):
            w.rest[i, 0] = -w.rest[i, 0]
        if not factor_dense(w.J, w.order):
            return False
        solve_dense(w.J, w.order, w.rest)
        reach, largest = 0.0, 0.0
        for i in range(12):
            largest = max(largest, abs(w.rest[i, 0]))
            if i < 9:
                reach = max(reach, abs(w.rest[i, 0]) / (size if i < 6 else 1.0))
        if not largest * _RANK <= max(error, 1e-300):
            return False
        f = min(1.0, _LONGEST / reach) if reach > 0.0 else 1.0
        for i in range(3):
            touch[POINT_A + i] += f * w.rest[i, 0]
            touch[POINT_B + i] += f * w.rest[3 + i, 0]
            touch[NORMAL + i] += f * w.rest[6 + i, 0]
        touch[GAP] += f * w.rest[9, 0]
        touch[WEIGHT_A] += f * w.rest[10, 0]
        touch[WEIGHT_B] += f * w.rest[11, 0]
    if not least <= _ACCEPTED:
        return False
    for i in range(TOUCH_COLUMNS):
        touch[i] = best[i, 0]
    n0, n1, n2 = touch[NORMAL], touch[NORMAL + 1], touch[NORMAL + 2]
    size = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    touch[GAP] = 0.0
    for i in range(3):
        touch[NORMAL + i] /= size
        touch[GAP] += touch[NORMAL + i] * (touch[POINT_B + i] - touch[POINT_A + i])
    return not (touch[WEIGHT_A] < -1e-8 or touch[WEIGHT_B] < -1e-8)


@inner_kernel
def _facing_surfaces(
    pair: Array, q_a: Array, q_b: Array, depth_a: float, depth_b: float, touch: Array, slopes: Array, w: Desk
) -> int:
    _place_set(pair, SET[0], q_a, w.frame, 0)
    _place_set(pair, SET[1], q_b, w.frame, 1)
    if not _close_in(pair, depth_a, depth_b, touch, w):
        return LOST
    _equations(pair, depth_a, depth_b, touch, w)
    closest_changes(touch, w.H[0], w.H[1], w.F[2], w.F[3], depth_a, depth_b, q_a, q_b, w.change)
    given = 1e-300
    for i in range(12):
        for j in range(TWISTS):
            given = max(given, abs(w.change[i, j]))
    if not factor_dense(w.J, w.order):
        return LOST
    solve_dense(w.J, w.order, w.change)
    largest = 0.0
    for i in range(12):
        for j in range(TWISTS):
            largest = max(largest, abs(w.change[i, j]))
    if not largest * _RANK <= given:
        return LOST
    for j in range(TWISTS):
        slopes[0, j] = w.change[9, j]
        for i in range(3):
            slopes[1 + i, j] = w.change[6 + i, j]
            slopes[4 + i, j] = w.change[i, j]
            slopes[7 + i, j] = w.change[3 + i, j]
    return FOUND


# --- a plane and a superquadric ---------------------------------------------------


@inner_kernel
def _support(pair: Array, R: Nine, m: Triple, w: Desk) -> Triple:
    """Return the gradient of the support function of a superquadric along m, its farthest point; fill its Hessian.

    With ``x = A d`` in the axes of the shape and ``1/p + 1/q = 1`` it is ``|x|_q``. Where a component of d vanishes and
    p > 2 the surface is flat: its Hessian has no bound there, and is limited.
    """
    g, f, H = w.pull[0], w.pull[1], w.H[0]
    q = pair[21] / (pair[21] - 1.0)
    size = 0.0
    for i in range(3):
        # columns of the shape's axes in the world
        x, y, z = pair[9 + i], pair[12 + i], pair[15 + i]
        u0 = R[0] * x + R[1] * y + R[2] * z
        u1 = R[3] * x + R[4] * y + R[5] * z
        u2 = R[6] * x + R[7] * y + R[8] * z
        w.F[i, 0, 0], w.F[i, 0, 1], w.F[i, 0, 2] = u0, u1, u2
        f[i] = pair[18 + i] * (u0 * m[0] + u1 * m[1] + u2 * m[2])
        size = max(size, abs(f[i]))
    total = 0.0
    for i in range(3):
        total += _power(abs(f[i]) / size, q)
    h = size * _power(total, 1.0 / q)
    for i in range(3):
        a, part = pair[18 + i], abs(f[i]) / h
        g[i] = math.copysign(a * _power(part, q - 1.0), f[i])
        f[i] = a * a * _power(max(part, _FLAT), q - 2.0)
    out = (0.0, 0.0, 0.0)
    for k in range(3):
        out = _plus(out, g[k], (w.F[k, 0, 0], w.F[k, 0, 1], w.F[k, 0, 2]))
    for i in range(3):
        for j in range(3):
            H[i, j] = -out[i] * out[j]
            for k in range(3):
                H[i, j] += f[k] * w.F[k, 0, i] * w.F[k, 0, j]
            H[i, j] *= (q - 1.0) / h
    return out


@inner_kernel
def _facing_plane(
    pair: Array, q_a: Array, q_b: Array, depth_a: float, depth_b: float, touch: Array, slopes: Array, w: Desk
) -> int:
    """Find the lowest point of a superquadric above a plane by its support function."""
    first = pair[1] == 1.0
    if (depth_b if first else depth_a) != 0.0:
        return LOST
    R = q_b if first else q_a
    g = _support(pair, matrix((R[3], R[4], R[5], R[6])), _carried(q_a if first else q_b, pair, 2), w)
    _above_plane(pair, q_a, q_b, depth_a if first else depth_b, g, w.H[0], touch, slopes)
    return FOUND


@inner_kernel
def _above_plane(
    pair: Array, q_a: Array, q_b: Array, depth: float, g: Triple, H: Array, touch: Array, slopes: Array
) -> None:
    """Fill what a point of a body does above a plane: -g from its centre, and H says how it moves on as m turns."""
    first = pair[1] == 1.0
    q_p, q_r = (q_a, q_b) if first else (q_b, q_a)
    on, above, sign = (0, 6, 1.0) if first else (6, 0, -1.0)  # columns of their twists
    foot_row, low_row = (4, 7) if first else (7, 4)
    foot, low = (POINT_A, POINT_B) if first else (POINT_B, POINT_A)
    m, c = _carried(q_p, pair, 2), _carried(q_r, pair, 6)
    arm = _plus(c, -1.0, g)
    bare = -pair[5]
    for i in range(3):
        bare += m[i] * (q_r[i] + arm[i] - q_p[i])
    gap = bare + depth
    touch[GAP] = gap
    for i in range(3):
        touch[NORMAL + i] = sign * m[i]
        touch[low + i] = q_r[i] + arm[i]
        touch[foot + i] = touch[low + i] - gap * m[i]
    slopes[:] = 0.0
    under = (touch[low] - bare * m[0] - q_p[0], touch[low + 1] - bare * m[1] - q_p[1], 0.0)
    under = (under[0], under[1], touch[low + 2] - bare * m[2] - q_p[2])
    turned_p, turned_r = _cross(under, m), _cross(arm, m)
    for j in range(3):
        slopes[0, on + j], slopes[0, above + j] = -m[j], m[j]
        slopes[0, on + 3 + j], slopes[0, above + 3 + j] = -turned_p[j], turned_r[j]
        slopes[low_row + j, above + j] = 1.0
        # a turn of the plane about axis j moves m by e_j x m, one of the body its farthest point and its Hessian
        dm, da = _axis_cross(j, m[0], m[1], m[2]), _axis_cross(j, arm[0], arm[1], arm[2])
        for i in range(3):
            bent = H[i, 0] * dm[0] + H[i, 1] * dm[1] + H[i, 2] * dm[2]
            slopes[1 + i, on + 3 + j] = sign * dm[i]
            slopes[low_row + i, on + 3 + j] = -bent
            slopes[low_row + i, above + 3 + j] = da[i] + bent
    slopes[0, 12 if first else 13] = 1.0
    for k in range(TWISTS):
        for i in range(3):
            slopes[foot_row + i, k] = slopes[low_row + i, k] - m[i] * slopes[0, k] - gap * sign * slopes[1 + i, k]


@inner_kernel
def _axis_cross(j: int, x0: float, x1: float, x2: float) -> tuple[float, float, float]:
    """Return the product of axis `j` and x."""
    if j == 0:
        return 0.0, -x2, x1
    if j == 1:
        return x2, 0.0, -x0
    return -x1, x0, 0.0


# --- the same with the point as an unknown -------------------------------------------


@inner_kernel
def _shape_axes(pair: Array, q: Array, w: Desk) -> None:
    """Fill the axes of a round shape in the world, ``w.F[i, 0]``."""
    R = matrix((q[3], q[4], q[5], q[6]))
    for i in range(3):
        x, y, z = pair[9 + i], pair[12 + i], pair[15 + i]
        for j in range(3):
            w.F[i, 0, j] = R[3 * j] * x + R[3 * j + 1] * y + R[3 * j + 2] * z


@inner_kernel
def _leaning(pair: Array, q_a: Array, q_b: Array, w: Desk) -> Triple:
    """Return ``eta = -A m`` in the axes of the shape, which :func:`_shape_axes` has filled."""
    m = _carried(q_a if pair[1] == 1.0 else q_b, pair, 2)
    u, v, z = w.F[0, 0], w.F[1, 0], w.F[2, 0]
    return (
        -pair[18] * (u[0] * m[0] + u[1] * m[1] + u[2] * m[2]),
        -pair[19] * (v[0] * m[0] + v[1] * m[1] + v[2] * m[2]),
        -pair[20] * (z[0] * m[0] + z[1] * m[1] + z[2] * m[2]),
    )


@inner_kernel
def is_flat(pair: Array) -> bool:
    """Tell whether a surface has points without curvature, which a plane can touch."""
    return bool(pair[0] == PLANE and pair[EXPONENT] > 2.0)


@bare_kernel
def begin_flat(pair: Array, q_a: Array, q_b: Array, at: Array, w: Desk) -> int:
    r"""Fill the point (2,) in which a body is nearest to a plane; return the axis of its chart.

    The chart of axis k are the other two of the coordinates :math:`\xi_i = x_i/a_i`; k is that of the largest.
    """
    _shape_axes(pair, q_b if pair[1] == 1.0 else q_a, w)
    eta = _leaning(pair, q_a, q_b, w)
    q, size, total, k = pair[21] / (pair[21] - 1.0), 0.0, 0.0, 0
    for i in range(3):
        if abs(eta[i]) > size:
            size, k = abs(eta[i]), i
    for i in range(3):
        total += _power(abs(eta[i]) / size, q)
    h = size * _power(total, 1.0 / q)
    for e in range(2):
        x = eta[(k + 1 + e) % 3]
        at[e] = math.copysign(_power(abs(x) / h, q - 1.0), x)
    return k


@bare_kernel
def flat_rows(
    pair: Array,
    q_a: Array,
    q_b: Array,
    depth_a: float,
    depth_b: float,
    k: int,
    at: Array,
    touch: Array,
    slopes: Array,
    bend: Array,
    w: Desk,
) -> int:
    r"""Fill what :func:`facing_rows` does for a given point of a superquadric above a plane, which is an unknown.

    Where a surface is flat its nearest point is no smooth function of its pose, and rounding of the pose moves it. The
    other way round all is smooth: with :math:`\eta = -A m` in the axes of the shape the equations of the point are

    .. math::
        |\xi_i|^{p-1} \operatorname{sgn}(\xi_i) |\eta_k| = |\xi_k|^{p-1} \eta_i, \qquad i \ne k.

    Fill `bend` (18,): both equations, their derivatives by the point (2, 2) and by a turn of the body, (2, 3), and how
    the point moves in the world, (2, 3). Return LOST outside of the chart.
    """
    first, p = pair[1] == 1.0, pair[21]
    if (depth_b if first else depth_a) != 0.0:
        return LOST
    _shape_axes(pair, q_b if first else q_a, w)
    m, eta = _carried(q_a if first else q_b, pair, 2), _leaning(pair, q_a, q_b, w)
    rest = 1.0 - _power(abs(at[0]), p) - _power(abs(at[1]), p)
    top = eta[k]
    if not rest > _CHART or not abs(top) > _CHART * max(abs(eta[0]), abs(eta[1]), abs(eta[2])):
        return LOST
    side, high = math.copysign(1.0, top), _power(rest, 1.0 / p)
    steep = _power(high, p - 1.0)
    o = pair[18 + k] * high * side
    g = (-o * w.F[k, 0, 0], -o * w.F[k, 0, 1], -o * w.F[k, 0, 2])
    axis = (w.F[k, 0, 0], w.F[k, 0, 1], w.F[k, 0, 2])
    turn_k = _cross(axis, m)
    for e in range(2):
        i = (k + 1 + e) % 3
        axis = (w.F[i, 0, 0], w.F[i, 0, 1], w.F[i, 0, 2])
        a, x = pair[18 + i], at[e]
        g = _plus(g, -a * x, axis)
        risen = math.copysign(_power(abs(x), p - 1.0), x)
        falls = -risen / steep  # of the height
        bend[e] = risen * abs(top) - steep * eta[i]
        for f in range(2):
            y = at[f]
            fall = -math.copysign(_power(abs(y), p - 1.0), y) / steep
            bend[2 + 2 * e + f] = -eta[i] * (p - 1.0) * _power(high, p - 2.0) * fall
        bend[2 + 3 * e] += (p - 1.0) * _power(abs(x), p - 2.0) * abs(top)
        turn = _cross(axis, m)
        for j in range(3):
            bend[6 + 3 * e + j] = steep * a * turn[j] - risen * side * pair[18 + k] * turn_k[j]
            bend[12 + 3 * e + j] = a * axis[j] + pair[18 + k] * side * falls * w.F[k, 0, j]
    for i in range(3):
        for j in range(3):
            w.H[0, i, j] = 0.0
    _above_plane(pair, q_a, q_b, depth_a if first else depth_b, g, w.H[0], touch, slopes)
    return FOUND


# --- features ----------------------------------------------------------------------


@inner_kernel
def _cross(x: Triple, y: Triple) -> Triple:
    return x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]


@inner_kernel
def _dot(x: Triple, y: Triple) -> float:
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@inner_kernel
def _plus(x: Triple, f: float, y: Triple) -> Triple:
    """Return x + f y."""
    return x[0] + f * y[0], x[1] + f * y[1], x[2] + f * y[2]


@inner_kernel
def _carried(q: Array, pair: Array, o: int) -> Triple:
    """Return a vector of a row, turned as its body is."""
    R = matrix((q[3], q[4], q[5], q[6]))
    x, y, z = pair[o], pair[o + 1], pair[o + 2]
    return R[0] * x + R[1] * y + R[2] * z, R[3] * x + R[4] * y + R[5] * z, R[6] * x + R[7] * y + R[8] * z


@inner_kernel
def _facing_features(
    pair: Array, q_a: Array, q_b: Array, depth_a: float, depth_b: float, touch: Array, slopes: Array
) -> int:
    """Let features move with their bodies: a point above a face, or two edges that cross."""
    zero = (0.0, 0.0, 0.0)
    is_face, r_a, r_b = pair[0] == FACE, pair[7], pair[8]
    arm_a, arm_b = _carried(q_a, pair, 1), _carried(q_b, pair, 4)
    apart = (q_b[0] - q_a[0] + arm_b[0] - arm_a[0], q_b[1] - q_a[1] + arm_b[1] - arm_a[1], 0.0)
    apart = (apart[0], apart[1], q_b[2] - q_a[2] + arm_b[2] - arm_a[2])
    side = 0 if pair[12] == 0.0 else 1
    u, w, m, size, mm, alpha, beta = zero, zero, zero, 1.0, 1.0, 0.0, 0.0
    if is_face:
        n = _carried(q_a if side == 0 else q_b, pair, 9)
    else:
        u, w = _carried(q_a, pair, 9), _carried(q_b, pair, 12)
        m = _cross(u, w)
        mm = _dot(m, m)
        size = math.sqrt(mm)
        n = (m[0] / size, m[1] / size, m[2] / size)
        alpha = _dot(_cross(apart, w), m) / mm
        beta = _dot(_cross(apart, u), m) / mm
    bare = _dot(n, apart) - r_a - r_b
    # points relative to the centres: a = x_a + to_a, b = x_b + to_b
    if is_face:
        to_a, to_b = (r_a * n[0], r_a * n[1], r_a * n[2]), (-r_b * n[0], -r_b * n[1], -r_b * n[2])
        if side == 0:
            to_a = _plus(_plus(apart, 1.0, to_b), -bare, n)  # anywhere on the face
        else:
            to_b = _plus(_plus(to_a, -1.0, apart), bare, n)
    else:
        to_a = (alpha * u[0] + r_a * n[0], alpha * u[1] + r_a * n[1], alpha * u[2] + r_a * n[2])
        to_b = (beta * w[0] - r_b * n[0], beta * w[1] - r_b * n[1], beta * w[2] - r_b * n[2])
    touch[GAP] = bare + depth_a + depth_b
    for i in range(3):
        touch[NORMAL + i] = n[i]
        touch[POINT_A + i] = q_a[i] + arm_a[i] + to_a[i] - depth_a * n[i]
        touch[POINT_B + i] = q_b[i] + arm_b[i] + to_b[i] + depth_b * n[i]
    for column in range(12):
        body, j = (0, column) if column < 6 else (1, column - 6)
        dx_a, dx_b, dn, du, dw = zero, zero, zero, zero, zero
        if j < 3:
            step = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
        else:
            arm = arm_a if body == 0 else arm_b
            step = _axis_cross(j - 3, arm[0], arm[1], arm[2])
            if is_face and body == side:
                dn = _axis_cross(j - 3, n[0], n[1], n[2])
            elif not is_face and body == 0:
                du = _axis_cross(j - 3, u[0], u[1], u[2])
            elif not is_face:
                dw = _axis_cross(j - 3, w[0], w[1], w[2])
        if body == 0:
            dx_a = step
        else:
            dx_b = step
        d_apart = _plus(dx_b, -1.0, dx_a)
        if is_face:
            d_gap = _dot(dn, apart) + _dot(n, d_apart)
            if side == 0:
                d_b = _plus(dx_b, -r_b, dn)
                d_a = _plus(_plus(d_b, -d_gap, n), -bare, dn)
            else:
                d_a = _plus(dx_a, r_a, dn)
                d_b = _plus(_plus(d_a, d_gap, n), bare, dn)
        else:
            dm = _plus(_cross(du, w), 1.0, _cross(u, dw))
            dn = _plus(dm, -_dot(n, dm), n)
            dn = (dn[0] / size, dn[1] / size, dn[2] / size)
            d_gap = _dot(dn, apart) + _dot(n, d_apart)
            stretch = 2.0 * _dot(m, dm)
            across = _plus(_cross(d_apart, w), 1.0, _cross(apart, dw))
            d_alpha = (_dot(across, m) + _dot(_cross(apart, w), dm) - alpha * stretch) / mm
            across = _plus(_cross(d_apart, u), 1.0, _cross(apart, du))
            d_beta = (_dot(across, m) + _dot(_cross(apart, u), dm) - beta * stretch) / mm
            d_a = _plus(_plus(_plus(dx_a, d_alpha, u), alpha, du), r_a, dn)
            d_b = _plus(_plus(_plus(dx_b, d_beta, w), beta, dw), -r_b, dn)
        slopes[0, column] = d_gap
        for i in range(3):
            slopes[1 + i, column] = dn[i]
            slopes[4 + i, column] = d_a[i] - depth_a * dn[i]
            slopes[7 + i, column] = d_b[i] + depth_b * dn[i]
    slopes[0, 12] = 1.0
    slopes[0, 13] = 1.0
    for i in range(3):
        slopes[1 + i, 12], slopes[1 + i, 13] = 0.0, 0.0
        slopes[4 + i, 12], slopes[4 + i, 13] = -n[i], 0.0
        slopes[7 + i, 12], slopes[7 + i, 13] = 0.0, n[i]
    return FOUND


@bare_kernel
def facing_rows(
    pair: Array, q_a: Array, q_b: Array, depth_a: float, depth_b: float, touch: Array, slopes: Array, w: Desk
) -> int:
    """Find where surfaces deflected by the depths face each other at the poses (7,), from `touch` (12,) in place.

    Fill `slopes` (10, 14). Return LOST if nothing was found.
    """
    if pair[0] == PLANE:
        return _facing_plane(pair, q_a, q_b, depth_a, depth_b, touch, slopes, w)
    if pair[0] == SURFACES:
        return _facing_surfaces(pair, q_a, q_b, depth_a, depth_b, touch, slopes, w)
    return _facing_features(pair, q_a, q_b, depth_a, depth_b, touch, slopes)


@bare_kernel
def start_touch(pair: Array, q_a: Array, q_b: Array, value: Array, touch: Array, w: Desk) -> None:
    """Fill where to begin (12,) from what detection found: both points, normal and gap (10,)."""
    touch[GAP] = 0.0
    for i in range(3):
        touch[NORMAL + i], touch[POINT_A + i], touch[POINT_B + i] = value[6 + i], value[i], value[3 + i]
        touch[GAP] += value[6 + i] * (value[3 + i] - value[i])
    touch[WEIGHT_A], touch[WEIGHT_B] = 1.0, 1.0
    if pair[0] != SURFACES:
        return
    _place_set(pair, SET[0], q_a, w.frame, 0)
    _place_set(pair, SET[1], q_b, w.frame, 1)
    for k in range(2):
        _surface(pair, SET[k], w.frame, k, value[3 * k], value[3 * k + 1], value[3 * k + 2], False, w.surface, k)
        g = w.surface[k]
        touch[WEIGHT_A + k] = 1.0 / math.sqrt(g[1] * g[1] + g[2] * g[2] + g[3] * g[3])
