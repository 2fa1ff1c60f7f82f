r"""The compiled step with couples and ellipsoids of friction: pose, velocities, check and result.

A contact has up to six components, a force (n, t, o) and a couple (tau, rho_t, rho_o); those that no contact of the
scene can have are left out, those that others have are zero rows. They are kept in units in which cones are products of
balls and the diagonal of W is about 1,

.. math:: p = s\, d\, r, \qquad u' = s\, d\, u,

with the half axes s of the friction (:mod:`~signorini.problems.friction_extension`) and one number d for each group of
components. Residuals are those of the problem, in :math:`x = d\,r`, :math:`\hat u = u'/d`. The stages of ordinary
contacts do the rest: they pose normals and gaps before, and carry on with forces and their velocities afterwards.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, perform, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    A_BODY,
    ACTIVE,
    BLOCK,
    CHECK,
    COMPLIANCE,
    COMPLIANT,
    CONE_VIOLATION,
    COUNTS,
    COUPLE_AXES,
    COUPLE_BLOCK,
    COUPLE_DATA,
    COUPLE_GATHER,
    COUPLE_GROUPS,
    COUPLE_KIND,
    COUPLE_LIMIT,
    COUPLE_LOAD,
    COUPLE_OLD,
    COUPLE_P,
    COUPLE_SCALE,
    COUPLE_U,
    COUPLE_UNIT,
    COUPLE_WORK,
    DISSIPATION_ANGLE,
    DRIVE,
    DRIVEN,
    EFFORT,
    FACTOR,
    FEATURE,
    FIRST_BODY,
    FIRST_CONTACT,
    FIXED,
    GATHER,
    IS_ELLIPSOID,
    ISLAND,
    ISLANDS,
    JOINED,
    LIMIT_FIRST,
    LIMIT_SECOND,
    LOAD,
    MATERIAL,
    MODE,
    MU,
    N_BODIES,
    N_CONTACTS,
    NORMAL,
    NUMBERS,
    OLD,
    OLD_FEATURE,
    ORDER,
    ORDINARY_HAND_OVER,
    ORDINARY_POSE,
    OWN_LIMIT,
    RESIDUAL,
    RHO,
    ROWS,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    SHIFT,
    SOLVING,
    SPRING,
    SPUN_UP,
    START,
    SUCCESS,
    SWEEPS,
    TOLERANCE,
    TURN_JOINED,
    TURNED,
    UNIT_LIMIT,
    V_FREE,
    B,
    P,
    U,
)
from signorini.math.cones import ROUNDING, allowed_error, leaves_load
from signorini.math.product_cones import product_square
from signorini.math.rotation import dot, tangent_frame
from signorini.posing.constants import NO_MOTION
from signorini.posing.contact_checks import contact_checks
from signorini.problems.connections import ZERO_ROW


@inner_kernel
def _write_rows(t: IntArray, k: int) -> None:
    """Write rows and free velocities of contact `k` in half axes: force rows are there, couples turn bodies alone."""
    c, counts = wholes(t, ORDER)[k], wholes(t, COUNTS)
    value, index, start, L = real_rows(t, SEEN_VALUE), whole_rows(t, SEEN_INDEX), wholes(t, START), real_rows(t, FACTOR)
    gather, wide, s = real_blocks(t, GATHER), real_blocks(t, COUPLE_GATHER), real_rows(t, COUPLE_SCALE)
    b, load, v_free, drive = real_rows(t, B), real_rows(t, COUPLE_LOAD), real_rows(t, V_FREE), real_rows(t, DRIVE)
    n = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
    tangent, other = tangent_frame(n)
    frame, axes = (n, tangent, other), wholes(t, COUPLE_AXES)
    for i in range(axes.shape[0]):
        load[k, i] = b[k, axes[i]] * s[k, i] if axes[i] < 3 else 0.0
    load[k, 0] += reals(t, SHIFT)[k]
    if counts[JOINED] == 1:
        for g in range(start[k], start[k + 1]):
            for i in range(axes.shape[0]):
                for j in range(3 if axes[i] < 3 else 0):
                    wide[g, i, j] = s[k, i] * gather[g, axes[i], j]
        perform(t[TURN_JOINED, 0], (t, k))
    g = start[k]
    for side in range(2 if c < counts[SEEN] else 0):  # a law of a joint has no couples
        body, sign = index[c, side], 1.0 if side == 1 else -1.0
        v = drive if body < counts[FIXED] else v_free
        for i in range(axes.shape[0]):
            if axes[i] >= 3:
                spin = dot(frame[axes[i] - 3], (v[body, 3], v[body, 4], v[body, 5]))
                load[k, i] += sign * s[k, i] * spin
        if body < counts[FIXED] or counts[JOINED] == 1:
            continue
        for i in range(axes.shape[0]):
            a = axes[i]
            for j in range(3):
                if a < 3:
                    wide[g, i, j] = s[k, i] * gather[g, a, j]
                    wide[g + 1, i, j] = s[k, i] * gather[g + 1, a, j]
                else:
                    d = frame[a - 3]
                    turn = d[0] * L[body, 3 + j] + d[1] * L[body, 6 + j] + d[2] * L[body, 9 + j]
                    wide[g, i, j] = 0.0
                    wide[g + 1, i, j] = sign * s[k, i] * turn
        g += 2


@inner_kernel
def _write_block(t: IntArray, k: int) -> None:
    """Write the diagonal block of contact `k` from its rows, with the compliance of its normal."""
    start, wide, W = wholes(t, START), real_blocks(t, COUPLE_GATHER), real_blocks(t, COUPLE_BLOCK)
    for i in range(W.shape[1]):
        for j in range(i + 1):
            w = 0.0
            for g in range(start[k], start[k + 1]):
                w += wide[g, i, 0] * wide[g, j, 0] + wide[g, i, 1] * wide[g, j, 1] + wide[g, i, 2] * wide[g, j, 2]
            W[k, i, j] = w
            W[k, j, i] = w
    W[k, 0, 0] += real_rows(t, COMPLIANCE)[k, 0]


@inner_kernel
def _equilibrate(t: IntArray, k: int, immovable: float) -> None:
    """Choose the units of contact `k`, and put its rows, block and load in them; rho is 1/W_nn, 1 if that vanishes."""
    s, d, W, rho = real_rows(t, COUPLE_SCALE), real_rows(t, COUPLE_UNIT), real_blocks(t, COUPLE_BLOCK), reals(t, RHO)
    limit, groups, load = real_rows(t, COUPLE_LIMIT), whole_rows(t, COUPLE_GROUPS), real_rows(t, COUPLE_LOAD)
    start, wide, kind = wholes(t, START), real_blocks(t, COUPLE_GATHER), wholes(t, COUPLE_KIND)[k]
    rho[k] = 1.0 / W[k, 0, 0] if W[k, 0, 0] > immovable else 1.0
    d[k, 0] = math.sqrt(rho[k])
    for m in range(3):
        trace, count = 0.0, 0.0
        for i in range(groups[kind, m], groups[kind, m + 1]):
            trace += W[k, i, i]
            count += 1.0 if s[k, i] > 0.0 else 0.0
        unit = d[k, 0]
        if trace > NO_MOTION * count * W[k, 0, 0]:
            unit = math.sqrt(count / trace)
        for i in range(groups[kind, m], groups[kind, m + 1]):
            d[k, i] = unit
        limit[k, UNIT_LIMIT + m] = limit[k, OWN_LIMIT + m] * d[k, 0] / unit
    for i in range(W.shape[1]):
        load[k, i] *= d[k, i]
        for g in range(start[k], start[k + 1]):
            for j in range(3):
                wide[g, i, j] *= d[k, i]
        for j in range(W.shape[1]):
            W[k, i, j] *= d[k, i] * d[k, j]


@inner_kernel
def _recall_couples(t: IntArray) -> None:
    """Set the impulses of the last step as a guess; both lists are sorted by feature, forces are recalled already."""
    counts, index, order = wholes(t, COUNTS), whole_rows(t, SEEN_INDEX), wholes(t, ORDER)
    old_feature, old, axes = wholes(t, OLD_FEATURE), real_rows(t, COUPLE_OLD), wholes(t, COUPLE_AXES)
    r, p, s, d = real_rows(t, COUPLE_P), real_rows(t, P), real_rows(t, COUPLE_SCALE), real_rows(t, COUPLE_UNIT)
    for k in range(counts[ACTIVE]):
        feature = index[order[k], FEATURE]
        low, high = counts[OLD] - counts[OLD], counts[OLD]
        while low < high:
            middle = (low + high) // 2
            if old_feature[middle] < feature:
                low = middle + 1
            else:
                high = middle
        known = low < counts[OLD] and old_feature[low] == feature
        for i in range(axes.shape[0]):
            a = axes[i]
            guess = p[k, a] if a < 3 else (old[low, a - 3] if known else 0.0)
            r[k, i] = guess / (s[k, i] * d[k, i]) if s[k, i] > 0.0 else 0.0


@inner_kernel
def pose_couples(t: IntArray) -> None:
    """Pose the problems of all islands with the couples of their contacts; the ordinary stage poses forces and gaps."""
    perform(t[ORDINARY_POSE, 0], (t,))
    n_c, order, index = wholes(t, COUNTS)[ACTIVE], wholes(t, ORDER), whole_rows(t, SEEN_INDEX)
    data, s, limit = real_rows(t, COUPLE_DATA), real_rows(t, COUPLE_SCALE), real_rows(t, COUPLE_LIMIT)
    kind, mu, W = wholes(t, COUPLE_KIND), reals(t, MU), real_blocks(t, COUPLE_BLOCK)
    b, load, compliance = real_rows(t, B), real_rows(t, LOAD), real_rows(t, COMPLIANCE)
    largest, axes, seen = 0.0, wholes(t, COUPLE_AXES), wholes(t, COUNTS)[SEEN]
    for k in range(n_c):
        material, law = index[order[k], MATERIAL], order[k] >= seen  # a law of a joint has friction alone
        s[k, 0] = 1.0
        for i in range(1, axes.shape[0]):
            s[k, i] = (1.0 if axes[i] < 3 else 0.0) if law else data[material, axes[i] - 1]
        kind[k] = 1 if not law and data[material, IS_ELLIPSOID] > 0.0 else 0
        limit[k, OWN_LIMIT] = mu[k]
        limit[k, OWN_LIMIT + 1] = 0.0 if law else data[material, LIMIT_FIRST]
        limit[k, OWN_LIMIT + 2] = 0.0 if law else data[material, LIMIT_SECOND]
        for i in range(3):
            load[k, i] = b[k, i]
            compliance[k, i] = 0.0
        load[k, 0] += reals(t, SHIFT)[k]
        compliance[k, 0] = 0.0 if law else reals(t, NUMBERS)[SPRING]
        _write_rows(t, k)
        _write_block(t, k)
        largest = max(largest, W[k, 0, 0])
    for k in range(n_c):
        _equilibrate(t, k, ZERO_ROW * largest)
    _recall_couples(t)


@inner_kernel
def spread_couples(t: IntArray, first: int, last: int, r: Array, y: Array) -> None:
    """Set y to what the impulses `r` (n, R) of the contacts of an island do to its bodies."""
    start, block, wide = wholes(t, START), wholes(t, BLOCK), real_blocks(t, COUPLE_GATHER)
    for i in range(y.shape[0]):
        for j in range(3):
            y[i, j] = 0.0
    for k in range(first, last):
        for g in range(start[k], start[k + 1]):
            for j in range(3):
                total = 0.0
                for i in range(r.shape[1]):
                    total += wide[g, i, j] * r[k - first, i]
                y[block[g], j] += total


@inner_kernel
def velocity_of(t: IntArray, k: int, i: int, r_n: float, y: Array) -> float:
    """Return component `i` of the velocity of contact `k`, in its units; `r_n` is its normal impulse."""
    start, block, wide = wholes(t, START), wholes(t, BLOCK), real_blocks(t, COUPLE_GATHER)
    u: float = real_rows(t, COUPLE_LOAD)[k, i]
    if i == 0:
        u += real_rows(t, COMPLIANCE)[k, 0] * real_rows(t, COUPLE_UNIT)[k, 0] ** 2 * r_n
    for g in range(start[k], start[k + 1]):
        m = block[g]
        u += wide[g, i, 0] * y[m, 0] + wide[g, i, 1] * y[m, 1] + wide[g, i, 2] * y[m, 2]
    return u


@inner_kernel
def couple_velocities(t: IntArray) -> None:
    """Find y and the velocities afresh from the impulses."""
    counts, island, solving = wholes(t, COUNTS), whole_rows(t, ISLAND), reals(t, SOLVING)
    r, u = real_rows(t, COUPLE_P), real_rows(t, COUPLE_U)
    for i in range(counts[ISLANDS]):
        first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
        at = 6 * island[i, FIRST_BODY] + 3 * first
        y = solving[at : at + 6 * island[i, N_BODIES]].reshape((2 * island[i, N_BODIES], 3))
        spread_couples(t, first, last, r[first:last], y)
        for k in range(first, last):
            for j in range(r.shape[1]):
                u[k, j] = velocity_of(t, k, j, r[k, 0], y)


@inner_kernel
def contact_error(t: IntArray, k: int, r: Array, u: Array) -> tuple[float, float, float]:
    """Return the squares of the natural map of contact `k`, of its impulse and of what its load would make of it.

    `r` and `u` (R,) are its impulse and velocity.
    """
    d, load, rho = real_rows(t, COUPLE_UNIT), real_rows(t, COUPLE_LOAD), reals(t, RHO)[k]
    work, kind = real_blocks(t, COUPLE_WORK), wholes(t, COUPLE_KIND)[k]
    x, v, z = work[0], work[1], work[2]
    size, scale = 0.0, 0.0
    for i in range(r.shape[0]):
        x[0, i] = d[k, i] * r[i]
        v[0, i] = u[i] / d[k, i]
        size += x[0, i] ** 2
        scale += (rho * load[k, i] / d[k, i]) ** 2
    for m in range(3):
        work[3, 0, m] = real_rows(t, COUPLE_LIMIT)[k, OWN_LIMIT + m]
    return (product_square(x, v, 0, work[3], whole_rows(t, COUPLE_GROUPS)[kind], rho, z), size, scale)


@inner_kernel
def check_couples(t: IntArray) -> None:
    """Check the law as it was posed."""
    counts, check, tolerance = wholes(t, COUNTS), reals(t, CHECK), reals(t, NUMBERS)[TOLERANCE]
    n_c, axes = counts[ACTIVE], wholes(t, COUPLE_AXES)
    r, u, d, load = real_rows(t, COUPLE_P), real_rows(t, COUPLE_U), real_rows(t, COUPLE_UNIT), real_rows(t, COUPLE_LOAD)
    p, velocity, rho = real_rows(t, P), real_rows(t, U), reals(t, RHO)
    error, size, scale, fastest, rounding = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n_c):
        a, b, c = contact_error(t, k, r[k], u[k])
        error, size, scale = error + a, size + b, scale + c
        rounding = max(rounding, ROUNDING * math.sqrt(b) / rho[k])
        for i in range(3):
            p[k, i], velocity[k, i] = 0.0, 0.0
        for i in range(axes.shape[0]):
            fastest = max(fastest, abs(load[k, i]) / d[k, i])
            if axes[i] < 3:
                p[k, axes[i]] = d[k, i] * r[k, i]
                velocity[k, axes[i]] = u[k, i] / d[k, i]
    scale = math.sqrt(max(size, scale))
    residual = math.sqrt(error) / scale if scale > 0.0 else math.sqrt(error)
    check[RESIDUAL] = residual if residual >= 0.0 else math.inf
    lost = rounding / fastest if fastest > 0.0 else 0.0
    credible, allowed = leaves_load(tolerance, lost), allowed_error(tolerance, lost) * fastest
    for k in range(n_c):
        credible = credible and contact_error(t, k, r[k], u[k])[0] <= (allowed * rho[k]) ** 2
        credible = credible and -velocity[k, 0] <= allowed
    check[SUCCESS] = 1.0 if credible and check[RESIDUAL] <= tolerance else 0.0
    check[EFFORT] = counts[SWEEPS]
    check[COMPLIANT] = reals(t, NUMBERS)[SPRING] if n_c > 0 else 0.0
    check[CONE_VIOLATION], check[DISSIPATION_ANGLE] = contact_checks(
        p[:n_c],
        velocity[:n_c],
        reals(t, MU)[:n_c],
        rho[:n_c],
        tolerance * scale,
        wholes(t, ORDER),
        wholes(t, MODE)[: counts[SEEN]],
    )
    s = real_rows(t, COUPLE_SCALE)
    for k in range(n_c):
        for i in range(axes.shape[0]):
            if axes[i] < 3:
                p[k, axes[i]] *= s[k, i]


@inner_kernel
def hand_over_couples(t: IntArray) -> None:
    """Give forces and their velocities to the ordinary stage, remember couples, and say what they did."""
    counts, numbers, order, index = wholes(t, COUNTS), reals(t, NUMBERS), wholes(t, ORDER), whole_rows(t, SEEN_INDEX)
    r, u, s, d = real_rows(t, COUPLE_P), real_rows(t, COUPLE_U), real_rows(t, COUPLE_SCALE), real_rows(t, COUPLE_UNIT)
    p, velocity, old = real_rows(t, P), real_rows(t, U), real_rows(t, COUPLE_OLD)
    value, drive, axes = real_rows(t, SEEN_VALUE), real_rows(t, DRIVE), wholes(t, COUPLE_AXES)
    numbers[TURNED], numbers[SPUN_UP], numbers[DRIVEN] = 0.0, 0.0, 0.0
    load = real_rows(t, COUPLE_LOAD)
    for k in range(counts[ROWS]):
        c = order[k]
        a = index[c, A_BODY]
        n = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
        tangent, other = tangent_frame(n)
        frame = (n, tangent, other)
        for i in range(3):
            p[k, i], velocity[k, i], old[c, i] = 0.0, 0.0, 0.0
        for i in range(axes.shape[0]):
            impulse = s[k, i] * d[k, i] * r[k, i]
            if axes[i] < 3:
                p[k, axes[i]] = impulse
                velocity[k, axes[i]] = u[k, i] / (s[k, i] * d[k, i]) if s[k, i] > 0.0 else 0.0
                continue
            if c >= counts[SEEN]:
                continue
            old[c, axes[i] - 3] = impulse
            numbers[TURNED] -= r[k, i] * u[k, i]
            numbers[SPUN_UP] += 0.5 * r[k, i] * (u[k, i] + load[k, i])
            if a < counts[FIXED]:
                turn = dot(frame[axes[i] - 3], (drive[a, 3], drive[a, 4], drive[a, 5]))
                numbers[DRIVEN] += impulse * turn
    perform(t[ORDINARY_HAND_OVER, 0], (t,))
