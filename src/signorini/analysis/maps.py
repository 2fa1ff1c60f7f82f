"""Maps of uniqueness and stability over two parameters (S4, figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.analysis.answer import Answer
from signorini.analysis.contact_stability import Spectrum, critical_damping, spectrum_kind
from signorini.analysis.judgement import uniqueness
from signorini.analysis.p_matrix import p_matrix
from signorini.analysis.rod import Rod
from signorini.analysis.study import Axis, Columns, Evaluate, Run, study
from signorini.analysis.touching import sliding_matrices
from signorini.errors import InputError
from signorini.scene import Scene, compile_scene

_MINOR_LIMIT = 5  # all principal minors of so many rows fit into the bits of one number


@dataclass(frozen=True, slots=True, eq=False)
class StabilityMap:
    """What a map holds for each point; the first index is that of `y`, the second that of `x`."""

    x: Axis
    y: Axis
    spectrum: IntArray
    """:class:`~signorini.analysis.contact_stability.Spectrum`, (n_y, n_x)."""
    minors: IntArray
    """Which principal minors are not positive: bit ``s - 1`` stands for the rows in the binary form of s, so for two
    contacts 1: d11, 2: d22, 4: det D; (n_y, n_x)."""
    critical_damping: Array
    """Smallest stable ``c^2/k``, inf where there is none, (n_y, n_x)."""

    @property
    def unique(self) -> BoolArray:
        """Where D is a P-matrix: one solution for every load."""
        unique: BoolArray = self.minors == 0
        return unique

    def stable(self, damping: float) -> BoolArray:
        """Where the contact forces are exponentially stable for ``c^2/k`` = `damping` > 0 (inf: for some damping)."""
        if not damping > 0.0:
            raise InputError(f"damping c^2/k is {damping}, must be > 0: undamped contacts are at best marginal")
        stable: BoolArray = self.critical_damping < damping
        return stable

    def share(self, where: BoolArray | Spectrum) -> float:
        """Return the share of the map's area; the axes must hold midpoints of equal cells."""
        chosen = self.spectrum == int(where) if isinstance(where, Spectrum) else where
        return float(np.mean(chosen))


def stability_map(evaluate: Evaluate, x: Axis, y: Axis, *, run: Run = map) -> StabilityMap:
    """Map a function that gives :func:`matrix_columns` over two parameters; see :func:`study` for `run`.

    Examples
    --------
    >>> axis = Axis.midpoints("u_1", -4, 4, 8), Axis.midpoints("u_2", -4, 4, 8)
    >>> stability_map(rod_columns(Rod()), *axis).spectrum.shape
    (8, 8)
    """
    columns = study(evaluate, (y, x), run=run)
    return StabilityMap(x, y, columns["spectrum"], columns["minors"], columns["critical_damping"])


def matrix_columns(D: Array) -> Columns:
    """Return spectrum, minors and critical damping of many matrices, (n, m, m)."""
    eigenvalues = np.linalg.eigvals(D).astype(np.complex128)
    return {
        "spectrum": spectrum_kind(eigenvalues),
        "minors": minor_code(D),
        "critical_damping": critical_damping(eigenvalues),
    }


def minor_code(D: Array) -> IntArray:
    """Return which principal minors are not positive, as bits, (n, m, m) -> (n,).

    Beyond five rows only whether the matrix is P: 0 for a sure yes, else -1.
    """
    n, m = D.shape[:2]
    if m > _MINOR_LIMIT:
        return np.array([0 if p_matrix(matrix) else -1 for matrix in D], dtype=np.int64)
    code = np.zeros(n, dtype=np.int64)
    for subset in range(1, 2**m):
        rows = [i for i in range(m) if subset >> i & 1]
        minor = np.linalg.det(D[:, rows][:, :, rows])
        code |= np.where(minor <= 0.0, 1 << (subset - 1), 0)
    return code


def rod_columns(rod: Rod) -> Evaluate:
    """Return the function of the parameters ``u_1, u_2`` (signed friction), and of any field of `rod`, for a map."""
    return partial(_rod_columns, rod)


def _rod_columns(rod: Rod, parameters: dict[str, Array]) -> Columns:
    fields = {name: values for name, values in parameters.items() if name not in ("u_1", "u_2")}
    u_1, u_2 = parameters.get("u_1", np.zeros(1)), parameters.get("u_2", np.zeros(1))
    if not fields:
        return matrix_columns(rod.matrix(u_1, u_2))
    return matrix_columns(_rod_matrices(rod, fields, u_1, u_2))


def _rod_matrices(rod: Rod, fields: dict[str, Array], u_1: Array, u_2: Array) -> Array:
    """Return D point by point where the rod itself changes."""
    from dataclasses import replace

    n = next(iter(fields.values())).size
    u_1, u_2 = np.broadcast_to(u_1, n), np.broadcast_to(u_2, n)
    return np.array(
        [replace(rod, **{k: float(v[i]) for k, v in fields.items()}).matrix(u_1[i], u_2[i]) for i in range(n)]
    )


def scene_columns(build: Callable[..., Scene]) -> Evaluate:
    """Return the function for maps of a scene: ``build(**parameters)`` makes the scene of one point.

    All sliding contacts of the initial state count, as in the paper's maps, whether they press or not. Beyond five
    contacts, or where normals depend on each other, `minors` only tells whether every load has one motion: 0 or -1.
    """
    return partial(_scene_columns, build)


def _scene_columns(build: Callable[..., Scene], parameters: dict[str, Array]) -> Columns:
    n = next(iter(parameters.values())).size
    rows = [_scene_point(build(**{k: float(v[i]) for k, v in parameters.items()})) for i in range(n)]
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def _scene_point(scene: Scene) -> dict[str, float]:
    """Return the worst of all groups of contacts, columns as :func:`matrix_columns` has them."""
    worst: dict[str, float] = {"spectrum": int(Spectrum.REAL_POSITIVE), "minors": 0, "critical_damping": 0.0}
    for matrix in sliding_matrices(compile_scene(scene)):
        D = matrix.on_independent_normals(np.arange(matrix.contacts.size))
        columns = matrix_columns(D[None])
        unique, _, sharing_open = uniqueness(matrix)
        minors = int(columns["minors"][0]) if not sharing_open else -int(unique is not Answer.YES)
        worst["spectrum"] = max(worst["spectrum"], int(columns["spectrum"][0]))
        worst["minors"] = minors if worst["minors"] == 0 else worst["minors"]
        worst["critical_damping"] = max(worst["critical_damping"], float(columns["critical_damping"][0]))
    return worst
