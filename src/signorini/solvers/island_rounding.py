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
from signorini.solvers.island_constants import (
    FOLLOW_TURNS,
    FREE_WEIGHT,
    INSIDE_CONE,
    REFINE_EXACT,
    REFINE_GROWS,
    REFINE_SLOW,
    REFINE_TURNS,
    SPRING_STIFF,
    STIFFER,
    STIFFEST,
    SUM_ROUNDING,
)
from signorini.solvers.island_lu import factor, substitute
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
    R,
    S,
    V,
    Y,
    apply,
    copy,
    gather,
    scatter,
)


@inner_kernel
def _hold(w: IntArray, r: Array, s: Array, stiff: float, symmetric: bool, is_relative: bool) -> None:
    """Set the springs that keep contacts doing what the impulses r say they do.

    Those that slide have a force along that of r, against their normal motion, or against motion along it. Stiff
    in part, as r is great, springs change all of r by such a part, and what is small does not turn negative.
    """
    mu, most = reals(w, MU), 0.0
    for c in range(r.shape[0]):
        most = max(most, r[c, 0])
    whole = stiff
    for c in range(r.shape[0]):
        stiff = whole * r[c, 0] / most if is_relative and most > 0.0 else whole
        size = math.sqrt(r[c, 1] ** 2 + r[c, 2] ** 2)
        for i in range(3):
            for j in range(3):
                s[c, i, j] = 0.0
        if not r[c, 0] > 0.0:
            continue
        a1, a2 = r[c, 1] / r[c, 0], r[c, 2] / r[c, 0]
        square = 1.0 + a1 * a1 + a2 * a2 if symmetric else 1.0
        if size <= INSIDE_CONE * mu[c] * r[c, 0]:
            s[c, 0, 0], s[c, 1, 1], s[c, 2, 2] = stiff, stiff, stiff
        else:
            s[c, 0, 0], s[c, 1, 0], s[c, 2, 0] = stiff / square, stiff * a1 / square, stiff * a2 / square
        if symmetric and size > INSIDE_CONE * mu[c] * r[c, 0]:
            s[c, 0, 1], s[c, 1, 1], s[c, 2, 1] = s[c, 1, 0], a1 * s[c, 1, 0], a2 * s[c, 1, 0]
            s[c, 0, 2], s[c, 1, 2], s[c, 2, 2] = s[c, 2, 0], a1 * s[c, 2, 0], a2 * s[c, 2, 0]


@inner_kernel
def _is_rounding(w: IntArray, r: Array, y: Array, size: Array, left: Array) -> bool:
    """Tell whether G^T r misses y at each node by what its sum may be wrong by, with r inside the cones."""
    first, node, g, mu, inside = wholes(w, FIRST), wholes(w, NODE), real_blocks(w, G), reals(w, MU), True
    scatter(w, r, left)
    for i in range(size.shape[0]):
        size[i, 0] = 0.0
    for c in range(r.shape[0]):
        inside = inside and r[c, 0] >= 0.0 and r[c, 1] ** 2 + r[c, 2] ** 2 <= (mu[c] * r[c, 0] / INSIDE_CONE) ** 2
        for k in range(first[c], first[c + 1]):
            for i in range(3):
                for j in range(6):
                    size[node[k], 0] += abs(g[k, i, j] * r[c, i])
    for i in range(size.shape[0]):
        for j in range(6):
            inside = inside and abs(y[i, j] - left[i, j]) <= SUM_ROUNDING * size[i, 0]
    return inside


@inner_kernel
def _follow(w: IntArray, y: Array, r: Array, is_relative: bool) -> None:
    """Change r by springs that hold contacts so that it makes y at heavy nodes too, as far as rounding lets it."""
    s, u, left, work = real_blocks(w, S), real_rows(w, V + 2), real_rows(w, Y + 0), wholes(w, WORK)
    _hold(w, r, s, 1.0, True, is_relative)
    work[SHARING_STEPS] += 1
    if not factor(w, s, FREE_WEIGHT):
        return
    for _ in range(FOLLOW_TURNS):
        scatter(w, r, left)
        for i in range(y.shape[0]):
            for j in range(6):
                left[i, j] = y[i, j] - left[i, j]
        substitute(w, left)
        apply(w, left, u)
        for c in range(r.shape[0]):
            for i in range(3):
                r[c, i] += s[c, i, 0] * u[c, 0] + s[c, i, 1] * u[c, 1] + s[c, i, 2] * u[c, 2]


@inner_kernel
def reach_modes(w: IntArray, s: Array, r: Array, y: Array, summed: bool) -> bool:
    """Change r and y until contacts do not move against their springs `s`; False where that is singular.

    If y is `summed` it stays what G^T r is by its sum, with its rounding; else it takes the steps that r does.
    Springs of stiffness `SPRING_STIFF` are given. They are a proximal weight, which vanishes as turns are repeated:
    quickly if it is small beside the answer of the heaviest node to its contacts; where turns show otherwise it is
    lowered, with sums only at the first, for these end in their rounding.
    """
    q, soft, work, step = real_rows(w, Q), real_rows(w, SOFT), wholes(w, WORK), real_rows(w, Y + 0)
    g, u, du, dr, left = (
        real_rows(w, V + 1),
        real_rows(w, V + 2),
        real_rows(w, V + 3),
        real_rows(w, V + 5),
        real_rows(w, V + 6),
    )
    best_r, best_y = real_rows(w, V + 7), real_rows(w, Y + 5)
    weight, before, best, turns, factored = 1.0 / SPRING_STIFF, math.inf, math.inf, 0, False
    for _ in range(REFINE_TURNS):
        if not factored:
            work[SHARING_STEPS] += 1
            if not factor(w, s, 1.0):
                return False
            factored, turns, before = True, 0, math.inf
        if summed:
            scatter(w, r, y)
        gather(w, y, q, u)
        error = 0.0
        for c in range(r.shape[0]):
            for i in range(3):
                u[c, i] += soft[c, i] * r[c, i]
            for i in range(3):
                g[c, i] = -(s[c, i, 0] * u[c, 0] + s[c, i, 1] * u[c, 1] + s[c, i, 2] * u[c, 2])
                error = max(error, abs(weight * g[c, i]))
        if error < best:
            best = error
            copy(r, best_r)
            copy(y, best_y)
        elif not error <= REFINE_GROWS * best:  # springs too stiff for the factors
            copy(best_r, r)
            copy(best_y, y)
            break
        if (
            (turns == 1 or (turns > 0 and not summed))
            and error > max(REFINE_SLOW * before, REFINE_EXACT)
            and weight > STIFFEST
        ):
            weight, factored = weight / STIFFER, False
            for c in range(r.shape[0]):
                for i in range(3):
                    for j in range(3):
                        s[c, i, j] *= STIFFER
            continue
        if not error < 0.5 * before:
            break
        before = error
        turns += 1
        newton_step(w, s, g, step, du, dr, left, 0)
        for c in range(r.shape[0]):
            for i in range(3):
                r[c, i] += dr[c, i]
        for i in range(y.shape[0]):
            for j in range(6):
                y[i, j] += step[i, j]
    return best < math.inf


@inner_kernel
def clear_rounding(w: IntArray, r: Array, y: Array, scale: float) -> float:
    """Change y, the sum G^T r, so that contacts do what r says, and r with it; return 1 if that is rounding, else 0.

    y (2 n, 3), times `scale`, is in the order in which nodes were given, two rows for each.
    """
    node, given, s = wholes(w, NODE), wholes(w, GIVEN), real_blocks(w, S)
    now, trial = real_rows(w, Y + 2), real_rows(w, R)
    _hold(w, r, s, SPRING_STIFF, False, False)
    copy(r, trial)
    for k in range(node.shape[0]):
        for j in range(6):
            now[node[k], j] = y[2 * given[k] + j // 3, j % 3] / scale
    if not reach_modes(w, s, trial, now, False):
        return 0.0
    copy(r, trial)
    found = _is_rounding(w, r, now, real_rows(w, Y + 3), real_rows(w, Y + 0))
    for part in range(2):
        if not found:
            copy(trial, r)
            _follow(w, now, r, part == 1)
            found = _is_rounding(w, r, now, real_rows(w, Y + 3), real_rows(w, Y + 0))
    if not found:
        return 0.0
    for k in range(node.shape[0]):
        for j in range(6):
            y[2 * given[k] + j // 3, j % 3] = scale * now[node[k], j]
    return 1.0
