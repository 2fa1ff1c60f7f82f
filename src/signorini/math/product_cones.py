r"""Cones of contacts that also resist twisting and rolling: projection and natural map.

The components of a contact are the normal one and groups :math:`x_k` of one to three others (tangential, torsional,
rolling), each bound by the same normal component:

.. math:: K = \{ x : |x_k| \le m_k x_n \text{ for all } k \}.

Maximal dissipation in every group makes the law :math:`K^* \ni u + (\sum_k m_k |u_k|)\, n \perp x \in K`. The groups
are the components ``starts[k] .. starts[k + 1] - 1``, the limits :math:`m_k` are given by contacts (n_c, g).
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel


@inner_kernel
def group_size(x: Array, c: int, first: int, end: int) -> float:
    """Return the length of the components ``first .. end - 1`` of contact `c`."""
    total = 0.0
    for i in range(first, end):
        total += x[c, i] * x[c, i]
    return math.sqrt(total)


@kernel
def project_product(z: Array, c: int, limits: Array, starts: IntArray) -> None:
    r"""Put the nearest point of the cone of contact `c` in the place of ``z[c]``.

    The normal component n of the nearest point is the root of the increasing, piecewise linear function
    :math:`n - z_n - \sum_k m_k (|z_k| - m_k n)_+`, or 0 if that is negative: groups enter the sum in the order of
    :math:`|z_k| / m_k`, the largest first, until the root lies above the next one.
    """
    groups = starts.shape[0] - 1
    n = z[c, 0]
    slope = 1.0
    value = z[c, 0]
    bound = math.inf
    for _ in range(groups):
        largest = -1.0
        chosen = -1
        for k in range(groups):
            m = limits[c, k]
            if m > 0.0:
                at = group_size(z, c, starts[k], starts[k + 1]) / m
                if at < bound and at > largest:
                    largest = at
                    chosen = k
        if chosen < 0 or n >= largest:
            break
        bound = largest
        for k in range(groups):  # several groups may have the same ratio
            m = limits[c, k]
            if m > 0.0:
                size = group_size(z, c, starts[k], starts[k + 1])
                if size / m == largest:
                    value += m * size
                    slope += m * m
        n = value / slope
    n = max(n, 0.0)
    z[c, 0] = n
    for k in range(groups):
        size = group_size(z, c, starts[k], starts[k + 1])
        if size > limits[c, k] * n:
            factor = limits[c, k] * n / size
            for i in range(starts[k], starts[k + 1]):
                z[c, i] *= factor


@inner_kernel
def product_square(x: Array, u: Array, c: int, bounds: Array, starts: IntArray, rho: float, z: Array) -> float:
    r"""Return the squared norm of the natural map of contact `c`, :math:`|x - P_K(x - \rho \hat u)|^2`.

    The first row of `bounds` holds the limits of its groups, that of `z` is work space.
    """
    extra = 0.0
    for k in range(starts.shape[0] - 1):
        extra += bounds[0, k] * group_size(u, c, starts[k], starts[k + 1])
    for i in range(x.shape[1]):
        z[0, i] = x[c, i] - rho * u[c, i]
    z[0, 0] -= rho * extra
    project_product(z, 0, bounds, starts)
    square = 0.0
    for i in range(x.shape[1]):
        square += (x[c, i] - z[0, i]) ** 2
    return square


@kernel
def product_norms(
    x: Array, u: Array, b: Array, limits: Array, starts: IntArray, rho: Array
) -> tuple[float, float, float]:
    r"""Return the norms of the natural map :math:`x - P_K(x - \rho \hat u)`, of `x` and of :math:`\rho b`."""
    n_c = x.shape[0]
    rows = x.shape[1]
    z = np.empty((1, rows))
    bounds = np.empty((1, starts.shape[0] - 1))
    error = 0.0
    size = 0.0
    load = 0.0
    for c in range(n_c):
        r = rho[c]
        for k in range(starts.shape[0] - 1):
            bounds[0, k] = limits[c, k]
        for i in range(rows):
            size += x[c, i] * x[c, i]
            load += r * r * b[c, i] * b[c, i]
        error += product_square(x, u, c, bounds, starts, r, z)
    return (math.sqrt(error), math.sqrt(size), math.sqrt(load))
