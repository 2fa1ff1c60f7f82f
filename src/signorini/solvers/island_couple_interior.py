r"""The robust solver of one island: the regularised interior point for contacts with couples.

As :mod:`~signorini.solvers.island_interior`. Groups of components share the normal impulse, and share the normal
velocity out: with :math:`\sum_k v_k = u_n` the law of :mod:`~signorini.math.product_cones` is one of Lorentz cones,

.. math:: x^k = (m_k r_n, r_k) \in L, \qquad z^k = (v_k/m_k + |u_k|, u_k) \in L, \qquad x^k \circ z^k = \sigma e,

De Saxcé's term included. Each group gives a step :math:`d(r_n, r_k) = g^k - S^k d(v_k, u_k)` as a contact without
couples would; the :math:`dv_k` are eliminated by their sum, which leaves :math:`dr = g - S\,du` for the contact:
with :math:`a = 1/\sum_k 1/S^k_{nn}`,

.. math:: S_{nn} = a, \quad S_{nk} = \frac{a}{S^k_{nn}} S^k_{nT}, \quad S_{kn} = \frac{a}{S^k_{nn}} S^k_{Tn}, \quad
    S_{kl} = \frac{S^k_{Tn}}{S^k_{nn}} S_{nl} + \delta_{kl} \Bigl(S^k_{TT} - \frac{S^k_{Tn} S^k_{nT}}{S^k_{nn}}\Bigr),

.. math:: g_n = a \sum_k g^k_n / S^k_{nn}, \qquad g_k = g^k_T + \frac{S^k_{Tn}}{S^k_{nn}} (g_n - g^k_n) .

A group whose limit is zero bears nothing; a contact with no other is the pair :math:`r_n v_0 = \sigma`.
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, whole_rows, wholes
from signorini.solvers.island_constants import (
    CAREFUL_DAMPING,
    CAREFUL_REFINED,
    CENTRING,
    CUT_SHORT,
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
    SHORT_STEP,
    SOFTEST,
)
from signorini.solvers.island_lu import factor
from signorini.solvers.island_newton import newton_step, proximal_newton
from signorini.solvers.island_table import (
    BEST,
    ENTRY,
    GROUPS,
    INTERIOR_STEPS,
    KIND,
    LIMIT,
    PATH,
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

Four = tuple[float, float, float, float]

# Columns of PATH, with a row for each group of each contact: the scaling, S_nn, S_nT, S_Tn, and the pull g.
ETA, W0, W1, SNN, SNT, STN, PULL = np.array([0, 1, 2, 5, 6, 9, 12], dtype=np.int64)


@inner_kernel
def _bears(limit: Array, c: int, m: int) -> bool:
    """Tell whether group `m` takes part in the path: one without limit only as the first of a contact without any."""
    if limit[c, m] > 0.0:
        return True
    return bool(m == 0 and not limit[c, 1] > 0.0 and not limit[c, 2] > 0.0)


@inner_kernel
def _point(n: float, x: Array, c: int, first: int, end: int, bears: bool) -> Four:
    """Return (n, x_k), with zeros in the place of components that the group does not have."""
    if not bears:
        return (n, 0.0, 0.0, 0.0)
    d = end - first
    return (
        n,
        x[c, first] if d > 0 else 0.0,
        x[c, first + 1] if d > 1 else 0.0,
        x[c, first + 2] if d > 2 else 0.0,
    )


@inner_kernel
def _slip(p: Four) -> float:
    return math.sqrt(p[1] * p[1] + p[2] * p[2] + p[3] * p[3])


@inner_kernel
def _dot(p: Four, q: Four) -> float:
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]


@inner_kernel
def _scaled(path: Array, k: int, p: Four, back: bool) -> Four:
    """Return ``Q^(1/2) p``, or ``Q^(-1/2) p``."""
    sign, eta = (-1.0, 1.0 / path[k, ETA]) if back else (1.0, path[k, ETA])
    w0, w1, w2, w3 = path[k, W0], sign * path[k, W1], sign * path[k, W1 + 1], sign * path[k, W1 + 2]
    t = w1 * p[1] + w2 * p[2] + w3 * p[3]
    f = p[0] + t / (1.0 + w0)
    return (eta * (w0 * p[0] + t), eta * (p[1] + w1 * f), eta * (p[2] + w2 * f), eta * (p[3] + w3 * f))


@inner_kernel
def _scale_groups(w: IntArray, r: Array, v: Array, u: Array, s: Array) -> float:
    """Set the scaling of all groups and S of all contacts; return the mean of ``x . z`` over the groups."""
    groups, kind, limit, path = whole_rows(w, GROUPS), wholes(w, KIND), real_rows(w, LIMIT), real_rows(w, PATH)
    total, count, rows = 0.0, 0.0, r.shape[1]
    for c in range(r.shape[0]):
        inverse = 0.0
        for i in range(rows):
            for j in range(rows):
                s[c, i, j] = 0.0
        for m in range(3):
            if not _bears(limit, c, m):
                continue
            k, first, end, bound = 3 * c + m, groups[kind[c], m], groups[kind[c], m + 1], limit[c, m]
            rough = bound > 0.0
            bound = bound if rough else 1.0
            x = _point(bound * r[c, 0], r, c, first, end, rough)
            z = _point(0.0, u, c, first, end, rough)
            slip, t = _slip(z), _slip(x)
            z = (v[c, m] / bound + slip, z[1], z[2], z[3])
            s_x = math.sqrt((x[0] - t) * (x[0] + t))
            s_z = math.sqrt(v[c, m] / bound * (z[0] + slip))  # z_0 - |z_T| without cancellation
            xz = _dot(x, z)
            total, count = total + xz, count + 1.0
            f, e = 0.5 / math.sqrt(0.5 * (1.0 + xz / (s_x * s_z))), s_x / s_z
            path[k, ETA], path[k, W0] = math.sqrt(e), f * (x[0] / s_x + z[0] / s_z)
            w0, q00 = path[k, W0], e * (2.0 * path[k, W0] ** 2 - 1.0)
            path[k, SNN] = q00 / (bound * bound)
            inverse += 1.0 / path[k, SNN]
            for i in range(3):
                path[k, W1 + i] = f * (x[1 + i] / s_x - z[1 + i] / s_z)
                q = 2.0 * e * w0 * path[k, W1 + i]
                path[k, SNT + i] = (q00 * (z[1 + i] / slip if slip > 0.0 else 0.0) + q) / bound
                path[k, STN + i] = q / bound
            for i in range(end - first if rough else 0):
                for j in range(end - first):
                    q = 2.0 * e * w0 * path[k, W1 + i] * (z[1 + j] / slip if slip > 0.0 else 0.0)
                    q += 2.0 * e * path[k, W1 + i] * path[k, W1 + j] + (e if i == j else 0.0)
                    s[c, first + i, first + j] = q - path[k, STN + i] * path[k, SNT + j] / path[k, SNN]
        _join_groups(w, c, 1.0 / inverse, s)
    return total / count


@inner_kernel
def _join_groups(w: IntArray, c: int, a: float, s: Array) -> None:
    """Complete S of contact `c` from what its groups share."""
    groups, kind, limit, path = whole_rows(w, GROUPS), wholes(w, KIND), real_rows(w, LIMIT), real_rows(w, PATH)
    s[c, 0, 0] = a
    for m in range(3):
        for i in range(groups[kind[c], m + 1] - groups[kind[c], m] if limit[c, m] > 0.0 else 0):
            k, at = 3 * c + m, groups[kind[c], m] + i
            s[c, 0, at], s[c, at, 0] = a * path[k, SNT + i] / path[k, SNN], a * path[k, STN + i] / path[k, SNN]
    for i in range(1, s.shape[1]):
        for j in range(1, s.shape[1]):
            s[c, i, j] += s[c, i, 0] * s[c, 0, j] / a


@inner_kernel
def _regularise(s: Array, soft: Array, alpha: float, h: Array, t: Array) -> None:
    """Set ``H = (I + S (alpha I + A))^-1`` and ``T = H S`` of all contacts."""
    rows = s.shape[1]
    for c in range(s.shape[0]):
        for i in range(rows):
            for j in range(rows):
                h[c, i, j] = 1.0 if i == j else 0.0
                t[c, i, j] = h[c, i, j] + s[c, i, j] * (alpha + soft[c, j])
        for k in range(rows):
            pivot = k
            for i in range(k + 1, rows):
                pivot = i if abs(t[c, i, k]) > abs(t[c, pivot, k]) else pivot
            for j in range(rows):
                t[c, k, j], t[c, pivot, j] = t[c, pivot, j], t[c, k, j]
                h[c, k, j], h[c, pivot, j] = h[c, pivot, j], h[c, k, j]
            part = 1.0 / t[c, k, k]
            for j in range(rows):
                t[c, k, j] *= part
                h[c, k, j] *= part
            for i in range(rows):
                f = t[c, i, k]
                for j in range(rows if i != k else 0):
                    t[c, i, j] -= f * t[c, k, j]
                    h[c, i, j] -= f * h[c, k, j]
        for i in range(rows):
            for j in range(rows):
                q = 0.0
                for k in range(rows):
                    q += h[c, i, k] * s[c, k, j]
                t[c, i, j] = q


@inner_kernel
def _change(v: float, bound: float, z: Four, dz: Four) -> Four:
    """Return the change of z by that of v and u_k, of first order."""
    slip = _slip(z)
    along = (z[1] * dz[1] + z[2] * dz[2] + z[3] * dz[3]) / slip if slip > 0.0 else 0.0
    return (v / bound + along, dz[1], dz[2], dz[3])


@inner_kernel
def _pull(
    w: IntArray,
    r: Array,
    v: Array,
    u: Array,
    target: float,
    dr: Array,
    dv: Array,
    du: Array,
    second: bool,
    g: Array,
) -> None:
    """Set the pull of all groups to the path, and g of the contacts; see :func:`~.friction_ip_kernels.centring`."""
    groups, kind, limit, path = whole_rows(w, GROUPS), wholes(w, KIND), real_rows(w, LIMIT), real_rows(w, PATH)
    for c in range(r.shape[0]):
        inverse, pulled = 0.0, 0.0
        for i in range(r.shape[1]):
            g[c, i] = 0.0
        for m in range(3):
            if not _bears(limit, c, m):
                continue
            k, first, end, bound = 3 * c + m, groups[kind[c], m], groups[kind[c], m + 1], limit[c, m]
            rough = bound > 0.0
            bound = bound if rough else 1.0
            z = _point(0.0, u, c, first, end, rough)
            l = _scaled(path, k, (v[c, m] / bound + _slip(z), z[1], z[2], z[3]), False)
            r0, r1, r2, r3 = target - _dot(l, l), -2.0 * l[0] * l[1], -2.0 * l[0] * l[2], -2.0 * l[0] * l[3]
            if second:
                dz = _change(dv[c, m], bound, z, _point(0.0, du, c, first, end, rough))
                a = _scaled(path, k, _point(bound * dr[c, 0], dr, c, first, end, rough), True)
                b = _scaled(path, k, dz, False)
                r0, r1 = r0 - _dot(a, b), r1 - a[0] * b[1] - b[0] * a[1]
                r2, r3 = r2 - a[0] * b[2] - b[0] * a[2], r3 - a[0] * b[3] - b[0] * a[3]
            t, lr = _slip(l), l[1] * r1 + l[2] * r2 + l[3] * r3
            det = (l[0] - t) * (l[0] + t)
            out = (
                (l[0] * r0 - lr) / det,
                (-l[1] * r0 + (det * r1 + l[1] * lr) / l[0]) / det,
                (-l[2] * r0 + (det * r2 + l[2] * lr) / l[0]) / det,
                (-l[3] * r0 + (det * r3 + l[3] * lr) / l[0]) / det,
            )
            out = _scaled(path, k, out, False)
            path[k, PULL] = out[0] / bound
            path[k, PULL + 1], path[k, PULL + 2], path[k, PULL + 3] = out[1], out[2], out[3]
            inverse += 1.0 / path[k, SNN]
            pulled += path[k, PULL] / path[k, SNN]
        g[c, 0] = pulled / inverse
        for m in range(3):
            k, first = 3 * c + m, groups[kind[c], m]
            for i in range(groups[kind[c], m + 1] - first if limit[c, m] > 0.0 else 0):
                g[c, first + i] = path[k, PULL + 1 + i] + path[k, STN + i] / path[k, SNN] * (g[c, 0] - path[k, PULL])


@inner_kernel
def _towards(w: IntArray, e: Array, g: Array) -> None:
    """Turn g into the right-hand side ``H (g - S e)``."""
    s, h, y, rows = real_blocks(w, S), real_blocks(w, H), real_rows(w, V + 18), g.shape[1]
    for c in range(g.shape[0]):
        for i in range(rows):
            y[c, i] = g[c, i]
            for j in range(rows):
                y[c, i] -= s[c, i, j] * e[c, j]
        for i in range(rows):
            g[c, i] = 0.0
            for j in range(rows):
                g[c, i] += h[c, i, j] * y[c, j]


@inner_kernel
def _share_out(w: IntArray, dr: Array, du: Array, dv: Array) -> None:
    """Set the changes of the parts of the normal velocity."""
    groups, kind, limit, path = whole_rows(w, GROUPS), wholes(w, KIND), real_rows(w, LIMIT), real_rows(w, PATH)
    for c in range(dr.shape[0]):
        for m in range(3):
            dv[c, m] = 0.0
            if not _bears(limit, c, m):
                continue
            k, first = 3 * c + m, groups[kind[c], m]
            q = path[k, PULL] - dr[c, 0]
            for i in range(groups[kind[c], m + 1] - first if limit[c, m] > 0.0 else 0):
                q -= path[k, SNT + i] * du[c, first + i]
            dv[c, m] = q / path[k, SNN]


@inner_kernel
def _longest(w: IntArray, r: Array, dr: Array, v: Array, dv: Array) -> float:
    """Return the largest a <= 1000 for which all ``x + a dx`` stay in their cones and ``v + a dv`` positive."""
    groups, kind, limit, longest = whole_rows(w, GROUPS), wholes(w, KIND), real_rows(w, LIMIT), 1000.0
    for c in range(r.shape[0]):
        if dr[c, 0] < 0.0:
            longest = min(longest, -r[c, 0] / dr[c, 0])
        for m in range(3):
            if not _bears(limit, c, m):
                continue
            if dv[c, m] < 0.0:
                longest = min(longest, -v[c, m] / dv[c, m])
            first, end, bound = groups[kind[c], m], groups[kind[c], m + 1], limit[c, m]
            if not bound > 0.0:
                continue
            # smallest positive root of A a^2 + 2 B a + C = 0, C > 0
            x = _point(bound * r[c, 0], r, c, first, end, bound > 0.0)
            d = _point(bound * dr[c, 0], dr, c, first, end, bound > 0.0)
            t = _slip(x)
            C = (x[0] - t) * (x[0] + t)
            B = 2.0 * x[0] * d[0] - _dot(x, d)
            A = 2.0 * d[0] * d[0] - _dot(d, d)
            disc = B * B - A * C
            if disc < 0.0:
                continue
            root = math.sqrt(disc)
            if B >= 0.0:
                if A < 0.0:
                    longest = min(longest, -(B + root) / A)
            else:
                longest = min(longest, C / (root - B))
    return longest


@inner_kernel
def _gap_after(w: IntArray, r: Array, dr: Array, v: Array, dv: Array, u: Array, du: Array, a: float) -> float:
    """Return the mean of ``x . z`` after a step of length `a`, with the exact z."""
    groups, kind, limit, total, count = whole_rows(w, GROUPS), wholes(w, KIND), real_rows(w, LIMIT), 0.0, 0.0
    for c in range(r.shape[0]):
        n = r[c, 0] + a * dr[c, 0]
        for m in range(3):
            if not _bears(limit, c, m):
                continue
            total, count, slip = total + n * (v[c, m] + a * dv[c, m]), count + 1.0, 0.0
            for i in range(groups[kind[c], m], groups[kind[c], m + 1] if limit[c, m] > 0.0 else 0):
                now = u[c, i] + a * du[c, i]
                slip += now * now
                total += (r[c, i] + a * dr[c, i]) * now
            total += limit[c, m] * n * math.sqrt(slip)
    return total / count


@inner_kernel
def _begin(w: IntArray, delta: float, r: Array, v: Array, u: Array) -> None:
    """Push ENTRY by delta into the cones; with delta = 0 begin in their middle."""
    entry, ur, y = real_rows(w, ENTRY), real_rows(w, V + 19), real_rows(w, Y + 1)
    groups, kind, limit = whole_rows(w, GROUPS), wholes(w, KIND), real_rows(w, LIMIT)
    velocity(w, entry, y, ur)
    for c in range(r.shape[0]):
        n, count = max(entry[c, 0], 0.0), 0.0
        for m in range(3):
            count += 1.0 if _bears(limit, c, m) else 0.0
        for i in range(r.shape[1]):
            r[c, i], u[c, i] = 0.0, 0.0
        r[c, 0] = n + delta if delta > 0.0 else 1.0
        for m in range(3):
            v[c, m] = 0.0
            if not _bears(limit, c, m):
                continue
            v[c, m] = max(ur[c, 0], 0.0) / count + delta if delta > 0.0 else 1.0
            first, end, size = groups[kind[c], m], groups[kind[c], m + 1], 0.0
            for i in range(first, end):
                size += entry[c, i] ** 2
            size, bound = math.sqrt(size), limit[c, m] * n
            for i in range(first, end if delta > 0.0 and limit[c, m] > 0.0 else first):
                r[c, i] = entry[c, i] * (bound / size if size > bound else 1.0)
                u[c, i] = ur[c, i]


@inner_kernel
def follow_couple_path(w: IntArray, delta: float, best: float, tolerance: float, limit: int, share: float) -> float:
    """Do as :func:`~.island_interior.follow_path`."""
    soft, best_r, work = real_rows(w, SOFT), real_rows(w, BEST), wholes(w, WORK)
    r, u, v, e, g = (
        real_rows(w, V + 9),
        real_rows(w, V + 10),
        real_rows(w, V + 11),
        real_rows(w, V + 12),
        real_rows(w, V + 13),
    )
    dv, du, dr, left = real_rows(w, V + 14), real_rows(w, V + 15), real_rows(w, V + 16), real_rows(w, V + 17)
    ur, y, at = real_rows(w, V + 19), real_rows(w, Y + 1), real_rows(w, R)
    s, t, h = real_blocks(w, S), real_blocks(w, T), real_blocks(w, H)
    n_c, rows, count, since, mark, alpha, raised = r.shape[0], r.shape[1], 0, 0, math.inf, SOFTEST, False
    finish, least = FINISH, min(PATH_LEAST, PATH_LEAST_OF * tolerance)
    _begin(w, delta, r, v, u)
    while True:
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
            u[c, 0] = v[c, 0] + v[c, 1] + v[c, 2]
            for i in range(rows):
                e[c, i] = ur[c, i] - u[c, i]
        sigma = _scale_groups(w, r, v, u, s)
        if not raised:
            alpha = max(min(alpha, share * sigma), least)
        _regularise(s, soft, alpha, h, t)
        count += 1
        if not factor(w, t, 1.0):
            break
        goal, a = 0.0, 1.0
        for turn in range(3):  # predictor, corrector, and pure centring where that is cut short
            _pull(w, r, v, u, goal, dr, dv, du, turn == 1, g)
            _towards(w, e, g)
            newton_step(w, t, g, y, du, dr, left, 1 if sigma < CAREFUL_REFINED else 0)
            for c in range(n_c):
                for i in range(rows):
                    du[c, i] += (alpha + soft[c, i]) * dr[c, i] + e[c, i]
            _share_out(w, dr, du, dv)
            a = _longest(w, r, dr, v, dv)
            if turn == 0:
                a = min(1.0, a)
                part = min(1.0, max(0.0, _gap_after(w, r, dr, v, dv, u, du, a) / sigma))
                goal = max(part**3, CENTRING) * sigma
            else:
                a = min(1.0, CAREFUL_DAMPING * a)
                if a >= CUT_SHORT:
                    break
                goal = sigma
        for c in range(n_c):
            for i in range(rows):
                r[c, i] += a * dr[c, i]
                u[c, i] += a * du[c, i]
            for m in range(3):
                v[c, m] += a * dv[c, m]
        if a < SHORT_STEP:
            alpha, raised = min(RAISE * alpha, SOFTEST), True
        elif a > LONG_STEP:
            alpha = max(LOWER * alpha, least)
            raised = raised and alpha > share * sigma
    work[INTERIOR_STEPS] += count
    copy(r, at)
    return best
