"""Friction problems in files: fields of ``.npz`` archives and FCLIB's HDF5 files, in local or global form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from signorini._arrays import checked
from signorini._scipy import sparse
from signorini.errors import FileError, InputError
from signorini.problems.friction import FrictionProblem
from signorini.problems.matrices import matrix_from_fields

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def friction_from_fields(fields: dict[str, Any]) -> FrictionProblem:
    """Make a problem from the fields of an ``.npz`` file: local form (W, q) or global form (M, H, q, b)."""
    for name in ("kind", "dim", "mu", "q"):
        if name not in fields:
            raise InputError(f"friction problem: field {name!r} is missing")
    dim = int(fields["dim"])
    options: dict[str, Any] = {
        name: read(fields[name])
        for name, read in (
            ("cone", str),
            ("directions", int),
            ("rotation", float),
            ("compliance", _number_or_array),
            ("torsional", _number_or_array),
            ("rolling", _number_or_array),
            ("ellipsoid", _number_or_array),
            ("saturation", _number_or_array),
        )
        if name in fields
    }
    q = np.ravel(fields["q"])
    if str(fields["kind"]) == "global":
        if "b" not in fields:
            raise InputError("friction problem: field 'b' is missing")
        w = np.ravel(fields["b"])
        M, H = matrix_from_fields("M", fields), matrix_from_fields("H", fields)
        return FrictionProblem.from_global(M, H, q, w, _one_or_all(fields["mu"]), dim=dim, **options)
    W = matrix_from_fields("W", fields)
    return FrictionProblem(W, q, _one_or_all(fields["mu"]), dim=dim, **options)


def friction_from_normal_last(fields: dict[str, Any]) -> FrictionProblem:
    """Make a problem from the fields ``G, g, mus`` of robotics: components (tangent, tangent, normal), normal last."""
    for name in ("G", "g", "mus"):
        if name not in fields:
            raise InputError(f"friction problem: field {name!r} is missing")
    b = checked(np.ravel(fields["g"]), (None,), "friction problem: g")
    if b.size % 3:
        raise InputError(f"friction problem: g has {b.size} entries, must be a multiple of 3")
    W = checked(fields["G"], (b.size, b.size), "friction problem: G")
    order = np.arange(b.size).reshape(-1, 3)[:, [2, 0, 1]].reshape(-1)
    return FrictionProblem(W[np.ix_(order, order)], b[order], _one_or_all(fields["mus"]))


def friction_from_fclib(path: str | Path) -> FrictionProblem:
    """Read an FCLIB file: group ``fclib_local`` (W, q, mu) or ``fclib_global`` (M, H, f, w, mu)."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if "fclib_local" in file:
                group = file["fclib_local"]
                vectors = group["vectors"]
                dim = int(np.ravel(group["spacedim"][()])[0])
                return FrictionProblem(_fclib_matrix(group["W"]), vectors["q"][()], vectors["mu"][()], dim=dim)
            if "fclib_global" in file:
                group = file["fclib_global"]
                if "G" in group:
                    raise InputError("friction problem: FCLIB file has equality constraints 'G', which are not read")
                vectors = group["vectors"]
                dim = int(np.ravel(group["spacedim"][()])[0])
                M, H = _fclib_matrix(group["M"]), _fclib_matrix(group["H"])
                f, w, mu = (vectors[name][()] for name in ("f", "w", "mu"))
                return FrictionProblem.from_global(M, H, f, w, mu, dim=dim)
            raise FileError(f"{path}: groups are {sorted(file)}, need 'fclib_local' or 'fclib_global'")
    except (OSError, KeyError) as error:
        raise FileError(f"{path}: cannot read as FCLIB: {error}") from error


def _number_or_array(value: Any) -> Any:
    """Return a 0-d array as a float, others as they are."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value, dtype=np.float64)


def _one_or_all(mu: Any) -> Any:
    """Return coefficients of friction by contacts, a single one (for all) as a number."""
    values = np.ravel(np.asarray(mu, dtype=np.float64))
    return float(values[0]) if values.size == 1 else values


def _fclib_matrix(group: Any) -> Any:
    """Read a sparse matrix: nz >= 0 triplets, -1 compressed columns, -2 compressed rows."""
    m, n, nz = (int(np.ravel(group[name][()])[0]) for name in ("m", "n", "nz"))
    p, i, x = (group[name][()] for name in ("p", "i", "x"))
    if nz >= 0:
        return sparse.coo_array((x[:nz], (i[:nz], p[:nz])), shape=(m, n)).tocsr()
    entries = (x, i, p)
    return sparse.csc_array(entries, shape=(m, n)) if nz == -1 else sparse.csr_array(entries, shape=(m, n))
