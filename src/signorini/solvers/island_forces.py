r"""The robust solver of one island: one force among many.

Coulomb's law often leaves impulses open: four legs, face on face, grips, masonry. For a velocity that solves the
problem the admissible impulses are a convex set,

.. math:: G^T r = y, \qquad r_c \in C_c = \begin{cases} \{0\} & \text{the contact opens},\\
    \{t\,(1, -\mu\,u_T/|u_T|) : t \ge 0\} & \text{it slips},\\ K & \text{it holds}, \end{cases}

of which the one of least norm is taken, :math:`\sum W_{nn} |p|^2` in the units of the scene: the limit of equal contact
springs. It does not depend on where a solver began, so that symmetric scenes stay symmetric and forces at rest do not
wander. With the multiplier :math:`\lambda` of the equation, a displacement of the bodies on these springs,
:math:`r = P_C(G \lambda)`, and :math:`\lambda` is where the convex function

.. math:: \phi(\lambda) = \tfrac12 |P_C(G \lambda)|^2 - y \cdot \lambda

is least: Newton's method with symmetric matrices, damped, on the pattern of all other Newton matrices. It has no
minimum where no impulses are admissible.

The same function tells whether a scene may stay as it is (:func:`keep_modes`): with the velocity at which all contacts
go on as before, those at rest not moving at all, and this y, a minimum is a solution of the problem, and Coulomb's law
does not ask for more. So what can stand stands.

References
----------
.. [1] Heyman, *The stone skeleton*, 1966: the safe theorem of limit analysis.
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, succeeds, wholes
from signorini.solvers.island_constants import (
    CLOSED_SPEED,
    EDGE,
    ENOUGH_FALL,
    FEW_ROUNDINGS,
    LEAST_TOLD,
    MISSING_ENOUGH,
    MISSING_OF_ERROR,
    MODE_TURNS,
    RESTING,
    SHARE_FAR,
    SHARE_STEPS,
    SHARE_TRIED,
    SPRING_STIFF,
    STEP_HALVINGS,
    STRAIGHT,
    SUM_ROUNDING,
    TOLD_APART,
    WEIGHT_FIRST,
    WEIGHT_LEAST,
    WEIGHT_LESS,
    WEIGHT_MORE,
    WEIGHT_MOST,
    WEIGHT_RAISED,
)
from signorini.solvers.island_lu import factor, substitute
from signorini.solvers.island_rounding import reach_modes
from signorini.solvers.island_table import (
    BEST,
    ENTRY,
    LEAST_NORM,
    MODE,
    MU,
    SHARING_STEPS,
    WORK,
    D,
    Q,
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

# MODE: what a contact is taken to do.
OPENS, SLIPS, HOLDS = np.arange(3, dtype=np.int64)


@inner_kernel
def _project(w: IntArray, v: Array, along: Array, r: Array, s: Array, derive: bool) -> float:
    """Set ``r = P_C(v)`` and, if asked for, its derivative; return ``|r|^2 / 2``."""
    mu, mode, half = reals(w, MU), wholes(w, MODE), 0.0
    for c in range(mu.shape[0]):
        m = mu[c]
        for i in range(3):
            r[c, i] = 0.0
            for j in range(3 if derive else 0):
                s[c, i, j] = 0.0
        if mode[c] == OPENS:
            continue
        t = math.sqrt(v[c, 1] ** 2 + v[c, 2] ** 2)
        if mode[c] == HOLDS and v[c, 0] >= 0.0 and t <= m * v[c, 0]:
            for i in range(3):
                r[c, i] = v[c, i]
                if derive:
                    s[c, i, i] = 1.0
            half += 0.5 * (v[c, 0] ** 2 + v[c, 1] ** 2 + v[c, 2] ** 2)
            continue
        e1, e2 = along[c, 0], along[c, 1]
        if mode[c] == HOLDS:
            e1, e2 = (v[c, 1] / t, v[c, 2] / t) if t > 0.0 else (0.0, 0.0)
        a1, a2 = m * e1, m * e2
        square = 1.0 + a1 * a1 + a2 * a2
        n = (v[c, 0] + a1 * v[c, 1] + a2 * v[c, 2]) / square
        if n <= 0.0:
            continue
        r[c, 0], r[c, 1], r[c, 2] = n, n * a1, n * a2
        half += 0.5 * square * n * n
        if not derive:
            continue
        k = m * n / t if mode[c] == HOLDS and t > 0.0 else 0.0
        s[c, 0, 0], s[c, 0, 1], s[c, 0, 2] = 1.0 / square, a1 / square, a2 / square
        s[c, 1, 0], s[c, 1, 1] = a1 / square, a1 * a1 / square + k * (1.0 - e1 * e1)
        s[c, 1, 2] = a1 * a2 / square - k * e1 * e2
        s[c, 2, 0], s[c, 2, 1] = a2 / square, s[c, 1, 2]
        s[c, 2, 2] = a2 * a2 / square + k * (1.0 - e2 * e2)
    return half


@inner_kernel
def _product(a: Array, b: Array) -> float:
    """Return the sum of products, (n, 6)."""
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(6):
            total += a[i, j] * b[i, j]
    return total


@inner_kernel
def _glue(w: IntArray, along: Array, s: Array) -> None:
    """Set the derivative of ``P_C`` where all contacts that hold are glued."""
    mu, mode = reals(w, MU), wholes(w, MODE)
    for c in range(mu.shape[0]):
        a = (1.0, mu[c] * along[c, 0], mu[c] * along[c, 1])
        square = 1.0 + a[1] * a[1] + a[2] * a[2]
        for i in range(3):
            for j in range(3):
                s[c, i, j] = 1.0 if i == j and mode[c] == HOLDS else 0.0
                if mode[c] == SLIPS:
                    s[c, i, j] = a[i] * a[j] / square


@inner_kernel
def _stretch(w: IntArray, v: Array, s: Array, x: Array) -> bool:
    """Set x to the displacement that stretches springs by v where they are glued; False where that is singular."""
    y, work = real_rows(w, Y + 0), wholes(w, WORK)
    work[SHARING_STEPS] += 1
    if not factor(w, s, WEIGHT_LEAST):
        return False
    g = real_rows(w, V + 3)
    for c in range(v.shape[0]):
        for i in range(3):
            g[c, i] = s[c, i, 0] * v[c, 0] + s[c, i, 1] * v[c, 1] + s[c, i, 2] * v[c, 2]
    scatter(w, g, y)
    substitute(w, y)
    for i in range(x.shape[0]):
        for j in range(6):
            x[i, j] = y[i, j]
    return True


@inner_kernel
def _left_over(w: IntArray, r: Array, wanted: Array, left: Array) -> float:
    """Set ``left = wanted - G^T r``; return its norm."""
    scatter(w, r, left)
    for i in range(left.shape[0]):
        for j in range(6):
            left[i, j] = wanted[i, j] - left[i, j]
    return math.sqrt(_product(left, left))


@inner_kernel
def find_least_norm(w: IntArray, wanted: Array, along: Array, near: Array, known: bool, error: float, r: Array) -> bool:
    r"""Set r to the least admissible impulses with ``G^T r = wanted``, that is known up to a relative error.

    False if they are not found. Where something is known they are sought near springs stretched by `near`.
    How springs are stretched in the end, :math:`G \lambda`, is in work vector 2.
    """
    v, trial_r, s, work = real_rows(w, V + 2), real_rows(w, V + 3), real_blocks(w, S), wholes(w, WORK)
    x, left, trial, y = real_rows(w, Y + 3), real_rows(w, Y + 4), real_rows(w, Y + 5), real_rows(w, Y + 0)
    n, weight = wanted.shape[0], WEIGHT_LEAST
    size = math.sqrt(_product(wanted, wanted))
    _glue(w, along, s)
    for i in range(n):
        for j in range(6):
            x[i, j] = 0.0
            left[i, j] = wanted[i, j]
    phi, missing, slow = 0.0, size, 0
    if known and _stretch(w, near, s, x):
        apply(w, x, v)
        phi = _project(w, v, along, r, s, True) - _product(wanted, x)
        missing = _left_over(w, r, wanted, left)
    for count in range(SHARE_STEPS):
        if missing <= max(SUM_ROUNDING, MISSING_OF_ERROR * error) * size:
            return True
        work[SHARING_STEPS] += 1
        if not factor(w, s, weight):
            return False
        for i in range(n):
            for j in range(6):
                y[i, j] = left[i, j]
        substitute(w, y)
        slope, step, value, found = _product(left, y), 1.0, 0.0, False
        for _ in range(STEP_HALVINGS):
            for i in range(n):
                for j in range(6):
                    trial[i, j] = x[i, j] + step * y[i, j]
            apply(w, trial, v)
            value = _project(w, v, along, trial_r, s, False) - _product(wanted, trial)
            if value <= phi - ENOUGH_FALL * step * slope + FEW_ROUNDINGS * abs(phi):
                found = True
                break
            step *= 0.5
        if not found:
            if weight >= WEIGHT_MOST:
                break
            weight = min(WEIGHT_RAISED * max(weight, WEIGHT_FIRST), WEIGHT_MOST)
            apply(w, x, v)
            _project(w, v, along, r, s, True)
            continue
        phi = value
        for i in range(n):
            for j in range(6):
                x[i, j] = trial[i, j]
        _project(w, v, along, r, s, True)
        before = missing
        missing = _left_over(w, r, wanted, left)
        if not missing < math.inf or (count >= SHARE_TRIED and missing > SHARE_FAR * size):
            return False
        slow = slow + 1 if missing > 0.5 * before and missing <= max(MISSING_ENOUGH, error) * size else 0
        if slow >= 2:  # rounding
            return True
        weight = max(WEIGHT_LESS * weight, WEIGHT_LEAST) if step == 1.0 else min(WEIGHT_MORE * weight, WEIGHT_MOST)
    return missing <= max(MISSING_ENOUGH, error) * size


@inner_kernel
def _least_norm(w: IntArray, wanted: Array, along: Array, near: Array, known: bool, error: float, r: Array) -> bool:
    """Do as :func:`find_least_norm`, by its address."""
    return succeeds(w[LEAST_NORM, 0], (w, wanted, along, near, known, error, r))


@inner_kernel
def _read_modes(w: IntArray, u: Array, slow: float) -> None:
    """Take contacts to do as velocities u say, of which those up to `slow` are zero."""
    mode, along = wholes(w, MODE), real_rows(w, V + 8)
    for c in range(u.shape[0]):
        speed = math.sqrt(u[c, 1] ** 2 + u[c, 2] ** 2)
        mode[c] = OPENS if u[c, 0] > slow else SLIPS if speed > slow else HOLDS
        along[c, 0], along[c, 1] = (-u[c, 1] / speed, -u[c, 2] / speed) if speed > 0.0 else (0.0, 0.0)


@inner_kernel
def _turned(w: IntArray, u: Array) -> float:
    """Return the largest angle by which velocities u of contacts that slip turn away from where these slip to."""
    mode, along, most = wholes(w, MODE), real_rows(w, V + 8), 0.0
    for c in range(u.shape[0]):
        speed = math.sqrt(u[c, 1] ** 2 + u[c, 2] ** 2)
        if mode[c] == SLIPS and speed > 0.0:
            most = max(most, abs(along[c, 0] * u[c, 1] + along[c, 1] * u[c, 2] + speed) / speed)
            most = max(most, abs(along[c, 0] * u[c, 2] - along[c, 1] * u[c, 1]) / speed)
    return most


@inner_kernel
def share_forces(w: IntArray, best: float, tolerance: float) -> float:
    """Replace BEST, a solution, by the least impulses for its velocity; return the residual, no more than `tolerance`.

    BEST stays where these are not found.
    """
    best_r, r, u, along = real_rows(w, BEST), real_rows(w, R), real_rows(w, V + 4), real_rows(w, V + 8)
    wanted, soft = real_rows(w, Y + 2), real_rows(w, Y + 1)
    velocity(w, best_r, soft, u)
    _read_modes(w, u, max(LEAST_TOLD, TOLD_APART * best))
    scatter(w, best_r, wanted)
    nothing = best < 0.0
    if not _least_norm(w, wanted, along, best_r, nothing, best, r):
        return best
    velocity(w, r, soft, u)
    now = residual(w, r, u)
    if now <= max(best, tolerance):
        copy(r, best_r)
        return now
    return best


@inner_kernel
def _solve_modes(w: IntArray, along: Array, r: Array, y: Array) -> bool:
    """Set r to glued impulses for which contacts do as their modes say, and y; False where that is singular."""
    mode, mu, s = wholes(w, MODE), reals(w, MU), real_blocks(w, S)
    for c in range(mu.shape[0]):
        for i in range(3):
            r[c, i] = 0.0
            for j in range(3):
                s[c, i, j] = SPRING_STIFF if i == j and mode[c] == HOLDS else 0.0
        if mode[c] == SLIPS:
            s[c, 0, 0], s[c, 1, 0], s[c, 2, 0] = (
                SPRING_STIFF,
                SPRING_STIFF * mu[c] * along[c, 0],
                SPRING_STIFF * mu[c] * along[c, 1],
            )
    return reach_modes(w, s, r, y, True)


@inner_kernel
def steady_forces(w: IntArray, tolerance: float) -> float:
    """Find the least impulses with which contacts do as in the solution ENTRY; BEST receives them.

    Returns their residual, infinite where it is above `tolerance` or there are none. A solution is known up to its
    residual only: what contacts do is taken from it, the velocity is then found anew.
    """
    along, r, u, y = real_rows(w, V + 8), real_rows(w, R), real_rows(w, V + 4), real_rows(w, Y + 1)
    entry, wanted = real_rows(w, ENTRY), real_rows(w, Y + 2)
    velocity(w, entry, y, u)
    slow = max(LEAST_TOLD, TOLD_APART * residual(w, entry, u))
    for _ in range(MODE_TURNS):
        _read_modes(w, u, slow)
        if not _solve_modes(w, along, r, wanted):
            return math.inf
        velocity(w, r, y, u)
        if _turned(w, u) <= STRAIGHT:
            break
    nothing = slow < 0.0
    if not _least_norm(w, wanted, along, entry, nothing, 0.0, r):
        return math.inf
    velocity(w, r, y, u)
    now = residual(w, r, u)
    if not now <= tolerance:
        return math.inf
    copy(r, real_rows(w, BEST))
    return now


@inner_kernel
def _guess_modes(w: IntArray, before: Array, gap_speed: Array, bears: Array, s: float) -> bool:
    """Take contacts to go on as before the step; False if one closes fast.

    `before` are velocities before the step, `gap_speed` what gaps add to the normal ones, `bears` the impulses of the
    last step, all in the units of the scene; s is the scale of velocities.
    """
    mode, along, d, q, mu = wholes(w, MODE), real_rows(w, V + 8), reals(w, D), real_rows(w, Q), reals(w, MU)
    for c in range(d.shape[0]):
        k = d[c] / s
        speed = math.sqrt(before[c, 1] ** 2 + before[c, 2] ** 2)
        asked, edge = k * gap_speed[c, 0], math.sqrt(bears[c, 1] ** 2 + bears[c, 2] ** 2)
        slid = edge >= EDGE * mu[c] * bears[c, 0] > 0.0
        along[c, 0], along[c, 1] = 0.0, 0.0
        mode[c] = HOLDS
        idle = bears[c, 0] == 0.0 and (asked > CLOSED_SPEED or q[c, 0] > CLOSED_SPEED)
        if idle or asked > RESTING or k * before[c, 0] > RESTING:
            mode[c] = OPENS
        elif k * before[c, 0] < -RESTING:
            return False
        elif k * speed > (CLOSED_SPEED if slid else RESTING):
            mode[c] = SLIPS
            along[c, 0], along[c, 1] = -before[c, 1] / speed, -before[c, 2] / speed
    return True


@inner_kernel
def keep_modes(
    w: IntArray,
    before: Array,
    gap_speed: Array,
    bears: Array,
    beyond: Array,
    s: float,
    tolerance: float,
) -> float:
    """Look for impulses with which contacts go on as before the step; BEST receives them if they solve the problem.

    Returns the residual, infinite where there are none. `beyond` is by how much springs were stretched beyond the cones
    in the last step, and is so for this one after it, in units of impulses; zero if nothing is known of it.
    """
    along, r, u, y = real_rows(w, V + 8), real_rows(w, R), real_rows(w, V + 4), real_rows(w, Y + 1)
    wanted, d, v, near = real_rows(w, Y + 2), reals(w, D), real_rows(w, V + 2), real_rows(w, ENTRY)
    known = False
    for c in range(r.shape[0]):
        for i in range(3):
            known = known or beyond[c, i] != 0.0
            near[c, i] = (bears[c, i] + beyond[c, i]) / (d[c] * s)
            beyond[c, i] = 0.0
    if not _guess_modes(w, before, gap_speed, bears, s) or not _solve_modes(w, along, r, wanted):
        return math.inf
    velocity(w, r, y, u)
    now = residual(w, r, u)
    if not now <= tolerance:
        if not _least_norm(w, wanted, along, near, known, 0.0, r):
            return math.inf
        velocity(w, r, y, u)
        now = residual(w, r, u)
        if not now <= tolerance:
            return math.inf
        for c in range(r.shape[0]):
            for i in range(3):
                beyond[c, i] = d[c] * s * (v[c, i] - r[c, i])
    copy(r, real_rows(w, BEST))
    return now
