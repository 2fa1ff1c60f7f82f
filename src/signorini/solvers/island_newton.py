r"""The robust solver of one island: proximal Newton steps on the Alart-Curnier function.

As :mod:`~signorini.solvers.proximal_newton`, in compiled code and in the space of nodes. Newton steps of this method
and of the interior point have the form ``dr = g - S (W dr + e)``, W without compliance, solved by

.. math:: (I + G^T S G)\, dy = G^T (g - S e), \qquad dr = g - S e - S G\, dy .
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, measured, perform, real_blocks, real_rows, reals, wholes
from signorini.solvers.alart_curnier import alart_curnier
from signorini.solvers.island_constants import (
    ABOVE_FAILED,
    FALL,
    FORGET,
    INNER_GOOD,
    INNER_GROWS,
    INNER_QUICK,
    INNER_STEPS,
    LOWERED,
    LOWERED_MUCH,
    NEWTON_REFINED,
    PROXIMAL_LEAST,
    PROXIMAL_MOST,
    RAISED,
)
from signorini.solvers.island_lu import factor, substitute
from signorini.solvers.island_table import (
    BEST,
    BLOCKS,
    FUNCTION,
    MU,
    NEWTON,
    NEWTON_STEPS,
    SOFT,
    STEP,
    WORK,
    R,
    S,
    V,
    Y,
    apply,
    copy,
    residual,
    scatter,
    velocity,
)


@inner_kernel
def take_step(w: IntArray, S: Array, g: Array, y: Array, u: Array, dr: Array, left: Array, refinements: int) -> None:
    """Set the step ``dr = g - S G G^T dr`` with the factors of ``I + G^T S G``, and ``u = G G^T dr``.

    Of the solution, ``G^T dr = dy``.
    """
    n_c = g.shape[0]
    copy(g, left)
    scatter(w, left, y)
    substitute(w, y)
    apply(w, y, u)
    for c in range(n_c):
        for i in range(3):
            dr[c, i] = left[c, i] - (S[c, i, 0] * u[c, 0] + S[c, i, 1] * u[c, 1] + S[c, i, 2] * u[c, 2])
    for _ in range(refinements):
        scatter(w, dr, y)
        apply(w, y, u)
        for c in range(n_c):
            for i in range(3):
                left[c, i] = g[c, i] - dr[c, i] - (S[c, i, 0] * u[c, 0] + S[c, i, 1] * u[c, 1] + S[c, i, 2] * u[c, 2])
        scatter(w, left, y)
        substitute(w, y)
        apply(w, y, u)
        for c in range(n_c):
            for i in range(3):
                dr[c, i] += left[c, i] - (S[c, i, 0] * u[c, 0] + S[c, i, 1] * u[c, 1] + S[c, i, 2] * u[c, 2])
    if refinements > 0:
        scatter(w, dr, y)
        apply(w, y, u)


@inner_kernel
def newton_step(w: IntArray, S: Array, g: Array, y: Array, u: Array, dr: Array, left: Array, refinements: int) -> None:
    """Do as :func:`take_step`, by its address."""
    perform(w[STEP, 0], (w, S, g, y, u, dr, left, refinements))


@inner_kernel
def set_function(w: IntArray, u: Array, r: Array, F: Array) -> float:
    """Set the Alart-Curnier function F and return its norm."""
    return alart_curnier(u, r, reals(w, MU), F)


@inner_kernel
def set_blocks(w: IntArray, u: Array, r: Array, F: Array, alpha: float, S: Array, g: Array) -> None:
    """Set S and g of the steps, see :func:`~signorini.solvers.alart_curnier.newton_blocks`.

    What alpha is there is here the sum of alpha and the compliance, for each contact along its normal and across.
    """
    mu, soft = reals(w, MU), real_rows(w, SOFT)
    for c in range(mu.shape[0]):
        n, a_n, a_t = r[c, 0] - u[c, 0], alpha + soft[c, 0], alpha + soft[c, 1]
        for i in range(3):
            g[c, i] = -F[c, i]
            for j in range(3):
                S[c, i, j] = 0.0
        if not n > 0.0:
            continue
        S[c, 0, 0] = 1.0 / a_n
        g[c, 0] = -F[c, 0] / a_n
        t1, t2 = r[c, 1] - u[c, 1], r[c, 2] - u[c, 2]
        size, radius = math.sqrt(t1 * t1 + t2 * t2), mu[c] * n
        if size <= radius:
            S[c, 1, 1], S[c, 2, 2] = 1.0 / a_t, 1.0 / a_t
            g[c, 1], g[c, 2] = -F[c, 1] / a_t, -F[c, 2] / a_t
            continue
        e1, e2, k = t1 / size, t2 / size, radius / size
        h = 1.0 + (a_t - 1.0) * k
        f = mu[c] * (a_n - 1.0) / a_n
        along = e1 * F[c, 1] + e2 * F[c, 2]
        across1, across2 = F[c, 1] - along * e1, F[c, 2] - along * e2
        along -= f * F[c, 0]
        g[c, 1], g[c, 2] = -(along * e1 + across1 / h), -(along * e2 + across2 / h)
        S[c, 1, 0], S[c, 2, 0] = (mu[c] - f) * e1, (mu[c] - f) * e2
        k /= h
        S[c, 1, 1], S[c, 2, 2] = k * (1.0 - e1 * e1), k * (1.0 - e2 * e2)
        S[c, 1, 2] = -k * e1 * e2
        S[c, 2, 1] = S[c, 1, 2]


@inner_kernel
def _add(dr: Array, r: Array) -> None:
    """Add dr to r; in one row, which is as quick for any number of components."""
    x, y = dr.reshape(dr.size), r.reshape(r.size)
    for k in range(x.size):
        y[k] += x[k]


@inner_kernel
def _approach(ur: Array, alpha: float, r: Array, centre: Array, u: Array) -> None:
    """Set ``u = ur + alpha (r - centre)``."""
    a, b, c, d = ur.reshape(ur.size), r.reshape(r.size), centre.reshape(centre.size), u.reshape(u.size)
    for k in range(d.size):
        d[k] = a[k] + alpha * (b[k] - c[k])


@inner_kernel
def run_newton(w: IntArray, best: float, tolerance: float, limit: int, alpha: float, patient: bool) -> float:
    """Run outer steps from R; BEST receives what is better than `best`, whose residual is returned.

    Not patient: gives up at the first inner problem that is not solved.
    """
    r, best_r, work = real_rows(w, R), real_rows(w, BEST), wholes(w, WORK)
    F, g, ur, u, du = (
        real_rows(w, V + 0),
        real_rows(w, V + 1),
        real_rows(w, V + 2),
        real_rows(w, V + 3),
        real_rows(w, V + 4),
    )
    dr, left, centre, y, s = (
        real_rows(w, V + 5),
        real_rows(w, V + 6),
        real_rows(w, V + 7),
        real_rows(w, Y + 0),
        real_blocks(w, S),
    )
    count, least = 0, PROXIMAL_LEAST
    velocity(w, r, y, ur)
    while best > tolerance and count < limit:
        copy(r, centre)
        copy(ur, u)
        first = size = measured(w[FUNCTION, 0], (w, u, r, F))
        inner = 0
        while (
            size > FALL * first
            and count < limit
            and inner < INNER_STEPS
            and not (inner >= INNER_GROWS and size > first)
        ):
            perform(w[BLOCKS, 0], (w, u, r, F, alpha, s, g))
            count += 1
            inner += 1
            if not factor(w, s, 1.0):
                break
            newton_step(w, s, g, y, du, dr, left, 1 if alpha < NEWTON_REFINED else 0)
            _add(dr, r)
            velocity(w, r, y, ur)
            _approach(ur, alpha, r, centre, u)
            size = measured(w[FUNCTION, 0], (w, u, r, F))
            now = residual(w, r, ur)
            if now < best:
                best = now
                copy(r, best_r)
                if best <= tolerance:
                    break
        if best <= tolerance or inner == 0:  # nothing to solve: F is zero, or not a number
            break
        if size <= FALL * first:
            if inner <= INNER_GOOD:
                alpha = max(alpha * (LOWERED_MUCH if inner <= INNER_QUICK else LOWERED), least)
            least = max(FORGET * least, PROXIMAL_LEAST)
        else:
            if not patient:
                break
            least = min(ABOVE_FAILED * alpha, PROXIMAL_MOST)
            alpha = min(RAISED * alpha, PROXIMAL_MOST)
            if not size < 0.5 * first:
                copy(centre, r)
                velocity(w, r, y, ur)
    work[NEWTON_STEPS] += count
    return best


@inner_kernel
def proximal_newton(w: IntArray, best: float, tolerance: float, limit: int, alpha: float, patient: bool) -> float:
    """Do as :func:`run_newton`, by its address."""
    return measured(w[NEWTON, 0], (w, best, tolerance, limit, alpha, patient))
