r"""The Coulomb friction problem: data, residual, nothing else.

.. math:: u = W p + b, \qquad K^* \ni u + \mu |u_T| n \;\perp\; p \in K

contact by contact, normal component first: Signorini's condition in the normal direction, friction opposite to slip and
of size :math:`\mu p_n` while slipping. De Saxcé's term :math:`\mu |u_T| n` makes the law one complementarity over the
cone K, exact or polygonal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import splu

from signorini._arrays import Array, checked, checked_number
from signorini.errors import InputError
from signorini.math.cones import natural_norms, polygon_norms
from signorini.problems.couplings import (
    Couplings,
    contact_velocity,
    couple_matrix,
    couple_sparse,
    diagonal_blocks,
    inverse_normal_diagonal,
    with_compliance,
)
from signorini.problems.delassus import Delassus
from signorini.problems.matrices import Matrix, checked_matrix, dense, is_sparse, matrix_fields
from signorini.problems.npz import write_npz

_CREDIBLE = 0.1  # runaway impulses leave an error as large as the load; solutions to any useful tolerance are below


@dataclass(frozen=True, slots=True, eq=False)
class FrictionProblem:
    r"""Find the impulses `p` of Coulomb contacts with velocities ``u = W p + b``.

    Parameters
    ----------
    W : (dim n_c, dim n_c) array, SciPy sparse matrix or Delassus
        May be unsymmetric, singular, with zero rows.
    b : (dim n_c,) array
        Contact velocities without impulses, contact by contact, normal first.
    mu : (n_c,) array or float
        Coefficients of friction, >= 0.
    dim : 2 or 3
        Components per contact.
    cone : "exact" or "polygon"
        The polygon has the vertices ``mu p_n d_j``, ``d_j = cos(rotation + 2 pi j/n_d) t + sin(...) o``; in a planar
        problem it is the exact cone.
    directions : int
        Vertices n_d of the polygon, >= 3 (planar: always 2).
    rotation : float
        Angle of the first vertex from the first tangent [rad].
    compliance : (n_c,) array or float
        Implicit normal compliance, added to the normal diagonal of W (same unit): part of the law posed.
        0 is the rigid law.

    Examples
    --------
    A block of unit mass pushed onto the ground at speed 1 and along it at speed 2 keeps slipping:

    >>> FrictionProblem(np.eye(3), [-1.0, 2.0, 0.0], [0.5]).residual(np.array([1.0, -0.5, 0.0]))
    0.0
    """

    W: Matrix | Delassus
    b: Array
    mu: Array
    dim: int = 3
    cone: Literal["exact", "polygon"] = "exact"
    directions: int = 8
    rotation: float = 0.0
    compliance: Array | float = 0.0
    couplings: Couplings = field(init=False, repr=False)
    """W with compliance as ``G S`` by blocks of three; what the solvers' kernels take."""
    load: Array = field(init=False, repr=False)
    """`b` by contacts (n_c, 3), planar ones with a zero third component."""
    blocks: Array = field(init=False, repr=False)
    """Diagonal blocks of W with compliance (n_c, 3, 3)."""
    rho: Array = field(init=False, repr=False)
    """1/W_nn by contacts (n_c,), 1 where W_nn vanishes."""

    def __post_init__(self) -> None:
        if self.dim not in (2, 3):
            raise InputError(f"friction problem: dim is {self.dim!r}, must be 2 or 3")
        if self.cone not in ("exact", "polygon"):
            raise InputError(f"friction problem: cone is {self.cone!r}, must be 'exact' or 'polygon'")
        if (
            self.dim == 3
            and self.cone == "polygon"
            and (int(self.directions) != self.directions or self.directions < 3)
        ):
            raise InputError(f"friction problem: directions is {self.directions!r}, must be an integer >= 3")
        b = _vector(self.b, "friction problem: b")
        n_c, rest = divmod(b.shape[0], self.dim)
        if rest:
            raise InputError(f"friction problem: b has {b.shape[0]} entries, must be a multiple of dim = {self.dim}")
        mu = self.mu if np.ndim(self.mu) else np.full(n_c, float(self.mu))
        mu = _vector(mu, "friction problem: mu")
        if mu.shape != (n_c,):
            raise InputError(f"friction problem: mu has {mu.shape[0]} entries, must have {n_c}, one for each contact")
        if n_c and mu.min() < 0.0:
            raise InputError(f"friction problem: mu of contact {mu.argmin()} is {mu.min()}, must be >= 0")
        put = object.__setattr__
        put(self, "b", b)
        put(self, "mu", mu)
        if self.rotation != 0.0:
            put(self, "rotation", checked_number(self.rotation, "friction problem: rotation"))
        put(self, "load", _spatial(b, n_c, self.dim))
        couplings = self._couple(n_c)
        if not isinstance(self.compliance, float) or self.compliance != 0.0:
            given = self.compliance
            alpha = np.full(n_c, float(given)) if isinstance(given, int | float) else given
            alpha = checked(alpha, (n_c,), "friction problem: compliance")
            if n_c and alpha.min() < 0.0:
                raise InputError(
                    f"friction problem: compliance of contact {alpha.argmin()} is {alpha.min()}, must be >= 0"
                )
            put(self, "compliance", alpha)
            if alpha.any():
                couplings = with_compliance(couplings, alpha)
        put(self, "couplings", couplings)
        blocks = diagonal_blocks(*couplings[:6])
        if not np.isfinite(np.vdot(blocks, blocks)) and not np.isfinite(blocks).all():
            raise InputError("friction problem: W must be finite")
        put(self, "blocks", blocks)
        put(self, "rho", inverse_normal_diagonal(blocks))

    def _couple(self, n_c: int) -> Couplings:
        """Check W and return its couplings."""
        n = n_c * self.dim
        if isinstance(self.W, Delassus):
            if self.W.shape != (n, n) or self.W.dim != self.dim:
                raise InputError(
                    f"friction problem: W has {self.W.contact_count} contacts of {self.W.dim} components, "
                    f"b and dim say {n_c} of {self.dim}"
                )
            return self.W.couplings()
        W = checked_matrix(self.W, (n, n), "friction problem: W")
        object.__setattr__(self, "W", W)
        return couple_sparse(W, n_c, self.dim) if is_sparse(W) else couple_matrix(dense(W), n_c, self.dim)

    @classmethod
    def from_global(
        cls, M: Any, H: Any, f: ArrayLike, w: ArrayLike, mu: ArrayLike, dim: int = 3, **options: Any
    ) -> FrictionProblem:
        """Condense ``M v = H p + f``, ``u = H^T v + w`` to ``W = H^T M^-1 H``, ``b = w + H^T M^-1 f``.

        `M` must be square and nonsingular, not necessarily symmetric; dense or sparse like `H`.
        """
        M_ = sparse.csc_array(checked_matrix(M, (None, None), "friction problem: M"))
        m = M_.shape[0]
        H_ = sparse.csc_array(checked_matrix(H, (m, None), "friction problem: H"))
        n = H_.shape[1]
        if M_.shape[1] != m:
            raise InputError(f"friction problem: M has shape {M_.shape}, must be square")
        w_ = checked(w, (n,), "friction problem: w")
        try:
            inverse: Any = splu(M_)
        except RuntimeError as error:
            raise InputError(f"friction problem: M is singular ({error})") from error
        W = np.zeros((n, n))
        for i in range(0, n, 256):  # the columns of M^-1 H are dense while they last
            W[:, i : i + 256] = H_.T @ inverse.solve(H_[:, i : i + 256].toarray())
        b = w_ + H_.T @ inverse.solve(checked(f, (m,), "friction problem: f"))
        few = np.count_nonzero(W) < 0.25 * W.size
        return cls(sparse.csr_array(W) if few else W, b, np.asarray(mu, dtype=np.float64), dim=dim, **options)

    @property
    def contact_count(self) -> int:
        """Number of contacts n_c."""
        return int(self.mu.shape[0])

    @property
    def size(self) -> int:
        """Number of unknowns, dim n_c."""
        return int(self.b.shape[0])

    @property
    def polygon(self) -> int:
        """Vertices of the cone's polygon; 0 if the cone is exact (always so in a planar problem)."""
        return 0 if self.cone == "exact" or self.dim == 2 else int(self.directions)

    def dense(self) -> Array:
        """Return W with compliance as a matrix (dim n_c, dim n_c)."""
        W = self.W.dense() if isinstance(self.W, Delassus) else dense(self.W).copy()
        normal = np.arange(0, self.size, self.dim)
        W[normal, normal] += self.compliance
        return W

    def spatial(self, p: ArrayLike) -> Array:
        """Return `p` (dim n_c,) by contacts (n_c, 3), a fresh array; planar ones with a zero third component."""
        flat = np.asarray(p, dtype=np.float64)
        if flat.shape != (self.size,):
            raise InputError(f"friction problem: p has shape {flat.shape}, must be ({self.size},)")
        return _spatial(flat, self.contact_count, self.dim)

    def flat(self, p: Array) -> Array:
        """Return impulses by contacts (n_c, 3) as the problem's vector (dim n_c,)."""
        return p.reshape(-1) if self.dim == 3 else np.ascontiguousarray(p[:, :2]).reshape(-1)

    def velocity(self, p: ArrayLike) -> Array:
        """Return ``u = W p + b`` (dim n_c,)."""
        return self.flat(contact_velocity(self.couplings, self.spatial(p), self.load))

    def residual(self, p: ArrayLike) -> float:
        r"""Return :math:`\|p - P_K(p - \rho \hat u)\| / \max(\|p\|, \|\rho b\|)`, free of units and scale.

        Per contact :math:`\rho = 1/W_{nn}` and :math:`\hat u = u + \mu |u_T| n` (polygon:
        :math:`\max_j (-d_j \cdot u_T)_+` instead of :math:`|u_T|`). Zero exactly at solutions; 0 if both norms vanish.
        """
        return self.residual_by_contacts(self.spatial(p))

    def residual_by_contacts(self, p: Array) -> float:
        """Return the residual of impulses given by contacts (n_c, 3)."""
        error, size, load = self._norms(p, self.rho)
        scale = max(size, load)
        residual = error / scale if scale > 0.0 else error
        return residual if residual >= 0.0 else math.inf  # not a number: p is not finite

    def credible(self, p: ArrayLike, tolerance: float) -> bool:
        """Tell whether a point of small residual deserves to be called a solution.

        The residual is measured against the impulses, so impulses that press bodies against each other without bound
        pass although the velocities that the load asks for are left as they were. Here the error must be small
        against that load too.
        """
        error, _, load = self._norms(self.spatial(p), self.rho)
        return error <= max(_CREDIBLE, tolerance) * load

    def rel(self, p: ArrayLike) -> float:
        r"""Return :math:`\|p - P_K(p - \hat u)\| / \|b\|`, the measure of published collections; depends on units."""
        error, _, load = self._norms(self.spatial(p), np.ones_like(self.rho))
        return error / load if load > 0.0 else error

    def _norms(self, p: Array, rho: Array) -> tuple[float, float, float]:
        """Return the norms of the natural map, of p (n_c, 3) and of rho b."""
        u = contact_velocity(self.couplings, p, self.load)
        if self.polygon:
            return polygon_norms(p, u, self.load, self.mu, rho, self.polygon, self.rotation)
        return natural_norms(p, u, self.load, self.mu, rho)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the problem in local form as ``.npz``; :func:`~signorini.problems.load_problem` reads it."""
        W: Any = self.W.dense() if isinstance(self.W, Delassus) else self.W
        fields = {
            "dim": self.dim,
            "mu": self.mu,
            "q": self.b,
            "cone": self.cone,
            "directions": self.directions,
            "rotation": self.rotation,
            "compliance": self.compliance,
        }
        write_npz(path, "local", {**fields, **matrix_fields("W", sparse.csr_array(W))})


def _vector(value: ArrayLike, what: str) -> Array:
    """Return what :func:`checked` does for a vector, without its cost when there is nothing to object to."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 1 and value.flags.c_contiguous:
        vector: Array = value
        if np.isfinite(vector.dot(vector)):
            return vector.copy()
    return checked(value, (None,), what)


def _spatial(flat: Array, n_c: int, dim: int) -> Array:
    """Return a vector by contacts (n_c, 3)."""
    if dim == 3:
        return flat.reshape(n_c, 3).copy()
    by_contact = np.zeros((n_c, 3))
    by_contact[:, :2] = flat.reshape(n_c, 2)
    return by_contact
