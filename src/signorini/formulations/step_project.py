"""The compiled step, overlaps: a small displacement that parts bodies without a word to their velocities.

Where contacts of an island overlap by more than a band, half of that is taken back at the start of the step by the
displacement of least kinetic energy. Contacts that touch and carried load in the last step are kept in touch, so that
their forces do not jump: a projection that may open them would shake a pile for ever. Other contacts may close but must
not overlap. A few sweeps do; what they leave is taken back in the next steps. The energy of lifting is the correction
work.
"""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import bare_kernel, inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.formulations.step_arrays import (
    BLOCK,
    COUNTS,
    DIAGONAL,
    FACTOR,
    FIXED,
    GAP,
    GATHER,
    ISLAND,
    ISLANDS,
    PLACE,
    REFERENCE,
    SCRATCH,
    SIZE,
    START,
    Q,
)
from signorini.math.rotation import turn_exact

_BAND = 0.25e-6  # of the body's size: overlaps that are left alone
_PART = 0.5  # of an overlap taken back in a step
_LARGEST = 0.01  # displacement of a contact in a step, of the body's size
_TOUCH = 1e-4  # gap, of the body's size, up to which a contact that carried load counts as touching
_SWEEPS = 10


@bare_kernel
def _needed(gap: float, size: float, loaded: bool) -> float:
    """Return by how much a contact must be parted [m]; it may close by a negative number."""
    band = _BAND * size
    if gap < -band:
        return min(_PART * (-gap - band), _LARGEST * size)
    if loaded:
        return -_PART * gap if gap > 0.0 else 0.0
    return -(gap + band)


@bare_kernel
def _along_normal(gather: Array, block: IntArray, first: int, last: int, moved: Array) -> float:
    """Return by how much the displacement parts one contact."""
    s = 0.0
    for g in range(first, last):
        y = 3 * block[g]
        s += gather[g, 0, 0] * moved[y] + gather[g, 0, 1] * moved[y + 1] + gather[g, 0, 2] * moved[y + 2]
    return s


@inner_kernel
def _displace(t: IntArray, i: int, moved: Array) -> None:
    """Move the bodies of island `i`."""
    counts, place, q, L = wholes(t, COUNTS), whole_rows(t, PLACE), real_rows(t, Q), real_rows(t, FACTOR)
    for b in range(counts[FIXED], q.shape[0]):
        if place[b, 1] < 0 or place[b, 2] != i:
            continue
        y = 6 * place[b, 1]
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
def project_step(t: IntArray) -> None:
    """Part overlapping bodies a little; the gaps of the step follow to first order."""
    counts, island, start = wholes(t, COUNTS), whole_rows(t, ISLAND), wholes(t, START)
    gather, block, diagonal = real_blocks(t, GATHER), wholes(t, BLOCK), real_blocks(t, DIAGONAL)
    gap, size, reference, scratch = reals(t, GAP), reals(t, SIZE), real_rows(t, REFERENCE), reals(t, SCRATCH)
    for i in range(counts[ISLANDS]):
        first, last, m = island[i, 2], island[i, 2] + island[i, 0], 6 * island[i, 1]
        overlap = False
        for k in range(first, last):
            overlap = overlap or gap[k] < -_BAND * size[k]
        if not overlap:
            continue
        moved, multiplier = scratch[:m], scratch[m:]
        for j in range(m + last - first):
            scratch[j] = 0.0
        for sweep in range(_SWEEPS):
            for j in range(last - first):
                k = first + j if sweep % 2 == 0 else last - 1 - j
                if not diagonal[k, 0, 0] > 0.0:
                    continue
                loaded = reference[k, 0] > 0.0 and gap[k] <= _TOUCH * size[k]
                parted = _along_normal(gather, block, start[k], start[k + 1], moved)
                new = multiplier[k - first] + (_needed(gap[k], size[k], loaded) - parted) / diagonal[k, 0, 0]
                if not loaded:
                    new = max(0.0, new)
                d = new - multiplier[k - first]
                multiplier[k - first] = new
                for g in range(start[k], start[k + 1]):
                    for l in range(3):
                        moved[3 * block[g] + l] += gather[g, 0, l] * d
        for k in range(first, last):
            gap[k] += _along_normal(gather, block, start[k], start[k + 1], moved)
        _displace(t, i, moved)
