"""What a step posed: a law with the answer that it was given, which judges itself.

Whoever checks a step asks the law itself and knows nothing of its numbers: how well it is met, what its contacts did,
how it is called. A step of several phases poses several laws, and they are one again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.posing.contact_checks import check_contacts
from signorini.problems import FrictionProblem


class ContactLaw(NamedTuple):
    """What a law asked of the contacts of a step, and how they answered."""

    mode: IntArray
    """What each contact did, (n_c,): see :mod:`~signorini.posing.contact_checks`."""
    cone_violation: float
    """``max(|p_T| - mu p_n, 0) / max p_n``"""
    dissipation_angle: float
    """Largest angle between slip and minus friction over the slipping contacts [rad]."""
    friction: Array
    """Coefficients of friction, (n_c,)."""
    compliance: Array
    """Normal compliances, 0 where contacts are rigid, (n_c,) [m/(N s^2)]."""
    normal_velocity: Array
    """What is complementary to the normal impulses, gaps and rebounds counted in, (n_c,) [m/s]."""


class Posed(Protocol):
    """A law, and what it was answered."""

    @property
    def problem(self) -> Any:
        """The mathematics of it, to be looked at, saved or solved again."""

    @property
    def what(self) -> str:
        """What was posed, in words: ``"3 contacts"``."""

    def residual(self) -> float:
        """Return how far the answer is from meeting the law, scale free; 0 exactly where it does."""

    def credible(self, tolerance: float) -> bool:
        """Tell whether a residual within `tolerance` can be believed: it may have blind spots."""

    def pushed(self) -> float:
        """Return the energy that the impulses would give to bodies at rest, ``p . W p / 2`` [J]."""

    def contact_law(self, impulse: Array, velocity: Array, tolerance: float) -> ContactLaw:
        """Return what contacts of these impulses [N s] and velocities [m/s], (n_c, 3), were asked and did."""


@dataclass(frozen=True, slots=True)
class PosedFriction:
    """A friction problem with the impulses that answer it; laws of joints follow the contacts."""

    problem: FrictionProblem
    z: Array
    """Contact by contact, normal first, (problem.size,) [N s]."""

    @property
    def what(self) -> str:
        return f"{self.problem.contact_count} contacts"

    def residual(self) -> float:
        return self.problem.residual(self.z)

    def credible(self, tolerance: float) -> bool:
        return self.problem.credible(self.z, tolerance)

    def pushed(self) -> float:
        return 0.5 * float(self.z @ np.asarray(self.problem.W @ self.z))

    def contact_law(self, impulse: Array, velocity: Array, tolerance: float) -> ContactLaw:
        problem, n_c = self.problem, impulse.shape[0]
        u = problem.velocity(self.z).reshape(problem.mu.size, problem.rows)
        return ContactLaw(
            *check_contacts(problem, self.z, impulse, velocity, tolerance),
            friction=np.ascontiguousarray(problem.mu[:n_c]),
            compliance=self.normal_compliance()[:n_c],
            normal_velocity=np.ascontiguousarray(u[:n_c, 0]),
        )

    def normal_compliance(self) -> Array:
        """Return how compliant the contacts were posed along their normals, (problem.mu.size,) [m/(N s^2)]."""
        alpha = np.asarray(self.problem.compliance)
        return alpha[:, 0] if alpha.ndim == 2 else np.broadcast_to(alpha, self.problem.mu.shape)


@dataclass(frozen=True, slots=True)
class Phases:
    """Laws posed one after another in one step, as the compression and the expansion of a collision.

    Each must be met; what contacts did is what the last one says.
    """

    phases: tuple[Posed, ...]

    @property
    def problem(self) -> Any:
        return self.phases[-1].problem

    @property
    def what(self) -> str:
        return self.phases[-1].what

    def residual(self) -> float:
        return float(np.max([phase.residual() for phase in self.phases]))

    def credible(self, tolerance: float) -> bool:
        return all(phase.credible(tolerance) for phase in self.phases)

    def pushed(self) -> float:
        return self.phases[-1].pushed()

    def contact_law(self, impulse: Array, velocity: Array, tolerance: float) -> ContactLaw:
        return self.phases[-1].contact_law(impulse, velocity, tolerance)
