r"""Convex programs over sets of smooth inequalities, for shapes that only their functions describe.

Three programs answer all questions on two sets A and B:

* the support: the point of A furthest along a direction;
* the closest points: :math:`\min \tfrac12 |a - b|^2,\ a \in A,\ b \in B`;
* the deepest point: :math:`\min s,\ f_i(x) \le s,\ g_j(x) \le s`, whose multipliers give the normal of sets that
  touch or overlap.

All begin at points strictly inside and are solved by the same primal-dual interior point method, which for convex
programs with an inside needs no good start. Sets are seen in units of their size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.model.convex_sets import ConvexSet

_ITERATIONS = 80
_GAP = 1e-13  # duality gap and residual at which the programs end, in units of the bodies' size
_CENTRING = 0.1  # by which each step reduces the gap it aims at
_ARMIJO = 0.01
_BOUNDARY = 0.02  # of its distance that a point keeps from each surface in a step
_HALVINGS = 40


class Program(NamedTuple):
    """Minimise ``gradient . z + z^T hessian z/2`` subject to constraints ``values(z) <= 0``."""

    gradient: Array
    """(n,)"""
    hessian: Array
    """(n, n)"""
    values: Callable[[Array], Array]
    """(m,)"""
    gradients: Callable[[Array], Array]
    """(m, n)"""
    curvature: Callable[[Array, Array], Array]
    """Sum of the constraints' Hessians with weights, (n, n)."""


def minimise(program: Program, z: Array) -> tuple[Array, Array]:
    """Return the solution and its multipliers from a start strictly inside.

    Where the method can go no further it returns where it stands: callers judge the answer themselves.
    """
    c = program.values(z)
    m = c.size
    w = 1.0 / np.maximum(-c, 1e-12)
    w *= max(float(np.abs(program.gradient + program.hessian @ z).max()), 1e-3) / max(float(w.max()), 1e-300)
    J = program.gradients(z)
    for _ in range(_ITERATIONS):
        gap = float(-c @ w)
        slope = program.gradient + program.hessian @ z
        dual = slope + J.T @ w
        if gap < _GAP and float(np.abs(dual).max()) < _GAP:
            break
        # The gap must not close before the gradients balance: at the boundary steps would be too short for that.
        aim = max(_CENTRING * gap, _CENTRING * float(np.abs(dual).max())) / m
        residual = float(np.sqrt(dual @ dual + ((-w * c - aim) ** 2).sum()))
        K = program.hessian + program.curvature(z, w) + (J.T * (w / -c)) @ J
        # At the centre of a superellipsoid all derivatives vanish: the step then goes straight down, see below.
        K.flat[:: K.shape[0] + 1] += max(1e-15 * float(np.trace(K)), 1e-12)
        try:
            dz = np.linalg.solve(K, -(slope + J.T @ (aim / -c)))
        except np.linalg.LinAlgError:
            break
        dw = -w - (aim + w * (J @ dz)) / c
        if not (np.isfinite(dz).all() and np.isfinite(dw).all()):
            break
        falling = dw < 0.0
        s = min(1.0, 0.99 * float((-w[falling] / dw[falling]).min())) if falling.any() else 1.0
        s = min(s, 1.0 / max(float(np.abs(dz).max()), 1e-300))  # no further than the size of the bodies
        moved = False
        for _ in range(_HALVINGS):
            z_new, w_new = z + s * dz, w + s * dw
            c_new = program.values(z_new)
            if (c_new < _BOUNDARY * c).all():
                J_new = program.gradients(z_new)
                dual_new = program.gradient + program.hessian @ z_new + J_new.T @ w_new
                cent_new = -w_new * c_new - aim
                if np.sqrt(dual_new @ dual_new + cent_new @ cent_new) <= (1.0 - _ARMIJO * s) * residual:
                    moved = True
                    break
            s *= 0.5
        if not moved:
            break
        z, w, c, J = z_new, w_new, c_new, J_new
    return z, w


def support(A: ConvexSet, n: Array) -> tuple[Array, Array]:
    """Return the point of A furthest along `n` and the multipliers: ``n = sum w_i grad f_i``."""
    program = Program(-n, np.zeros((3, 3)), A.values, A.gradients, A.hessian)
    return minimise(program, A.inner)


def closest(A: ConvexSet, B: ConvexSet) -> tuple[Array, Array, Array, Array]:
    """Return the closest points and the multipliers of both sets; of no use for the normal in touch or overlap."""
    m, I = A.count, np.eye(3)
    H = np.block([[I, -I], [-I, I]])

    def values(z: Array) -> Array:
        return np.concatenate([A.values(z[:3]), B.values(z[3:])])

    def gradients(z: Array) -> Array:
        J = np.zeros((m + B.count, 6))
        J[:m, :3], J[m:, 3:] = A.gradients(z[:3]), B.gradients(z[3:])
        return J

    def curvature(z: Array, w: Array) -> Array:
        K = np.zeros((6, 6))
        K[:3, :3], K[3:, 3:] = A.hessian(z[:3], w[:m]), B.hessian(z[3:], w[m:])
        return K

    z, w = minimise(Program(np.zeros(6), H, values, gradients, curvature), np.concatenate([A.inner, B.inner]))
    return z[:3], z[3:], w[:m], w[m:]


def deepest(A: ConvexSet, B: ConvexSet) -> tuple[Array, float, Array, Array]:
    """Return the point at which the larger of all functions is least, that value, and the multipliers."""
    m, e = A.count, np.array([0.0, 0.0, 0.0, 1.0])

    def values(z: Array) -> Array:
        return np.asarray(np.concatenate([A.values(z[:3]), B.values(z[:3])]) - z[3])

    def gradients(z: Array) -> Array:
        J = np.full((m + B.count, 4), -1.0)
        J[:m, :3], J[m:, :3] = A.gradients(z[:3]), B.gradients(z[:3])
        return J

    def curvature(z: Array, w: Array) -> Array:
        K = np.zeros((4, 4))
        K[:3, :3] = A.hessian(z[:3], w[:m]) + B.hessian(z[:3], w[m:])
        return K

    x = 0.5 * (A.inner + B.inner)
    top = float(max(A.values(x).max(), B.values(x).max()))
    z, w = minimise(Program(e, np.zeros((4, 4)), values, gradients, curvature), np.append(x, top + 1.0))
    return z[:3], float(z[3]), w[:m], w[m:]
