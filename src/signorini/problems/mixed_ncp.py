r"""The mixed nonlinear complementarity problem with balls: equations, complementary pairs, balls of unknown radius.

Every unknown has a row of F, in one of three ways:

.. math::
    F_i(z) = 0, \qquad
    0 \le z_i \perp F_i(z) \ge 0, \qquad
    z_B = P_{\beta z_r}\bigl(z_B - \rho F_B(z)\bigr) \text{ for any } \rho > 0,

where :math:`P_r` projects onto the ball of radius r about the origin: :math:`z_B` opposes :math:`F_B` with all that the
ball allows where :math:`F_B \ne 0`, and is anything in it where :math:`F_B = 0`. The radius is :math:`\beta` times
another unknown. A step that is implicit in its geometry is of this kind (S3, eqs. 14-15): motion, contact, friction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, IntArray, checked
from signorini._scipy import sparse
from signorini.errors import InputError
from signorini.problems.derivatives import AutomaticJacobian
from signorini.problems.matrices import Matrix
from signorini.problems.mcp_distance import NEAR
from signorini.problems.natural_jacobian import distance
from signorini.problems.natural_kernels import Rows, natural_map


class Ball(NamedTuple):
    """Unknowns that stay within a ball."""

    rows: tuple[int, ...]
    """Its members."""
    radius: int
    """The unknown that its radius is proportional to."""
    factor: float
    """Radius over that unknown, >= 0."""


@dataclass(frozen=True, slots=True, eq=False, init=False)
class MixedNCP:
    """Find z that makes every row hold, see :mod:`~signorini.problems.mixed_ncp`.

    Parameters
    ----------
    F : callable
        Takes z (n,), returns F(z) (n,); not finite where it is not defined.
    J : callable, optional
        Takes z, returns the Jacobian (n, n), dense or SciPy sparse. None: derivatives are found automatically.
    pairs : sequence of int
        Unknowns that are not negative, each complementary to its row.
    balls : sequence of (rows, radius, factor)
        Unknowns in balls; see :class:`Ball`. All others are free, and their rows equations.
    unit, row_unit : (n,) array or number
        Sizes of the unknowns and of the rows of F, in which the residual counts. Members of a ball have one unit.
    x0 : (n,) array
        Start; also says how many unknowns there are.

    Examples
    --------
    A force of 3 pushes a unit mass that rests with a normal force of 10 and friction 0.5: it stays.

    >>> problem = MixedNCP(
    ...     lambda z: np.array([z[0] - 10.0, 3.0 + z[1]]), balls=[((1,), 0, 0.5)], x0=[0.0, 0.0]
    ... )
    >>> problem.residual(np.array([10.0, -3.0]))
    0.0
    """

    F: Callable[[Array], Any]
    J: Callable[[Array], Any]
    pairs: IntArray
    balls: tuple[Ball, ...]
    unit: Array
    row_unit: Array
    x0: Array
    plain: IntArray
    """Unknowns whose rows are equations."""
    rows: Rows
    """The same for kernels."""

    def __init__(
        self,
        F: Callable[[Array], Any],
        J: Callable[[Array], Any] | None = None,
        *,
        pairs: Sequence[int] | IntArray = (),
        balls: Sequence[Ball | tuple[Sequence[int], int, float]] = (),
        unit: ArrayLike = 1.0,
        row_unit: ArrayLike = 1.0,
        x0: ArrayLike,
    ) -> None:
        if not callable(F):
            raise InputError(f"MixedNCP: F is {F!r}, must be a function of z")
        if J is not None and not callable(J):
            raise InputError(f"MixedNCP: J is {J!r}, must be a function of z or None")
        start = checked(x0, (None,), "MixedNCP: x0")
        n = start.size
        index = np.array(pairs, dtype=np.int64)
        round_ones = tuple(Ball(tuple(int(i) for i in rows), int(r), float(beta)) for rows, r, beta in balls)
        taken = np.concatenate([index, *(np.array(ball.rows, dtype=np.int64) for ball in round_ones)])
        _check_index(taken, n)
        sizes = _units(unit, n, "MixedNCP: unit"), _units(row_unit, n, "MixedNCP: row_unit")
        for ball in round_ones:
            _check_ball(ball, n, sizes)
        for name, value in (
            ("F", F),
            ("J", J or AutomaticJacobian(F)),
            ("pairs", index),
            ("balls", round_ones),
            ("unit", sizes[0]),
            ("row_unit", sizes[1]),
            ("x0", start),
            ("plain", np.setdiff1d(np.arange(n), taken)),
            ("rows", _rows(*sizes, index, round_ones)),
        ):
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return int(self.x0.size)

    def value(self, z: Array) -> Array | None:
        """Return F(z), None where F is not defined."""
        with np.errstate(all="ignore"):
            F = np.asarray(self.F(z), dtype=np.float64)
        if F.shape != z.shape:
            raise InputError(f"MixedNCP: F returns shape {F.shape}, must be {z.shape}")
        return F if np.isfinite(F).all() else None

    def jacobian(self, z: Array) -> Matrix | None:
        """Return J(z) as an array or compressed sparse rows, None where it is not defined."""
        with np.errstate(all="ignore"):
            J: Any = self.J(z)
        if J is None:
            return None
        if isinstance(J, np.ndarray):
            return J if np.isfinite(J).all() else None
        rows = sparse.csr_array(J)
        return rows if np.isfinite(rows.data).all() else None

    def natural(self, z: Array, F: Array) -> Array:
        """Return the natural map in its units, zero exactly at solutions, (n,)."""
        Phi = np.zeros(z.size)
        natural_map(self.rows, z, np.ascontiguousarray(F), Phi)
        return Phi

    def residual(self, z: Array) -> float:
        """Return the largest entry of the natural map, in its units; infinity where F is not defined."""
        F = self.value(z) if np.isfinite(z).all() else None
        return float("inf") if F is None else float(np.abs(self.natural(z, F)).max(initial=0.0))

    def credible(self, z: Array, tolerance: float) -> bool:
        r"""Tell whether the Newton step from a point whose residual meets `tolerance` is short.

        At most 1e-3 of ``unit + |z_i|``, the shortest where the Jacobian is singular: where F only decays to zero, as
        :math:`1 - \tanh z`, residuals are small and steps are not.
        """
        F = self.value(z) if np.isfinite(z).all() else None
        return F is not None and distance(self, z, F) <= NEAR


def _rows(unit: Array, row_unit: Array, pairs: IntArray, balls: tuple[Ball, ...]) -> Rows:
    start = np.cumsum([0, *(len(ball.rows) for ball in balls)])
    member = np.array([i for ball in balls for i in ball.rows], dtype=np.int64)
    radius = np.array([ball.radius for ball in balls], dtype=np.int64)
    return Rows(unit, row_unit, pairs, start, member, radius, np.array([ball.factor for ball in balls]))


def _check_index(taken: IntArray, n: int) -> None:
    if taken.size and (taken.min() < 0 or taken.max() >= n):
        raise InputError(f"MixedNCP: pairs and balls name unknowns {taken.tolist()}, must be from 0 to {n - 1}")
    if np.unique(taken).size < taken.size:
        raise InputError(f"MixedNCP: pairs and balls name unknowns {taken.tolist()}, must name each once")


def _check_ball(ball: Ball, n: int, sizes: tuple[Array, Array]) -> None:
    if not ball.rows or not 0 <= ball.radius < n or ball.radius in ball.rows:
        raise InputError(f"MixedNCP: ball is {tuple(ball)}, must have members and another unknown for its radius")
    if not ball.factor >= 0.0 or not np.isfinite(ball.factor):
        raise InputError(f"MixedNCP: factor of a ball is {ball.factor}, must be >= 0")
    for size in sizes:
        if np.ptp(size[list(ball.rows)]) > 0.0:
            raise InputError(f"MixedNCP: units of the ball {ball.rows} differ, must be one for all of its members")


def _units(value: ArrayLike, n: int, what: str) -> Array:
    """Return positive sizes, (n,)."""
    size = checked(np.broadcast_to(np.asarray(value, dtype=np.float64), (n,)), (n,), what)
    if n and size.min() <= 0.0:
        raise InputError(f"{what} has the entry {size.min()}, must be > 0")
    return size
