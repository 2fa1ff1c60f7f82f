"""The mixed complementarity problem with bounds, nonlinear: functions, bounds and residual."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked
from signorini._scipy import sparse
from signorini.errors import InputError
from signorini.problems.derivatives import AutomaticJacobian
from signorini.problems.matrices import Matrix
from signorini.problems.mcp_distance import NEAR, distance


@dataclass(frozen=True, slots=True, eq=False, init=False)
class MCP:
    r"""Find x with ``lower <= x <= upper`` and F_i(x) >= 0 at a lower bound, <= 0 at an upper one, 0 between.

    ``lower = 0, upper = inf`` (the default) is the nonlinear complementarity problem ``0 <= x ⊥ F(x) >= 0``; an
    unknown with both bounds infinite is free.

    Parameters
    ----------
    F : callable
        Takes x (n,), returns F(x) (n,). It may raise an arithmetic error or return NaN where it is not defined:
        solvers then step back.
    J : callable, optional
        Takes x, returns the Jacobian (n, n), dense or SciPy sparse. None: derivatives are found automatically, by
        complex steps where F allows them (checked against differences), else by central differences.
    lower, upper : (n,) array or number
    x0 : (n,) array
        Start; also says how many unknowns there are.

    Examples
    --------
    >>> problem = MCP(lambda x: (x - 1.0) ** 2 - 1.01, x0=[0.0])
    >>> problem.residual(np.array([1.0 + 1.01**0.5])) < 1e-15
    True
    """

    F: Callable[[Array], Any]
    J: Callable[[Array], Any]
    lower: Array
    upper: Array
    x0: Array

    def __init__(
        self,
        F: Callable[[Array], Any],
        J: Callable[[Array], Any] | None = None,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
        x0: ArrayLike | None = None,
    ) -> None:
        if not callable(F):
            raise InputError(f"MCP: F is {F!r}, must be a function of x")
        if J is not None and not callable(J):
            raise InputError(f"MCP: J is {J!r}, must be a function of x or None")
        sized = [part for part in (x0, lower, upper) if part is not None and np.ndim(part) == 1]
        if not sized:
            raise InputError("MCP: x0 is None, must be a start (or a bound an array) to know the number of unknowns")
        n = int(np.size(sized[0]))
        l, u = _bound(lower, n, "MCP: lower"), _bound(upper, n, "MCP: upper")
        crossed = np.flatnonzero(~(l <= u))
        if crossed.size:
            i = int(crossed[0])
            raise InputError(f"MCP: lower[{i}] is {l[i]}, must be <= upper[{i}] = {u[i]}")
        start = np.clip(0.0, l, u) if x0 is None else checked(x0, (n,), "MCP: x0")
        for name, value in (("F", F), ("J", J or AutomaticJacobian(F)), ("lower", l), ("upper", u), ("x0", start)):
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return int(self.x0.size)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds, (n,) each."""
        return self.lower, self.upper

    @property
    def start(self) -> Array:
        """The start, cut to the bounds, (n,)."""
        return np.clip(self.x0, self.lower, self.upper)

    def value(self, x: Array) -> Array | None:
        """Return F(x), None where F is not defined (not finite, or an arithmetic error)."""
        try:
            with np.errstate(all="ignore"):
                raw = np.asarray(self.F(x.copy()))
        except ArithmeticError:
            return None
        except ValueError as error:  # math.sqrt(-1.0), math.log(0.0)
            if "domain" in str(error):
                return None
            raise
        if raw.dtype.kind == "c":  # a negative number to a fractional power is complex in plain Python
            return None
        try:
            F = raw.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"MCP: F returns {raw!r}, must return {x.size} numbers") from error
        if F.shape != x.shape:
            raise InputError(f"MCP: F returns shape {F.shape}, must be {x.shape}")
        return F if np.isfinite(F).all() else None

    def jacobian(self, x: Array) -> Matrix | None:
        """Return J(x) as an array or compressed sparse rows, None where it is not defined."""
        try:
            with np.errstate(all="ignore"):
                J: Any = self.J(x.copy())
        except ArithmeticError:
            return None
        if J is None:
            return None
        if not isinstance(J, np.ndarray) and sparse.issparse(J):
            given: Any = J
            J = sparse.csr_array(given)
            finite = np.isfinite(J.data).all()
        else:
            J = np.ascontiguousarray(J, dtype=np.float64)
            finite = np.isfinite(J).all()
        if J.shape != (x.size, x.size):
            raise InputError(f"MCP: J returns shape {J.shape}, must be {(x.size, x.size)}")
        return J if finite else None

    def jacobian_error(self, x: Array) -> float:
        """Return how far J(x) is from differences of F along one direction, relative to its terms: 0.1 is a wrong J."""
        J = self.jacobian(x)
        return 0.0 if J is None else AutomaticJacobian(self.F).error_of(J, x)

    def residual(self, x: Array) -> float:
        r"""Return :math:`\max_i |\max(\min(F_i(x), x_i - l_i), x_i - u_i)|`; infinity where F is not defined.

        This is ``x - clip(x - F, l, u)`` in a form in which a great x does not round F away.
        """
        if x.size == 0:
            return 0.0
        F = self.value(x) if np.isfinite(x).all() else None
        if F is None:
            return float("inf")
        return float(np.abs(natural_map(x, F, *self.bounds)).max())

    def credible(self, x: Array, tolerance: float) -> bool:
        """Tell whether a point whose residual meets `tolerance` lies between the bounds and near a solution.

        Near: Newton steps from `x` shrink like those at a root, lead back from both sides of where they end, and `x` is
        at most 1e-3 of ``1 + |x_i|`` from there (:mod:`~signorini.problems.mcp_distance`). Functions that decay to zero
        without reaching it, or pass it at a little distance, have small residuals and no solution; what cannot be told
        from these is not credible.
        """
        if not ((x >= self.lower) & (x <= self.upper)).all():
            return False
        F = self.value(x)
        return F is not None and distance(self, x, F) <= NEAR

    def save(self, path: str | PathLike[str]) -> None:
        """Raise: functions cannot be written to a data file."""
        raise InputError(f"MCP: cannot save to {path}: F is a function; only problems made of data can be saved")


def _bound(value: ArrayLike, n: int, what: str) -> Array:
    """Return a bound as an array of n numbers, infinite ones allowed."""
    try:
        bound = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} is {value!r}, must be numbers") from error
    if bound.ndim == 0:
        bound = np.full(n, float(bound))
    if bound.shape != (n,):
        raise InputError(f"{what} has shape {bound.shape}, must be ({n},) or a number")
    if np.isnan(bound).any():
        raise InputError(f"{what} must not be NaN")
    return bound


def natural_map(x: Array, F: Array, lower: Array, upper: Array) -> Array:
    """Return ``max(min(F, x - l), x - u)``, zero exactly at solutions."""
    return np.asarray(np.maximum(np.minimum(F, x - lower), x - upper))
