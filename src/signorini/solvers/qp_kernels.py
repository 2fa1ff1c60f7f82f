"""Kernels of the proximal QP solver: projections on cones with their derivative, the banded Newton matrix."""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import kernel


@kernel
def project_blocks(s: Array, block: IntArray, m_e: int, w: Array) -> None:
    """Set w to the nearest point of `m_e` free numbers, half lines and second-order cones."""
    for k in range(block.shape[0] - 1):
        i = block[k]
        end = block[k + 1]
        if end == i + 1:
            w[i] = s[i] if i < m_e or s[i] > 0.0 else 0.0
            continue
        length = 0.0
        for j in range(i + 1, end):
            length += s[j] * s[j]
        length = math.sqrt(length)
        scale = 1.0
        head = s[i]
        if length > head:
            head = 0.5 * (head + length) if length > -head else 0.0
            scale = head / length if length > 0.0 else 0.0
        w[i] = head
        for j in range(i + 1, end):
            w[j] = scale * s[j]


@kernel
def projection_slope(s: Array, block: IntArray, m_e: int, V: Array) -> None:
    """Set V[k] (largest block squared) to an element of the generalised derivative of the projection of block k."""
    for k in range(block.shape[0] - 1):
        i = block[k]
        size = block[k + 1] - i
        for r in range(size):
            for c in range(size):
                V[k, r, c] = 0.0
        if size == 1:
            V[k, 0, 0] = 1.0 if i < m_e or s[i] > 0.0 else 0.0
            continue
        length = 0.0
        for j in range(i + 1, i + size):
            length += s[j] * s[j]
        length = math.sqrt(length)
        if length <= s[i]:
            for r in range(size):
                V[k, r, r] = 1.0
        elif length > -s[i]:
            ratio = s[i] / length
            V[k, 0, 0] = 0.5
            for r in range(1, size):
                e = s[i + r] / length
                V[k, 0, r] = 0.5 * e
                V[k, r, 0] = 0.5 * e
                V[k, r, r] = 0.5 * (1.0 + ratio)
                for c in range(1, size):
                    V[k, r, c] -= 0.5 * ratio * e * s[i + c] / length


@kernel
def add_rows(
    start: IntArray, column: IntArray, value: Array, block: IntArray, V: Array, weight: Array, band: Array
) -> None:
    """Add ``sum_k weight_k C_k^T V_k C_k`` to the lower band: ``band[j, i - j]`` is entry (i, j), i >= j."""
    for k in range(block.shape[0] - 1):
        first = block[k]
        size = block[k + 1] - first
        for r in range(size):
            for c in range(size):
                factor = weight[first] * V[k, r, c]
                if factor == 0.0:
                    continue
                for a in range(start[first + r], start[first + r + 1]):
                    i = column[a]
                    scaled = factor * value[a]
                    for b in range(start[first + c], start[first + c + 1]):
                        j = column[b]
                        if i >= j:
                            band[j, i - j] += scaled * value[b]


@kernel
def multiply_rows(start: IntArray, column: IntArray, value: Array, x: Array, out: Array) -> None:
    """Set out to ``C x``."""
    for i in range(start.shape[0] - 1):
        s = 0.0
        for a in range(start[i], start[i + 1]):
            s += value[a] * x[column[a]]
        out[i] = s


@kernel
def multiply_columns(start: IntArray, column: IntArray, value: Array, w: Array, out: Array) -> None:
    """Set out to ``C^T w``."""
    for j in range(out.shape[0]):
        out[j] = 0.0
    for i in range(start.shape[0] - 1):
        if w[i] != 0.0:
            for a in range(start[i], start[i + 1]):
                out[column[a]] += value[a] * w[i]


@kernel
def slope_along(s: Array, ds: Array, t: float, block: IntArray, m_e: int, moved: Array, w: Array, Cd: Array) -> float:
    """Return ``Cd . P_K(s + t ds)``; `moved` and `w` are workspaces."""
    for i in range(s.shape[0]):
        moved[i] = s[i] + t * ds[i]
    project_blocks(moved, block, m_e, w)
    total = 0.0
    for i in range(s.shape[0]):
        total += Cd[i] * w[i]
    return total
