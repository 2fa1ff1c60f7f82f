"""Joints and contacts of a state as geometry alone: which joint rows are redundant, and do contacts wedge? (S1, S2)"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array
from signorini.analysis.matrix_classes import DEPENDENT
from signorini.analysis.regularity import Regularity, disassembly, pointed_cone
from signorini.analysis.touching import joints_of
from signorini.dynamics import contact_wrenches, inverse_inertia, joint_coordinates, joint_system
from signorini.model import Contacts, Model, State
from signorini.problems import Delassus, FrictionProblem

_SHARES = 1e-6  # of the largest impulse of a balance: less is rounding


@dataclass(frozen=True, slots=True)
class Redundancy:
    """Rows of rigid joints that depend on each other: their forces are not determined by the motion."""

    rows: int
    rank: int
    joints: tuple[str, ...]
    """Joints whose forces can balance each other."""

    def __str__(self) -> str:
        if self.rank == self.rows:
            return f"{self.rows} rows, all independent"
        return (
            f"{self.rows} rows, rank {self.rank}: forces of {', '.join(self.joints)} can balance each other, so they "
            "are not determined (the motion is)"
        )


def redundancy(model: Model, state: State) -> Redundancy:
    """Return rows, rank and the joints that share redundant rows; springs do not count."""
    joints = model.joints
    near = joint_coordinates(joints, state.q, np.zeros(joints.count))
    system = joint_system(model, state, near, inverse_inertia(model.arrays, state.q), 1.0, secant=False)
    names = [joints.names[g] for g in joints.rows.joint] + [c.name for c in joints.equalities for _ in range(c.size)]
    sharing: dict[str, None] = {}
    for loops in system.loops:
        for balance in loops.idle:
            shares = np.abs(balance) > _SHARES * np.abs(balance).max()
            sharing |= dict.fromkeys(names[r] for r in np.flatnonzero(shares))
    rows = joints.row_count - int(joints.spring.sum())
    return Redundancy(rows, rows - system.redundant, tuple(sharing))


def wedging(model: Model, state: State, contacts: Contacts) -> dict[str, Regularity]:
    """Return the tests of S2 on some contacts of a state, joints kept; none without contacts."""
    if not contacts.contact_count:
        return {}
    dim = 2 if model.planar else 3
    J_a, J_b = contact_wrenches(contacts, state.q, dim=dim, point_a=contacts.point_a, point_b=contacts.point_b)
    M_inv = inverse_inertia(model.arrays, state.q)
    W = Delassus(contacts.body_a, contacts.body_b, J_a, J_b, M_inv)
    mu = model.materials.friction[contacts.material]
    problem = FrictionProblem(W, np.zeros(dim * contacts.contact_count), mu, dim=dim)
    bilateral = _independent(model, state, M_inv)
    return {
        "bodies can be taken apart": disassembly(problem, bilateral),
        "friction cone is pointed": pointed_cone(problem, bilateral),
    }


def _independent(model: Model, state: State, M_inv: Array) -> Array | None:
    """Return as many orthonormal columns as joints have independent rows, in the directions that can move."""
    if not model.joints.any:
        return None
    moves = (np.diagonal(M_inv, axis1=1, axis2=2) > 0.0).reshape(-1)
    held = joints_of(model, state).held.dense(model.body_count)[:, moves]
    length = np.linalg.norm(held, axis=1)
    held = held[length > 0.0] / length[length > 0.0, None]
    _, size, directions = np.linalg.svd(held, full_matrices=False)
    return np.ascontiguousarray(directions[size > DEPENDENT * size.max(initial=0.0)].T)
