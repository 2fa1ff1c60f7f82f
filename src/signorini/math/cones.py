r"""Friction cones of one contact: projections, support functions, the natural map.

Components are (normal, tangent, tangent). The exact cone is :math:`K = \{|p_T| \le \mu p_n\}`; the polygonal cone has
the generators :math:`(1, \mu d_j)`, :math:`d_j = (\cos(\phi + 2\pi j/n_d), \sin(\phi + 2\pi j/n_d))`. A planar
contact is a spatial one whose second tangent stays zero; its polygon has two directions and is the exact cone.
"""

from __future__ import annotations

import math

from signorini._arrays import Array
from signorini._jit import inner_kernel, kernel

Triple = tuple[float, float, float]

VELOCITY_TOLERANCE = 1e3
"""Multiple of the tolerance up to which a contact's velocity may err, relative to the largest velocity of the load."""
CREDIBLE = 1e-3
"""Velocity error beyond which impulses ran away, whatever forbids to do better: then errors exceed 1e-2 of the load."""
LEVERAGE = 30.0
"""Impulses over those that the load alone would ask for: beyond it a solution is to be as much more precise."""
ROUNDING = 2.2e-16
_ROUNDINGS = 32.0  # of the velocity that an impulse makes: what its sum with others can be right to


@kernel
def allowed_error(tolerance: float, rounding: float) -> float:
    """Return the velocity error of a contact that a solution may have, as part of the largest velocity of the load.

    `rounding` is that of the velocities that the impulses make by themselves, as such a part. Impulses may be so great
    that it exceeds what the tolerance asks for: then errors may be some roundings, but never more than `CREDIBLE`.
    """
    return max(VELOCITY_TOLERANCE * tolerance, min(CREDIBLE, _ROUNDINGS * rounding))


@kernel
def leaves_load(tolerance: float, rounding: float) -> bool:
    """Tell whether the `rounding` of :func:`allowed_error` is so small that the load is still to be seen beside it."""
    return rounding <= max(CREDIBLE, VELOCITY_TOLERANCE * tolerance)


@kernel
def project_cone(z0: float, z1: float, z2: float, mu: float) -> Triple:
    r"""Return the nearest point of the exact cone :math:`|p_T| \le \mu p_n`."""
    t = math.sqrt(z1 * z1 + z2 * z2)
    if z0 >= 0.0 and t <= mu * z0:  # without friction mu z0 is zero for negative z0 too
        return (z0, z1, z2)
    if mu * t <= -z0:
        return (0.0, 0.0, 0.0)
    n = (z0 + mu * t) / (1.0 + mu * mu)
    scale = mu * n / t if t > 0.0 else 0.0
    return (n, scale * z1, scale * z2)


@kernel
def project_polygon(z0: float, z1: float, z2: float, mu: float, n_d: int, phi: float) -> Triple:
    """Return the nearest point of the cone over a regular polygon of `n_d` >= 3 vertices.

    The cone is invariant under the reflections of the polygon, so the nearest point lies in the sector (between two
    neighbouring vertices) of the given one: project on that sector's facet, and if this leaves the facet, on its edge.
    """
    half = math.pi / n_d
    sector = math.floor((math.atan2(z2, z1) - phi) / (2.0 * half))
    angle = phi + (2.0 * sector + 1.0) * half  # direction of the facet's middle
    c = math.cos(angle)
    s = math.sin(angle)
    a = c * z1 + s * z2
    t = c * z2 - s * z1
    m = mu * math.cos(half)
    n = z0
    if a > m * z0:
        n = (z0 + m * a) / (1.0 + m * m)
        a = m * n
    edge = mu * math.sin(half)
    if n < 0.0 or abs(t) > edge * n:
        edge = math.copysign(edge, t)
        n = max(0.0, (z0 + m * (c * z1 + s * z2) + edge * t) / (1.0 + mu * mu))
        a = m * n
        t = edge * n
    return (n, c * a - s * t, s * a + c * t)


@kernel
def polygon_support(u1: float, u2: float, n_d: int, phi: float) -> float:
    r"""Return :math:`\max_j (-d_j \cdot u_T)_+`, the slip speed as the polygon sees it."""
    largest = 0.0
    for j in range(n_d):
        angle = phi + 2.0 * math.pi * j / n_d
        largest = max(largest, -(math.cos(angle) * u1 + math.sin(angle) * u2))
    return largest


@inner_kernel
def natural_square(p0: float, p1: float, p2: float, u0: float, u1: float, u2: float, mu: float, rho: float) -> float:
    r"""Return the squared norm of the natural map of one contact, :math:`|p - P_K(p - \rho \hat u)|^2`."""
    z0 = p0 - rho * (u0 + mu * math.sqrt(u1 * u1 + u2 * u2))
    z0, z1, z2 = project_cone(z0, p1 - rho * u1, p2 - rho * u2, mu)
    return (p0 - z0) ** 2 + (p1 - z1) ** 2 + (p2 - z2) ** 2


@kernel
def natural_norms(p: Array, u: Array, b: Array, mu: Array, rho: Array) -> tuple[float, float, float]:
    r"""Return the norms of the natural map, of `p` and of :math:`\rho b` over all contacts (arrays (n_c, 3)).

    The natural map of the exact cone is :math:`p - P_K(p - \rho \hat u)`, :math:`\hat u = u + \mu |u_T| n`.
    """
    error = 0.0
    size = 0.0
    load = 0.0
    for c in range(mu.shape[0]):
        r = rho[c]
        error += natural_square(p[c, 0], p[c, 1], p[c, 2], u[c, 0], u[c, 1], u[c, 2], mu[c], r)
        size += p[c, 0] * p[c, 0] + p[c, 1] * p[c, 1] + p[c, 2] * p[c, 2]
        load += r * r * (b[c, 0] * b[c, 0] + b[c, 1] * b[c, 1] + b[c, 2] * b[c, 2])
    return (math.sqrt(error), math.sqrt(size), math.sqrt(load))


@kernel
def polygon_norms(
    p: Array, u: Array, b: Array, mu: Array, rho: Array, n_d: int, phi: float
) -> tuple[float, float, float]:
    """Return what :func:`natural_norms` does, for the polygonal cone."""
    error = 0.0
    size = 0.0
    load = 0.0
    for c in range(mu.shape[0]):
        r = rho[c]
        z0 = p[c, 0] - r * (u[c, 0] + mu[c] * polygon_support(u[c, 1], u[c, 2], n_d, phi))
        z0, z1, z2 = project_polygon(z0, p[c, 1] - r * u[c, 1], p[c, 2] - r * u[c, 2], mu[c], n_d, phi)
        error += (p[c, 0] - z0) ** 2 + (p[c, 1] - z1) ** 2 + (p[c, 2] - z2) ** 2
        size += p[c, 0] * p[c, 0] + p[c, 1] * p[c, 1] + p[c, 2] * p[c, 2]
        load += r * r * (b[c, 0] * b[c, 0] + b[c, 1] * b[c, 1] + b[c, 2] * b[c, 2])
    return (math.sqrt(error), math.sqrt(size), math.sqrt(load))
