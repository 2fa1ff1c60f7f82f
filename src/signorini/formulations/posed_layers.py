"""What a geometrically implicit step posed, as a friction problem at its new geometry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, padded
from signorini.dynamics import inverse_inertia
from signorini.formulations.contact_checks import check_contacts
from signorini.formulations.implicit_step import ImplicitStep, Outcome
from signorini.formulations.posed import ContactLaw
from signorini.geometry.moving_touch import skew
from signorini.problems import Delassus, FrictionProblem


@dataclass(frozen=True, slots=True)
class PosedLayers:
    """A friction problem whose compliance is that of layers, in the frames that these carry.

    Its velocities at the impulses `z` are those measured in the new state: what is complementary to normal impulses is
    the gap between the deflected surfaces over h, what friction opposes the slip against them.
    """

    problem: FrictionProblem
    z: Array
    """Contact by contact, normal first, (problem.size,) [N s]."""
    W: Delassus
    """Of the bodies alone."""
    deflection: Array
    """Normal deflections of both layers together, (n_c,) [m]."""
    h: float

    @property
    def what(self) -> str:
        return f"{self.problem.contact_count} contacts"

    def residual(self) -> float:
        return self.problem.residual(self.z)

    def credible(self, tolerance: float) -> bool:
        return self.problem.credible(self.z, tolerance)

    def pushed(self) -> float:
        return 0.5 * float(self.z @ np.asarray(self.W @ self.z))

    def contact_law(self, impulse: Array, velocity: Array, tolerance: float) -> ContactLaw:
        problem = self.problem
        u = problem.velocity(self.z).reshape(-1, problem.rows)
        p = self.z.reshape(-1, problem.rows)
        pressed = np.maximum(p[:, 0], 0.0) * self.h
        secant = np.divide(self.deflection, pressed, out=np.zeros(problem.mu.size), where=pressed > 0.0)
        mine = padded(p[:, : problem.dim], 3), padded(u[:, : problem.dim], 3)
        return ContactLaw(
            *check_contacts(problem, self.z, mine[0], mine[1], tolerance),
            friction=problem.mu,
            compliance=secant,
            normal_velocity=np.ascontiguousarray(u[:, 0]),
        )


def posed_layers(step: ImplicitStep, at: Outcome) -> PosedLayers:
    """Pose what a step solved, at the geometry where it ends."""
    model, h, n_c = step.model, step.h, len(step.contacts)
    couples = any(contact.axes[2] > 0.0 for contact in step.contacts)
    dim = 2 if model.planar else 3
    rows = dim + couples
    J_a, J_b, soft, u = (
        np.zeros((n_c, rows, 6)),
        np.zeros((n_c, rows, 6)),
        np.zeros((n_c, rows, rows)),
        np.zeros((n_c, rows)),
    )
    for c, (contact, one) in enumerate(zip(step.contacts, at.answers, strict=True)):
        axes = np.stack([one.facing.normal, one.frame.t, one.frame.o])[:dim]
        for J, b, sign in ((J_a, contact.a, -1.0), (J_b, contact.b, 1.0)):
            J[c, :dim, :3] = sign * axes
            J[c, :dim, 3:] = -sign * axes @ skew(one.point - at.placements[b].q[:3])
            if couples and contact.axes[2] > 0.0:
                J[c, dim, 3:] = sign * one.facing.normal
        u[c] = np.array([one.gap / h, *one.slip])[:rows]
        S = (one.slope[0] + one.slope[1])[:dim, :dim] / h
        if not step.options.active:
            S = S * _NORMAL[:dim, :dim]
        soft[c, :dim, :dim] = S
    body = np.array([[contact.a, contact.b] for contact in step.contacts], dtype=np.int64).reshape(-1, 2)
    W = Delassus(body[:, 0].copy(), body[:, 1].copy(), J_a, J_b, inverse_inertia(model.arrays, step.state.q))
    z = np.ascontiguousarray(at.p[:, :rows] if couples or dim == 3 else at.p[:, :2]).reshape(-1)
    whole = W.dense()
    for c in range(n_c):
        own = slice(rows * c, rows * (c + 1))
        whole[own, own] += soft[c]
    words: dict[str, Any] = {}
    if couples or any(np.any(contact.axes[:2] != 1.0) for contact in step.contacts):
        largest = max((float(contact.axes[2]) for contact in step.contacts), default=0.0)
        axes_of = [[*c.axes[:2], c.axes[2] if c.axes[2] > 0.0 else largest][: 2 + couples] for c in step.contacts]
        words["ellipsoid"] = np.array(axes_of)
    problem = FrictionProblem(
        whole, u.reshape(-1) - whole @ z, np.array([contact.mu for contact in step.contacts]), dim=dim, **words
    )
    deflection = np.array([float(one.deflection[0][0] + one.deflection[1][0]) for one in at.answers])
    return PosedLayers(problem, z, W, deflection, h)


_NORMAL = np.diag([1.0, 0.0, 0.0])
