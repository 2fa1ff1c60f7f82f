"""Layers with rigid cores as a friction problem without layers: compliances in W, cores as contacts of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini._scipy import sparse
from signorini.problems.convert import Converted
from signorini.problems.delassus import Delassus
from signorini.problems.friction import FrictionProblem
from signorini.problems.friction_extension import SPARSE_FROM
from signorini.problems.matrices import dense


def layers_as_contacts(problem: FrictionProblem) -> Converted | None:
    """Return the problem with its layers in W and their cores as contacts without friction; None without layers."""
    layers = problem.layers
    if layers is None:
        return None
    n_c, rows, dim, n = problem.contact_count, problem.rows, problem.dim, problem.size
    contact, which = np.nonzero(np.isfinite(layers.limit) & (layers.normal > 0.0))
    core = n + rows * np.arange(contact.size)
    size = n + rows * contact.size
    c, i, j = np.meshgrid(np.arange(n_c), np.arange(dim), np.arange(dim), indexing="ij")
    own = rows * contact[:, None] + np.arange(dim)
    beside = np.repeat(core, dim)
    a = -layers.matrix[contact, which, :, 0].reshape(-1)
    parts = (
        (layers.open.reshape(-1), (rows * c + i).reshape(-1), (rows * c + j).reshape(-1)),
        (a, own.reshape(-1), beside),
        (a, beside, own.reshape(-1)),
        (layers.normal[contact, which], core, core),
    )
    value, row, column = (np.concatenate(part) for part in zip(*parts, strict=True))
    W: Any = problem.W
    if size > SPARSE_FROM:
        W = sparse.coo_array(W.sparse() if isinstance(W, Delassus) else W)
        entries = np.append(W.data, value), (np.append(W.row, row), np.append(W.col, column))
        W = sparse.csr_array(entries, shape=(size, size))
    else:
        whole = np.zeros((size, size))
        whole[:n, :n] = W.dense() if isinstance(W, Delassus) else dense(W)
        np.add.at(whole, (row, column), value)
        W = whole
    b = np.zeros(size)
    b[:n], b[core] = problem.b, (layers.normal * layers.limit)[contact, which]

    def forth(p: Array) -> Array:
        z = np.zeros(size)
        z[:n] = p
        z[core] = layers.cores(p.reshape(n_c, rows)[:, :dim])[contact, which]
        return z

    words = {
        name: np.append(np.broadcast_to(value, (n_c,)), np.zeros(contact.size))
        for name in ("torsional", "rolling")
        if (value := getattr(problem, name)) is not None
    }
    if problem.ellipsoid is not None:
        axes = np.shape(problem.ellipsoid)[-1]
        words["ellipsoid"] = np.ones((n_c + contact.size, axes))
        words["ellipsoid"][:n_c] = problem.ellipsoid
    rigid = FrictionProblem(
        W,
        b,
        np.append(problem.mu, np.zeros(contact.size)),
        dim=dim,
        cone=problem.cone,
        directions=problem.directions,
        rotation=problem.rotation,
        **words,
    )
    return Converted(rigid, lambda z: z[:n], forth)
