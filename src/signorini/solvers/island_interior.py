r"""The robust solver of one island: a regularised interior point with De Saxcé's term inside.

Kernels of a contact are those of :mod:`~signorini.solvers.friction_ip_kernels`. Where the path folds, steps get short:
W is then replaced by W + alpha I *in the Newton matrix only*, with the present point as centre, so that the rigid law
is solved all the same. alpha is tied to the parameter sigma of the path, and raised where steps get short.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, measured, real_blocks, real_rows, reals, wholes
from signorini.solvers.friction_ip_kernels import centring, gap_after, longest_step, scale_contacts
from signorini.solvers.island_constants import (
    CAREFUL_DAMPING,
    CAREFUL_REFINED,
    CENTRING,
    CUT_SHORT,
    DAMPING,
    FINISH,
    FINISH_AGAIN,
    FINISH_ALPHA,
    FINISH_STEPS,
    LONG_STEP,
    LOWER,
    PATH_FALLS,
    PATH_LEAST,
    PATH_LEAST_OF,
    PATH_PATIENCE,
    PATH_STEPS,
    RAISE,
    REFINED,
    SHORT_STEP,
    SOFTEST,
    TIGHT,
)
from signorini.solvers.island_lu import factor
from signorini.solvers.island_newton import newton_step, proximal_newton
from signorini.solvers.island_table import (
    BEST,
    ENTRY,
    INTERIOR,
    INTERIOR_STEPS,
    MU,
    SCALING,
    SOFT,
    WORK,
    H,
    R,
    S,
    T,
    V,
    Y,
    copy,
    residual,
    velocity,
)


@inner_kernel
def _regularise(s: Array, soft: Array, alpha: float, h: Array, t: Array) -> None:
    """Set ``H = (I + S (alpha I + A))^-1`` and ``T = H S`` of all contacts."""
    for c in range(s.shape[0]):
        n, o = alpha + soft[c, 0], alpha + soft[c, 1]
        A, B, C = 1.0 + n * s[c, 0, 0], o * s[c, 0, 1], o * s[c, 0, 2]
        D, E, F = n * s[c, 1, 0], 1.0 + o * s[c, 1, 1], o * s[c, 1, 2]
        P, Q, O = n * s[c, 2, 0], o * s[c, 2, 1], 1.0 + o * s[c, 2, 2]
        h0, h1, h2 = E * O - F * Q, F * P - D * O, D * Q - E * P
        det = 1.0 / (A * h0 + B * h1 + C * h2)
        h[c, 0, 0], h[c, 0, 1], h[c, 0, 2] = h0 * det, (C * Q - B * O) * det, (B * F - C * E) * det
        h[c, 1, 0], h[c, 1, 1], h[c, 1, 2] = h1 * det, (A * O - C * P) * det, (C * D - A * F) * det
        h[c, 2, 0], h[c, 2, 1], h[c, 2, 2] = h2 * det, (B * P - A * Q) * det, (A * E - B * D) * det
        for i in range(3):
            for j in range(3):
                t[c, i, j] = h[c, i, 0] * s[c, 0, j] + h[c, i, 1] * s[c, 1, j] + h[c, i, 2] * s[c, 2, j]


@inner_kernel
def _begin(w: IntArray, delta: float, x: Array, u: Array) -> None:
    """Push ENTRY by delta into the cones; with delta = 0 begin at x = e."""
    r, mu, ur, y = real_rows(w, ENTRY), reals(w, MU), real_rows(w, V + 19), real_rows(w, Y + 1)
    velocity(w, r, y, ur)
    for c in range(mu.shape[0]):
        if delta > 0.0:
            x[c, 0] = max(mu[c] * r[c, 0], math.sqrt(r[c, 1] ** 2 + r[c, 2] ** 2)) + delta
            u[c, 0] = max(ur[c, 0], 0.0) + mu[c] * delta
        else:
            x[c, 0], u[c, 0] = 1.0, mu[c]
        for i in range(1, 3):
            x[c, i] = r[c, i] if delta > 0.0 else 0.0
            u[c, i] = ur[c, i] if delta > 0.0 else 0.0


@inner_kernel
def _pull(w: IntArray, e: Array, g: Array) -> None:
    """Turn the pull to the path into the right-hand side ``H (g - S e)``."""
    s, h = real_blocks(w, S), real_blocks(w, H)
    for c in range(g.shape[0]):
        y0 = g[c, 0] - (s[c, 0, 0] * e[c, 0] + s[c, 0, 1] * e[c, 1] + s[c, 0, 2] * e[c, 2])
        y1 = g[c, 1] - (s[c, 1, 0] * e[c, 0] + s[c, 1, 1] * e[c, 1] + s[c, 1, 2] * e[c, 2])
        y2 = g[c, 2] - (s[c, 2, 0] * e[c, 0] + s[c, 2, 1] * e[c, 1] + s[c, 2, 2] * e[c, 2])
        for i in range(3):
            g[c, i] = h[c, i, 0] * y0 + h[c, i, 1] * y1 + h[c, i, 2] * y2


@inner_kernel
def follow_path(w: IntArray, delta: float, best: float, tolerance: float, limit: int, share: float) -> float:
    """Follow the path from ENTRY pushed by delta into the cones; BEST receives what is better than `best`.

    Returns the residual of BEST; R receives where the path ended. alpha is at most `share` of sigma while steps are
    long.
    """
    mu, soft, best_r, work = reals(w, MU), real_rows(w, SOFT), real_rows(w, BEST), wholes(w, WORK)
    x, u, z, e, g = (
        real_rows(w, V + 9),
        real_rows(w, V + 10),
        real_rows(w, V + 11),
        real_rows(w, V + 12),
        real_rows(w, V + 13),
    )
    dx, du, dr, left = real_rows(w, V + 14), real_rows(w, V + 15), real_rows(w, V + 16), real_rows(w, V + 17)
    r, ur, y, at = real_rows(w, V + 18), real_rows(w, V + 19), real_rows(w, Y + 1), real_rows(w, R)
    s, t, h, scaling = real_blocks(w, S), real_blocks(w, T), real_blocks(w, H), real_rows(w, SCALING)
    n_c, count, since, mark, alpha, raised = mu.shape[0], 0, 0, math.inf, SOFTEST, False
    finish, least = FINISH, min(PATH_LEAST, PATH_LEAST_OF * tolerance)
    damping, refined = (DAMPING, REFINED) if tolerance >= TIGHT else (CAREFUL_DAMPING, CAREFUL_REFINED)
    _begin(w, delta, x, u)
    while True:
        for c in range(n_c):
            r[c, 0], r[c, 1], r[c, 2] = x[c, 0] / mu[c], x[c, 1], x[c, 2]
        velocity(w, r, y, ur)
        now = residual(w, r, ur)
        since += 1
        if now < PATH_FALLS * mark:
            mark, since = now, 0
        if now < best:
            best = now
            copy(r, best_r)
        if best <= tolerance or since >= PATH_PATIENCE or count >= min(limit, PATH_STEPS) or not now < math.inf:
            break
        if now < finish:
            finish = FINISH_AGAIN * now
            copy(r, at)
            best = proximal_newton(w, best, tolerance, n_c - n_c + FINISH_STEPS, FINISH_ALPHA, n_c < 0)
            if best <= tolerance:
                break
        for c in range(n_c):
            for i in range(3):
                e[c, i] = ur[c, i] - u[c, i]
        sigma = scale_contacts(x, u, mu, z, scaling, s) / n_c
        if not raised:
            alpha = max(min(alpha, share * sigma), least)
        _regularise(s, soft, alpha, h, t)
        count += 1
        if not factor(w, t, 1.0):
            break
        goal, a = 0.0, 1.0
        for turn in range(3):  # predictor, corrector, and pure centring where that is cut short
            centring(x, u, z, mu, scaling, goal, dx, du, turn == 1, g)
            _pull(w, e, g)
            newton_step(w, t, g, y, du, dr, left, 1 if sigma < refined else 0)
            for c in range(n_c):
                dx[c, 0], dx[c, 1], dx[c, 2] = mu[c] * dr[c, 0], dr[c, 1], dr[c, 2]
                for i in range(3):
                    du[c, i] += (alpha + soft[c, i]) * dr[c, i] + e[c, i]
            a = longest_step(x, dx, u, du, mu)
            if turn == 0:
                a = min(1.0, a)
                part = min(1.0, max(0.0, gap_after(x, dx, u, du, mu, a) / (n_c * sigma)))
                goal = max(part**3, CENTRING) * sigma
            else:
                a = min(1.0, damping * a)
                if a >= CUT_SHORT:
                    break
                goal = sigma
        for c in range(n_c):
            for i in range(3):
                x[c, i] += a * dx[c, i]
                u[c, i] += a * du[c, i]
        if a < SHORT_STEP:
            alpha, raised = min(RAISE * alpha, SOFTEST), True
        elif a > LONG_STEP:
            alpha = max(LOWER * alpha, least)
            raised = raised and alpha > share * sigma
    work[INTERIOR_STEPS] += count
    copy(r, at)
    return best


@inner_kernel
def interior_point(w: IntArray, delta: float, best: float, tolerance: float, limit: int, share: float) -> float:
    """Do as :func:`follow_path`, by its address."""
    return measured(w[INTERIOR, 0], (w, delta, best, tolerance, limit, share))
