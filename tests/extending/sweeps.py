"""A solver: projections onto Coulomb's cone, contact by contact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import signorini as sg
from signorini._arrays import Array
from signorini.solvers.progress import Progress


@dataclass(frozen=True)
class Sweeps:
    """Gauss-Seidel sweeps of ``p := P_K(p - rho (u + mu |u_T| n))``."""

    max_iterations: int = 2000

    def solve(self, problem: sg.FrictionProblem, control: sg.Control) -> sg.Solution:
        progress = Progress(problem, control, "Sweeps")
        if problem.extension is not None:
            return progress.finish(None, 0, sg.Status.NOT_APPLICABLE, finding="Coulomb's cone only")
        W, dim = problem.dense(), problem.dim
        p = np.zeros(problem.size) if control.start is None else control.start.copy()
        rows = [slice(dim * c, dim * c + dim) for c in range(problem.contact_count)]
        rho = [1.0 / max(float(np.linalg.eigvalsh(W[at, at])[-1]), 1e-300) for at in rows]
        for sweep in range(1, (control.max_iterations or self.max_iterations) + 1):
            for c, at in enumerate(rows):
                u = W[at] @ p + problem.b[at]
                u[0] += problem.mu[c] * np.linalg.norm(u[1:])
                p[at] = _in_cone(p[at] - rho[c] * u, float(problem.mu[c]))
            if progress.offer(p, sweep) <= control.tolerance or progress.out_of_time():
                break
        return progress.finish(p, sweep, sg.Status.ITERATION_LIMIT)


def _in_cone(p: Array, mu: float) -> Array:
    """Return the point of ``|p_T| <= mu p_n`` nearest to `p`."""
    normal, tangent = float(p[0]), float(np.linalg.norm(p[1:]))
    if tangent <= mu * normal:
        return p
    if mu * tangent <= -normal:
        return np.zeros_like(p)
    nearest = (normal + mu * tangent) / (1.0 + mu**2)
    return np.concatenate([[nearest], mu * nearest / tangent * p[1:]])
