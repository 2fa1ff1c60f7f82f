r"""The Coulomb friction problem: data, residual, nothing else.

.. math:: u = W p + b, \qquad K^* \ni u + \mu |u_T| n \;\perp\; p \in K

contact by contact, normal component first: Signorini's condition in the normal direction, friction opposite to slip and
of size :math:`\mu p_n` while slipping. De Saxcé's term :math:`\mu |u_T| n` makes the law one complementarity over the
cone K, exact or polygonal. Torsional and rolling couples and ellipsoidal friction add components and change the cone
(:mod:`~signorini.problems.friction_extension`); the law stays one complementarity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked, checked_number
from signorini._scipy import sparse, sparse_linalg
from signorini.errors import InputError
from signorini.math.cones import ROUNDING, allowed_error, leaves_load, natural_norms, polygon_norms
from signorini.problems.connections import (
    Connections,
    connect_matrix,
    connect_sparse,
    contact_velocity,
    diagonal_blocks,
    inverse_normal_diagonal,
    with_compliance,
)
from signorini.problems.delassus import Delassus
from signorini.problems.friction_extension import (
    SPARSE_FROM,
    Extension,
    diagonal_blocks_of,
    extend,
    rows_per_contact,
    scaled_operator,
)
from signorini.problems.friction_judge import judge
from signorini.problems.friction_layers import Layers, make_layers
from signorini.problems.matrices import Matrix, checked_matrix, dense, is_sparse, matrix_fields, plus_diagonal
from signorini.problems.npz import write_npz


class Verdict(NamedTuple):
    """What a friction problem says of impulses."""

    residual: float
    """See :meth:`FrictionProblem.residual`."""
    rel: float
    """See :meth:`FrictionProblem.rel`."""
    solved: bool
    """Whether the residual meets the tolerance and the impulses are credible."""


@dataclass(frozen=True, slots=True, eq=False)
class FrictionProblem:
    r"""Find the impulses `p` of Coulomb contacts with velocities ``u = W p + b``.

    Parameters
    ----------
    W : (n, n) array, SciPy sparse matrix or Delassus
        May be unsymmetric, singular, with zero rows; n = rows n_c, rows = dim unless couples are posed.
    b : (n,) array
        Contact velocities without impulses, contact by contact, normal first: ``(n, t, o[, tau][, rho_t, rho_o])``,
        planar ``(n, t[, rho])``; components in brackets are couples, their velocities angular.
    mu : (n_c,) array or float
        Coefficients of friction, >= 0.
    dim : 2 or 3
        Plane or space: components of a contact's force.
    cone : "exact" or "polygon"
        The polygon has the vertices ``mu p_n d_j``, ``d_j = cos(rotation + 2 pi j/n_d) t + sin(...) o``; in a planar
        problem it is the exact cone.
    directions : int
        Vertices n_d of the polygon, >= 3 (planar: always 2).
    rotation : float
        Angle of the first vertex from the first tangent [rad].
    compliance : float or array (n_c,), (n_c, dim), (n_c, dim, dim) or (n_c, m, dim, dim)
        Implicit compliance, added to the normal diagonal of W, to the diagonal in all components of the force, or to
        its blocks (same unit): part of the law posed. 0 is the rigid law; of m in series the sum counts.
    saturation : float or array (n_c,) or (n_c, m), optional
        Normal impulses p_c by which a compliance is exhausted, rigid beyond: ``u_n + c min(p_n, p_c)`` where it is
        diagonal, in general as :mod:`~signorini.problems.friction_layers` has it. None: never.
    torsional : (n_c,) array or float, optional
        Adds a couple about the normal, ``|tau| <= torsional p_n`` [m]; mu does not enter. None: no such component.
        Beside the couple of an ellipsoid it is another component, after that one.
    rolling : (n_c,) array or float, optional
        Adds couples about the tangents (planar: about z), ``|rho| <= rolling p_n`` [m]. None: no such components.
    ellipsoid : (e_t, e_o) or (e_t, e_o, e_r), or one for each contact (n_c, 2 or 3), optional
        ``(p_t/e_t)^2 + (p_o/e_o)^2 + (tau/e_r)^2 <= mu^2 p_n^2``; e_r [m] adds the couple tau. Not in the plane.

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
    torsional: Array | float | None = None
    rolling: Array | float | None = None
    ellipsoid: Array | Sequence[float] | None = None
    saturation: Array | float | None = None
    connections: Connections = field(init=False, repr=False)
    """W with compliance as ``G S`` by blocks of three; what the solvers' kernels take (empty if there are couples)."""
    load: Array = field(init=False, repr=False)
    """`b` by contacts (n_c, 3), planar ones with a zero third component; (n_c, rows) if there are couples."""
    blocks: Array = field(init=False, repr=False)
    """Diagonal blocks of W with compliance (n_c, 3, 3); (n_c, rows, rows) if there are couples."""
    rho: Array = field(init=False, repr=False)
    """1/W_nn by contacts (n_c,), 1 where W_nn vanishes."""
    extension: Extension | None = field(init=False, repr=False)
    """The cones where they are not Coulomb's; load, blocks and connections are then in its scaled components."""
    scaled_W: Matrix | Delassus = field(init=False, repr=False)
    """W in scaled components; with couples a matrix that includes compliance. W itself where nothing is scaled."""
    layers: Layers | None = field(init=False, repr=False)
    """Compliances that are matrices or end somewhere, None if there are none; not part of `connections`, `scaled_W`."""

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
        put = object.__setattr__
        b = _vector(self.b, "friction problem: b")
        rows = self.dim
        extended = self.torsional is not None or self.rolling is not None or self.ellipsoid is not None
        if extended:
            rows = rows_per_contact(self.dim, self.torsional, self.rolling, self.ellipsoid)
        n_c, rest = divmod(b.shape[0], rows)
        if rest:
            what = f"dim = {rows}" if rows == self.dim else f"{rows}, dim = {self.dim} and the couples"
            raise InputError(f"friction problem: b has {b.shape[0]} entries, must be a multiple of {what}")
        mu = self.mu if np.ndim(self.mu) else np.full(n_c, float(self.mu))
        mu = _vector(mu, "friction problem: mu")
        if mu.shape != (n_c,):
            raise InputError(f"friction problem: mu has {mu.shape[0]} entries, must have {n_c}, one for each contact")
        if n_c and mu.min() < 0.0:
            raise InputError(f"friction problem: mu of contact {mu.argmin()} is {mu.min()}, must be >= 0")
        put(self, "b", b)
        put(self, "mu", mu)
        if self.rotation != 0.0:
            put(self, "rotation", checked_number(self.rotation, "friction problem: rotation"))
        put(self, "layers", None)
        if self.saturation is not None or np.ndim(self.compliance) > 2:
            put(self, "layers", make_layers(self.compliance, self.saturation, n_c, self.dim))
            put(self, "compliance", np.array(self.compliance, dtype=np.float64))
        elif not isinstance(self.compliance, float) or self.compliance != 0.0:
            given = self.compliance
            alpha = np.full(n_c, float(given)) if isinstance(given, int | float) else given
            columns = (self.dim,) if np.ndim(alpha) == 2 else ()
            alpha = checked(alpha, (n_c, *columns), "friction problem: compliance")
            if n_c and alpha.min() < 0.0:
                contact = np.unravel_index(alpha.argmin(), alpha.shape)[0]
                raise InputError(f"friction problem: compliance of contact {contact} is {alpha.min()}, must be >= 0")
            put(self, "compliance", alpha)
        self._check_operator(n_c, rows)
        put(self, "extension", None)
        put(self, "scaled_W", self.W)
        if extended:
            self._extend(n_c, rows)
        if rows == self.dim:
            self._pose(n_c)
        if not np.isfinite(np.vdot(self.blocks, self.blocks)) and not np.isfinite(self.blocks).all():
            raise InputError("friction problem: W must be finite")
        if self.layers is not None:
            self.blocks[:, : self.dim, : self.dim] += self._scaled_blocks(self.layers.open)
        put(self, "rho", inverse_normal_diagonal(self.blocks))

    def _check_operator(self, n_c: int, rows: int) -> None:
        """Check W."""
        n = n_c * rows
        if not isinstance(self.W, Delassus):
            object.__setattr__(self, "W", checked_matrix(self.W, (n, n), "friction problem: W"))
        elif self.W.shape != (n, n) or self.W.dim != rows:
            raise InputError(
                f"friction problem: W has {self.W.contact_count} contacts of {self.W.dim} components, "
                f"b and dim say {n_c} of {rows}"
            )

    def _pose(self, n_c: int) -> None:
        """Set what the kernels of blocks of three take."""
        W, put = self.scaled_W, object.__setattr__
        if isinstance(W, Delassus):
            connections = W.connections()
        else:
            connections = connect_sparse(W, n_c, self.dim) if is_sparse(W) else connect_matrix(dense(W), n_c, self.dim)
        if self.layers is None and isinstance(self.compliance, np.ndarray) and self.compliance.any():
            connections = with_compliance(connections, self.softness)
        put(self, "connections", connections)
        put(self, "blocks", diagonal_blocks(*connections[:6]))
        scaled = self.b if self.extension is None else self.b * self.extension.scale.reshape(-1)
        put(self, "load", _spatial(scaled, n_c, self.dim))

    def _extend(self, n_c: int, rows: int) -> None:
        """Set the cones in scaled components, and W and b with them where there are couples."""
        put = object.__setattr__
        if self.polygon:
            raise InputError("friction problem: cone is 'polygon', must be 'exact' with couples or an ellipsoid")
        extension = extend(self.dim, self.mu, self.torsional, self.rolling, self.ellipsoid)
        for name in ("torsional", "rolling", "ellipsoid"):
            value = getattr(self, name)
            put(self, name, None if value is None else np.array(value, dtype=np.float64))
        put(self, "extension", extension)
        if rows == self.dim:
            put(self, "scaled_W", scaled_operator(self.W, extension.scale))
            return
        W: Any = self.W
        if isinstance(W, Delassus):
            W = W.sparse() if W.shape[0] > SPARSE_FROM else W.dense()
        alpha = np.zeros((n_c, rows))
        alpha[:, : self.softness.shape[1]] = self.softness
        alpha *= extension.scale**2  # 1 for the normal component
        scaled_W = plus_diagonal(cast(Matrix, scaled_operator(W, extension.scale)), alpha.reshape(-1))
        put(self, "scaled_W", scaled_W)
        put(self, "load", np.ascontiguousarray(self.b.reshape(n_c, rows) * extension.scale))
        put(self, "blocks", diagonal_blocks_of(scaled_W, rows))
        put(self, "connections", connect_matrix(np.zeros((0, 0)), 0, 3))

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
            inverse: Any = sparse_linalg.splu(M_)
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
        """Number of unknowns, rows n_c."""
        return int(self.b.shape[0])

    @property
    def rows(self) -> int:
        """Components per contact: dim, and the couples."""
        return self.dim if self.extension is None else int(self.extension.starts[-1])

    @property
    def softness(self) -> Array:
        """Diagonal compliance by contacts, normal first: (n_c, 1) or (n_c, dim); that of layers is not in it."""
        if self.layers is not None:
            return np.zeros((self.contact_count, 1))
        alpha = np.asarray(self.compliance, dtype=np.float64)
        return np.broadcast_to(alpha, (self.contact_count,)).reshape(-1, 1) if alpha.ndim < 2 else alpha

    @property
    def plain(self) -> bool:
        """True if the law is Coulomb's with the exact cone, which the solvers' kernels for blocks of three take."""
        return self.extension is None and not self.polygon and self.layers is None

    @property
    def polygon(self) -> int:
        """Vertices of the cone's polygon; 0 if the cone is exact (always so in a planar problem)."""
        return 0 if self.cone == "exact" or self.dim == 2 else int(self.directions)

    def dense(self) -> Array:
        """Return W with compliance as a matrix (n, n); of layers whose cores are not reached."""
        W = self.W.dense() if isinstance(self.W, Delassus) else dense(self.W).copy()
        for i in range(self.softness.shape[1]):
            component = np.arange(i, self.size, self.rows)
            W[component, component] += self.softness[:, i]
        if self.layers is not None:
            for c, block in enumerate(self.layers.open):
                own = slice(self.rows * c, self.rows * c + self.dim)
                W[own, own] += block
        return W

    def _scaled_blocks(self, blocks: Array) -> Array:
        """Return blocks of the force (n_c, dim, dim) in scaled components."""
        if self.extension is None:
            return blocks
        s = self.extension.scale[:, : self.dim]
        return s[:, :, None] * blocks * s[:, None, :]

    def spatial(self, p: ArrayLike) -> Array:
        """Return `p` (n,) by contacts (n_c, 3), a fresh array; planar ones with a zero third component.

        Where the law is extended: in scaled components, with couples (n_c, rows).
        """
        flat = np.asarray(p, dtype=np.float64)
        if flat.shape != (self.size,):
            raise InputError(f"friction problem: p has shape {flat.shape}, must be ({self.size},)")
        if self.extension is not None:
            return flat.reshape(self.contact_count, self.rows) / self.extension.scale
        return _spatial(flat, self.contact_count, self.dim)

    def flat(self, p: Array) -> Array:
        """Return impulses by contacts, as :meth:`spatial` makes them, as the problem's vector (n,)."""
        if self.extension is not None:
            return (p * self.extension.scale).reshape(-1)
        return p.reshape(-1) if self.dim == 3 else np.ascontiguousarray(p[:, :2]).reshape(-1)

    def velocity(self, p: ArrayLike) -> Array:
        """Return ``u = W p + b`` (n,), with what compliances give."""
        u = self._velocity_by_contacts(self.spatial(p))
        return self.flat(u) if self.extension is None else (u / self.extension.scale).reshape(-1)

    def _velocity_by_contacts(self, p: Array) -> Array:
        """Return velocities by contacts, in the components of :meth:`spatial`."""
        u: Array
        if self.extension is None or self.rows == self.dim:
            u = contact_velocity(self.connections, p, self.load)
        else:
            W: Any = self.scaled_W
            u = (W @ p.reshape(-1)).reshape(p.shape) + self.load
        if self.layers is not None:
            s = 1.0 if self.extension is None else self.extension.scale[:, : self.dim]
            u[:, : self.dim] += s * self.layers.velocity(s * p[:, : self.dim])
        return u

    def weights(self, p: ArrayLike) -> Array:
        """Return 1/W_nn by contacts (n_c,) at the impulses `p`: `rho`, but where the core of a layer is reached."""
        return self._weights(self.spatial(p))

    def _weights(self, p: Array) -> Array:
        if self.layers is None or not np.isfinite(self.layers.limit).any():
            return self.rho
        s = 1.0 if self.extension is None else self.extension.scale[:, : self.dim]
        blocks = self.blocks[:, :1, :1].copy()
        blocks[:, 0, 0] += self.layers.give(s * p[:, : self.dim]) - self.layers.open[:, 0, 0]
        return inverse_normal_diagonal(blocks)

    def residual(self, p: ArrayLike) -> float:
        r"""Return :math:`\|p - P_K(p - \rho \hat u)\| / \max(\|p\|, \|\rho b\|)`, free of units and scale.

        Per contact :math:`\rho = 1/W_{nn}` and :math:`\hat u = u + \mu |u_T| n` (polygon:
        :math:`\max_j (-d_j \cdot u_T)_+` instead of :math:`|u_T|`). Zero exactly at solutions; 0 if both norms vanish.
        Couples and ellipsoids: in scaled components (:mod:`~signorini.problems.friction_extension`).
        """
        return self.residual_by_contacts(self.spatial(p))

    def residual_by_contacts(self, p: Array) -> float:
        """Return the residual of impulses given by contacts, as :meth:`spatial` makes them."""
        error, size, load = self._norms(p, self._weights(p))
        scale = max(size, load)
        residual = error / scale if scale > 0.0 else error
        return residual if residual >= 0.0 else math.inf  # not a number: p is not finite

    def scale(self, p: ArrayLike) -> float:
        r"""Return :math:`\max(\|p\|, \|\rho b\|)`, the impulse against which the residual is measured [N s]."""
        x = self.spatial(p)
        return max(self._norms(x, self._weights(x))[1:])

    def credible(self, p: ArrayLike, tolerance: float) -> bool:
        """Tell whether a point of small residual deserves to be called a solution.

        The residual is measured against the impulses, so impulses that press bodies against each other without bound
        pass although the velocities that the load asks for are left as they were, or are lost in rounding. Here the
        velocity error of every contact may be at most 1000 tolerances of the largest velocity of that load too, or,
        where impulses are so great that rounding forbids this, some roundings of the velocities that they make, which
        must be below 1e-3 of the load (:func:`~signorini.math.cones.allowed_error`). No gap closes faster than that: of
        this the natural map sees no more than a part 1/mu.
        """
        x = self.spatial(p)
        if self.plain:
            return _small(*self._doubt(x)[2:], tolerance)
        u, rho = self._velocity_by_contacts(x), self._weights(x)
        error = self._natural_norms(x, u, self.load, self.mu, rho)[0]
        fastest = float(np.abs(self.load).max(initial=0.0))
        lost = 0.0
        if fastest > 0.0:
            lost = ROUNDING * float((np.linalg.norm(x, axis=1) / rho).max(initial=0.0)) / fastest
        if not _small(0.0, lost, tolerance):
            return False
        most = allowed_error(tolerance, lost) * fastest
        allowed = most * rho
        if not u[:, 0].min(initial=0.0) >= -most:
            return False
        doubtful = np.flatnonzero(~(error <= allowed))
        return all(self._error_of_contact(x, u, rho, int(c)) <= allowed[c] for c in doubtful)

    def _doubt(self, p: Array) -> tuple[float, float, float, float]:
        """Return residual, `rel`, largest velocity error and rounding over the largest velocity of the load."""
        return judge(*self.connections, p, self.load, self.mu, self.rho)

    def verdict(self, p: Array, tolerance: float) -> Verdict:
        """Return residual, `rel`, and whether impulses by contacts count as a solution, from one product with W."""
        if not self.plain:
            z, residual = self.flat(p), self.residual_by_contacts(p)
            return Verdict(residual, self.rel(z), residual <= tolerance and self.credible(z, tolerance))
        residual, rel, error, lost = self._doubt(p)
        return Verdict(residual, rel, residual <= tolerance and _small(error, lost, tolerance))

    def rel(self, p: ArrayLike) -> float:
        r"""Return :math:`\|p - P_K(p - \hat u)\| / \|b\|`, the measure of published collections; depends on units."""
        error, _, load = self._norms(self.spatial(p), np.ones_like(self.rho))
        return error / load if load > 0.0 else error

    def _norms(self, p: Array, rho: Array) -> tuple[float, float, float]:
        """Return the norms of the natural map, of p (by contacts) and of rho b."""
        return self._natural_norms(p, self._velocity_by_contacts(p), self.load, self.mu, rho)

    def _error_of_contact(self, p: Array, u: Array, rho: Array, c: int) -> float:
        """Return the norm of the natural map of one contact, `u` being the velocities of `p`."""
        one = slice(c, c + 1)
        return self._natural_norms(p[one], u[one], self.load[one], self.mu[one], rho[one], one)[0]

    def _natural_norms(
        self, p: Array, u: Array, load: Array, mu: Array, rho: Array, contacts: slice | None = None
    ) -> tuple[float, float, float]:
        """Return these norms for all contacts, or for some with the arrays of these."""
        if self.extension is not None and self.rows != self.dim:
            from signorini.math.product_cones import product_norms  # compiled only where there are couples

            limits = self.extension.limits if contacts is None else self.extension.limits[contacts]
            return product_norms(p, u, load, limits, self.extension.starts, rho)
        if self.polygon:
            return polygon_norms(p, u, load, mu, rho, self.polygon, self.rotation)
        return natural_norms(p, u, load, mu, rho)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the problem in local form as ``.npz``; :func:`~signorini.problems.load_problem` reads it."""
        W: Any = self.W.dense() if isinstance(self.W, Delassus) else self.W
        fields: dict[str, Any] = {
            "dim": self.dim,
            "mu": self.mu,
            "q": self.b,
            "cone": self.cone,
            "directions": self.directions,
            "rotation": self.rotation,
            "compliance": self.compliance,
        }
        for name in ("torsional", "rolling", "ellipsoid", "saturation"):
            if getattr(self, name) is not None:
                fields[name] = getattr(self, name)
        write_npz(path, "local", {**fields, **matrix_fields("W", sparse.csr_array(W))})


def _small(error: float, lost: float, tolerance: float) -> bool:
    """Tell whether a velocity error, and what rounding may lose of velocities, leave the load to be seen."""
    return bool(error <= allowed_error(tolerance, lost) and leaves_load(tolerance, lost))


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
