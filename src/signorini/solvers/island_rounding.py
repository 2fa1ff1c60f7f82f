r"""The robust solver of one island: velocities that the rounding of impulses hides.

A body of 1 kg under a million is pressed from above and from below by impulses of which its own weight is the seventh
digit: their sum, and with it its velocity, is known to nine digits only, however well the impulses are found. What is
lost adds up, and where nothing holds the body sideways a turn by 1e-12 under such a load drives it out.

With the impulses r of a solution, contacts do what these say: those that bear load stay closed, and those inside their
cones do not slide. Their velocities :math:`u = G y + q` are small numbers made of small numbers, so y itself is
corrected until they vanish, and not summed up from r again. The correction is no more than rounding of that sum, or
it is not made: Newton's equations hold with the impulses as well as any numbers of that length can say.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, wholes
from signorini.math.cones import ROUNDING
from signorini.solvers.island_lu import factor
from signorini.solvers.island_newton import newton_step
from signorini.solvers.island_table import (
    FIRST,
    GIVEN,
    MU,
    NODE,
    SHARING_STEPS,
    SOFT,
    WORK,
    G,
    Q,
    S,
    V,
    Y,
    gather,
    slightest_answer,
)

_STIFF = 1e-7  # proximal weight, where all bodies are alike
_TURNS = 6  # of refinement
_INSIDE = 1.0 - 1e-9  # of the cone
_ROUNDINGS = 32.0  # of the largest terms of the sum: what it can be wrong by


@inner_kernel
def _hold(w: IntArray, r: Array, stiff: float, s: Array) -> None:
    """Set the springs that keep contacts doing what the impulses r say they do."""
    mu = reals(w, MU)
    for c in range(r.shape[0]):
        size = math.sqrt(r[c, 1] ** 2 + r[c, 2] ** 2)
        for i in range(3):
            for j in range(3):
                s[c, i, j] = 0.0
        if not r[c, 0] > 0.0:
            continue
        s[c, 0, 0] = stiff
        if size <= _INSIDE * mu[c] * r[c, 0]:
            s[c, 1, 1], s[c, 2, 2] = stiff, stiff
        else:
            s[c, 1, 0], s[c, 2, 0] = stiff * r[c, 1] / r[c, 0], stiff * r[c, 2] / r[c, 0]


@inner_kernel
def _is_rounding(w: IntArray, r: Array, change: Array, size: Array) -> bool:
    """Tell whether the change of ``y = G^T r`` is within what its sum may be wrong by at each node."""
    first, node, g = wholes(w, FIRST), wholes(w, NODE), real_blocks(w, G)
    for i in range(size.shape[0]):
        size[i, 0] = 0.0
    for c in range(r.shape[0]):
        for k in range(first[c], first[c + 1]):
            for i in range(3):
                for j in range(6):
                    size[node[k], 0] += abs(g[k, i, j] * r[c, i])
    small = True
    for i in range(size.shape[0]):
        for j in range(6):
            small = small and abs(change[i, j]) <= _ROUNDINGS * ROUNDING * size[i, 0]
    return small


@inner_kernel
def clear_rounding(w: IntArray, r: Array, y: Array, scale: float, low: Array) -> float:
    """Set `low`, by which y, the sum G^T r, is to be corrected; return 1 if that is rounding, else 0.

    y and `low` (2 n, 3), times `scale`, are in the order in which nodes were given, two rows for each.
    """
    q, soft, node, given = real_rows(w, Q), real_rows(w, SOFT), wholes(w, NODE), wholes(w, GIVEN)
    s, g, u, du, dr, left = (
        real_blocks(w, S),
        real_rows(w, V + 1),
        real_rows(w, V + 2),
        real_rows(w, V + 3),
        real_rows(w, V + 5),
        real_rows(w, V + 6),
    )
    now, change, step, work = real_rows(w, Y + 2), real_rows(w, Y + 3), real_rows(w, Y + 0), wholes(w, WORK)
    weight = _STIFF * slightest_answer(w, step)
    _hold(w, r, 1.0 / weight, s)
    for k in range(node.shape[0]):
        for j in range(6):
            now[node[k], j] = y[2 * given[k] + j // 3, j % 3] / scale
            change[node[k], j] = 0.0
    work[SHARING_STEPS] += 1
    if not factor(w, s, 1.0):
        return 0.0
    error = math.inf
    for _ in range(_TURNS):
        gather(w, now, q, u)
        before, error = error, 0.0
        for c in range(r.shape[0]):
            for i in range(3):
                u[c, i] += soft[c, i] * r[c, i]
            for i in range(3):
                g[c, i] = -(s[c, i, 0] * u[c, 0] + s[c, i, 1] * u[c, 1] + s[c, i, 2] * u[c, 2])
                error = max(error, abs(weight * g[c, i]))
        if not error < 0.5 * before:
            break
        newton_step(w, s, g, step, du, dr, left, 0)
        for i in range(now.shape[0]):
            for j in range(6):
                now[i, j] += step[i, j]
                change[i, j] += step[i, j]
    if not _is_rounding(w, r, change, step):
        return 0.0
    for k in range(node.shape[0]):
        for j in range(6):
            low[2 * given[k] + j // 3, j % 3] = scale * change[node[k], j]
    return 1.0
