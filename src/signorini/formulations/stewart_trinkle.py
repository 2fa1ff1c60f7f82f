r"""Velocity-impulse time stepping with a polygonal friction cone (S1, sections 4-6).

.. math::
    0 \le
    \begin{bmatrix}
      W_n^T v^{+} + \Psi_n / h + \partial\Psi_n/\partial t \\
      D^T v^{+} + E \sigma \\
      U p_n - E^T \beta
    \end{bmatrix}
    \perp
    \begin{bmatrix} p_n \\ \beta \\ \sigma \end{bmatrix} \ge 0,
    \qquad
    M (v^{+} - v) = W_n p_n + D \beta + p_{ext}.

The polygon lies inside the friction disc: slip that is not along one of its directions meets up to
``1 - cos(pi/n_d)`` less friction than Coulomb's law says (7.6 % for 8 directions), and friction leans towards the
nearest direction. This error does not vanish with the step size. :class:`~signorini.MoreauJean` poses the exact cone.

References
----------
.. [S1] Trinkle (2003), *Formulation of multibody dynamics as complementarity problems*, eqs. (25)-(39).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from signorini._arrays import Array, checked_choice, checked_flag, checked_tolerance
from signorini.errors import InputError
from signorini.formulations.mixed_form import solve_mixed
from signorini.model import Contacts, Model, State
from signorini.posing.base import Memory, StepResult
from signorini.posing.midpoint import free_motion, midpoint
from signorini.posing.time_stepping import (
    begin,
    candidates,
    check_gyroscopic,
    contact_space,
    finish,
    pose_and_solve,
    refuse,
    warm_start,
)
from signorini.problems import FrictionProblem
from signorini.problems.friction_files import MOST_DIRECTIONS
from signorini.problems.problem import accepted
from signorini.solvers import Lemke, Solution, Status, solve

# Pivots end where they end; the residual of a linear problem says little of that of the friction problem behind it.
_SHARP = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class StewartTrinkle:
    """Polygonal friction cone, LCP time stepping; collisions are perfectly inelastic."""

    solver: Any = field(default_factory=Lemke)
    """Anything that solves an LCP or a friction problem with a polygonal cone."""
    directions: int = 8
    """Friction directions per contact, ``n_d >= 3``; in the plane there are always two."""
    rotation: float = 0.0
    """Angle from the contact's tangent t to the first direction [rad]."""
    gyroscopic: str = "conserving"
    """``"conserving"``: bodies that nothing touches keep angular momentum and rotational energy
    (:mod:`~signorini.dynamics.flight`); ``"implicit"``: never raises the energy; ``"explicit"``: as in the paper."""
    form: str = "reduced"
    """``"reduced"`` eliminates velocities and joints, S1 eq. (47); ``"mixed"`` keeps them as unknowns, eq. (39)."""
    projection: bool = False
    """Move bodies onto their joints after each step; otherwise joints drift by the second order in h."""

    def __post_init__(self) -> None:
        checked_flag(self.projection, "StewartTrinkle: projection")
        if not isinstance(self.directions, int | np.integer) or not 3 <= self.directions <= MOST_DIRECTIONS:
            wanted = f"must be an integer >= 3 and <= {MOST_DIRECTIONS}"
            raise InputError(f"StewartTrinkle: directions is {self.directions!r}, {wanted}")
        if not np.isfinite(self.rotation):
            raise InputError(f"StewartTrinkle: rotation is {self.rotation!r}, must be finite")
        checked_choice(self.form, "StewartTrinkle: form", "reduced", "mixed")
        check_gyroscopic(self.gyroscopic, "StewartTrinkle")

    def init(self, model: Model, state: State) -> tuple[State, Memory]:
        refuse(model, "StewartTrinkle")
        rubs = (model.joints.friction > 0.0).any() or (model.joints.load_friction > 0.0).any()
        if self.directions % 2 and not model.planar and (rubs or np.isfinite(model.joints.effort_limit).any()):
            raise InputError(f"StewartTrinkle: directions is {self.directions}, must be even for friction in joints")
        return state, begin(model, state)

    def detect(self, model: Model, state: State, h: float) -> Contacts:
        return candidates(model, state, h, self.gyroscopic, joined_fly=False)

    def step(
        self, model: Model, state: State, contacts: Contacts, memory: Memory, h: float, *, tolerance: float
    ) -> StepResult:
        checked_tolerance(tolerance, "StewartTrinkle: tolerance")
        at = midpoint(model, state, memory, h, self.gyroscopic, joined_fly=False)
        free = free_motion(model, at)
        space = contact_space(model, at, free, contacts, secant=False, common_point=False, rotation=self.rotation)

        def pose(b: Array) -> FrictionProblem:
            return FrictionProblem(
                space.W,
                b,
                space.mu,
                dim=space.b.shape[1],
                cone="polygon",
                directions=self.directions,
                rotation=self.rotation,
            )

        def answer(problem: FrictionProblem, start: Array) -> Solution:
            sharp = min(tolerance, _SHARP)
            if self.form == "mixed":
                solution = solve_mixed(model, state, free, space, problem, self.solver, sharp)
            else:
                solution = solve(problem, self.solver, tolerance=sharp, start=start)
            if solution.success or not accepted(problem, solution.z, problem.residual(solution.z), tolerance):
                return solution
            return replace(solution, status=Status.SOLVED)

        shift = contacts.gap / h
        start = warm_start(memory, space)
        outcome = pose_and_solve(space, space.shifted(shift), pose, answer, start, tolerance)
        return finish(
            model,
            at,
            free,
            space,
            outcome,
            np.maximum(0.0, -shift),
            tolerance,
            projection=self.projection,
        )
