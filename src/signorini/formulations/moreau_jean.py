r"""Velocity-impulse time stepping with the exact friction cone: the default of :func:`signorini.simulate`.

For every contact, with :math:`K = \{|p_T| \le \mu p_n\}` and De Saxce's shifted velocity,

.. math::
    K^* \ni \hat u + \mu |u_T| n \;\perp\; p \in K, \qquad
    \hat u_n = u_n + \Psi_n / h \quad\text{or}\quad u_n + e\, u_n^{-},

the second where a contact with restitution e closes within the step, faster than gravity makes a resting body close it.
Orientations turn by the exponential map, prescribed bodies move by their secant velocity, and both bodies of a contact
feel the impulse at one common point, so that momentum and angular momentum are conserved exactly.

References
----------
.. [S1] Trinkle (2003), eqs. (25)-(32) for the step; the exact cone is eq. (12).
.. [DS] De Saxce & Feng (1998), the bipotential form of Coulomb's law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.formulations.base import Memory, StepResult
from signorini.formulations.friction_law import friction_law
from signorini.formulations.time_stepping import (
    ContactSpace,
    begin,
    candidates,
    check_gyroscopic,
    contact_space,
    finish,
    free_motion,
    pose_and_solve,
)
from signorini.model import Contacts, Model, State
from signorini.problems import FrictionProblem
from signorini.solvers import Solution, solve

# A contact rebounds only if it closes faster than gravity makes it in so many steps; else bodies at rest would hop.
_REST_STEPS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreauJean:
    """Exact Coulomb cone with torsional, rolling and ellipsoidal friction, Newton restitution."""

    solver: Any = None
    """Anything that solves a :class:`~signorini.FrictionProblem`; None chooses by size and progress."""
    gyroscopic: str = "implicit"
    """``"implicit"`` never raises the kinetic energy; ``"explicit"`` as in the papers."""
    projection: bool = False
    """Move bodies onto their joints after each step; otherwise joints drift by the second order in h."""

    def __post_init__(self) -> None:
        check_gyroscopic(self.gyroscopic, "MoreauJean")

    def init(self, model: Model, state: State) -> Memory:
        return begin(model, state)

    def detect(self, model: Model, state: State, h: float) -> Contacts:
        return candidates(model, state, h, self.gyroscopic)

    def step(
        self, model: Model, state: State, contacts: Contacts, memory: Memory, h: float, *, tolerance: float
    ) -> StepResult:
        free = free_motion(model, state, h, implicit=self.gyroscopic == "implicit")
        law = friction_law(model, contacts)
        space = contact_space(
            model, state, free, contacts, memory, h, secant=True, common_point=True, couples=law.couples, idle=law.idle
        )

        def pose(b: Array) -> FrictionProblem:
            return FrictionProblem(space.W, b, space.mu, dim=2 if model.planar else 3, **law.words(space.mu.size))

        def answer(problem: FrictionProblem, start: Array) -> Solution:
            return solve(problem, self.solver, tolerance=tolerance, start=start)

        problem, solution = pose_and_solve(space, free, _normal_shift(model, space, h), pose, answer, memory, tolerance)
        return finish(model, state, free, space, problem, solution, h, exact_rotation=True, projection=self.projection)


def _normal_shift(model: Model, space: ContactSpace, h: float) -> Array:
    """Return what the law adds to the normal velocity: ``gap/h``, or ``e u_n`` of before where a collision rebounds."""
    shift: Array = space.contacts.gap / h
    e = model.materials.restitution[space.contacts.material]
    rest = _REST_STEPS * h * float(np.linalg.norm(model.arrays.gravity))
    closes = space.contacts.gap + h * space.b[: shift.size, 0] <= 0.0
    return np.where((e > 0.0) & closes & (space.before[:, 0] < -rest), e * space.before[:, 0], shift)
