r"""The polygonal friction problem as a linear complementarity problem, and back.

With :math:`p_T = D \beta`, D the directions of the polygon, and sigma the slip speed as the polygon sees it,

.. math::
    F = \begin{bmatrix} J^T A J & \begin{matrix} 0 \\ E \end{matrix} \\ \begin{matrix} U & -E^T \end{matrix} & 0
    \end{bmatrix}, \qquad z = (p_n, \beta, \sigma) \ge 0 \;\perp\; F z + f \ge 0,

where :math:`J^T A J` is W seen in the coordinates :math:`(p_n, \beta)`, U = diag(mu) and E sums the directions of a
contact. The first n_c unknowns are the normal impulses, then beta contact by contact, then sigma.

References
----------
.. [S1] Trinkle (2003), eqs. (39)-(48), without joints.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.errors import InputError
from signorini.problems.convert import Converted
from signorini.problems.friction import FrictionProblem
from signorini.problems.lcp import LCP

_ROUNDING = 1e-15


def polygon_directions(problem: FrictionProblem) -> Array:
    """Return the directions ``d_j`` in tangent coordinates (n_d, dim - 1)."""
    if problem.extension is not None:
        raise InputError("friction problem: has couples or an ellipsoid, must have neither to become an LCP")
    if problem.dim == 2:
        return np.array([[1.0], [-1.0]])
    if problem.cone != "polygon":
        raise InputError("friction problem: cone is 'exact', must be 'polygon' to become an LCP")
    angle = problem.rotation + 2.0 * np.pi * np.arange(problem.directions) / problem.directions
    d = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    d[np.abs(d) < _ROUNDING] = 0.0  # pivoting would take the rounding of a right angle for a coupling
    return d


def _generators(problem: FrictionProblem) -> Array:
    """Return the matrix of ``p = generators @ (p_n, beta)``, (dim n_c, n_c (1 + n_d))."""
    d = polygon_directions(problem)
    n_c, dim, n_d = problem.contact_count, problem.dim, d.shape[0]
    generators = np.zeros((n_c, dim, n_c * (1 + n_d)))
    for c in range(n_c):
        generators[c, 0, c] = 1.0
        generators[c, 1:, n_c + n_d * c : n_c + n_d * (c + 1)] = d.T
    return generators.reshape(dim * n_c, n_c * (1 + n_d))


def friction_as_lcp(problem: FrictionProblem) -> LCP:
    """Return the LCP of a friction problem with polygonal cone (planar problems: any cone)."""
    generators = _generators(problem)
    n_c = problem.contact_count
    n_d = polygon_directions(problem).shape[0]
    m = generators.shape[1]
    E = np.repeat(np.eye(n_c), n_d, axis=0)
    F = np.zeros((m + n_c, m + n_c))
    F[:m, :m] = generators.T @ problem.dense() @ generators
    F[n_c:m, m:] = E
    F[m:, :n_c] = np.diag(problem.mu)
    F[m:, n_c:m] = -E.T
    return LCP(F, np.concatenate([generators.T @ problem.b, np.zeros(n_c)]))


def friction_from_lcp(problem: FrictionProblem, z: Array) -> Array:
    """Return the impulses `p` contact by contact of a solution `z` of :func:`friction_as_lcp`."""
    generators = _generators(problem)
    p: Array = generators @ z[: generators.shape[1]]
    return p


def _guess_for_lcp(problem: FrictionProblem, p: Array) -> Array:
    """Return the unknowns of the LCP that belong to impulses `p`: beta on two neighbouring directions, sigma from u."""
    d = polygon_directions(problem)
    n_c, n_d = problem.contact_count, d.shape[0]
    by_contact = p.reshape(n_c, problem.dim)
    slip = problem.velocity(p).reshape(n_c, problem.dim)[:, 1:]
    beta = np.zeros((n_c, n_d))
    if problem.dim == 2:
        beta[:, 0] = np.maximum(by_contact[:, 1], 0.0)
        beta[:, 1] = np.maximum(-by_contact[:, 1], 0.0)
    else:
        step = 2.0 * np.pi / n_d
        angle = np.arctan2(by_contact[:, 2], by_contact[:, 1]) - problem.rotation
        first = np.floor(angle / step)
        size = np.hypot(by_contact[:, 1], by_contact[:, 2])
        rest = angle - first * step
        rows, j = np.arange(n_c), first.astype(np.int64) % n_d
        beta[rows, j] = size * np.sin(step - rest) / np.sin(step)
        beta[rows, (j + 1) % n_d] = size * np.sin(rest) / np.sin(step)
    sigma = np.maximum((-slip @ d.T).max(axis=1, initial=0.0), 0.0)
    return np.concatenate([by_contact[:, 0], beta.reshape(-1), sigma])


def friction_to_lcp(problem: FrictionProblem) -> Converted:
    """Return the LCP with the ways forth and back, for the solvers of LCPs."""
    return Converted(
        friction_as_lcp(problem),
        back=lambda z: friction_from_lcp(problem, z),
        forth=lambda p: _guess_for_lcp(problem, p),
    )
