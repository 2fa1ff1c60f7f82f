"""The compiled step, overlaps: a small displacement that parts bodies without a word to their velocities.

Where contacts of an island overlap by more than a band, most of that is taken back at the start of the step by the
least displacement, in the mean of the squares over the mass of each body. In islands that lean on fixed bodies all
bodies count the same, whatever their mass: it is geometry that is put right, and sweeps in which light bodies give way
to heavy ones never lift what lies upon a small one. Others count by their mass, so that their common mass centre stays.
Contacts that touch and carried load in the last step are kept in touch, so that
their forces do not jump: a projection that may open them would shake a pile for ever. Other contacts may close but must
not overlap. Where some must open, because not all can touch at once, what holds contacts together yields. Piles at rest
need sweeps that converge: what these leave shakes the pile in every step. The energy of lifting is the correction work.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, measured, perform, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    A_BODY,
    B_BODY,
    BLOCK,
    COUNTS,
    CUT_ROW,
    DISPLACE_TOGETHER,
    FACTOR,
    FIRST_CONTACT,
    FIXED,
    GAP,
    GATHER,
    HAS_JOINTS,
    INDEX,
    ISLAND,
    ISLANDS,
    MASS,
    N_BODIES,
    N_CONTACTS,
    ORDER,
    OWN_ISLAND,
    PLACE,
    REFERENCE,
    SCRATCH,
    SHARE_DISPLACING,
    SIZE,
    START,
    Y_ROW,
    Q,
)
from signorini.math.rotation import turn_exact
from signorini.posing.constants import (
    CROWD,
    DISPLACING_FINE,
    DISPLACING_NEAR,
    DISPLACING_SWEEPS,
    HALF_BAND,
    LEAST_DISPLACED,
    LITTLE,
    LOOSENESS,
    MORE_SWEEPS,
    MOST_DISPLACED,
    MUCH,
    OVERRELAXED,
    TAKEN_BACK,
    TOUCHING,
)


class Displacement(NamedTuple):
    """What moves the bodies of an island apart, least in the mean of squares: a problem of its contacts' normals."""

    start: IntArray
    block: IntArray
    """Where the blocks of contacts begin, and which rows of `moved` they read."""
    rows: Array
    """Normal rows of these blocks, 12 numbers for a contact."""
    W: Array
    """Diagonal of the normal Delassus matrix."""
    needed: Array
    """By how much each contact is to open [m]."""
    held: Array
    """1 for contacts that are kept in touch."""
    pull: Array
    """Multipliers that make the displacement."""
    moved: Array
    """It."""
    stirred: Array
    """1 for bodies that move."""
    size: Array
    """Sizes of bodies by contact: displacements count relative to them."""


@inner_kernel
def _needed(gap: float, size: float, loaded: bool) -> float:
    """Return by how much a contact must be parted [m]; it may close by a negative number."""
    band = HALF_BAND * size
    if gap < -band:
        return min(TAKEN_BACK * (-gap - band), MOST_DISPLACED * size)
    if loaded:
        return -TAKEN_BACK * gap if gap > 0.0 else 0.0
    return -(gap + band)


@inner_kernel
def _weight(mass: Array, b: int, unit: float) -> float:
    """Return by what rows and displacements of body `b`, which count by its mass, are multiplied to count by `unit`."""
    return math.sqrt(mass[b] / unit) if unit > 0.0 else 1.0


@inner_kernel
def _unit(t: IntArray, first: int, last: int) -> float:
    """Return the mass by which all bodies count that have the contacts from `first` to `last`, one of theirs.

    0 if none of these is with a fixed body: then each counts by its own.
    """
    index, order, fixed, found = whole_rows(t, INDEX), wholes(t, ORDER), wholes(t, COUNTS)[FIXED], False
    for c in range(first, last):
        found = found or index[order[c], A_BODY] < fixed
    return float(reals(t, MASS)[index[order[first], B_BODY]]) if found else 0.0


@inner_kernel
def _displace(t: IntArray, i: int, moved: Array, unit: float) -> None:
    """Move the bodies of island `i`."""
    counts, place, q, L = wholes(t, COUNTS), whole_rows(t, PLACE), real_rows(t, Q), real_rows(t, FACTOR)
    mass = reals(t, MASS)
    for b in range(counts[FIXED], q.shape[0]):
        if place[b, Y_ROW] < 0 or place[b, OWN_ISLAND] != i:
            continue
        y, s = 6 * place[b, Y_ROW], _weight(mass, b, unit)
        w = (
            s * (L[b, 3] * moved[y + 3] + L[b, 4] * moved[y + 4] + L[b, 5] * moved[y + 5]),
            s * (L[b, 6] * moved[y + 3] + L[b, 7] * moved[y + 4] + L[b, 8] * moved[y + 5]),
            s * (L[b, 9] * moved[y + 3] + L[b, 10] * moved[y + 4] + L[b, 11] * moved[y + 5]),
        )
        turned = turn_exact((q[b, 3], q[b, 4], q[b, 5], q[b, 6]), w, 1.0)
        for k in range(3):
            q[b, k] += s * L[b, k] * moved[y + k]
        for k in range(4):
            q[b, 3 + k] = turned[k]


@inner_kernel
def _along_normal(d: Displacement, k: int) -> float:
    """Return by how much the displacement parts contact `k`."""
    s, first, rows, moved = 0.0, d.start[k], d.rows, d.moved
    for g in range(first, d.start[k + 1]):
        y, r = 3 * d.block[g], 12 * k + 3 * (g - first)
        s += rows[r] * moved[y] + rows[r + 1] * moved[y + 1] + rows[r + 2] * moved[y + 2]
    return s


@inner_kernel
def displace_some(d: Displacement, more: bool, crowded: bool, first: int, last: int, backward: bool) -> float:
    """Sweep over the contacts from `first` to `last`, or back; return the largest change, of the size of its bodies."""
    start, block, rows, W, needed, held, pull, moved, stirred, size = d
    give = LOOSENESS if crowded else 0.0
    relaxation = OVERRELAXED if more else 1.0
    most = 0.0
    for j in range(last - first):
        k = last - 1 - j if backward else first + j
        a, b, still = block[start[k]] // 2, block[start[k + 1] - 2] // 2, LEAST_DISPLACED * size[k]
        asked = needed[k] > still or (held[k] == 1.0 and needed[k] < -still)
        if not (asked or stirred[a] + stirred[b] > 0.0):
            continue
        w = W[k]
        if not w > 0.0:
            continue
        slack = needed[k] - _along_normal(d, k)
        new = pull[k] + relaxation * slack / w
        if new < 0.0 and held[k] == 1.0:
            new = min(0.0, pull[k] + relaxation * (slack / w - give * pull[k]) / (1.0 + give))
        new = new if held[k] == 1.0 else max(0.0, new)
        change = new - pull[k]
        if abs(change) * w <= still:
            continue
        pull[k] = new
        stirred[a] = 1.0
        stirred[b] = 1.0
        most = max(most, abs(change) * w / size[k])
        for g in range(start[k], start[k + 1]):
            y, r = 3 * block[g], 12 * k + 3 * (g - start[k])
            moved[y] += rows[r] * change
            moved[y + 1] += rows[r + 1] * change
            moved[y + 2] += rows[r + 2] * change
    return most


@inner_kernel
def _find_displacement(t: IntArray, i: int, d: Displacement, crowded: bool) -> None:
    """Find the displacement of an island by sweeps to and fro from zero."""
    n_c = d.needed.shape[0]
    largest = 0.0
    for k in range(n_c):
        largest = max(largest, (abs(d.needed[k]) if d.held[k] == 1.0 else d.needed[k]) / d.size[k])
    more = crowded and LITTLE < largest < MUCH
    shared = t[DISPLACE_TOGETHER, 0] != 0 and whole_rows(t, ISLAND)[i, CUT_ROW] > 0
    if shared:
        perform(t[SHARE_DISPLACING, 0], (t, i, d.rows, d.W, d.needed, d.held, d.pull, d.moved, d.stirred))
    for sweep in range(MORE_SWEEPS if more else DISPLACING_SWEEPS):
        backward = sweep % 2 == 1
        if shared:
            most = measured(t[DISPLACE_TOGETHER, 0], (t, i, more, crowded, backward))
        else:
            most = displace_some(d, more, crowded, n_c - n_c, n_c, backward)
        if most <= max(DISPLACING_NEAR * largest, DISPLACING_FINE):
            break


@inner_kernel
def project_step(t: IntArray) -> None:
    """Part overlapping bodies a little; the gaps of the step follow to first order."""
    counts, island, start = wholes(t, COUNTS), whole_rows(t, ISLAND), wholes(t, START)
    gather, block, mass = real_blocks(t, GATHER), wholes(t, BLOCK), reals(t, MASS)
    index, order = whole_rows(t, INDEX), wholes(t, ORDER)
    gap, size, reference, scratch = reals(t, GAP), reals(t, SIZE), real_rows(t, REFERENCE), reals(t, SCRATCH)
    for i in range(counts[ISLANDS]):
        first, n, m = island[i, FIRST_CONTACT], island[i, N_CONTACTS], 6 * island[i, N_BODIES]
        last = first + n
        overlap = False
        if island[i, HAS_JOINTS] == 1:  # joints do not let their bodies be displaced: there velocities part them
            continue
        for k in range(first, last):
            overlap = overlap or gap[k] < -HALF_BAND * size[k]
        if not overlap:
            continue
        unit = _unit(t, first, last)
        for j in range(2 * m + n):
            scratch[j] = 0.0
        moved, stirred, pull = scratch[:m], scratch[m : 2 * m], scratch[2 * m : 2 * m + n]
        m = 2 * m + n
        needed, held, W = scratch[m : m + n], scratch[m + n : m + 2 * n], scratch[m + 2 * n : m + 3 * n]
        rows = scratch[m + 3 * n : m + 15 * n]
        for k in range(n):
            c = first + k
            loaded = reference[c, 0] > 0.0 and gap[c] <= TOUCHING * size[c]
            held[k] = 1.0 if loaded else 0.0
            needed[k] = _needed(gap[c], size[c], loaded)
            W[k] = 0.0
            for g in range(start[c], start[c + 1]):
                side = 1 if g >= start[c + 1] - 2 else 0
                s = _weight(mass, index[order[c], side], unit)
                r = 12 * k + 3 * (g - start[c])
                for l in range(3):
                    rows[r + l] = s * gather[g, 0, l]
                W[k] += rows[r] * rows[r] + rows[r + 1] * rows[r + 1]
                W[k] += rows[r + 2] * rows[r + 2]
        d = Displacement(
            start=start[first : last + 1],
            block=block,
            rows=rows,
            W=W,
            needed=needed,
            held=held,
            pull=pull,
            moved=moved,
            stirred=stirred,
            size=size[first:last],
        )
        _find_displacement(t, i, d, n > CROWD * island[i, N_BODIES])
        for k in range(n):
            gap[first + k] += _along_normal(d, k)
        _displace(t, i, moved, unit)
