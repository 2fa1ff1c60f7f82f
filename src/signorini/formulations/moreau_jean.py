r"""Velocity-impulse time stepping with the exact friction cone: the default of :func:`signorini.simulate`.

For every contact, with :math:`K = \{|p_T| \le \mu p_n\}` and De Saxce's shifted velocity,

.. math::
    K^* \ni \hat u + \mu |u_T| n \;\perp\; p \in K, \qquad
    \hat u_n = u_n + \sigma(\Psi_n) \quad\text{or}\quad u_n + e\, u_n^{-},

with the shift of :mod:`signorini.posing.gap_law`, and the second where a contact with restitution e closes within
the step, faster than gravity makes a resting body close it. Orientations turn by the exponential map, prescribed bodies
move by their secant velocity, and both bodies of a contact feel the impulse at one common point, so that momentum and
angular momentum are conserved exactly.

**theta.** Bodies drift for :math:`(1 - \theta) h` at their old velocities before the step acts and for
:math:`\theta h` at the new ones after it (:mod:`signorini.posing.midpoint`). The law is the same for every theta,
with the gap where the step acts and :math:`\theta h` in place of h: an open gap may close until the end of the step and
no more; an overlap into which bodies have drifted stops them, :math:`u_n \ge 0`, and recedes gently. Asked to be gone
at the end of the step it would throw them back: at :math:`\theta = 1/2` as fast as they came. The price of
:math:`\theta < 1` is that bodies may drift into each other by up to :math:`(1 - \theta) h |u_n|` before it is noticed.

**Restitution.** Newton's law, above, gives the velocity of rebound contact by contact. Without friction it never gains
energy: while one contact rebounds, contacts that do not may be driven together at the speed :math:`u_n^- > 0` at which
they were parting, but no faster, :math:`\sigma := \max(\sigma, u_n^-)`, and then

.. math:: T^+ - T = \tfrac12 \sum p_n (u_n^+ + u_n^-) \le 0 .

With friction it may gain energy, and a parting contact that is driven together may go through. The law that is taken
by default, :mod:`signorini.posing.passive_law`, asks for the largest part of Newton's rebound that does neither.
Its price: all contacts that hang together in a step have the same part, and where that is less than 1 the step is
solved several times. Poisson's law is in :mod:`signorini.posing.poisson`.

**Stiffness.** With a normal stiffness k contacts are springs, implicit and without damping of their own:
:math:`p_n = h k \max(0, -\Psi_n^+)` with the gap at the end of the step, :math:`\Psi_n^+ = \Psi_n + \theta h u_n`.
In the law above that is a compliance, :math:`\hat u_n = u_n + \Psi_n/(\theta h) + p_n/(\theta h^2 k)`. Friction stays
rigid: nothing creeps.

References
----------
.. [S1] Trinkle (2003), eqs. (25)-(32) for the step; the exact cone is eq. (12).
.. [DS] De Saxce & Feng (1998), the bipotential form of Coulomb's law.
.. [MJ] Moreau (1988), Jean (1999): the theta scheme for velocities that jump, and Newton's law in it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import checked_choice, checked_flag, checked_number, checked_tolerance
from signorini.engine.engine import Engine
from signorini.engine.workspace import Options
from signorini.errors import InputError
from signorini.model import Contacts, Model, State
from signorini.posing.base import Memory, StepResult
from signorini.posing.friction_law import has_couples
from signorini.posing.time_stepping import (
    begin,
    candidates,
    check_gyroscopic,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreauJean:
    """Exact Coulomb cone with torsional, rolling and ellipsoidal friction, restitution that never gains energy.

    The law does not depend on the solver: a step is posed, checked and moved by compiled stages, and a solver that is
    named is asked between them, and so is Python for collisions by Poisson's law with joints or couples, and for
    constraints by functions.

    **Overlaps** are taken back by a displacement that velocities never hear of
    (:mod:`~signorini.engine.project`). They recede by velocities instead
    (:mod:`~signorini.posing.gap_law`) among bodies that hang together by joints or constraints, and for
    theta < 1; contacts with a stiffness are left to overlap.
    """

    solver: Any = None
    """Anything that solves a :class:`~signorini.FrictionProblem`, asked for every island by itself, for all of the step
    where there are joints or two phases; None chooses by size and progress."""
    theta: float = 1.0
    """Weight of the new velocity in the motion of a step, 1/2 to 1: 1 damps, 1/2 keeps energy in smooth motion."""
    restitution_law: str = "passive"
    """``"passive"``: Newton's, less where it would gain energy or go through things
    (:mod:`~signorini.posing.passive_law`); ``"newton"``: of velocities; ``"poisson"``: of impulses, in a phase of
    compression and one of expansion."""
    compliance: float | str = "auto"
    """``"auto"``: rigid wherever a step is solved, else as little compliance as it takes, see
    :mod:`~signorini.engine.solve`; 0: never any. A solver that is named is given rigid contacts alone, and
    what it does not solve is told: whether it can is what it was named for. So are couples and Poisson's law."""
    stiffness: float | None = None
    """Normal stiffness of every contact [N/m], instead of rigid contacts, to which `compliance` adds nothing then;
    None: rigid."""
    sleeping: bool = False
    """Let groups of bodies that have long been at rest sleep until something touches them, see
    :mod:`~signorini.engine.sleep`; for scenes without joints and Coulomb's friction."""
    gyroscopic: str = "conserving"
    """``"conserving"``: bodies that nothing touches keep angular momentum and rotational energy
    (:mod:`~signorini.dynamics.flight`); ``"implicit"``: never raises the energy; ``"explicit"``: as in the papers."""
    projection: bool = False
    """Move bodies onto their joints after each step; otherwise joints drift by the second order in h."""

    def __post_init__(self) -> None:
        check_gyroscopic(self.gyroscopic, "MoreauJean")
        if not 0.5 <= checked_number(self.theta, "MoreauJean: theta") <= 1.0:
            raise InputError(f"MoreauJean: theta is {self.theta!r}, must be between 1/2 and 1")
        checked_choice(self.compliance, "MoreauJean: compliance", "auto", 0)
        if self.stiffness is not None:
            checked_number(self.stiffness, "MoreauJean: stiffness", above=0.0)
        for word in ("sleeping", "projection"):
            checked_flag(getattr(self, word), f"MoreauJean: {word}")
        checked_choice(self.restitution_law, "MoreauJean: restitution_law", "passive", "newton", "poisson")

    def init(self, model: Model, state: State) -> tuple[State, Memory]:
        if self.restitution_law == "poisson" and np.any(model.joints.load_friction > 0.0):
            raise InputError(
                "MoreauJean: restitution_law is 'poisson', must be 'passive' or 'newton' for friction by load in joints"
            )
        if self.stiffness is not None and np.any(model.materials.restitution > 0.0):
            e = float(model.materials.restitution.max())
            raise InputError(f"contact: restitution is {e:g}, must be 0 for contacts with a stiffness: springs rebound")
        always_awake = self.theta < 1.0 or self.restitution_law == "poisson" or has_couples(model)
        if self.sleeping and (always_awake or model.joints.any):
            raise InputError(
                "MoreauJean: sleeping is True, must be False with joints, couples or ellipsoids at contacts, "
                "theta < 1 or Poisson's law"
            )
        return state, begin(model, state)

    def engine(self, model: Model, h: float, tolerance: float) -> Engine:
        """Return the compiled step."""
        checked_tolerance(tolerance, "MoreauJean: tolerance")
        options = Options(
            gyroscopic=self.gyroscopic,
            soft=self.compliance == "auto" and self.stiffness is None,
            sleeps=self.sleeping,
            theta=self.theta,
            stiffness=self.stiffness,
            restitution=self.restitution_law,
            projection=self.projection,
            solver=self.solver,
        )
        return Engine(model, h, tolerance, options)

    def detect(self, model: Model, state: State, h: float) -> Contacts:
        return candidates(model, state, h, self.gyroscopic)

    def step(
        self, model: Model, state: State, contacts: Contacts, memory: Memory, h: float, *, tolerance: float
    ) -> StepResult:
        checked_tolerance(tolerance, "MoreauJean: tolerance")
        engine = _last.engine_of(self, model, h, tolerance)
        engine.restore(state, memory)
        engine.timed_run(1)
        return engine.result(model)


class _Last(threading.local):
    """The compiled step that functions asked for last in this thread: most ask for the same one again."""

    def __init__(self) -> None:
        self._asked: tuple[MoreauJean, Model, float, float] | None = None
        self._engine: Engine | None = None

    def engine_of(self, formulation: MoreauJean, model: Model, h: float, tolerance: float) -> Engine:
        """Return the compiled step."""
        last = self._asked
        if last is None or last[0] is not formulation or last[1] is not model or last[2:] != (h, tolerance):
            self._engine = formulation.engine(model, h, tolerance)
            self._asked = formulation, model, h, tolerance
        assert self._engine is not None
        return self._engine


_last = _Last()
