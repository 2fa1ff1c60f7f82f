"""Friction problems in equilibrated units, in which interior point and Newton methods work."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.problems.connections import apply_connections
from signorini.problems.friction import FrictionProblem


class EquilibratedProblem:
    """A friction problem scaled to ``W_nn = 1`` and ``max |b| = 1``; contacts that cannot answer are left out.

    ``r = p / (d s)``, ``u' = d u / s``, ``d = W_nn^-1/2``, ``s = max |d b|``.
    """

    def __init__(self, problem: FrictionProblem) -> None:
        self.problem = problem
        W_nn = problem.blocks[:, 0, 0]
        movable = W_nn * problem.rho > 0.5  # rho is 1/W_nn except where W_nn counts as zero
        self.kept: Any = slice(None) if movable.all() else np.flatnonzero(movable)
        self.n_c = int(movable.sum())
        self.d = np.sqrt(problem.rho[self.kept])
        self.mu = np.ascontiguousarray(problem.mu[self.kept])
        s = float(np.abs(self.d[:, None] * problem.load[self.kept]).max(initial=0.0))
        self.s = s if s > 0.0 else 1.0
        self._p = np.zeros((problem.contact_count, 3))
        self._nothing = np.zeros((problem.contact_count, 3))
        self._u = np.zeros((problem.contact_count, 3))
        self._y = np.zeros((problem.connections.y_count, 3))
        self._from_p = (1.0 / (self.d * self.s))[:, None]
        self._to_p = (self.d * self.s)[:, None]
        self._from_u = (self.d / self.s)[:, None]

    def scaled(self, p: Array) -> Array:
        """Return impulses (all contacts, 3) in equilibrated units (n_c, 3)."""
        return np.ascontiguousarray(p[self.kept] * self._from_p)

    def impulses(self, r: Array) -> Array:
        """Return impulses of all contacts (all contacts, 3)."""
        p = np.zeros_like(self._p)
        p[self.kept] = r * self._to_p
        return p

    def velocity(self, r: Array) -> Array:
        """Return ``u' = W' r + b'``; the problem's own product, so no error of a factorisation enters."""
        self._p[self.kept] = r * self._to_p
        apply_connections(*self.problem.connections[:6], self._p, self.problem.load, self._y, self._u)
        return np.ascontiguousarray(self._u[self.kept] * self._from_u)

    def product(self, r: Array) -> Array:
        """Return ``W' r``."""
        self._p[self.kept] = r * self._to_p
        apply_connections(*self.problem.connections[:6], self._p, self._nothing, self._y, self._u)
        return np.ascontiguousarray(self._u[self.kept] * self._from_u)

    def residual(self, r: Array) -> float:
        """Return the problem's own residual."""
        return self.problem.residual_by_contacts(self.impulses(r))
