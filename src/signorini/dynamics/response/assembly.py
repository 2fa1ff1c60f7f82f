"""Joined bodies as one map from contact forces to accelerations, and back to all forces and accelerations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics.response.kernels import assemble, release, respond_bodies
from signorini.dynamics.response.plan import Plan


class Bodies(NamedTuple):
    """Equations of motion of all bodies, ``Gamma x + beta = T^T F``, and accelerations ``A = T x + A^`` of their rows.

    x is the acceleration of the floating frame, angular part first, and of the modes, (6 + nu,) for each body. Rows are
    those of the plan: handles in the order of the joints, then contact directions.
    """

    inertia: list[Array]
    """Gamma, symmetric and positive definite, (6 + nu, 6 + nu) for each body."""
    bias: list[Array]
    """beta: inertial and elastic forces less those that are known, (6 + nu,)."""
    jacobian: list[Array]
    """T, (rows, 6 + nu)."""
    drift: list[Array]
    """A^: accelerations of the rows where x is zero, (rows,)."""


class Links(NamedTuple):
    """All joints: ``D^T (A_b - A_a) = d``."""

    held: IntArray
    """Number of directions that each joint holds, (n_j,)."""
    D: Array
    """These directions, orthonormal, in the first columns, (n_j, 6, 6)."""
    d: Array
    """(n_j, 6); of joints to a ground that moves with the acceleration of the ground on its side."""
    applied: Array
    """Known wrench on b, its opposite on a, (n_j, 6) [N m, N]."""


@dataclass(frozen=True, slots=True)
class Solved:
    """Accelerations and forces of all bodies and joints."""

    acceleration: Array
    """x of all bodies, one after another."""
    wrench: Array
    """On body b of each joint, at its handle, (n_j, 6) [N m, N]."""
    rows: Array
    """Forces in the rows of all nodes of the plan."""
    rate: Array | None = None
    """Rates of the speeds, where they are known without the accelerations."""


class Assembly:
    """A plan with the memory that it needs; every call of :meth:`assemble` overwrites what the last one found."""

    def __init__(self, plan: Plan, sizes: IntArray, held: IntArray) -> None:
        self.plan = plan
        n_b = plan.body_count
        self._size = np.asarray(sizes, dtype=np.int64)
        self._size_start, self._G_start = _starts(self._size), np.zeros(0, dtype=np.int64)
        self._held = np.asarray(held, dtype=np.int64)
        bodies = plan.rows[:n_b]
        self._T_start, self._Gamma_start = _starts(bodies * self._size), _starts(self._size**2)
        closed = np.array(
            [
                self._held[plan.joint[plan.joint_start[k] : plan.joint_start[k + 1]]].sum()
                for k in range(plan.rows.size)
            ],
            dtype=np.int64,
        )
        self._y_start, self._Q_start = _starts(closed), _starts(closed**2)
        self._G_start = _starts(closed * plan.rows)
        stacked = [
            int(plan.rows[plan.kid[plan.kid_start[k] : plan.kid_start[k + 1]]].sum()) for k in range(plan.rows.size)
        ]
        most, wide, tall = int(closed.max(initial=1)), max([1, *stacked]), int(bodies.max(initial=1))
        nu = int(self._size.max(initial=6))
        self._L, self._work = np.zeros((n_b, nu, nu)), np.zeros((tall, nu))
        self.Z, self.b = np.zeros(plan.square_start[-1]), np.zeros(plan.row_start[-1])
        self._root, self._G, self._y = (
            np.zeros(starts[-1]) for starts in (self._Q_start, self._G_start, self._y_start)
        )
        self._Y, self._X, self._V = np.zeros((wide, most)), np.zeros((most, most)), np.zeros((2, most, most))
        self._scale, self._known, self._own = np.zeros(3 * most), np.zeros(wide), np.zeros(max(most, nu))
        self._T, self._beta = np.zeros(0), np.zeros(0)
        self._links = Links(self._held, np.zeros((0, 6, 6)), np.zeros((0, 6)), np.zeros((0, 6)))
        self.redundant = 0
        """Number of joint rows that depend on others, of the last assembly."""

    def assemble(self, bodies: Bodies, links: Links) -> bool:
        """Assemble everything; False where the inertia of a body is not positive definite."""
        plan = self.plan
        self._T, self._beta = _flat(bodies.jacobian), _flat(bodies.bias)
        self._links = links
        first = int(plan.row_start[plan.body_count])
        self.b[:first] = _flat(bodies.drift)
        if not respond_bodies(
            self._T,
            self._T_start,
            _flat(bodies.inertia),
            self._Gamma_start,
            self._beta,
            self._size,
            self._size_start,
            plan.rows,
            plan.row_start,
            plan.square_start,
            self._L,
            self._own,
            self._work,
            self.Z,
            self.b,
        ):
            return False
        self.redundant = assemble(
            plan.body_count,
            plan.rows,
            plan.row_start,
            plan.square_start,
            plan.kid,
            plan.kid_start,
            plan.joint,
            plan.joint_start,
            plan.end,
            plan.keep,
            plan.body,
            plan.handle,
            links.D,
            self._held,
            links.d,
            links.applied,
            self.Z,
            self.b,
            self._root,
            self._G,
            self._y,
            self._G_start,
            self._Q_start,
            self._y_start,
            self._Y,
            self._X,
            self._V,
            self._own,
            self._scale,
            self._known,
        )
        return True

    def response(self, node: int) -> tuple[Array, Array]:
        """Return Z (m, m) and b (m,) of a node of the plan."""
        m, r, z = int(self.plan.rows[node]), int(self.plan.row_start[node]), int(self.plan.square_start[node])
        return self.Z[z : z + m * m].reshape(m, m).copy(), self.b[r : r + m].copy()

    def solve(self, forces: Array | None = None, *, known: bool = True) -> Solved:
        """Return all accelerations and forces where these act in the rows of the roots, one root after another.

        With ``known=False`` what these forces do alone; forces and accelerations may then be impulses and jumps of
        velocities.
        """
        plan, links = self.plan, self._links
        F = np.zeros(self.b.size)
        if forces is not None:
            first = 0
            for root in plan.root:
                r, m = int(plan.row_start[root]), int(plan.rows[root])
                F[r : r + m] = forces[first : first + m]
                first += m
        x, wrench = np.zeros(self._size_start[-1]), np.zeros((self._held.size, 6))
        release(
            plan.body_count,
            plan.rows,
            plan.row_start,
            plan.kid,
            plan.kid_start,
            plan.joint,
            plan.joint_start,
            plan.end,
            plan.keep,
            links.D,
            self._held,
            links.applied,
            self._root,
            self._G,
            self._y,
            self._G_start,
            self._Q_start,
            self._y_start,
            self._T,
            self._T_start,
            self._beta,
            self._size,
            self._size_start,
            self._L,
            float(known),
            F,
            wrench,
            x,
            np.zeros(2 * self._X.shape[0]),
            np.zeros(self._known.size),
        )
        return Solved(x, wrench, F)


def _flat(tables: list[Array]) -> Array:
    return np.concatenate([table.reshape(-1) for table in tables]) if tables else np.zeros(0)


def _starts(counts: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
