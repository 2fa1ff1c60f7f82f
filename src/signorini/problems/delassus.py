r"""The Delassus operator: the waist between mechanics and complementarity.

.. math:: W = J M^{-1} J^T, \qquad u_c = J_{a} v_a + J_{b} v_b

Every contact touches two bodies; W is kept as these blocks and applied without being formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini._scipy import sparse
from signorini.errors import InputError
from signorini.problems.connections import Connections, connect_bodies, diagonal_blocks

MOST_ROWS = 7
"""Components of a contact: its force, the couple of an ellipsoid, torsional and two rolling couples."""


@dataclass(frozen=True, slots=True, eq=False)
class Delassus:
    """W = J M^-1 J^T by blocks.

    Parameters
    ----------
    body_a, body_b : (n_c,) int array
        The two bodies of each contact.
    J_a, J_b : (n_c, dim, 6) array
        Their share in the contact velocity, signs included: ``u = J_a v_a + J_b v_b``, v = (linear, angular).
    M_inv : (n_b, 6, 6) array
        Inverse inertia; a zero block (or zero rows) for what cannot move. Need not be symmetric.
    """

    body_a: IntArray
    body_b: IntArray
    J_a: Array
    J_b: Array
    M_inv: Array

    def __post_init__(self) -> None:
        # Made once per time step, so it must be quick: shapes here; that the numbers are finite is seen by the
        # problem from the diagonal blocks, to which every entry contributes.
        J_a = np.ascontiguousarray(self.J_a, dtype=np.float64)
        J_b = np.ascontiguousarray(self.J_b, dtype=np.float64)
        M_inv = np.ascontiguousarray(self.M_inv, dtype=np.float64)
        if J_a.ndim != 3 or not 2 <= J_a.shape[1] <= MOST_ROWS or J_a.shape[2] != 6:
            raise InputError(f"Delassus: J_a has shape {J_a.shape}, must be (any, 2 to {MOST_ROWS}, 6)")
        if J_b.shape != J_a.shape:
            raise InputError(f"Delassus: J_b has shape {J_b.shape}, must be {J_a.shape} like J_a")
        if M_inv.ndim != 3 or M_inv.shape[1:] != (6, 6):
            raise InputError(f"Delassus: M_inv has shape {M_inv.shape}, must be (any, 6, 6)")
        n_c = J_a.shape[0]
        n_b = M_inv.shape[0]
        bodies = []
        for name, given in (("body_a", self.body_a), ("body_b", self.body_b)):
            body = np.ascontiguousarray(given)
            if body.shape != (n_c,):
                raise InputError(f"Delassus: {name} has shape {body.shape}, must be ({n_c},)")
            if body.dtype != np.int64:
                if n_c and body.dtype.kind not in "iu":
                    raise InputError(f"Delassus: {name} has type {body.dtype}, must be integers")
                body = body.astype(np.int64)
            bodies.append(body)
        if not _are_bodies(bodies[0], bodies[1], n_b):
            low = min(int(body.min()) for body in bodies)
            high = max(int(body.max()) for body in bodies)
            raise InputError(f"Delassus: body_a and body_b go from {low} to {high}, must be in 0..{n_b - 1}")
        put = object.__setattr__
        put(self, "body_a", bodies[0])
        put(self, "body_b", bodies[1])
        put(self, "J_a", J_a)
        put(self, "J_b", J_b)
        put(self, "M_inv", M_inv)

    @property
    def dim(self) -> int:
        """Rows per contact: 2 or 3, more with couples."""
        return int(self.J_a.shape[1])

    @property
    def contact_count(self) -> int:
        """Number of contacts."""
        return int(self.J_a.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of W."""
        n = self.dim * self.contact_count
        return (n, n)

    def connections(self) -> Connections:
        """Return W in the form that sweeps take, by blocks of three."""
        if self.dim > 3:
            raise InputError(f"Delassus: contacts have {self.dim} rows, must have 2 or 3 to be coupled")
        return connect_bodies(self.body_a, self.body_b, self.J_a, self.J_b, self.M_inv)

    def velocity(self, p: Array) -> Array:
        """Return the change of the bodies' velocities ``M^-1 J^T p`` (n_b, 6)."""
        impulses = np.ascontiguousarray(p, dtype=np.float64).reshape(self.contact_count, self.dim)
        return _velocity(self.body_a, self.body_b, self.J_a, self.J_b, self.M_inv, impulses)

    def __matmul__(self, p: Array) -> Array:
        """Return ``W p``, of the shape of `p`."""
        v = self.velocity(p)
        return _contact_velocity(self.body_a, self.body_b, self.J_a, self.J_b, v).reshape(np.shape(p))

    def dense(self) -> Array:
        """Return W as a matrix (dim n_c, dim n_c)."""
        n = self.shape[0]
        W = np.zeros((n, n))
        _dense(self.body_a, self.body_b, self.J_a, self.J_b, self.M_inv, W)
        return W

    def sparse(self) -> sparse.csr_array[np.float64]:
        """Return W as compressed rows (dim n_c, dim n_c)."""
        n_c, n_b = self.contact_count, self.M_inv.shape[0]
        columns = 6 * np.stack([self.body_a, self.body_b], axis=1)[:, None, :, None] + np.arange(6)
        columns = np.broadcast_to(columns, (n_c, self.dim, 2, 6)).reshape(-1)
        entries = np.stack([self.J_a, self.J_b], axis=2).reshape(-1)
        count = np.arange(self.shape[0] + 1)
        J: Any = sparse.csr_array((entries, columns, 12 * count), shape=(self.shape[0], 6 * n_b))
        M_inv: Any = sparse.bsr_array((self.M_inv, np.arange(n_b), np.arange(n_b + 1)))
        W: Any = sparse.csr_array(J @ (M_inv @ sparse.csr_array(J.T)))
        W.eliminate_zeros()
        W.sort_indices()
        return W  # type: ignore[no-any-return]

    def diagonal_blocks(self) -> Array:
        """Return the blocks ``W_cc`` (n_c, dim, dim)."""
        return np.ascontiguousarray(diagonal_blocks(*self.connections()[:6])[:, : self.dim, : self.dim])


@kernel
def _are_bodies(body_a: IntArray, body_b: IntArray, n_b: int) -> bool:
    """Tell whether all indices are in 0..n_b-1."""
    fit = True
    for c in range(body_a.shape[0]):
        fit = fit and 0 <= body_a[c] < n_b and 0 <= body_b[c] < n_b
    return fit


@kernel
def _velocity(body_a: IntArray, body_b: IntArray, J_a: Array, J_b: Array, M_inv: Array, p: Array) -> Array:
    """Return ``M^-1 J^T p`` (n_b, 6)."""
    n_b = M_inv.shape[0]
    total = np.zeros((n_b, 6))
    for c in range(p.shape[0]):
        a = body_a[c]
        b = body_b[c]
        for i in range(p.shape[1]):
            for j in range(6):
                total[a, j] += J_a[c, i, j] * p[c, i]
                total[b, j] += J_b[c, i, j] * p[c, i]
    v = np.zeros((n_b, 6))
    for body in range(n_b):
        for i in range(6):
            for j in range(6):
                v[body, i] += M_inv[body, i, j] * total[body, j]
    return v


@kernel
def _contact_velocity(body_a: IntArray, body_b: IntArray, J_a: Array, J_b: Array, v: Array) -> Array:
    """Return ``J v`` (n_c, dim)."""
    n_c = J_a.shape[0]
    dim = J_a.shape[1]
    u = np.zeros((n_c, dim))
    for c in range(n_c):
        a = body_a[c]
        b = body_b[c]
        for i in range(dim):
            for j in range(6):
                u[c, i] += J_a[c, i, j] * v[a, j] + J_b[c, i, j] * v[b, j]
    return u


@kernel
def _dense(body_a: IntArray, body_b: IntArray, J_a: Array, J_b: Array, M_inv: Array, W: Array) -> None:
    """Add ``J M^-1 J^T`` to W, contact pair by contact pair with a body in common."""
    n_c = J_a.shape[0]
    dim = J_a.shape[1]
    B = np.zeros((6, dim))
    for c in range(n_c):
        for side in range(2):
            body = body_a[c] if side == 0 else body_b[c]
            J = J_a if side == 0 else J_b
            for i in range(6):
                for k in range(dim):
                    s = 0.0
                    for j in range(6):
                        s += M_inv[body, i, j] * J[c, k, j]
                    B[i, k] = s
            for r in range(n_c):
                for other in range(2):
                    if (body_a[r] if other == 0 else body_b[r]) != body:
                        continue
                    H = J_a if other == 0 else J_b
                    for i in range(dim):
                        for k in range(dim):
                            s = 0.0
                            for j in range(6):
                                s += H[r, i, j] * B[j, k]
                            W[dim * r + i, dim * c + k] += s
