"""The compiled step, collisions by Poisson's law: compression and expansion, see :mod:`~signorini.posing.poisson`.

Both phases are friction problems like that of any other step. They are posed in the arrays of a second table, row
``PHASE`` of the first, and solved by the same kernels, whose addresses that table holds. In the expansion a contact
that gives back an impulse r and has friction is there twice. The second one moves its bodies along the tangents alone;
its normal moves a point of its own, of mobility a, whose speed ``a (p_n - r)`` makes ``p_n = r``.
"""

from __future__ import annotations

import math

from signorini._arrays import IntArray
from signorini._jit import inner_kernel, perform, real_blocks, real_rows, reals, succeeds, whole_rows, wholes
from signorini.engine.arrays import (
    ACTIVE,
    AT_LAST,
    AWAIT,
    B_BODY,
    BEFORE,
    BLOCK,
    CHANGE,
    CHECK,
    COLLIDES,
    COMPLIANCE,
    COMPRESSION,
    CORRECTED,
    COUNTS,
    COUPLE_AXES,
    COUPLE_LOAD,
    COUPLE_UNIT,
    DIAGONAL,
    DRIFT,
    EFFORT,
    FIRST_BODY,
    FIRST_CONTACT,
    GAP,
    GATHER,
    HABIT,
    HAS_JOINTS,
    HAS_ROBUST,
    ISLAND,
    ISLANDS,
    JOINED,
    JOINTS,
    LAW,
    LIFT,
    LIMIT,
    LOAD,
    MU,
    N_BODIES,
    N_CONTACTS,
    NUMBERS,
    ORDER,
    OWN_ISLAND,
    PHASE,
    PLACE,
    POSITION,
    REBOUND,
    REFERENCE,
    RESCUE,
    RESIDUAL,
    RHO,
    ROWS,
    SEEN,
    SEEN_INDEX,
    SHIFT,
    SHORT,
    SIZE,
    SLID,
    SOFTNESS,
    SOFTNESS_COLUMNS,
    SOLVE,
    START,
    SUCCESS,
    SWEEPS,
    VELOCITIES,
    B,
    P,
    U,
)
from signorini.engine.joints.arrays import LIFT as JOINED_LIFT
from signorini.engine.joints.arrays import SUMS as JOINT_SUMS
from signorini.posing.gap_law import gap_shift


@inner_kernel
def _lift(t: IntArray, k: int) -> float:
    """Return the largest speed at which the overlap of contact `k` recedes: joined bodies: see ``joints/laws.py``."""
    lift: float = reals(t, NUMBERS)[LIFT]
    if wholes(t, COUNTS)[JOINED] == 1:
        i = whole_rows(t, PLACE)[whole_rows(t, SEEN_INDEX)[wholes(t, ORDER)[k], B_BODY], OWN_ISLAND]
        if whole_rows(t, ISLAND)[i, HAS_JOINTS] == 1:
            lift = reals(whole_rows(t, JOINTS), JOINT_SUMS)[JOINED_LIFT]
    return lift


@inner_kernel
def _ask_without_rebound(t: IntArray) -> bool:
    """Set what the gaps ask of contacts that do not rebound; False, and nothing done, if none does."""
    n_c, numbers = wholes(t, COUNTS)[ACTIVE], reals(t, NUMBERS)
    gap, size, shift, corrected = reals(t, GAP), reals(t, SIZE), reals(t, SHIFT), reals(t, CORRECTED)
    collides = False
    for k in range(n_c):
        collides = collides or (shift[k] < 0.0 and corrected[k] == 0.0)
    if not collides:
        return False
    for k in range(n_c):
        if shift[k] < 0.0 and corrected[k] == 0.0:
            shift[k] = 0.0
        else:
            lift = _lift(t, k)
            shift[k] = gap_shift(gap[k], size[k], real_rows(t, REFERENCE)[k, 0] > 0.0, numbers[DRIFT], lift)
            corrected[k] = max(0.0, -shift[k])
    return True


@inner_kernel
def _copy_contact(t: IntArray, k: int, s: IntArray, j: int, g: int) -> int:
    """Pose contact `k` as the j-th of a phase, without impulse, from block `g` on; return where the next begin."""
    start, block = wholes(t, START), wholes(t, BLOCK)
    gather, diagonal = real_blocks(t, GATHER), real_blocks(t, DIAGONAL)
    to_block, to_gather, to_diagonal = wholes(s, BLOCK), real_blocks(s, GATHER), real_blocks(s, DIAGONAL)
    wholes(s, START)[j] = g
    for m in range(start[k], start[k + 1]):
        to_block[g] = block[m]
        for i in range(3):
            for l in range(3):
                to_gather[g, i, l] = gather[m, i, l]
        g += 1
    for i in range(3):
        real_rows(s, P)[j, i] = 0.0
        real_rows(s, REFERENCE)[j, i] = 0.0
        for l in range(3):
            to_diagonal[j, i, l] = diagonal[k, i, l]
    for i in range(SOFTNESS_COLUMNS):
        real_rows(s, SOFTNESS)[j, i] = 0.0
    reals(s, MU)[j] = reals(t, MU)[k]
    reals(s, SHIFT)[j] = 0.0
    reals(s, GAP)[j] = 0.0
    reals(s, SIZE)[j] = reals(t, SIZE)[k]
    return g


@inner_kernel
def _count_phase(t: IntArray, s: IntArray, contacts: int) -> None:
    """Set the counts of a phase of so many contacts."""
    counts, phase = wholes(t, COUNTS), wholes(s, COUNTS)
    phase[ISLANDS], phase[LIMIT], phase[HAS_ROBUST] = counts[ISLANDS], counts[LIMIT], AT_LAST
    phase[ACTIVE], phase[SEEN], phase[ROWS] = contacts, contacts, contacts


@inner_kernel
def _pose_compression(t: IntArray, s: IntArray) -> None:
    """Pose the first phase: half of the loads act before it, and lifting out of overlaps is left to the second."""
    counts = wholes(t, COUNTS)
    island, to_island = whole_rows(t, ISLAND), whole_rows(s, ISLAND)
    b, before, shift, to_b = real_rows(t, B), real_rows(t, BEFORE), reals(t, SHIFT), real_rows(s, B)
    g = counts[ACTIVE] - counts[ACTIVE]
    for k in range(counts[ACTIVE]):
        g = _copy_contact(t, k, s, k, g)
        for i in range(3):
            to_b[k, i] = 0.5 * (before[k, i] + b[k, i])
        to_b[k, 0] += max(shift[k], 0.0)
    wholes(s, START)[counts[ACTIVE]] = g
    for i in range(counts[ISLANDS]):
        for k in (N_CONTACTS, N_BODIES, FIRST_CONTACT, FIRST_BODY):
            to_island[i, k] = island[i, k]
    _count_phase(t, s, counts[ACTIVE])


@inner_kernel
def _pose_again(t: IntArray, s: IntArray, k: int, j: int, g: int, row: int, r: float) -> int:
    """Pose contact `k` a second time, as the j-th of the expansion, with the normal impulse `r`, from block `g` on.

    `row` of y is free for it. Return where the next blocks begin.
    """
    a = 1.0 / reals(t, RHO)[k]
    end = _copy_contact(t, k, s, j, g)
    gather, diagonal, b, p = real_blocks(s, GATHER), real_blocks(s, DIAGONAL)[j], real_rows(s, B), real_rows(s, P)
    compression = real_rows(t, COMPRESSION)
    for m in range(g, end):
        for l in range(3):
            gather[m, 0, l] = 0.0
    wholes(s, BLOCK)[end] = row
    for i in range(3):
        for l in range(3):
            gather[end, i, l] = 0.0
        diagonal[0, i] = 0.0
        diagonal[i, 0] = 0.0
        b[j, i] = real_rows(t, U)[k, i]
        p[j, i] = compression[k, i] * (r / compression[k, 0])
    gather[end, 0, 0] = math.sqrt(a)
    diagonal[0, 0] = a
    b[j, 0] = -a * r
    return end + 1


@inner_kernel
def _pose_expansion(t: IntArray, s: IntArray) -> None:
    """Pose the second phase with the compression, and what it gives back, done: P of the step; U is their velocity."""
    counts = wholes(t, COUNTS)
    island, to_island = whole_rows(t, ISLAND), whole_rows(s, ISLAND)
    u, to_b, mu, position = real_rows(t, U), real_rows(s, B), reals(t, MU), wholes(s, POSITION)
    compression, p = real_rows(t, COMPRESSION), real_rows(t, P)
    zero = counts[ACTIVE] - counts[ACTIVE]
    j, g, bodies = zero, zero, zero
    for i in range(counts[ISLANDS]):
        first, last, again = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS], zero
        to_island[i, FIRST_CONTACT], to_island[i, FIRST_BODY] = j, bodies
        for k in range(first, last):
            g = _copy_contact(t, k, s, j, g)
            position[k] = j
            for l in range(3):
                to_b[j, l] = u[k, l]
            j += 1
            r = p[k, 0] - compression[k, 0]
            if r > 0.0 and mu[k] > 0.0:
                g = _pose_again(t, s, k, j, g, 2 * island[i, N_BODIES] + again, r)
                j += 1
                again += 1
        to_island[i, N_CONTACTS] = j - to_island[i, FIRST_CONTACT]
        to_island[i, N_BODIES] = island[i, N_BODIES] + (again + 1) // 2
        bodies += to_island[i, N_BODIES]
    wholes(s, START)[j] = g
    _count_phase(t, s, j)


@inner_kernel
def _solve_phase(t: IntArray, s: IntArray) -> bool:
    """Solve what is posed, and check it; False if some island resists."""
    counts, phase = wholes(t, COUNTS), wholes(s, COUNTS)
    s[RESCUE, 0], phase[SHORT] = t[RESCUE, 0], 0
    solved = succeeds(s[SOLVE, 0], (s,))
    counts[SWEEPS] += phase[SWEEPS]
    counts[SHORT] = phase[SHORT]
    if solved:
        perform(s[VELOCITIES, 0], (s,))
        perform(s[LAW, 0], (s,))
    return solved


@inner_kernel
def _pose_whole(t: IntArray, s: IntArray) -> None:
    """Set what the check of the step as a whole takes, as the solver does otherwise; the diagonal is a phase's."""
    b, load, shift, rho, phase_rho = real_rows(t, B), real_rows(t, LOAD), reals(t, SHIFT), reals(t, RHO), reals(s, RHO)
    softness, compliance = real_rows(t, SOFTNESS), real_rows(t, COMPLIANCE)
    for k in range(wholes(t, COUNTS)[ACTIVE]):
        rho[k] = phase_rho[k]
        for i in range(3):
            load[k, i] = b[k, i]
            compliance[k, i] = 0.0
            softness[k, CHANGE + i] = 0.0  # nothing is expected of impulses after a collision
        load[k, 0] += shift[k]
        softness[k, HABIT] = 0.0


@inner_kernel
def _end_compression(t: IntArray, s: IntArray) -> None:
    """Keep the impulses of the first phase, and give back a part of them; P is what is known of the whole then."""
    numbers, p, phase_p, phase_u = reals(t, NUMBERS), real_rows(t, P), real_rows(s, P), real_rows(s, U)
    compression, rebound = real_rows(t, COMPRESSION), reals(t, REBOUND)
    numbers[SLID] = 0.0
    for k in range(wholes(t, COUNTS)[ACTIVE]):
        numbers[SLID] -= phase_p[k, 1] * phase_u[k, 1] + phase_p[k, 2] * phase_u[k, 2]
        for i in range(3):
            compression[k, i] = phase_p[k, i]
            p[k, i] = phase_p[k, i]
        p[k, 0] += rebound[k] * max(phase_p[k, 0], 0.0)


@inner_kernel
def _shift_couples(t: IntArray) -> None:
    """Let contacts with couples, which are posed already, know what gaps ask for without rebounds."""
    if wholes(t, COUPLE_AXES).shape[0] == 0:
        return
    b, load, shift = real_rows(t, B), real_rows(t, LOAD), reals(t, SHIFT)
    for k in range(wholes(t, COUNTS)[ACTIVE]):
        real_rows(t, COUPLE_LOAD)[k, 0] += real_rows(t, COUPLE_UNIT)[k, 0] * (b[k, 0] + shift[k] - load[k, 0])
        load[k, 0] = b[k, 0] + shift[k]


@inner_kernel
def collide_step(t: IntArray) -> bool:
    """Solve all islands, in two phases if some contact rebounds; False if some island resists.

    With joints or couples Python has the phases solved.
    """
    counts, s = wholes(t, COUNTS), whole_rows(t, PHASE)
    counts[COLLIDES] = 0
    if not _ask_without_rebound(t):
        return succeeds(s[SOLVE, 0], (t,))
    counts[COLLIDES] = 1
    counts[SWEEPS] = 0
    if t[AWAIT, 0] != 0:
        _shift_couples(t)
        return succeeds(t[AWAIT, 0], (t,))
    check = reals(s, CHECK)
    _pose_compression(t, s)
    solved = _solve_phase(t, s)
    _pose_whole(t, s)
    if not solved:
        return False
    residual, success = check[RESIDUAL], check[SUCCESS]
    _end_compression(t, s)
    perform(t[VELOCITIES, 0], (t,))
    _pose_expansion(t, s)
    if not _solve_phase(t, s):
        return False
    check[RESIDUAL] = max(check[RESIDUAL], residual)
    check[SUCCESS] = min(check[SUCCESS], success)
    p, pushed, position = real_rows(t, P), real_rows(s, P), wholes(s, POSITION)
    n_c, total = counts[ACTIVE], wholes(s, COUNTS)[ACTIVE]
    for k in range(n_c):
        j = position[k]
        last = position[k + 1] if k + 1 < n_c else total
        p[k, 0] += pushed[j, 0]
        for l in range(j, last):
            p[k, 1] += pushed[l, 1]
            p[k, 2] += pushed[l, 2]
    return True


@inner_kernel
def check_collision(t: IntArray) -> None:
    """Check the law of the step, that of both phases if it has them, and add up what was lost by sliding."""
    counts, numbers, s = wholes(t, COUNTS), reals(t, NUMBERS), whole_rows(t, PHASE)
    perform(s[LAW, 0], (t,))
    if counts[COLLIDES] == 0:
        return
    check, phases = reals(t, CHECK), reals(s, CHECK)
    check[RESIDUAL], check[SUCCESS], check[EFFORT] = phases[RESIDUAL], phases[SUCCESS], counts[SWEEPS]
    p, u, compression = real_rows(t, P), real_rows(t, U), real_rows(t, COMPRESSION)
    for k in range(counts[ACTIVE] if phases[EFFORT] >= 0.0 else 0):  # else Python has done so
        for i in range(1, 3):
            numbers[SLID] -= (p[k, i] - compression[k, i]) * u[k, i]
