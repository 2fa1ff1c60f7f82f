r"""Newton's method on the fixed-point equation of algorithm 1, from a point near its solution.

With the response of contacts (D the friction polygon or disc)

.. math:: t = p - \rho u, \qquad R_n = \max(0, t_n), \qquad R_T = P_{\mu R_n \mathcal D}(t_T),

``p = R`` is the friction law, and its solutions are the fixed points v = P1(mu Lambda(v)). Newton's step with a small
compliance eps (it only chooses among impulses that are not unique) is, in the mass-scaled velocities y,

.. math:: (I + A^T C \rho D A)\, dy = -A^T C (p - R), \qquad D = R'(t), \quad C = (I - D + \epsilon D)^{-1}.

The matrix is a band, unsymmetric where contacts slip.
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini._scipy import linalg
from signorini.problems.friction import FrictionProblem
from signorini.solvers.qp_kernels import multiply_columns, multiply_rows

_COMPLIANCE = (1e-7, 1e-5, 1e-3)  # over W_nn, tried in turn
_STEPS = 10


class Finish:
    """Newton steps for one friction problem."""

    def __init__(self, problem: FrictionProblem, A: tuple[IntArray, IntArray, Array], N: int, width: int) -> None:
        self.problem = problem
        self.A = A
        """Compressed rows of the root of W, columns in the order that makes the band narrow."""
        self.N = N
        self.width = width
        self.factorisations = 0

    def improve(self, p: Array, tolerance: float) -> tuple[Array, float]:
        """Return better impulses (n_c, 3) and their residual; the given ones if no better are found."""
        problem = self.problem
        best = problem.residual_by_contacts(p)
        compliances = list(_COMPLIANCE)
        for _ in range(_STEPS):
            if best <= tolerance or not compliances:
                break
            trial = self._step(p, compliances[0])
            residual = np.inf if trial is None else problem.residual_by_contacts(trial)
            if not residual < 0.5 * best:
                compliances.pop(0)
            if trial is not None and residual < best:
                p, best = trial, residual
        return p, best

    def _step(self, p: Array, compliance: float) -> Array | None:
        """Return the impulses after one undamped Newton step."""
        problem = self.problem
        n_c = problem.contact_count
        S, g = np.empty((n_c, 3, 3)), np.empty((n_c, 3))
        u = problem.spatial(problem.velocity(problem.flat(p)))
        newton_blocks(p, u, problem.mu, problem.rho, problem.polygon, problem.rotation, compliance, S, g)
        band = np.zeros((self.N, 3 * self.width + 1))
        _add_response(*self.A, problem.dim, S, self.width, band)
        right = np.empty(self.N)
        multiply_columns(*self.A, problem.flat(g), right)
        if self.N == 0 or not np.isfinite(band).all():
            return None
        self.factorisations += 1
        _, _, dy, trouble = linalg.lapack.dgbsv(self.width, self.width, band.T, right, overwrite_ab=1)
        if trouble != 0 or not np.isfinite(dy).all():
            return None
        du = np.empty(problem.size)
        multiply_rows(*self.A, np.ascontiguousarray(dy), du)
        after: Array = p + g - np.einsum("cij,cj->ci", S, problem.spatial(du))
        return after


@kernel
def newton_blocks(
    p: Array, u: Array, mu: Array, rho: Array, sides: int, phi: float, eps: float, S: Array, g: Array
) -> None:
    """Set ``S = C rho D`` (n_c, 3, 3) and ``g = -C (p - R)`` (n_c, 3); `sides` 0 is the disc."""
    for c in range(mu.shape[0]):
        for i in range(3):
            g[c, i] = -p[c, i]
            for j in range(3):
                S[c, i, j] = 0.0
        n = p[c, 0] - rho[c] * u[c, 0]
        if not n > 0.0:
            continue
        t1 = p[c, 1] - rho[c] * u[c, 1]
        t2 = p[c, 2] - rho[c] * u[c, 2]
        k1, k2, a11, a12, a22, r1, r2 = _tangential(t1, t2, mu[c] * n, sides, phi)
        # C = (I - D + eps D)^-1 with D = [[1, 0], [mu k, a]]: normal first, then the symmetric tangential block.
        e0 = 1.0 / eps
        m11 = 1.0 - (1.0 - eps) * a11
        m12 = -(1.0 - eps) * a12
        m22 = 1.0 - (1.0 - eps) * a22
        det = m11 * m22 - m12 * m12
        b11, b12, b22 = m22 / det, -m12 / det, m11 / det
        q1 = (1.0 - eps) * mu[c] * k1
        q2 = (1.0 - eps) * mu[c] * k2
        f0 = p[c, 0] - n
        f1 = p[c, 1] - r1
        f2 = p[c, 2] - r2
        g[c, 0] = -f0 * e0
        h1 = -f1 + q1 * g[c, 0]
        h2 = -f2 + q2 * g[c, 0]
        g[c, 1] = b11 * h1 + b12 * h2
        g[c, 2] = b12 * h1 + b22 * h2
        S[c, 0, 0] = rho[c] * e0
        h1 = rho[c] * mu[c] * k1 + q1 * S[c, 0, 0]
        h2 = rho[c] * mu[c] * k2 + q2 * S[c, 0, 0]
        S[c, 1, 0] = b11 * h1 + b12 * h2
        S[c, 2, 0] = b12 * h1 + b22 * h2
        S[c, 1, 1] = rho[c] * (b11 * a11 + b12 * a12)
        S[c, 1, 2] = rho[c] * (b11 * a12 + b12 * a22)
        S[c, 2, 1] = rho[c] * (b12 * a11 + b22 * a12)
        S[c, 2, 2] = rho[c] * (b12 * a12 + b22 * a22)


@inner_kernel
def _tangential(
    t1: float, t2: float, radius: float, sides: int, phi: float
) -> tuple[float, float, float, float, float, float, float]:
    """Project on the disc or polygon: return its growth k with the radius, the symmetric derivative a, the point."""
    if sides == 0:
        size = math.sqrt(t1 * t1 + t2 * t2)
        if size <= radius:
            return (0.0, 0.0, 1.0, 0.0, 1.0, t1, t2)
        e1 = t1 / size
        e2 = t2 / size
        shrink = radius / size
        return (e1, e2, shrink * e2 * e2, -shrink * e1 * e2, shrink * e1 * e1, radius * e1, radius * e2)
    # The reflections of the polygon leave it unchanged, so the nearest point lies in the sector of t.
    half = math.pi / sides
    angle = phi + (2.0 * math.floor((math.atan2(t2, t1) - phi) / (2.0 * half)) + 1.0) * half
    c1 = math.cos(angle)
    c2 = math.sin(angle)
    along = c1 * t2 - c2 * t1
    m = math.cos(half)
    if c1 * t1 + c2 * t2 <= m * radius:
        return (0.0, 0.0, 1.0, 0.0, 1.0, t1, t2)
    edge = math.sin(half)
    if abs(along) < edge * radius:
        k1 = m * c1
        k2 = m * c2
        return (k1, k2, c2 * c2, -c1 * c2, c1 * c1, radius * k1 - along * c2, radius * k2 + along * c1)
    edge = math.copysign(edge, along)
    k1 = m * c1 - edge * c2
    k2 = m * c2 + edge * c1
    return (k1, k2, 0.0, 0.0, 0.0, radius * k1, radius * k2)


@kernel
def _add_response(start: IntArray, column: IntArray, value: Array, dim: int, S: Array, width: int, band: Array) -> None:
    """Set ``I + A^T S A`` as LAPACK's general band: ``band[j, 2 width + i - j]`` is entry (i, j)."""
    for j in range(band.shape[0]):
        band[j, 2 * width] = 1.0
    for c in range(S.shape[0]):
        for r in range(dim):
            for q in range(dim):
                factor = S[c, r, q]
                if factor == 0.0:
                    continue
                for a in range(start[dim * c + r], start[dim * c + r + 1]):
                    i = 2 * width + column[a]
                    scaled = factor * value[a]
                    for b in range(start[dim * c + q], start[dim * c + q + 1]):
                        j = column[b]
                        band[j, i - j] += scaled * value[b]
