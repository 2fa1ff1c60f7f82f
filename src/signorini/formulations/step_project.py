"""The compiled step, overlaps: a small displacement that parts bodies without a word to their velocities.

Where contacts of an island overlap by more than a band, most of that is taken back at the start of the step by the
least displacement. Contacts that touch and carried load in the last step are kept in touch, so that their forces do not
jump: a projection that may open them would shake a pile for ever. Other contacts may close but must not overlap. Where
some must open, because not all can touch at once, what holds contacts together yields. Piles at rest need sweeps that
converge: what these leave shakes the pile in every step. The energy of lifting is the correction work.

Least is the mean square of the ways of a body's points, whatever it weighs, in small islands on something fixed. With
masses, sweeps are too few to lift what is heavy from what is light: the light body would be lifted from the floor, the
heavy one come down behind it, and both be deeper in each other with every step. Elsewhere it is the kinetic
energy, so that the mass centre stays where it is.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, measured, perform, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.formulations.step_arrays import (
    BLOCK,
    COUNTS,
    CUT_ROW,
    FACTOR,
    FIRST_CONTACT,
    FIXED,
    GAP,
    GATHER,
    HAS_JOINTS,
    ISLAND,
    ISLANDS,
    MASS,
    N_BODIES,
    N_CONTACTS,
    OWN_ISLAND,
    PART_TOGETHER,
    PLACE,
    REFERENCE,
    SCRATCH,
    SHARE_PARTS,
    SIZE,
    START,
    Y_ROW,
    Q,
)
from signorini.math.rotation import turn_exact

_BAND = 0.25e-6  # of the body's size: overlaps that are left alone
_PART = 0.8  # of an overlap taken back in a step
_LARGEST = 0.01  # displacement of a contact in a step, of the body's size
_TOUCH = 1e-4  # gap, of the body's size, up to which a contact that carried load counts as touching
# Sweeps; more of them, with relaxation, where so many contacts on a body, as between boxes, do not let them converge
# and the largest displacement is between these, of the body's size: where it is less the pile is at rest, where it is
# more all is on the move.
_SWEEPS, _MORE_SWEEPS, _LITTLE, _MUCH, _CROWD = 10, 60, 1e-6, 5e-3, 4
_NEAR, _FINE = 0.01, 2e-8  # change by a sweep that ends them: of the largest displacement, or of the body's size
_BEYOND = 1.5
_STILL = 1e-8  # of the body's size: displacements not worth making; contacts where none is asked for cost nothing
_SMALL = (
    8  # bodies of islands whose masses do not count: in piles heavy bodies that give way to light ones shake others
)
_YIELD = 0.1  # of what holds contacts together, relative to the bodies' own: where not all can touch, overlaps end


@inner_kernel
def _needed(gap: float, size: float, loaded: bool) -> float:
    """Return by how much a contact must be parted [m]; it may close by a negative number."""
    band = _BAND * size
    if gap < -band:
        return min(_PART * (-gap - band), _LARGEST * size)
    if loaded:
        return -_PART * gap if gap > 0.0 else 0.0
    return -(gap + band)


@inner_kernel
def _weigh(t: IntArray, i: int, grounded: bool, heft: Array) -> None:
    """Set by how much the displacements of the bodies of island `i` exceed those of least kinetic energy."""
    place, mass = whole_rows(t, PLACE), reals(t, MASS)
    for b in range(wholes(t, COUNTS)[FIXED], mass.shape[0]):
        if place[b, Y_ROW] >= 0 and place[b, OWN_ISLAND] == i:
            heft[place[b, Y_ROW]] = math.sqrt(mass[b]) if grounded else 1.0


@inner_kernel
def _displace(t: IntArray, i: int, moved: Array, heft: Array) -> None:
    """Move the bodies of island `i`."""
    counts, place, q, L = wholes(t, COUNTS), whole_rows(t, PLACE), real_rows(t, Q), real_rows(t, FACTOR)
    for b in range(counts[FIXED], q.shape[0]):
        if place[b, Y_ROW] < 0 or place[b, OWN_ISLAND] != i:
            continue
        y = 6 * place[b, Y_ROW]
        for k in range(6):
            moved[y + k] *= heft[place[b, Y_ROW]]
        w = (
            L[b, 3] * moved[y + 3] + L[b, 4] * moved[y + 4] + L[b, 5] * moved[y + 5],
            L[b, 6] * moved[y + 3] + L[b, 7] * moved[y + 4] + L[b, 8] * moved[y + 5],
            L[b, 9] * moved[y + 3] + L[b, 10] * moved[y + 4] + L[b, 11] * moved[y + 5],
        )
        turned = turn_exact((q[b, 3], q[b, 4], q[b, 5], q[b, 6]), w, 1.0)
        for k in range(3):
            q[b, k] += L[b, k] * moved[y + k]
        for k in range(4):
            q[b, 3 + k] = turned[k]


@inner_kernel
def _along_normal(rows: Array, block: IntArray, first: int, last: int, k: int, moved: Array) -> float:
    """Return by how much the displacement parts contact `k`, whose blocks are numbered from `first` to `last`."""
    s = 0.0
    for g in range(first, last):
        y, r = 3 * block[g], 12 * k + 3 * (g - first)
        s += rows[r] * moved[y] + rows[r + 1] * moved[y + 1] + rows[r + 2] * moved[y + 2]
    return s


@inner_kernel
def part_some(
    start: IntArray,
    block: IntArray,
    rows: Array,
    W: Array,
    needed: Array,
    held: Array,
    pull: Array,
    moved: Array,
    stirred: Array,
    size: Array,
    more: bool,
    crowded: bool,
    first: int,
    last: int,
    backward: bool,
) -> float:
    """Sweep over the contacts from `first` to `last`, or back; return the largest change, of the size of its bodies."""
    give = _YIELD if crowded else 0.0
    relaxation = _BEYOND if more else 1.0
    most = 0.0
    for j in range(last - first):
        k = last - 1 - j if backward else first + j
        a, b, still = block[start[k]] // 2, block[start[k + 1] - 2] // 2, _STILL * size[k]
        asked = needed[k] > still or (held[k] == 1.0 and needed[k] < -still)
        if not (asked or stirred[a] + stirred[b] > 0.0):
            continue
        w = W[k]
        if not w > 0.0:
            continue
        slack = needed[k] - _along_normal(rows, block, start[k], start[k + 1], k, moved)
        new = pull[k] + relaxation * slack / w
        if new < 0.0 and held[k] == 1.0:
            new = min(0.0, pull[k] + relaxation * (slack / w - give * pull[k]) / (1.0 + give))
        new = new if held[k] == 1.0 else max(0.0, new)
        d = new - pull[k]
        if abs(d) * w <= still:
            continue
        pull[k] = new
        stirred[a] = 1.0
        stirred[b] = 1.0
        most = max(most, abs(d) * w / size[k])
        for g in range(start[k], start[k + 1]):
            y, r = 3 * block[g], 12 * k + 3 * (g - start[k])
            moved[y] += rows[r] * d
            moved[y + 1] += rows[r + 1] * d
            moved[y + 2] += rows[r + 2] * d
    return most


@inner_kernel
def _part(
    t: IntArray,
    i: int,
    start: IntArray,
    block: IntArray,
    rows: Array,
    W: Array,
    needed: Array,
    held: Array,
    pull: Array,
    moved: Array,
    stirred: Array,
    size: Array,
    crowded: bool,
) -> None:
    """Find the displacement `moved`, and the multipliers `pull` that make it, by sweeps to and fro from zero.

    `rows` are the normal rows of the blocks, 12 numbers for a contact, `W` are their squares, `held` is 1 for contacts
    that are kept in touch, `stirred`, zero before, 1 for bodies that move. `size` are the sizes of bodies by contact:
    displacements count relative to them.
    """
    n_c = needed.shape[0]
    largest = 0.0
    for k in range(n_c):
        largest = max(largest, (abs(needed[k]) if held[k] == 1.0 else needed[k]) / size[k])
    more = crowded and _LITTLE < largest < _MUCH
    if t[PART_TOGETHER, 0] != 0 and whole_rows(t, ISLAND)[i, CUT_ROW] > 0:
        perform(t[SHARE_PARTS, 0], (t, i, rows, W, needed, held, pull, moved, stirred))
    for sweep in range(_MORE_SWEEPS if more else _SWEEPS):
        backward = sweep % 2 == 1
        if t[PART_TOGETHER, 0] != 0 and whole_rows(t, ISLAND)[i, CUT_ROW] > 0:
            most = measured(t[PART_TOGETHER, 0], (t, i, more, crowded, backward))
        else:
            most = part_some(
                start, block, rows, W, needed, held, pull, moved, stirred, size, more, crowded, n_c - n_c, n_c, backward
            )
        if most <= max(_NEAR * largest, _FINE):
            break


@inner_kernel
def project_step(t: IntArray) -> None:
    """Part overlapping bodies a little; the gaps of the step follow to first order."""
    counts, island, start = wholes(t, COUNTS), whole_rows(t, ISLAND), wholes(t, START)
    gather, block = real_blocks(t, GATHER), wholes(t, BLOCK)
    gap, size, reference, scratch = reals(t, GAP), reals(t, SIZE), real_rows(t, REFERENCE), reals(t, SCRATCH)
    for i in range(counts[ISLANDS]):
        first, n, m = island[i, FIRST_CONTACT], island[i, N_CONTACTS], 6 * island[i, N_BODIES]
        last = first + n
        overlap = False
        if island[i, HAS_JOINTS] == 1:  # joints do not let their bodies be displaced: there velocities part them
            continue
        for k in range(first, last):
            overlap = overlap or gap[k] < -_BAND * size[k]
        if not overlap:
            continue
        for j in range(2 * m + n):
            scratch[j] = 0.0
        bodies = island[i, N_BODIES]
        moved, stirred, pull = scratch[:m], scratch[m : m + bodies], scratch[2 * m : 2 * m + n]
        heft, grounded = scratch[m + bodies : m + 2 * bodies], False
        for c in range(first, last):
            grounded = grounded or start[c + 1] - start[c] == 2
        _weigh(t, i, grounded and bodies <= _SMALL, heft)
        m = 2 * m + n
        needed, held, W = scratch[m : m + n], scratch[m + n : m + 2 * n], scratch[m + 2 * n : m + 3 * n]
        rows = scratch[m + 3 * n : m + 15 * n]
        for k in range(n):
            c = first + k
            loaded = reference[c, 0] > 0.0 and gap[c] <= _TOUCH * size[c]
            held[k] = 1.0 if loaded else 0.0
            needed[k] = _needed(gap[c], size[c], loaded)
            W[k] = 0.0
            for g in range(start[c], start[c + 1]):
                for l in range(3):
                    row = heft[block[g] // 2] * gather[g, 0, l]
                    rows[12 * k + 3 * (g - start[c]) + l] = row
                    W[k] += row * row
        span = start[first : last + 1]
        _part(
            t,
            i,
            span,
            block,
            rows,
            W,
            needed,
            held,
            pull,
            moved,
            stirred,
            size[first:last],
            n > _CROWD * island[i, N_BODIES],
        )
        for k in range(n):
            gap[first + k] += _along_normal(rows, block, span[k], span[k + 1], k, moved)
        _displace(t, i, moved, heft)
