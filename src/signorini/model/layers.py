r"""Compliant layers of bodies: what a layer gives way under impulses, and the energy that it holds.

In the frame (n, t, o) of a contact, for the impulse p of a step of h seconds and deflections :math:`\delta` of which
the normal one is at most the thickness :math:`\delta_n^o` (S3 spec, sections 5 and 8),

.. math::
    p - p_r\, e_n = h f(\delta) + c(\delta, \delta - \delta^l), \qquad
    0 \le p_r \perp \delta_n^o - \delta_n \ge 0,

with the elastic force f, the impulse c of the dampers and the impulse :math:`p_r` of the rigid core. Every layer can be
solved for :math:`\delta`: impulses are all that a step has to find. A law is one class, and the
functions of its row of numbers (:mod:`~signorini.model.layer_kernels`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked, checked_number
from signorini.errors import InputError
from signorini.model.layer_kernels import YIELDING, hunt_crossley_row, linear_row, respond

if TYPE_CHECKING:
    from signorini.model.model import Model


class Response(NamedTuple):
    """What a layer does under an impulse."""

    deflection: Array
    """At the end of the step, (3,) [m]."""
    slope: Array
    """Its derivative by the impulse, (3, 3) [m/(N s)]."""
    core: float
    """The part of the normal impulse that the rigid core takes [N s]."""


class Layer(Protocol):
    """A law of compliance with a rigid core below it."""

    @property
    def max_deflection(self) -> float:
        """Thickness: the largest normal deflection, inf without a core [m]."""

    @property
    def is_skew(self) -> bool:
        """Whether normal deflection causes tangential forces."""

    def row(self, h: float) -> Array:
        """Return the law as a row of numbers for steps of `h` seconds: :mod:`~signorini.model.layer_kernels`."""

    def respond(self, p: Array, before: Array, h: float) -> Response:
        """Return what the impulse `p` (3,) of `h` seconds does to a layer that was deflected by `before` (3,)."""

    def full_impulse(self, before: Array, h: float) -> float:
        """Return the normal impulse that alone compresses the layer to its core in `h` seconds, inf without [N s]."""

    def force(self, deflection: Array) -> Array:
        """Return the elastic force, (3,) [N]."""

    def energy(self, deflection: Array) -> float:
        """Return the energy stored [J]."""

    def normal_energy(self, deflection: Array) -> float:
        """Return the energy that the normal deflection alone stores [J]."""

    def compression(self, force: float) -> float:
        """Return the normal deflection under a force at rest [m]."""

    def words(self, planar: bool) -> dict[str, Any]:
        """Return the words of a scene file that make this law."""


@lru_cache(maxsize=1024)
def _linear_row(stiffness: bytes, damping: bytes, thickness: float, h: float) -> Array:
    """Return the row of a linear law by the bytes of its matrices."""
    K, C = (np.frombuffer(matrix).reshape(3, 3) for matrix in (stiffness, damping))
    return linear_row(K, C, thickness, h)


def _response(law: Array, p: Array, before: Array, h: float) -> Response:
    deflection, slope = np.empty(3), np.empty((3, 3))
    core = respond(law, np.array(p, dtype=np.float64), np.array(before, dtype=np.float64), h, deflection, slope)
    return Response(deflection, slope, core)


@dataclass(frozen=True, slots=True, eq=False)
class LinearLayer:
    """Springs and dampers after Kelvin and Voigt: ``force = K deflection + C rate``."""

    stiffness: Array
    """Symmetric, positive definite, order (n, t, o), (3, 3) [N/m]."""
    damping: Array
    """Symmetric, positive semidefinite, (3, 3) [N s/m]."""
    max_deflection: float = float("inf")

    def __post_init__(self) -> None:
        self.stiffness.flags.writeable = self.damping.flags.writeable = False

    @property
    def is_skew(self) -> bool:
        return bool(np.any(self.stiffness[0, 1:]) or np.any(self.damping[0, 1:]))

    def row(self, h: float) -> Array:
        return _linear_row(self.stiffness.tobytes(), self.damping.tobytes(), self.max_deflection, h)

    def respond(self, p: Array, before: Array, h: float) -> Response:
        return _response(self.row(h), p, before, h)

    def full_impulse(self, before: Array, h: float) -> float:
        S = self.row(h)[YIELDING : YIELDING + 3]
        return (self.max_deflection - float(S @ (self.damping @ before))) / float(S[0])

    def force(self, deflection: Array) -> Array:
        return self.stiffness @ deflection

    def energy(self, deflection: Array) -> float:
        return 0.5 * float(deflection @ self.stiffness @ deflection)

    def normal_energy(self, deflection: Array) -> float:
        return 0.5 * float(self.stiffness[0, 0]) * float(deflection[0]) ** 2

    def compression(self, force: float) -> float:
        return force / float(self.stiffness[0, 0])

    def words(self, planar: bool) -> dict[str, Any]:
        out = {"stiffness": _shortest(self.stiffness, planar)}
        if np.any(self.damping):
            out["damping"] = _shortest(self.damping, planar)
        return out


@dataclass(frozen=True, slots=True)
class HuntCrossley:
    r"""A layer after Hunt and Crossley, in the normal direction: :math:`F = k \delta^e + c\, \delta^e \dot\delta`.

    Without damping and with the exponent 3/2 it is the contact of Hertz. Tangentially it is rigid.

    Parameters
    ----------
    stiffness : float
        k [N/m^e]
    exponent : float
        e, at least 1.
    damping : float
        c [N s/m^(e+1)]
    """

    stiffness: float
    exponent: float = 1.5
    damping: float = 0.0
    max_deflection: float = float("inf")

    def __post_init__(self) -> None:
        checked_number(self.stiffness, "HuntCrossley: stiffness", above=0.0)
        checked_number(self.exponent, "HuntCrossley: exponent", least=1.0)
        checked_number(self.damping, "HuntCrossley: damping", least=0.0)

    @property
    def is_skew(self) -> bool:
        return False

    def row(self, h: float) -> Array:
        return hunt_crossley_row(self.stiffness, self.exponent, self.damping, self.max_deflection)

    def respond(self, p: Array, before: Array, h: float) -> Response:
        return _response(self.row(h), p, before, h)

    def full_impulse(self, before: Array, h: float) -> float:
        d = self.max_deflection
        if d == float("inf"):
            return d
        return float(d**self.exponent * (h * self.stiffness + self.damping * (d - float(before[0]))))

    def force(self, deflection: Array) -> Array:
        return np.array([self.stiffness * float(deflection[0]) ** self.exponent, 0.0, 0.0])

    def energy(self, deflection: Array) -> float:
        return float(self.stiffness * float(deflection[0]) ** (self.exponent + 1.0) / (self.exponent + 1.0))

    def normal_energy(self, deflection: Array) -> float:
        return self.energy(deflection)

    def compression(self, force: float) -> float:
        return float((force / self.stiffness) ** (1.0 / self.exponent))

    def words(self, planar: bool) -> dict[str, Any]:
        return {"law": {"hunt_crossley": {word: getattr(self, word) for word in ("stiffness", "exponent", "damping")}}}


LAWS: dict[str, type[Any]] = {"hunt_crossley": HuntCrossley}
"""Laws that scene files name."""


def make_layer(
    what: str,
    *,
    planar: bool,
    stiffness: ArrayLike | None,
    damping: ArrayLike,
    max_deflection: float,
    law: Any,
) -> Layer:
    """Return the layer of these words, checked; a planar one has the directions n and t."""
    thickness = _thickness(max_deflection, what)
    if (stiffness is None) == (law is None):
        raise InputError(f"{what}: must have either stiffness or law")
    if stiffness is None:
        if type(law) not in LAWS.values():
            raise InputError(f"{what}: law is {law!r}, must be a HuntCrossley")
        made: Layer = replace(law, max_deflection=thickness)
        return made
    K = _matrix(stiffness, f"{what}: stiffness", planar)
    C = _matrix(damping, f"{what}: damping", planar)
    for matrix, word, least in ((K, "stiffness", "positive definite"), (C, "damping", "positive semidefinite")):
        values = np.linalg.eigvalsh(matrix)
        rounding = 1e-12 * float(np.abs(values).max())
        rigid = word == "stiffness" and thickness == 0.0 and values[0] >= -rounding
        if not (values[0] > rounding if word == "stiffness" else values[0] >= -rounding) and not rigid:
            raise InputError(f"{what}: {word} has eigenvalues {values.tolist()}, must be {least}")
    return LinearLayer(K, C, thickness)


def _thickness(value: float, what: str) -> float:
    if isinstance(value, float | int) and value == float("inf"):
        return float("inf")
    return checked_number(value, f"{what}: max_deflection", least=0.0)


def _matrix(value: ArrayLike, what: str, planar: bool) -> Array:
    """Return a number, the diagonal or the whole of a symmetric matrix as (3, 3); planar ones repeat t along o."""
    n = 2 if planar else 3
    if np.ndim(value) == 0:
        return checked_number(value, what) * np.eye(3)
    if np.ndim(value) == 1:
        diagonal = checked(value, (n,), what)
        return np.diag([*diagonal, *diagonal[1:2]][:3])
    given = checked(value, (n, n), what)
    if np.abs(given - given.T).max() > 1e-12 * np.abs(given).max():
        raise InputError(f"{what} is {given.tolist()}, must be symmetric")
    whole = np.zeros((3, 3))
    whole[:n, :n] = 0.5 * (given + given.T)
    if planar:
        whole[2, 2] = whole[1, 1]
    return whole


def _shortest(matrix: Array, planar: bool) -> Any:
    """Return what :func:`_matrix` turns into this matrix: a number, a diagonal, or all of it."""
    diagonal = np.diag(matrix)
    if np.array_equal(matrix, diagonal[0] * np.eye(3)):
        return float(diagonal[0])
    n = 2 if planar else 3
    return diagonal[:n].tolist() if np.array_equal(matrix, np.diag(diagonal)) else matrix[:n, :n].tolist()


def refuse_layers(model: Model, who: str) -> None:
    """Raise `InputError` if a body has a layer: `who` knows rigid surfaces alone."""
    for name, layer in zip(model.names, model.layers, strict=False):
        if layer is not None:
            raise InputError(f"body {name!r}: has a compliant layer, must have none for {who}; QuasiRigid knows layers")
