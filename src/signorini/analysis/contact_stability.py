r"""Stability of contact forces: does the rigid model follow from bodies that are a little soft?

Where contacts are springs with dampers, forces settle within a short time, the boundary layer. With the penetrations y
in stretched time (S4, eq. 28)

.. math:: y'' + D (c\, y' + k\, y) = 0,

and an eigenvalue a + ib of D decays exactly if (S4, eq. 35)

.. math:: a > 0, \qquad a c^2 (a^2 + b^2) - b^2 k > 0.

So the layer is stable for ``c^2/k`` above the critical damping ``max b^2 / (a (a^2 + b^2))``, which is 0 if all
eigenvalues are real and positive and infinite if some real part is not positive. Only then does the motion of the rigid
model come near that of the soft one (theorem 4.1). The damping ratio of a contact is ``sqrt(c^2/k) / 2``.

==============  ==================  ========================================================
here            S4                  meaning
==============  ==================  ========================================================
``D``           :math:`D` (9)       normal accelerations per normal forces, (m, m) [1/kg]
``damping``     :math:`c^2/k`       damping of the contacts, made free of the small parameter [kg]
==============  ==================  ========================================================

References
----------
.. [S4] Dupont & Yamajako (1997), section IV. Different contacts (:func:`layer_of_contacts`) are not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from signorini._arrays import Array, IntArray, checked, checked_number
from signorini._words import Word
from signorini.analysis.p_matrix import ROUNDING, square_matrix
from signorini.errors import InputError

Complex = NDArray[np.complex128]

_DOUBLE = 1e-7  # eigenvalues of a defective matrix come out wrong by about the square root of the rounding unit


class Spectrum(IntEnum):
    """Kinds of spectra of D, the worst eigenvalue deciding: the regions of the map."""

    REAL_POSITIVE = 0
    COMPLEX = 1
    """Complex eigenvalues, all real parts positive."""
    COMPLEX_NEGATIVE = 2
    """A complex pair whose real part is not positive."""
    ODD_NEGATIVE = 3
    """An odd number of real eigenvalues that are not positive: det D <= 0."""
    EVEN_NEGATIVE = 4
    """An even number of them."""


class Stability(Word):
    """What becomes of a small disturbance of the contact forces."""

    STABLE = 0
    MARGINAL = 1
    """It neither grows nor decays."""
    DAMPING_NEEDED = 2
    """It decays only with damping above the critical one, which was not given."""
    OSCILLATORY = 3
    """It grows as an oscillation; more damping would make it decay."""
    UNSTABLE = 4
    """It grows whatever the damping."""


@dataclass(frozen=True, slots=True)
class BoundaryLayer:
    """Stability of the forces of the contacts that press."""

    stability: Stability
    critical_damping: float
    """Smallest ``c^2/k`` that would make the layer stable [kg]; 0: any, inf: none."""
    damping: float | None
    """The ``c^2/k`` that was given [kg]."""
    eigenvalues: Complex
    """Of D, by real part [1/kg]."""
    spectrum: Spectrum
    margin: float
    """Smallest real part of an eigenvalue of D relative to the largest eigenvalue; near 0 the answer may change."""
    growth: float
    """Largest real part of the layer's own eigenvalues in stretched time with k = 1; nan without damping given."""
    sensitive: bool
    """True where two eigenvalues nearly coincide: whether they are real cannot be seen from their digits."""


def boundary_layer(D: ArrayLike, *, damping: float | None = None) -> BoundaryLayer:
    """Decide the stability of contacts that all have the same stiffness and damping.

    Parameters
    ----------
    D : (m, m) array_like
        Of the contacts that press (their force is positive).
    damping : float, optional
        ``c^2/k`` of the contacts; None leaves it open, so that a spectrum with complex eigenvalues gives
        ``DAMPING_NEEDED``.

    Examples
    --------
    >>> boundary_layer([[1.721785, -1.238592], [1.552243, 1.721785]]).critical_damping.__format__(".5f")
    '0.22848'
    """
    A = square_matrix(D)
    if damping is not None:
        damping = checked_number(damping, "damping c^2/k", least=0.0)
    if A.size == 0:
        nothing = np.zeros(0, dtype=np.complex128)
        return BoundaryLayer(Stability.STABLE, 0.0, damping, nothing, Spectrum.REAL_POSITIVE, np.inf, -np.inf, False)
    eigenvalues = np.linalg.eigvals(A).astype(np.complex128)
    eigenvalues = eigenvalues[np.lexsort((eigenvalues.imag, eigenvalues.real))]
    size = float(np.abs(eigenvalues).max())
    critical = float(critical_damping(eigenvalues))
    singular = bool(np.any(np.abs(eigenvalues) <= ROUNDING * size)) if size > 0.0 else True
    sensitive = _nearly_double(eigenvalues)
    return BoundaryLayer(
        stability=_stability(eigenvalues, critical, damping, singular, sensitive),
        critical_damping=critical,
        damping=damping,
        eigenvalues=eigenvalues,
        spectrum=Spectrum(int(spectrum_kind(eigenvalues))),
        margin=float(eigenvalues.real.min()) / size if size > 0.0 else 0.0,
        growth=float("nan") if damping is None else float(_layer_roots(eigenvalues, damping).real.max()),
        sensitive=sensitive,
    )


def critical_damping(eigenvalues: Complex) -> Array:
    """Return the smallest stable ``c^2/k`` of each spectrum, (..., m) -> (...)."""
    a, b = _real_and_imaginary(eigenvalues)
    positive = a > 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(b == 0.0, 0.0, b * b / (a * (a * a + b * b)))
    out: Array = np.where(positive, needed, np.inf).max(axis=-1, initial=0.0)
    return out


def spectrum_kind(eigenvalues: Complex) -> IntArray:
    """Return the :class:`Spectrum` of each spectrum as a number, (..., m) -> (...)."""
    a, b = _real_and_imaginary(eigenvalues)
    is_real = b == 0.0
    negative = np.sum(is_real & (a <= 0.0), axis=-1)
    kind = np.where(np.any(~is_real, axis=-1), int(Spectrum.COMPLEX), int(Spectrum.REAL_POSITIVE))
    kind = np.where(np.any(~is_real & (a <= 0.0), axis=-1), int(Spectrum.COMPLEX_NEGATIVE), kind)
    even_or_odd = np.where(negative % 2 == 1, int(Spectrum.ODD_NEGATIVE), int(Spectrum.EVEN_NEGATIVE))
    return np.where(negative > 0, even_or_odd, kind).astype(np.int64)


def _real_and_imaginary(eigenvalues: Complex) -> tuple[Array, Array]:
    """Return real and imaginary parts, the latter 0 where it is rounding."""
    a, b = eigenvalues.real, eigenvalues.imag
    return a, np.where(np.abs(b) <= ROUNDING * np.abs(eigenvalues), 0.0, b)


def _nearly_double(eigenvalues: Complex) -> bool:
    if eigenvalues.size < 2:
        return False
    apart = np.abs(eigenvalues[:, None] - eigenvalues)
    np.fill_diagonal(apart, np.inf)
    return bool(apart.min() <= _DOUBLE * np.abs(eigenvalues).max())


def _stability(
    eigenvalues: Complex, critical: float, damping: float | None, singular: bool, sensitive: bool
) -> Stability:
    a, b = _real_and_imaginary(eigenvalues)
    size = float(np.abs(eigenvalues).max())
    tiny = ROUNDING * size
    if np.any(a < -tiny) or np.any((np.abs(a) <= tiny) & (np.abs(b) > tiny)):
        return Stability.UNSTABLE
    if singular:
        return Stability.MARGINAL
    if damping == 0.0:
        all_real = critical == 0.0 or (sensitive and critical * size <= _DOUBLE**2)
        return Stability.MARGINAL if all_real else Stability.OSCILLATORY
    if critical == 0.0:
        return Stability.STABLE
    if damping is None:
        return Stability.DAMPING_NEEDED
    if abs(damping - critical) <= ROUNDING * critical:
        return Stability.MARGINAL
    return Stability.STABLE if damping > critical else Stability.OSCILLATORY


def _layer_roots(eigenvalues: Complex, damping: float) -> Complex:
    """Return the roots of ``s^2 + c z s + k z = 0`` (S4, eq. 34) for every eigenvalue z, with k = 1."""
    z = eigenvalues
    c = np.sqrt(damping)
    root = np.sqrt(c * c * z * z - 4.0 * z)
    return np.concatenate([0.5 * (-c * z + root), 0.5 * (-c * z - root)])


@dataclass(frozen=True, slots=True)
class ContactLayer:
    """Boundary layer of contacts with stiffness and damping of their own."""

    stability: Stability
    growth: float
    """Largest real part of an eigenvalue, in the unit of time of the data given."""
    roots: Complex
    """Eigenvalues of the layer, by real part."""


def layer_of_contacts(D: ArrayLike, *, stiffness: ArrayLike, damping: ArrayLike) -> ContactLayer:
    """Decide the stability of contacts that differ: ``y'' + D (C y' + K y) = 0`` with diagonal C and K.

    Not in the paper, whose criterion (35) does not apply: the 2m eigenvalues of the layer itself are looked at.

    Parameters
    ----------
    D : (m, m) array_like
    stiffness, damping : (m,) array_like
        Of each contact [N/m], [N s/m].
    """
    A = square_matrix(D)
    m = A.shape[0]
    K, C = checked(stiffness, (m,), "stiffness"), checked(damping, (m,), "damping")
    if np.any(K <= 0.0):
        raise InputError(f"stiffness is {K.min():g} at contact {int(K.argmin())}, must be > 0")
    if np.any(C < 0.0):
        raise InputError(f"damping is {C.min():g} at contact {int(C.argmin())}, must be >= 0")
    if m == 0:
        return ContactLayer(Stability.STABLE, -np.inf, np.zeros(0, dtype=np.complex128))
    layer = np.block([[np.zeros((m, m)), np.eye(m)], [-A * K, -A * C]])
    roots = np.linalg.eigvals(layer).astype(np.complex128)
    roots = roots[np.lexsort((roots.imag, roots.real))]
    growth = float(roots.real.max())
    tiny = _DOUBLE * float(np.abs(roots).max())
    if abs(growth) <= tiny:
        return ContactLayer(Stability.MARGINAL, growth, roots)
    if growth < 0.0:
        return ContactLayer(Stability.STABLE, growth, roots)
    oscillates = bool(np.all(np.abs(roots.imag[roots.real > tiny]) > tiny))
    return ContactLayer(Stability.OSCILLATORY if oscillates else Stability.UNSTABLE, growth, roots)
