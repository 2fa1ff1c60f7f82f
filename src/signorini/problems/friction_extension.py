r"""Friction beyond Coulomb's cone: torsional and rolling couples, ellipsoidal friction.

A contact may have, besides :math:`(p_n, p_t, p_o)`, a couple :math:`\tau` about the normal and couples
:math:`(\rho_t, \rho_o)` about the tangents (planar: one about z), bound by the normal impulse:

.. math::
    |p_T| \le \mu p_n, \qquad |\tau| \le e_{torsional}\, p_n, \qquad |\rho| \le e_{rolling}\, p_n,

or, as an ellipsoid, :math:`(p_t/e_t)^2 + (p_o/e_o)^2 + (\tau/e_r)^2 \le \mu^2 p_n^2`, each with maximal dissipation. In
scaled components :math:`x = p / s`, :math:`\hat u = s u` (s the half axes; lengths for couples) every group is bounded
by a ball, and all components of x are impulses, all of :math:`\hat u` velocities: the residual is free of units.

References
----------
.. [S3] Pang, Trinkle & Tzitzouris, section 3 and eq. (5): the ellipsoid.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, IntArray, checked
from signorini._scipy import sparse
from signorini.errors import InputError
from signorini.problems.delassus import Delassus
from signorini.problems.matrices import Matrix

SPARSE_FROM = 300
"""Unknowns beyond which W with couples is a sparse matrix, unless it was given as a dense one."""


class Extension(NamedTuple):
    """The cone of every contact in scaled components."""

    scale: Array
    """(n_c, rows) ``p = scale x``."""
    limits: Array
    """(n_c, g) bounds ``m_k`` of the groups."""
    starts: IntArray
    """(g + 1,) where groups begin; the last entry is the number of rows."""

    @property
    def ordinary(self) -> bool:
        """True if the scaled cone is Coulomb's: an ellipsoid without couple."""
        return self.starts.shape[0] == 2 and int(self.starts[-1]) == 3


def rows_per_contact(dim: int, torsional: object, rolling: object, ellipsoid: ArrayLike | None) -> int:
    """Return the components that a contact has by what was given, checking that they go together."""
    half_axes = 0
    if ellipsoid is not None:
        if dim == 2:
            raise InputError("friction problem: ellipsoid is given, must be None in a planar problem")
        half_axes = np.shape(ellipsoid)[-1] if np.ndim(ellipsoid) in (1, 2) else 0
        if half_axes not in (2, 3):
            raise InputError(f"friction problem: ellipsoid is {ellipsoid!r}, must be (e_t, e_o) or (e_t, e_o, e_r)")
    if torsional is not None and dim == 2:
        raise InputError(f"friction problem: torsional is {torsional!r}, must be None in a planar problem")
    return dim + (half_axes == 3) + (torsional is not None) + (0 if rolling is None else dim - 1)


def extend(dim: int, mu: Array, torsional: Any, rolling: Any, ellipsoid: ArrayLike | None) -> Extension:
    """Return the cones in scaled components, checking the numbers."""
    n_c = mu.shape[0]
    e = np.ones((n_c, dim - 1))
    if ellipsoid is not None:
        e = checked(
            np.broadcast_to(ellipsoid, (n_c, np.shape(ellipsoid)[-1])), (n_c, None), "friction problem: ellipsoid"
        )
        if n_c and e.min() <= 0.0:
            raise InputError(f"friction problem: ellipsoid has the half axis {e.min()}, must be > 0")
    scale, limits = [np.ones((n_c, 1)), e], [mu]
    starts = [1, 1 + e.shape[1]]
    for given, what, rows in ((torsional, "torsional", 1), (rolling, "rolling", dim - 1)):
        if given is not None:
            length = lengths(given, n_c, what)
            # A couple that may not act has no length of its own; any will do.
            unit = np.where(length > 0.0, length, length.max(initial=0.0) or 1.0)
            scale.append(np.repeat(unit[:, None], rows, axis=1))
            limits.append(length / unit)
            starts.append(starts[-1] + rows)
    return Extension(np.ascontiguousarray(np.hstack(scale)), np.stack(limits, axis=1), np.array(starts, dtype=np.int64))


def lengths(value: ArrayLike, n_c: int, what: str) -> Array:
    """Return a length for each contact [m], >= 0."""
    length = checked(
        np.broadcast_to(value, (n_c,)) if np.ndim(value) == 0 else value, (n_c,), f"friction problem: {what}"
    )
    if n_c and length.min() < 0.0:
        raise InputError(f"friction problem: {what} of contact {length.argmin()} is {length.min()}, must be >= 0")
    return length


def scaled_operator(W: Matrix | Delassus, scale: Array) -> Matrix | Delassus:
    """Return ``diag(scale) W diag(scale)`` in the form of W."""
    if isinstance(W, Delassus):
        return Delassus(W.body_a, W.body_b, W.J_a * scale[:, :, None], W.J_b * scale[:, :, None], W.M_inv)
    s = scale.reshape(-1)
    if isinstance(W, np.ndarray):
        return np.ascontiguousarray(s[:, None] * W * s)
    return cast(Matrix, sparse.csr_array(sparse.diags_array(s) @ W @ sparse.diags_array(s)))


def diagonal_blocks_of(W: Matrix, rows: int) -> Array:
    """Return the diagonal blocks (n_c, rows, rows) of a matrix."""
    n_c = W.shape[0] // rows
    if isinstance(W, np.ndarray):
        c = np.arange(n_c)
        return np.ascontiguousarray(W.reshape(n_c, rows, n_c, rows)[c, :, c, :])
    blocks = np.zeros((n_c, rows, rows))
    entries: Any = sparse.coo_array(W)
    own = entries.row // rows == entries.col // rows
    row, column = entries.row[own], entries.col[own]
    blocks[row // rows, row % rows, column % rows] = entries.data[own]
    return blocks
