r"""The convex relaxations of the friction problem: P1(Gamma) and P2(lambda).

With :math:`W = A A^T`, ``u = A y + b`` and ``|y|^2`` the kinetic energy (twice) of the change of velocity, so that
all forms are posed on y and need no mass matrix:

==============  ======================================  ==================================================
here            paper                                   meaning
==============  ======================================  ==================================================
``y``           :math:`M^{1/2}(v - v_{free})`           change of velocity, mass-scaled, (N,)
``A``           :math:`[n\ D]^T M^{-1/2}`               contact velocities of y, (dim n_c, N)
``Gamma``       :math:`\Gamma`                          normal speed granted to each contact, (n_c,) [m/s]
``slip``        :math:`\tilde\lambda = \Lambda(v)`      slip speed as the polygon sees it, (n_c,) [m/s]
``p_ij``        :math:`c_n, \beta`                      share of the vertex ``(1, mu d_i)`` of the cone
==============  ======================================  ==================================================

P1(Gamma), reduced: ``min 1/2 |y|^2`` subject to :math:`u_n + \mu d_i \cdot u_T + \Gamma \ge 0` for all directions;
lifted: :math:`u_n - \mu\lambda + \Gamma \ge 0`, :math:`d_i \cdot u_T + \lambda \ge 0`, :math:`\lambda \ge 0`; dual:
``min 1/2 p^T W p + (b + Gamma n)^T p`` over the cone. P2(lambda): ``min 1/2 |y|^2`` subject to :math:`u_n \ge 0`,
:math:`d_i \cdot u_T + \lambda \ge 0`. Gaps (``Phi/h`` in b) and joints (eliminated in W) change nothing.

References
----------
.. [S2] Anitescu & Hart, slides "P_1: the first relaxation", "P_2: the second relaxation" and "Regularization". Sign
   of :math:`\Lambda` corrected: :math:`\max(0, \max_i -d_i^T v)`; the printed one needs -d with every d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, BoolArray, checked
from signorini._scipy import sparse
from signorini.errors import InputError
from signorini.problems.delassus import Delassus
from signorini.problems.friction import FrictionProblem
from signorini.problems.friction_lcp import _guess_for_lcp, polygon_directions
from signorini.problems.matrices import dense
from signorini.problems.qp import ConvexQP

Form = Literal["lifted", "reduced", "dual"]

_ROUNDING = 1e-12  # relative asymmetry or negative eigenvalue of W that is rounding


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A convex QP made from a friction problem."""

    qp: ConvexQP
    impulse: Callable[[Array], Array]
    """Takes ``z = (x, w)`` of the QP to the impulses p of the friction problem."""


def first_relaxation(
    problem: FrictionProblem, Gamma: ArrayLike = 0.0, form: Form = "reduced", *, A: Any = None
) -> Relaxation:
    """Return P1(Gamma); with the exact cone of a spatial problem as second-order cone programme.

    `A` is :func:`root` of the problem, if it is known.

    Raises
    ------
    InputError
        If W is not symmetric positive semidefinite or `Gamma` is not a finite number for each contact.
    """
    n_c, dim = problem.contact_count, problem.dim
    granted = _by_contact(Gamma, n_c, "first relaxation: Gamma")
    if is_spatial_and_exact(problem):
        return _first_exact(problem, granted, form, A)
    d = polygon_directions(problem)
    n_d = d.shape[0]
    G = cone_rows(problem.mu, d)
    load = G @ problem.b + np.repeat(granted, n_d)
    count = n_c * n_d
    if form == "dual":
        W = dense(_dense_product(problem, G))
        qp = ConvexQP(W, load, C=sparse.eye_array(count, format="csr"), c=np.zeros(count))
        return Relaxation(qp, lambda z: np.asarray(G.T @ z[:count]))
    A = root(problem) if A is None else A
    N = A.shape[1]
    if form == "reduced":
        qp = ConvexQP(_identity(N), np.zeros(N), C=G @ A, c=-load)
        return Relaxation(qp, lambda z: np.asarray(G.T @ z[N:]))
    if form != "lifted":
        raise InputError(f"first relaxation: form is {form!r}, must be 'lifted', 'reduced' or 'dual'")
    normal, tangent = _normal_rows(n_c, dim), _direction_rows(n_c, dim, d)
    E = sparse.kron(sparse.eye_array(n_c), np.ones((n_d, 1)))
    C = sparse.csr_array(
        sparse.block_array(
            [
                [normal @ A, -sparse.diags_array(problem.mu)],
                [tangent @ A, E],
                [None, sparse.eye_array(n_c)],
            ]
        )
    )
    c = -np.concatenate([normal @ problem.b + granted, tangent @ problem.b, np.zeros(n_c)])
    P = sparse.block_diag([_identity(N), sparse.csr_array((n_c, n_c))], format="csr")
    back = sparse.csr_array(sparse.vstack([normal, tangent]).T)
    shift = N + n_c
    return Relaxation(
        ConvexQP(P, np.zeros(N + n_c), C=C, c=c), lambda z: np.asarray(back @ z[shift : shift + n_c * (1 + n_d)])
    )


def _first_exact(problem: FrictionProblem, Gamma: Array, form: Form, A: Any) -> Relaxation:
    """Return P1(Gamma) over the cone itself; the dual cone is ``u_n >= mu |u_T|``."""
    n_c = problem.contact_count
    shifted = problem.b.reshape(n_c, 3).copy()
    shifted[:, 0] += Gamma
    cones = (3,) * n_c
    if form == "dual":
        scale = np.ones((n_c, 3))
        scale[:, 0] = problem.mu
        rows = _frictionless_aware(scale.reshape(-1), problem.mu)
        W = problem.dense()
        qp = ConvexQP(0.5 * (W + W.T), shifted.reshape(-1), C=rows, c=np.zeros(3 * n_c), cones=cones)
        return Relaxation(qp, lambda z: z[: 3 * n_c].copy())
    if form != "reduced":
        raise InputError(f"first relaxation: form is {form!r}, must be 'reduced' or 'dual' for the exact cone")
    A = root(problem) if A is None else A
    N = A.shape[1]
    scale = np.ones((n_c, 3))
    scale[:, 1:] = problem.mu[:, None]
    S = sparse.csr_array(sparse.diags_array(scale.reshape(-1)))
    qp = ConvexQP(_identity(N), np.zeros(N), C=S @ A, c=-(S @ shifted.reshape(-1)), cones=cones)
    return Relaxation(qp, lambda z: np.asarray(S @ z[N:]))


def _frictionless_aware(scale: Array, mu: Array) -> Any:
    """Return the rows ``(mu p_n, p_T)``; without friction ``(p_n, 0)`` plus nothing tangential cannot be written so."""
    if mu.size and mu.min() == 0.0:
        raise InputError("first relaxation: mu of a contact is 0, must be > 0 in the dual form of the exact cone")
    return sparse.csr_array(sparse.diags_array(scale))


def second_relaxation(
    problem: FrictionProblem, slip: ArrayLike, rows: BoolArray | None = None, *, A: Any = None
) -> Relaxation:
    """Return P2(lambda), with the friction rows of the contacts `rows` only (None: of all).

    Raises
    ------
    InputError
        If a slip speed is negative, the cone is exact (not planar), or W is not symmetric positive semidefinite.
    """
    n_c, dim = problem.contact_count, problem.dim
    speed = _by_contact(slip, n_c, "second relaxation: slip")
    if n_c and speed.min() < 0.0:
        raise InputError(f"second relaxation: slip of contact {speed.argmin()} is {speed.min()}, must be >= 0")
    d = polygon_directions(problem)
    n_d = d.shape[0]
    both = sparse.csr_array(sparse.vstack([_normal_rows(n_c, dim), _direction_rows(n_c, dim, d)]))
    A = root(problem) if A is None else A
    N = A.shape[1]
    c = -(both @ problem.b)
    c[n_c:] -= np.repeat(speed, n_d)
    if rows is not None:
        c[n_c:][~np.repeat(rows, n_d)] = -np.inf
    qp = ConvexQP(_identity(N), np.zeros(N), C=both @ A, c=c)
    return Relaxation(qp, lambda z: np.asarray(both.T @ z[N:]))


def slip_speed(problem: FrictionProblem, u: Array) -> Array:
    r"""Return :math:`\Lambda_j = \max(0, \max_i -d_i \cdot u_T)` (exact cone: :math:`|u_T|`) by contact, (n_c,)."""
    slip = u.reshape(problem.contact_count, problem.dim)[:, 1:]
    if is_spatial_and_exact(problem):
        speed: Array = np.linalg.norm(slip, axis=1)
        return speed
    largest: Array = (-slip @ polygon_directions(problem).T).max(axis=1, initial=0.0)
    return largest


def natural_residual(problem: FrictionProblem, p: Array) -> float:
    r"""Return :math:`\max_i |\min(z_i, w_i)|` of the original LCP, in its own units.

    ``z = (c_n, beta, Lambda(u))`` with the impulses `p`; impulses outside the cone make ``zeta`` negative.
    """
    n_c = problem.contact_count
    d = polygon_directions(problem)
    z = _guess_for_lcp(problem, p)
    c_n, beta, slip = z[:n_c], z[n_c:-n_c].reshape(n_c, -1), z[z.size - n_c :]
    u = problem.velocity(p).reshape(n_c, problem.dim)
    sigma = u[:, 1:] @ d.T + slip[:, None]
    zeta = problem.mu * c_n - beta.sum(axis=1)
    pairs = ((c_n, u[:, 0]), (beta, sigma), (slip, zeta))
    return max(float(np.abs(np.minimum(z, w)).max(initial=0.0)) for z, w in pairs)


def polygon_coordinates(problem: FrictionProblem, p: Array) -> Array:
    """Return ``(c_n, beta)`` of impulses `p`, (n_c (1 + n_d),)."""
    z = _guess_for_lcp(problem, p)
    return np.maximum(z[: z.size - problem.contact_count], 0.0)


def polygon_shares(problem: FrictionProblem, p: Array) -> Array:
    """Return shares ``p_ij`` of the vertices of the cones that add up to `p`, (n_c n_d,); p is moved into the cone."""
    n_c = problem.contact_count
    coordinates = polygon_coordinates(problem, p)
    p_n, beta = coordinates[:n_c], coordinates[n_c:].reshape(n_c, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(problem.mu[:, None] > 0.0, beta / problem.mu[:, None], 0.0)
    total = shares.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares *= np.where(total > p_n, p_n / total, 1.0)[:, None]
    shares += np.maximum(p_n - total, 0.0)[:, None] / beta.shape[1]
    return shares.reshape(-1)


def is_spatial_and_exact(problem: FrictionProblem) -> bool:
    """Tell whether the cone is round; in the plane it is its own polygon."""
    return problem.dim == 3 and problem.cone == "exact"


def root(problem: FrictionProblem) -> Any:
    """Return A with ``W = A A^T`` as compressed rows (dim n_c, N), compliance included.

    Raises
    ------
    InputError
        If W is not symmetric positive semidefinite: then there is no convex relaxation.
    """
    if problem.softness.shape[1] > 1:
        return _root_of_matrix(problem.dense())
    A = _root_of_bodies(problem.W) if isinstance(problem.W, Delassus) else _root_of_matrix(dense(problem.W))
    alpha = problem.softness[:, 0]
    if alpha.any():
        soft = sparse.diags_array(np.sqrt(alpha)) if problem.contact_count else sparse.csr_array((0, 0))
        A = sparse.csr_array(sparse.hstack([A, _normal_rows(problem.contact_count, problem.dim).T @ soft]))
    return A


def _root_of_bodies(W: Delassus) -> Any:
    """Return ``J C``, ``C C^T = M^-1``, without the directions in which nothing moves."""
    n_c, dim = W.contact_count, W.dim
    diagonal = np.diagonal(W.M_inv, axis1=1, axis2=2)
    if np.count_nonzero(W.M_inv) == np.count_nonzero(diagonal):
        size = np.asarray(diagonal)
        C = np.zeros_like(W.M_inv)
        C[:, range(6), range(6)] = np.sqrt(np.maximum(size, 0.0))
        wrong = size.min(initial=0.0) < 0.0
    else:
        turned = np.swapaxes(W.M_inv, 1, 2)
        largest = np.abs(W.M_inv).max()
        size, V = np.linalg.eigh(0.5 * (W.M_inv + turned))
        size = np.where(size > _ROUNDING * largest * 1e-3, size, np.minimum(size + _ROUNDING * largest, 0.0))
        C = V * np.sqrt(np.maximum(size, 0.0))[:, None, :]
        wrong = size.min(initial=0.0) < 0.0 or np.abs(W.M_inv - turned).max() > _ROUNDING * largest
    if wrong:
        raise InputError("friction problem: W is not symmetric positive semidefinite, must be to have a relaxation")
    column = np.cumsum(size > 0.0).reshape(size.shape) - 1
    values, columns = [], []
    for body, J in ((W.body_a, W.J_a), (W.body_b, W.J_b)):
        values.append(np.einsum("cij,cjk->cik", J, C[body]))
        columns.append(np.broadcast_to(np.where(size > 0.0, column, -1)[body][:, None, :], (n_c, dim, 6)))
    value, place = np.stack(values), np.stack(columns)
    row = np.broadcast_to(np.arange(n_c * dim).reshape(1, n_c, dim, 1), value.shape)
    used = (place >= 0) & (value != 0.0)
    shape = (n_c * dim, int(np.count_nonzero(size > 0.0)))
    return sparse.csr_array((value[used], (row[used], place[used])), shape=shape)


def _root_of_matrix(W: Array) -> Any:
    if W.size == 0:
        return sparse.csr_array((W.shape[0], 0))
    largest = np.abs(W).max()
    size, V = np.linalg.eigh(0.5 * (W + W.T))
    if np.abs(W - W.T).max() > _ROUNDING * largest or size[0] < -_ROUNDING * W.shape[0] * largest:
        raise InputError("friction problem: W is not symmetric positive semidefinite, must be to have a relaxation")
    kept = size > 1e-15 * W.shape[0] * largest
    return sparse.csr_array(V[:, kept] * np.sqrt(size[kept]))


def cone_rows(mu: Array, d: Array) -> Any:
    """Return the vertices ``(1, mu d_i)`` of all cones as rows (n_c n_d, dim n_c)."""
    block = np.ones((mu.size, d.shape[0], 1 + d.shape[1]))
    block[:, :, 1:] = mu[:, None, None] * d
    return _block_rows(block)


def _normal_rows(n_c: int, dim: int) -> Any:
    return sparse.csr_array((np.ones(n_c), (np.arange(n_c), dim * np.arange(n_c))), shape=(n_c, dim * n_c))


def _direction_rows(n_c: int, dim: int, d: Array) -> Any:
    block = np.zeros((n_c, d.shape[0], dim))
    block[:, :, 1:] = d
    return _block_rows(block)


def _block_rows(block: Array) -> Any:
    """Return a block-diagonal matrix of blocks (n_c, n_d, dim)."""
    n_c, n_d, dim = block.shape
    rows = np.broadcast_to(np.arange(n_c * n_d).reshape(n_c, n_d, 1), block.shape)
    columns = np.broadcast_to(dim * np.arange(n_c)[:, None, None] + np.arange(dim), block.shape)
    return sparse.csr_array((block.ravel(), (rows.ravel(), columns.ravel())), shape=(n_c * n_d, n_c * dim))


def _dense_product(problem: FrictionProblem, G: Any) -> Array:
    """Return ``G W G^T``, symmetric to the last bit."""
    W = problem.dense()
    product: Array = G @ (G @ W.T).T
    return 0.5 * (product + product.T)


def _identity(n: int) -> Any:
    return sparse.eye_array(n, format="csr")


def _by_contact(value: ArrayLike, n_c: int, what: str) -> Array:
    return checked(np.full(n_c, float(value)) if np.ndim(value) == 0 else value, (n_c,), what)  # type: ignore[arg-type]
