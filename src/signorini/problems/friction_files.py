"""Friction problems in files: fields of ``.npz`` archives and FCLIB's HDF5 files, in local or global form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from signorini._arrays import checked
from signorini.errors import FileError, InputError
from signorini.io import read_tree, short
from signorini.problems.friction import FrictionProblem
from signorini.problems.matrices import matrix_from_fields, sparse_matrix

MOST_DIRECTIONS = 1000  # of a polygonal cone in a file; the exact one is there for those who want more
HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def friction_from_fields(fields: dict[str, Any]) -> FrictionProblem:
    """Make a problem from the fields of an ``.npz`` file: local form (W, q) or global form (M, H, q, b)."""
    for name in ("kind", "dim", "mu", "q"):
        if name not in fields:
            raise InputError(f"friction problem: field {name!r} is missing")
    dim = _one(fields, "dim", int)
    options: dict[str, Any] = {
        name: _one(fields, name, kind)
        for name, kind in (("cone", str), ("directions", int), ("rotation", float))
        if name in fields
    }
    options |= {
        name: _number_or_array(fields[name], name)
        for name in ("compliance", "torsional", "rolling", "ellipsoid", "saturation")
        if name in fields
    }
    if options.get("directions", 0) > MOST_DIRECTIONS:
        raise InputError(f"friction problem: directions is {options['directions']}, must be <= {MOST_DIRECTIONS}")
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
    tree = read_tree(path, only=("fclib_local", "fclib_global"))
    for name, vectors in (("fclib_local", ("q", "mu")), ("fclib_global", ("f", "w", "mu"))):
        if name not in tree:
            continue
        group = _inside(tree, name, "")
        if "G" in group:
            raise InputError("friction problem: FCLIB file has equality constraints 'G', which are not read")
        dim = _whole(group, "spacedim", name)
        given = _inside(group, "vectors", name)
        read = [_numbers(given, one, f"{name}/vectors") for one in vectors]
        if name == "fclib_local":
            q, mu = read
            return FrictionProblem(_fclib_matrix(group, "W", name), q, mu, dim=dim)
        f, w, mu = read
        M, H = (_fclib_matrix(group, one, name) for one in "MH")
        return FrictionProblem.from_global(M, H, f, w, mu, dim=dim)
    raise FileError(f"{path}: has no group 'fclib_local' or 'fclib_global', must have one")


def _inside(tree: dict[str, Any], name: str, where: str) -> dict[str, Any]:
    """Return a group."""
    group = tree.get(name)
    if not isinstance(group, dict):
        raise InputError(f"friction problem: {where}/{name} is missing, must be a group")
    return group


def _numbers(group: dict[str, Any], name: str, where: str) -> Any:
    """Return an array of numbers."""
    value = group.get(name)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        raise InputError(f"friction problem: {where}/{name} is missing or no array, must be numbers")
    return value


def _whole(group: dict[str, Any], name: str, where: str) -> int:
    """Return a single whole number."""
    value = _numbers(group, name, where)
    if value.size != 1 or value.dtype.kind not in "iu":
        raise InputError(f"friction problem: {where}/{name} has the shape {value.shape}, must be one whole number")
    return int(value.reshape(-1)[0])


def _one(fields: dict[str, Any], name: str, kind: type) -> Any:
    """Return a field that is a single number or text of a kind."""
    value = np.asarray(fields[name])
    if value.ndim or value.dtype.kind not in {int: "iu", float: "iuf", str: "U"}[kind]:
        raise InputError(f"friction problem: field {name!r} is {short(fields[name])}, must be one {kind.__name__}")
    return kind(value[()])


def _number_or_array(value: Any, name: str) -> Any:
    """Return a 0-d array as a float, others as they are."""
    values = _reals(value, name)
    return float(values) if np.ndim(values) == 0 else values


def _reals(value: Any, name: str) -> Any:
    """Return real numbers of any shape as floats."""
    values = np.asarray(value)
    if values.dtype.kind not in "biuf":
        raise InputError(f"friction problem: field {name!r} has the type {values.dtype}, must be numbers")
    return values.astype(np.float64)


def _one_or_all(mu: Any) -> Any:
    """Return coefficients of friction by contacts, a single one (for all) as a number."""
    values = np.ravel(_reals(mu, "mu"))
    return float(values[0]) if values.size == 1 else values


def _fclib_matrix(group: dict[str, Any], name: str, where: str) -> Any:
    """Read a sparse matrix: nz >= 0 triplets, -1 compressed columns, -2 compressed rows."""
    where = f"{where}/{name}"
    parts = _inside(group, name, where)
    m, n, nz = (_whole(parts, one, where) for one in ("m", "n", "nz"))
    p, i, x = (_numbers(parts, one, where).reshape(-1) for one in "pix")
    if nz >= 0:
        return sparse_matrix("coo", (x[:nz], i[:nz], p[:nz]), (m, n), f"friction problem: {where}")
    return sparse_matrix("csc" if nz == -1 else "csr", (x, i, p), (m, n), f"friction problem: {where}")
