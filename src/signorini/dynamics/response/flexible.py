r"""Bodies that deform by modes in a floating frame, S5 eqs. (1)-(3), with foreshortening.

A material point is at :math:`r = r_0 + \Phi q + \tfrac12 q^T \chi q` in the frame, and with the current partials
:math:`\Phi^* = \Phi + \chi q`

.. math::
    V_P = S(r)^T V + [\Psi; \Phi^*] \dot q, \qquad
    A_P = S(r)^T A + [\Psi; \Phi^*] \ddot q + \hat A, \qquad
    \hat A = [w \times \Psi \dot q;\; w \times (w \times r) + 2 w \times \Phi^* \dot q + (\chi \dot q) \dot q].

The equations of motion :math:`\Gamma [A; \ddot q] + \beta = \sum T^T F` follow by sums over points of mass, which for
beams are those of a quadrature that is exact for polynomial shapes. Spatial vectors are stacked (angular, linear) in
world axes. The paper has no formula for geometric stiffness; second-order displacements :math:`\chi` make axial loads
of every kind stiffen bending, and :math:`\Gamma_{FF}` depends on q.

References
----------
.. [S5] Bhalerao & Anderson (2010), eqs. (1)-(4); :math:`\chi` and its terms are section 2 of the specification.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from signorini._arrays import Array


class Points(NamedTuple):
    """Material points of a body with nu modes."""

    place: Array
    """In the frame, undeformed, (n, 3) [m]."""
    Phi: Array
    """Displacements by the modes, (n, 3, nu)."""
    Psi: Array
    """Small turns by the modes, (n, 3, nu) [rad per unit]."""
    Chi: Array
    """Displacements of the second order, symmetric in the modes, (n, 3, nu, nu)."""


class Flexible(NamedTuple):
    """Points of mass and stiffness of a body; its frame is where modes neither displace nor turn it."""

    mass: Array
    """Of each point, (n,) [kg]."""
    points: Points
    stiffness: Array
    """(nu, nu)"""
    damping: Array
    """(nu, nu)"""
    turning: Array
    """Inertia beyond that of the points about the axes of the frame, such as that of sections, (3, 3) [kg m^2]."""

    @property
    def mode_count(self) -> int:
        """Number of modes."""
        return int(self.stiffness.shape[0])


class Deformed(NamedTuple):
    """Points of a body in a state of motion, as seen from its frame, in world axes."""

    r: Array
    """(n, 3)"""
    partial: Array
    """Phi*, (n, 3, nu)."""
    turn: Array
    """Psi, (n, 3, nu)."""
    rate: Array
    """``Phi* qd``, (n, 3)."""
    bias: Array
    """Linear part of A^, (n, 3)."""
    bias_turn: Array
    """Angular part, (n, 3)."""


def deformed(points: Points, R: Array, w: Array, q: Array, qd: Array) -> Deformed:
    """Return points of a body whose frame is turned by `R` (3, 3) and turns at `w` (3,) in the world."""
    own = points.Phi + points.Chi @ q
    r = (points.place + points.Phi @ q + 0.5 * (points.Chi @ q) @ q) @ R.T
    partial, turn = R @ own, R @ points.Psi
    rate = partial @ qd
    bias = np.cross(w, np.cross(w, r)) + 2.0 * np.cross(w, rate) + ((points.Chi @ qd) @ qd) @ R.T
    return Deformed(r, partial, turn, rate, bias, np.cross(w, turn @ qd))


def equations(body: Flexible, R: Array, w: Array, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return Gamma (6 + nu, 6 + nu), and the inertial part of beta (6 + nu,): without weight, stiffness and damping."""
    at, m = deformed(body.points, R, w, q, qd), body.mass
    n = 6 + body.mode_count
    T = np.zeros((m.size, 3, n))
    T[:, :, :3] = -_skew(at.r)
    T[:, :, 3:6] = np.eye(3)
    T[:, :, 6:] = at.partial
    weighted = (m[:, None, None] * T).reshape(-1, n)
    Gamma = weighted.T @ T.reshape(-1, n)
    J = R @ body.turning @ R.T
    Gamma[:3, :3] += J
    beta = weighted.T @ at.bias.reshape(-1)
    beta[:3] += np.cross(w, J @ w)
    return 0.5 * (Gamma + Gamma.T), beta


def weight(body: Flexible, R: Array, q: Array, gravity: Array) -> Array:
    """Return the generalised force of gravity (3,) on frame and modes, (6 + nu,)."""
    at, m = deformed(body.points, R, np.zeros(3), q, np.zeros_like(q)), body.mass
    modal = m @ np.einsum("i,nik->nk", gravity, at.partial)
    return np.concatenate([np.cross(m @ at.r, gravity), m.sum() * gravity, modal])


def elastic_force(body: Flexible, q: Array, qd: Array) -> Array:
    """Return what stiffness and damping do to frame and modes, (6 + nu,)."""
    return np.concatenate([np.zeros(6), -body.stiffness @ q - body.damping @ qd])


def handles(points: Points, R: Array, w: Array, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return T (n, 6, 6 + nu) and A^ (n, 6) of points where joints and loads act."""
    at = deformed(points, R, w, q, qd)
    T = np.zeros((at.r.shape[0], 6, 6 + q.size))
    T[:, :3, :3] = T[:, 3:, 3:6] = np.eye(3)
    T[:, 3:, :3] = -_skew(at.r)
    T[:, :3, 6:], T[:, 3:, 6:] = at.turn, at.partial
    return T, np.hstack([at.bias_turn, at.bias])


# --- beams -------------------------------------------------------------------


class Section(NamedTuple):
    """What a straight uniform beam along x is made of."""

    length: float
    E: float
    I: tuple[float, float]
    """Second moments of area for bending along y and along z [m^4]."""
    A: float
    density: float


class Shapes(NamedTuple):
    """Modes of a beam in this order, each by coefficients of powers of x/length."""

    axial: Sequence[Sequence[float]] = ()
    bending_y: Sequence[Sequence[float]] = ()
    bending_z: Sequence[Sequence[float]] = ()

    def polynomials(self) -> list[tuple[int, Polynomial]]:
        """Return the axis and the polynomial of every mode."""
        return [(axis, Polynomial(one)) for axis, modes in enumerate(self) for one in modes]


def beam_points(section: Section, shapes: Shapes, x: Array, *, foreshortening: bool = True) -> Points:
    r"""Return the points of a beam at distances `x` (n,) from its start.

    With foreshortening :math:`\chi_{ij} = -\int_0^x S_i' S_j' ds` along the beam, for bending along one axis.
    """
    L, modes = section.length, shapes.polynomials()
    xi, nu = np.asarray(x, dtype=float) / L, len(modes)
    n = xi.size
    place, Phi, Psi, Chi = np.zeros((n, 3)), np.zeros((n, 3, nu)), np.zeros((n, 3, nu)), np.zeros((n, 3, nu, nu))
    place[:, 0] = L * xi
    for i, (axis, S) in enumerate(modes):
        Phi[:, axis, i] = S(xi)
        if axis == 0:
            continue
        slope = S.deriv()
        # A beam that bends along y turns about z, along z about -y.
        Psi[:, 3 - axis, i] = (1.0 if axis == 1 else -1.0) * slope(xi) / L
        for j, (other, S_j) in enumerate(modes):
            if foreshortening and other == axis:
                Chi[:, 0, i, j] = -(slope * S_j.deriv()).integ()(xi) / L
    return Points(place, Phi, Psi, Chi)


def make_beam(
    section: Section,
    shapes: Shapes,
    *,
    masses: Sequence[tuple[float, float]] = (),
    damping: Array | None = None,
    turning: Array | None = None,
    foreshortening: bool = True,
) -> Flexible:
    """Return a beam with point masses at (distance, mass); K = E A int phi'^2 along and E I int phi''^2 across it."""
    L, modes = section.length, shapes.polynomials()
    # Products of two foreshortenings have four times the degree of a shape; n Gauss points are exact to 2 n - 1.
    count = 2 * max([1, *(S.degree() for _, S in modes)]) + 1
    xi, share = np.polynomial.legendre.leggauss(count)
    x = np.concatenate([0.5 * L * (1.0 + xi), [place for place, _ in masses]])
    mass = np.concatenate([0.5 * section.density * section.A * L * share, [one for _, one in masses]])
    K = np.zeros((len(modes), len(modes)))
    for i, (axis, S) in enumerate(modes):
        for j, (other, S_j) in enumerate(modes):
            if axis == other:
                order, rigidity = (1, section.E * section.A) if axis == 0 else (2, section.E * section.I[axis - 1])
                K[i, j] = rigidity * (S.deriv(order) * S_j.deriv(order)).integ()(1.0) / L ** (2 * order - 1)
    none = np.zeros_like(K)
    own = np.diag([section.density * sum(section.I) * L, 0.0, 0.0]) if turning is None else turning
    points = beam_points(section, shapes, x, foreshortening=foreshortening)
    return Flexible(mass, points, K, none if damping is None else damping, own)


def _skew(r: Array) -> Array:
    """Return the matrices of the cross products with vectors, (n, 3, 3)."""
    S = np.zeros((r.shape[0], 3, 3))
    S[:, 0, 1], S[:, 0, 2], S[:, 1, 2] = -r[:, 2], r[:, 1], -r[:, 0]
    S[:, 1, 0], S[:, 2, 0], S[:, 2, 1] = r[:, 2], -r[:, 1], r[:, 0]
    return S
