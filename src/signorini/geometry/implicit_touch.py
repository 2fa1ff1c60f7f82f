r"""Signed distance of two convex sets given by smooth inequalities (S3 spec, sections 4 and 4.1).

.. math::
    b - a = d\,n, \quad n = \sum_i l_i \nabla f_i(a), \quad -n = \sum_j k_j \nabla g_j(b), \quad n \cdot n = 1,
    \quad 0 \le l_i \perp -f_i(a) \ge 0, \quad 0 \le k_j \perp -g_j(b) \ge 0,

with the normal from A to B. The multipliers do not vanish in touch, and d is signed. Apart, the solution is the pair of
closest points. Overlapping, it is a direction in which the way out is locally shortest, so several starts are
compared unless the overlap is shallow.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.geometry.implicit_programs import closest, deepest, support
from signorini.model.convex_sets import ConvexSet, Placed

_APART = 1e-4  # in units of the bodies' size: closer, the direction between closest points loses digits
_SHALLOW = 0.25  # of the depth of the thinner body's inner point: hardly another way out can be shorter
_ITERATIONS, _ROUNDS = 12, 6
_EXACT = 1e-12
_ACCEPTED = 1e-9
_POSITIVE = 1e-8
_AXES = np.array([x for x in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(x)])
_DIRECTIONS = _AXES / np.linalg.norm(_AXES, axis=1)[:, None]
_REFINED = 3  # of the directions tried in a deep overlap
_PARTINGS = 12
_CLEAR = 0.05  # in units of the bodies' size: distance to which overlapping bodies are parted to see how they face


class Touch(NamedTuple):
    """Where two sets are closest or overlap."""

    gap: float
    normal: Array
    point_a: Array
    point_b: Array
    weight_a: Array
    """Multipliers of A: ``normal = sum weight_a grad f``."""
    weight_b: Array


def touch(A: ConvexSet, B: ConvexSet, limit: float) -> Touch | None:
    """Return the signed distance of two sets of size 1 with its points, None if it is beyond `limit`."""
    a, b, l, k = closest(A, B)
    d = float(np.linalg.norm(b - a))
    if d > limit + 1e-6:
        return None
    if d > _APART:
        n = (b - a) / d
        found = _solve(A, B, Touch(d, n, a, b, l / d, k / d))
        return found if found is not None else Touch(d, n, a, b, l / d, k / d)
    start = _from_deepest(A, B)
    found = _solve(A, B, start)
    thickness = -max(float(A.values(A.inner).max()), float(B.values(B.inner).max()))
    if found is None or found.gap < -_SHALLOW * thickness:
        found = _shortest_way_out(A, B, start, found)
    return found


def plane_touch(n: Array, offset: float, B: ConvexSet) -> Touch:
    """Return the touch of the half-space ``n . x <= offset`` with B: its lowest point."""
    b, k = support(B, -n)
    b, k = _solve_support(B, -n, b, k)
    gap = float(n @ b) - offset
    return Touch(gap, n, b - gap * n, b, np.ones(1), k)


def _from_deepest(A: ConvexSet, B: ConvexSet) -> Touch:
    """Start from the deepest common point of sets that touch or overlap."""
    x, s, l, k = deepest(A, B)
    m = l @ A.gradients(x)
    size = float(np.linalg.norm(m))
    if not size > 1e-12:  # the deepest point of one set lies deep inside the other
        m = B.inner - A.inner
        size = float(np.linalg.norm(m))
        n = m / size if size > 1e-9 else np.array([1.0, 0.0, 0.0])
        return _along(A, B, n)
    n = m / size
    slope_a = max(float((A.gradients(x) @ n).max()), 1e-3)
    slope_b = max(float((B.gradients(x) @ -n).max()), 1e-3)
    depth_a, depth_b = max(-s, 0.0) / slope_a, max(-s, 0.0) / slope_b
    return Touch(-depth_a - depth_b, n, x + depth_a * n, x - depth_b * n, l / size, k / size)


def _along(A: ConvexSet, B: ConvexSet, n: Array) -> Touch:
    """Return the separation along `n` with the points that reach it, not opposite each other."""
    a, l = support(A, n)
    b, k = support(B, -n)
    return Touch(float(n @ (b - a)), n, a, b, l, k)


def _pulled_apart(A: ConvexSet, B: ConvexSet, start: Touch) -> Touch:
    """Shorten a way out: move B along it until clear of A, and turn it toward where A is closest then."""
    best, n, depth = start, start.normal, -start.gap
    for _ in range(_PARTINGS):
        clear = (depth + _CLEAR) * n
        a, b, l, k = closest(A, Placed(B, clear, np.eye(3)))
        distance = float(np.linalg.norm(b - a))
        if not distance > 0.1 * _CLEAR:
            break
        turned = (b - a) / distance
        best = Touch(float(turned @ (b - clear - a)), turned, a, b - clear, l / distance, k / distance)
        if float(np.linalg.norm(turned - n)) < 1e-2:
            break
        n, depth = turned, -best.gap
    return best


def _shortest_way_out(A: ConvexSet, B: ConvexSet, start: Touch, found: Touch | None) -> Touch:
    """Compare directions all around; every separation along one is a way out, so the largest is the best of them."""
    toward = B.inner - A.inner
    away = float(np.linalg.norm(toward))
    tried = [_along(A, B, n) for n in _DIRECTIONS]
    tried.append(_along(A, B, start.normal))
    if away > 1e-9:
        tried.append(_along(A, B, toward / away))
    best = found
    for one in sorted(tried, key=lambda one: -one.gap)[:_REFINED]:
        refined = _solve(A, B, one)
        if refined is None or refined.gap < one.gap:
            refined = _solve(A, B, _pulled_apart(A, B, one))
        if refined is not None and (best is None or refined.gap > best.gap + _EXACT):
            best = refined
    straight = max(tried, key=lambda one: one.gap)
    if best is None or straight.gap > best.gap + _ACCEPTED:
        # Still a way out: the other point is put opposite the first.
        best = straight._replace(point_b=straight.point_a + straight.gap * straight.normal)
    return best


def _solve(A: ConvexSet, B: ConvexSet, start: Touch) -> Touch | None:
    """Solve the equations by Newton's method for guessed active inequalities, which are corrected; None on failure."""
    gap, n, a, b, l, k = start
    on_a, on_b = _active(l, A.values(a)), _active(k, B.values(b))
    for _ in range(_ROUNDS):
        if not (on_a.any() and on_b.any()):
            return None
        found, error = _newton(A, B, Touch(gap, n, a, b, np.where(on_a, l, 0.0), np.where(on_b, k, 0.0)), on_a, on_b)
        if not error < _ACCEPTED:
            return None
        wrong_a, wrong_b = (
            _wrong(found.weight_a, A.values(found.point_a), on_a),
            _wrong(found.weight_b, B.values(found.point_b), on_b),
        )
        if not (wrong_a.any() or wrong_b.any()):
            return found
        on_a, on_b = on_a ^ wrong_a, on_b ^ wrong_b
    return None


def _active(weight: Array, value: Array) -> BoolArray:
    """Guess which inequalities hold with equality: interior points end with either a weight or a slack of nothing."""
    return weight > np.maximum(-value, 1e-7)


def _wrong(weight: Array, value: Array, on: BoolArray) -> BoolArray:
    return np.where(on, weight < -_POSITIVE, value > _ACCEPTED)


def _newton(A: ConvexSet, B: ConvexSet, start: Touch, on_a: BoolArray, on_b: BoolArray) -> tuple[Touch, float]:
    """Return the solution with the given active inequalities, and its residual."""
    d, n, a, b, l, k = start
    p, q = int(on_a.sum()), int(on_b.sum())
    I = np.eye(3)
    best, least = start, np.inf
    for _ in range(_ITERATIONS):
        F_a, F_b = A.gradients(a), B.gradients(b)
        active_a, active_b = F_a[on_a], F_b[on_b]
        r = np.concatenate(
            [b - a - d * n, l @ F_a - n, k @ F_b + n, [n @ n - 1.0], A.values(a)[on_a], B.values(b)[on_b]]
        )
        error = float(np.abs(r).max())
        if not error < least * 0.99:  # not a number, or no progress any more
            break
        best, least = Touch(d, n, a, b, l.copy(), k.copy()), error
        if error < 1e-15:
            break
        J = np.zeros((10 + p + q, 10 + p + q))  # unknowns a, b, n, d, l, k
        J[0:3, 0:3], J[0:3, 3:6], J[0:3, 6:9], J[0:3, 9] = -I, I, -d * I, -n
        J[3:6, 0:3], J[3:6, 6:9], J[3:6, 10 : 10 + p] = A.hessian(a, l), -I, active_a.T
        J[6:9, 3:6], J[6:9, 6:9], J[6:9, 10 + p :] = B.hessian(b, k), I, active_b.T
        J[9, 6:9] = 2.0 * n
        J[10 : 10 + p, 0:3], J[10 + p :, 3:6] = active_a, active_b
        if not np.isfinite(J).all():
            break
        # Parallel faces leave the points free to slide: the shortest step changes them least.
        step = np.linalg.lstsq(J, -r, rcond=1e-11)[0]
        size = float(np.abs(step[:9]).max())
        step *= min(1.0, 0.5 / size) if size > 0.0 else 1.0
        a, b, n, d = a + step[0:3], b + step[3:6], n + step[6:9], d + float(step[9])
        l[on_a] += step[10 : 10 + p]
        k[on_b] += step[10 + p :]
    n = best.normal / float(np.linalg.norm(best.normal))
    return best._replace(normal=n, gap=float(n @ (best.point_b - best.point_a))), least


def _solve_support(B: ConvexSet, n: Array, x: Array, w: Array) -> tuple[Array, Array]:
    """Refine the support of B along `n` by Newton's method; keep the start if that fails."""
    on = _active(w, B.values(x))
    p = int(on.sum())
    best, best_w, least = x, w, np.inf
    w = np.where(on, w, 0.0)
    for _ in range(_ITERATIONS if p else 0):
        G = B.gradients(x)
        r = np.concatenate([w @ G - n, B.values(x)[on]])
        error = float(np.abs(r).max())
        if not error < least * 0.99:
            break
        best, best_w, least = x, w.copy(), error
        J = np.zeros((3 + p, 3 + p))
        J[:3, :3], J[:3, 3:], J[3:, :3] = B.hessian(x, w), G[on].T, G[on]
        if not np.isfinite(J).all():
            break
        step = np.linalg.lstsq(J, -r, rcond=1e-11)[0]
        x = x + step[:3]
        w[on] += step[3:]
    return best, best_w
