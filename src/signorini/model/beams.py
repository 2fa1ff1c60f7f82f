r"""Straight uniform beams whose modes are polynomials (S5, section 2).

.. math::
    K_{ij} = E A \int \phi_i' \phi_j' dx \text{ along}, \qquad E I \int \phi_i'' \phi_j'' dx \text{ across}, \qquad
    \chi_{x,ij}(x) = -\int_0^x S_i' S_j' ds .
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Legendre, Polynomial

from signorini._arrays import Array
from signorini.model.flexible import Flexible, Points

_MORE_SHAPES = 4  # polynomials beyond the modes asked for: the lowest frequencies are then good to 1e-8


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

    @classmethod
    def natural(cls, axial: int, bending: int, *, planar: bool) -> Shapes:
        """Return static shapes first, of an end force and for bending of an end moment, then vibrations.

        The static ones are what the end can do; vibrations are those of a beam with both ends clamped (Craig and
        Bampton), by polynomials.
        """
        along = [(0.0, 1.0), *_vibrations(axial - 1, 1)][:axial]
        across = [(0.0, 0.0, 1.5, -0.5), (0.0, 0.0, 1.0), *_vibrations(bending - 2, 2)][:bending]
        return cls(along, across, () if planar else across)

    def polynomials(self) -> list[tuple[int, Polynomial]]:
        """Return the axis and the polynomial of every mode."""
        return [(axis, Polynomial(one)) for axis, modes in enumerate(self) for one in modes]


def _vibrations(count: int, clamped: int) -> list[tuple[float, ...]]:
    """Return coefficients of the lowest modes that vanish at both ends with `clamped` - 1 of their derivatives.

    Stiffness is the integral of the square of derivative `clamped`. Bubbles times Legendre's polynomials span them.
    """
    if count <= 0:
        return []
    bubble = Polynomial([0.0, 1.0, -1.0]).convert(kind=Legendre, domain=[0, 1]) ** clamped
    basis = [bubble * Legendre.basis(k, domain=[0, 1]) for k in range(count + _MORE_SHAPES)]
    xi, share = np.polynomial.legendre.leggauss(len(basis) + 2 * clamped)
    xi, share = 0.5 * (1.0 + xi), 0.5 * share
    steep, values = (np.array([one.deriv(order)(xi) for one in basis]) for order in (clamped, 0))
    K, M = ((some * share) @ some.T for some in (steep, values))
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    _, vectors = np.linalg.eigh(inverse @ K @ inverse.T)
    modes = []
    for column in (inverse.T @ vectors[:, :count]).T:
        own = column @ values
        mode = sum((x * one for x, one in zip(column, basis, strict=True)), start=Legendre([0.0], domain=[0, 1]))
        coefficients = mode.convert(kind=Polynomial, domain=[-1, 1]).coef / own[np.argmax(np.abs(own))]
        coefficients[:clamped] = 0.0  # rounding
        modes.append(tuple(coefficients.tolist()))
    return modes


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
    for axis in range(3):
        order, rigidity = (1, section.E * section.A) if axis == 0 else (2, section.E * section.I[axis - 1])
        alike = [i for i, (other, _) in enumerate(modes) if other == axis]
        steep = np.array([modes[i][1].deriv(order)(0.5 * (1.0 + xi)) for i in alike]).reshape(len(alike), count)
        K[np.ix_(alike, alike)] = rigidity / L ** (2 * order - 1) * 0.5 * (steep * share) @ steep.T
    none = np.zeros_like(K)
    own = np.diag([section.density * sum(section.I) * L, 0.0, 0.0]) if turning is None else turning
    points = beam_points(section, shapes, x, foreshortening=foreshortening)
    return Flexible(mass, points, K, none if damping is None else damping, own)
