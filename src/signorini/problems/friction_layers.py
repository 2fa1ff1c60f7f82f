r"""Compliant layers with rigid cores in a friction problem: a compliance by matrices that ends where a core is reached.

A layer of compliance A (symmetric, in the components of the force) that is fully compressed by the normal impulse
:math:`p_c` alone adds to the velocities of its contact

.. math::
    A (p - p_r e_n), \qquad 0 \le p_r \perp A_{nn}\,p_c - e_n \cdot A (p - p_r e_n) \ge 0,

with the impulse :math:`p_r` of its core: :math:`c \min(p_n, p_c)` in the normal row if A is diagonal, rigid beyond.
Several layers at one contact are in series: they carry the same impulse, and what they give adds up.

The core is complementary as a contact is, so that a layer is one more contact without friction: W and the layers as one
matrix, symmetric and positive semidefinite wherever W is (:mod:`~signorini.problems.friction_cores`).

References
----------
.. [S3] Chakraborty, Berard, Akella & Trinkle (2007), eqs. (11)-(13), as complementarity of impulses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import Array, checked
from signorini.errors import InputError

_ROUNDING = 1e-12  # of the largest entry: asymmetry and negative eigenvalues that are none


class Layers(NamedTuple):
    """Layers at the contacts of a problem, m at each."""

    matrix: Array
    """A, (n_c, m, dim, dim)"""
    limit: Array
    """p_c, inf without a core, (n_c, m)"""

    @property
    def normal(self) -> Array:
        """A_nn, (n_c, m)."""
        return np.asarray(self.matrix[:, :, 0, 0])

    @property
    def open(self) -> Array:
        """Compliance while no core is reached, (n_c, dim, dim)."""
        whole: Array = self.matrix.sum(axis=1)
        return whole

    def cores(self, p: Array) -> Array:
        """Return the impulses of the cores under the impulses `p` (n_c, dim), (n_c, m)."""
        given = np.einsum("cmj,cj->cm", self.matrix[:, :, 0], p)
        alone = np.divide(given, self.normal, out=np.zeros_like(given), where=self.normal > 0.0)
        return np.asarray(np.maximum(0.0, alone - self.limit))

    def velocity(self, p: Array) -> Array:
        """Return what the layers add to the velocities, (n_c, dim)."""
        carried = np.repeat(p[:, None], self.limit.shape[1], axis=1)
        carried[:, :, 0] -= self.cores(p)
        added: Array = np.einsum("cmij,cmj->ci", self.matrix, carried)
        return added

    def give(self, p: Array) -> Array:
        """Return how far normals give way to a little more of their impulses, A_nn of all that is open, (n_c,)."""
        return np.asarray(np.where(self.cores(p) > 0.0, 0.0, self.normal).sum(axis=1))


def make_layers(compliance: Any, saturation: Any, n_c: int, dim: int) -> Layers:
    """Return the layers of what a friction problem was given, checked."""
    what = "friction problem: compliance"
    A = np.asarray(compliance, dtype=np.float64)
    if A.ndim < 3:
        diagonal = np.zeros((n_c, dim))
        diagonal[:, : dim if A.ndim == 2 else 1] = A if A.ndim == 2 else np.broadcast_to(A, (n_c,))[:, None]
        A = diagonal[:, :, None] * np.eye(dim)
    A = A[:, None] if A.ndim == 3 else A
    A = checked(A, (n_c, None, dim, dim), what)
    size = np.abs(A).max(axis=(2, 3), initial=0.0)
    skewed = np.abs(A - A.transpose(0, 1, 3, 2)).max(axis=(2, 3), initial=0.0) > _ROUNDING * size
    if skewed.any():
        raise InputError(f"{what} of contact {np.argwhere(skewed)[0, 0]} must be symmetric")
    if A.size and np.any(least := np.linalg.eigvalsh(A)[:, :, 0] < -_ROUNDING * size):
        raise InputError(f"{what} of contact {np.argwhere(least)[0, 0]} must be positive semidefinite")
    limit = np.asarray(np.inf if saturation is None else saturation, dtype=np.float64)
    limit = limit[:, None] if limit.ndim == 1 else limit
    try:
        limit = np.ascontiguousarray(np.broadcast_to(limit, A.shape[:2]))
    except ValueError:
        raise InputError(
            f"friction problem: saturation has shape {np.shape(saturation)}, must have one entry for each compliance"
        ) from None
    if not np.all(limit >= 0.0):
        raise InputError(f"friction problem: saturation is {limit.min()}, must be >= 0")
    return Layers(A, limit)
