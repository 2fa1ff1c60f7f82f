r"""Regularity of contact configurations, by linear programming: can it be taken apart, is the friction cone pointed?

The Mangasarian-Fromovitz condition (MFCQ): joints are independent, and some motion u opens every contact,

.. math:: t^* = \max t: \quad \nu^T u = 0, \quad n_j^T u \ge t |n_j|, \quad -1 \le u \le 1, \quad t \le 1,

holds exactly if :math:`t^* > 0`. Otherwise the dual solution is an internal self-stress: impulses
:math:`c_n \ge 0, c_v`, not all zero, with :math:`n c_n + \nu c_v = 0`. The friction cone is pointed exactly if the same
holds for the edges :math:`n_j + \mu_j d_{ij}` of all cones; if it is not, bodies can be wedged, with forces of any size
that no load asks for.

References
----------
.. [S2] Anitescu & Hart, slides "Geometrical Regularity", "Convergence results" and "Algorithm 3". Printed "the internal
   forces are nonzero" read as "zero".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, checked, checked_number
from signorini._scipy import sparse
from signorini.errors import InputError
from signorini.problems.delassus import Delassus
from signorini.problems.friction import FrictionProblem
from signorini.problems.friction_lcp import polygon_directions
from signorini.problems.relaxations import cone_rows, is_spatial_and_exact, root

_OPENS = 1e-8  # t* above this is more than the rounding of the linear programme
_ALWAYS = 1e4  # a cone that is pointed at this mu is called pointed at every mu
_FACETS = 16  # of the polygon that stands for an exact cone


@dataclass(frozen=True, slots=True)
class Regularity:
    """Outcome of a test."""

    holds: bool
    margin: float
    """``t*``: how fast, relative to the motion, every contact opens; 0 if the condition fails."""
    motion: Array
    """The motion u, largest component at most 1, (N,)."""
    self_stress: Array | None
    """Impulses p contact by contact (dim n_c,) that balance each other, the largest 1; None if it holds."""
    joint_stress: Array | None
    """Impulses c_v of the bilateral constraints in that balance, (m,)."""
    imbalance: float
    """Largest force left over in the balance; 0 if the condition holds."""

    def __str__(self) -> str:
        if self.holds:
            return f"regular: some motion opens every contact (margin {self.margin:.3g})"
        if self.self_stress is None:
            return "not regular: bilateral constraints are redundant"
        count = int(np.count_nonzero(self.self_stress))
        return f"not regular: wedged, {count} components of contact impulses balance each other without any load"


def disassembly(problem: FrictionProblem, bilateral: Any = None) -> Regularity:
    """Test MFCQ: whether the bodies can be taken apart.

    Parameters
    ----------
    problem : FrictionProblem
        Its contacts; mu plays no part.
    bilateral : (N, m) array, optional
        Columns nu of bilateral constraints not yet eliminated, in the coordinates of :func:`contact_rows`.
    """
    J = contact_rows(problem)
    edges = sparse.csr_array(J[:: problem.dim])
    return _test(edges, bilateral, lambda c: _spread(c, problem.dim))


def pointed_cone(problem: FrictionProblem, bilateral: Any = None, mu: float | None = None) -> Regularity:
    """Test whether the friction cone of all contacts together is pointed, at the problem's mu or a uniform one."""
    J = contact_rows(problem)
    d = _directions(problem)
    mus = problem.mu if mu is None else np.full(problem.contact_count, checked_number(mu, "mu", least=0.0))
    generators = cone_rows(mus, d)
    return _test(sparse.csr_array(generators @ J), bilateral, lambda c: np.asarray(generators.T @ c))


def largest_pointed_friction(problem: FrictionProblem, bilateral: Any = None, accuracy: float = 1e-8) -> float:
    """Return the largest uniform mu below which the friction cone is pointed; inf if it always is.

    0 if the configuration cannot even be taken apart without friction.
    """
    return _bisect(lambda mu: pointed_cone(problem, bilateral, mu).holds, accuracy)


def least_standing_friction(rows: Any, load: Array, dim: int = 2, accuracy: float = 1e-9) -> float:
    """Return the smallest uniform mu at which contact forces can balance `load`; inf if none can.

    Parameters
    ----------
    rows : (dim n_c, N) matrix
        Contact Jacobian, normal first (for example :func:`contact_rows`), planar (dim 2).
    load : (N,) array
        Generalised forces.
    """
    J = sparse.csr_array(rows)
    if dim != 2:
        raise InputError(f"least standing friction: dim is {dim}, must be 2")
    f = checked(load, (J.shape[1],), "least standing friction: load")
    f = f / max(float(np.abs(f).max(initial=0.0)), np.finfo(float).tiny)
    d = np.array([[1.0], [-1.0]])

    def falls(mu: float) -> bool:
        edges = cone_rows(np.full(J.shape[0] // dim, mu), d) @ J
        return bool(_minimise(np.zeros(edges.shape[0]), A_eq=edges.T, b_eq=-f, bounds=(0.0, None)).status != 0)

    return _bisect(falls, accuracy)


def contact_rows(problem: FrictionProblem) -> Any:
    """Return J with ``u = J v`` as compressed rows (dim n_c, N).

    N counts the directions in which bodies can move, body by body (linear, then angular); where W is given as a
    matrix it is the root of W, whose columns have no such meaning.
    """
    W = problem.W
    if not isinstance(W, Delassus):
        return root(problem)
    moves = np.diagonal(W.M_inv, axis1=1, axis2=2) > 0.0
    column = np.where(moves, np.cumsum(moves).reshape(moves.shape) - 1, -1)
    value = np.stack([W.J_a, W.J_b])
    place = np.stack([column[W.body_a], column[W.body_b]])[:, :, None, :]
    place = np.broadcast_to(place, value.shape)
    row = np.broadcast_to(np.arange(problem.size).reshape(1, -1, W.dim, 1), value.shape)
    used = (place >= 0) & (value != 0.0)
    shape = (problem.size, int(moves.sum()))
    return sparse.csr_array((value[used], (row[used], place[used])), shape=shape)


def _minimise(cost: Array, **data: Any) -> Any:
    """Solve a linear programme."""
    from scipy import optimize

    programme: Any = optimize.linprog
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return programme(cost, method="highs", options=tight, **data)


def _test(edges: Any, bilateral: Any, impulses: Any) -> Regularity:
    """Solve the linear programme for rows `edges`; `impulses` turns their multipliers into contact impulses."""
    m, N = edges.shape
    nu = np.zeros((N, 0)) if bilateral is None else checked(bilateral, (N, None), "bilateral constraints")
    if nu.shape[1]:
        _, size, V = np.linalg.svd(nu)
        rank = int((size > size.max(initial=0.0) * 1e-12).sum())
        if rank < nu.shape[1]:
            stress = V[rank] / np.abs(V[rank]).max()
            return Regularity(False, 0.0, np.zeros(N), None, stress, float(np.abs(nu @ stress).max()))
    if m == 0:
        return Regularity(True, 1.0, np.zeros(N), None, None, 0.0)
    length = np.sqrt(np.asarray(edges.multiply(edges).sum(axis=1), dtype=np.float64).ravel())
    length[length == 0.0] = 1.0
    unit = sparse.diags_array(1.0 / length) @ edges
    A_ub = sparse.csr_array(sparse.hstack([-unit, sparse.csr_array(np.ones((m, 1)))]))
    A_eq = sparse.csr_array(np.column_stack([nu.T, np.zeros(nu.shape[1])])) if nu.shape[1] else None
    cost = np.zeros(N + 1)
    cost[N] = -1.0
    found = _minimise(
        cost,
        A_ub=A_ub,
        b_ub=np.zeros(m),
        A_eq=A_eq,
        b_eq=np.zeros(nu.shape[1]) if nu.shape[1] else None,
        bounds=[(-1.0, 1.0)] * N + [(None, 1.0)],
    )
    if found.x is None:
        raise InputError(f"regularity: the linear programme was not solved ({found.message}); are the rows finite?")
    margin = float(found.x[N])
    if margin > _OPENS:
        return Regularity(True, margin, np.asarray(found.x[:N]), None, None, 0.0)
    # t* = 0 makes all multipliers of the bounds vanish, so those of the rows balance by themselves.
    c = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0) / length
    c[c < 1e-9 * c.max()] = 0.0
    p = impulses(c)
    scale = p.max()
    c, p = c / scale, p / scale
    c_v = np.linalg.lstsq(nu, -(edges.T @ c), rcond=None)[0] if nu.shape[1] else np.zeros(0)
    left = edges.T @ c + nu @ c_v
    return Regularity(False, 0.0, np.zeros(N), p, c_v, float(np.abs(left).max(initial=0.0)))


def _directions(problem: FrictionProblem) -> Array:
    if is_spatial_and_exact(problem):
        angle = 2.0 * np.pi * np.arange(_FACETS) / _FACETS
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return polygon_directions(problem)


def _spread(c: Array, dim: int) -> Array:
    """Return normal impulses as contact impulses (dim n_c,)."""
    p = np.zeros(dim * c.size)
    p[::dim] = c
    return p


def _bisect(holds: Any, accuracy: float) -> float:
    """Return where `holds`, true for small mu, ceases to; inf if it never does."""
    if holds(_ALWAYS):
        return float("inf")
    if not holds(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while holds(high):
        low, high = high, 4.0 * high
    while high - low > accuracy * max(1.0, high):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return 0.5 * (low + high)
