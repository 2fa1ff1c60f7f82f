r"""A formulation: smooth balls that walls and other balls hold with a force, once they touch.

.. math::
    M (v^+ - v) = p_{ext} + J^T p, \qquad -a \le p \;\perp\; J v^+ + \max(\Psi, 0)/h \ge 0 ,

with a = h `pull` where bodies touch, and 0 elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

import signorini as sg
from signorini._arrays import Array
from signorini.dynamics import advance, contact_wrenches, inverse_inertia, load_impulse
from signorini.errors import InputError
from signorini.formulations import Balance, ContactLaw, Memory, StepResult
from signorini.geometry import detect
from signorini.model import Contacts, Model
from tests.extending.adhesion import Adhesion

_TOUCH = 1e-9  # [m]


@dataclass(frozen=True)
class Held:
    """What a step posed, with its answer p (n_c,) [N s]."""

    problem: Adhesion
    p: Array
    what: ClassVar[str] = "contacts that hold"

    def residual(self) -> float:
        return self.problem.residual(self.p)

    def credible(self, tolerance: float) -> bool:
        return True

    def pushed(self) -> float:
        return 0.5 * float(self.p @ self.problem.W @ self.p)

    def contact_law(self, impulse: Array, velocity: Array, tolerance: float) -> ContactLaw:
        none, pressed = np.zeros(self.p.size), (self.p != 0.0).astype(np.int64)
        return ContactLaw(pressed, 0.0, 0.0, none, none, self.problem.W @ self.p + self.problem.b)


@dataclass(frozen=True)
class Adhesive:
    """Balls without friction that stick to what they touch."""

    pull: float
    """[N]"""
    solver: Any = field(default_factory=sg.Lemke)

    def init(self, model: Model, state: sg.State) -> tuple[sg.State, Memory]:
        moving = slice(model.fixed_count, None)
        if model.joints.any or model.forces or any(motion is not None for motion in model.motions):
            raise InputError("Adhesive: the scene has joints, forces or motions, must have none")
        spread = np.ptp(np.linalg.eigvalsh(model.arrays.inertia[moving]), axis=1)
        if np.any(spread > 1e-12 * model.arrays.inertia[moving, 0, 0]):
            raise InputError("Adhesive: a body is no ball, must have equal moments of inertia")
        return state, Memory.none()

    def detect(self, model: Model, state: sg.State, h: float) -> Contacts:
        speed = np.linalg.norm(state.v[:, :3], axis=1) + h * np.linalg.norm(model.arrays.gravity)
        return detect(model, state, 2.0 * h * speed)

    def step(
        self, model: Model, state: sg.State, contacts: Contacts, memory: Memory, h: float, *, tolerance: float
    ) -> StepResult:
        M_inv, loads = inverse_inertia(model.arrays, state.q), load_impulse(model, state, h)
        v_free = state.v + np.einsum("bij,bj->bi", M_inv, loads)
        J = self._normals(model, state, contacts)
        answer = np.einsum("bij,cbj->cbi", M_inv, J)  # velocities of all bodies for a unit impulse of each contact
        u_free = np.einsum("cbi,bi->c", J, v_free)
        W = np.einsum("cbi,dbi->cd", J, answer)
        held = np.where(contacts.gap <= _TOUCH, h * self.pull, 0.0)
        problem = Adhesion(W, u_free + np.maximum(contacts.gap, 0.0) / h, held)
        solution = sg.solve(problem, self.solver, tolerance=tolerance)
        p = solution.z
        v, u = v_free + np.einsum("c,cbi->bi", p, answer), u_free + W @ p
        law, normal = Held(problem, p), np.array([1.0, 0.0, 0.0])
        impulse, velocity = p[:, None] * normal, u[:, None] * normal
        lost = {
            "impact": -0.5 * float(p @ (u_free + u)),
            "integration": float(np.sum(loads * (v - 0.5 * (state.v + v_free)))),
        }
        return StepResult(
            state=advance(model, state, v, h, exact_rotation=True),
            memory=memory,
            contacts=contacts,
            impulse=impulse,
            velocity=velocity,
            pose=lambda: law,
            mode=law.contact_law(impulse, velocity, tolerance).mode,
            solution=solution,
            balance=Balance(*(0.0,) * 9)._replace(**lost),
        )

    @staticmethod
    def _normals(model: Model, state: sg.State, contacts: Contacts) -> Array:
        """Return the normal rows over the velocities of all bodies, (n_c, n_b, 6)."""
        J_a, J_b = contact_wrenches(contacts, state.q, dim=3, point_a=contacts.point_a, point_b=contacts.point_b)
        J = np.zeros((contacts.contact_count, model.body_count, 6))
        each = np.arange(contacts.contact_count)
        J[each, contacts.body_a], J[each, contacts.body_b] = J_a[:, 0], J_b[:, 0]
        return J
