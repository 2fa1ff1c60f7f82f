r"""What a geometrically implicit step posed, as a friction problem at its new geometry.

W belongs to the points and normals where the step ends. The velocities of the problem are those measured there: what
is complementary to normal impulses is the gap between the deflected surfaces over h, what friction opposes the slip
against them, or against the bodies where tangential deflections are passive. Layers are its compliance: of
:math:`\delta = S (p - p_r e_n) + \text{what relaxes}` the first part over h, the rest is in b.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from signorini._arrays import Array, padded
from signorini.dynamics import inverse_inertia
from signorini.formulations.layered.contact import Answer, ImplicitContact
from signorini.formulations.layered.step import ImplicitStep, Outcome
from signorini.geometry.moving_touch import skew
from signorini.posing.posed import ContactLaw, PosedFriction
from signorini.problems import Delassus, FrictionProblem
from signorini.problems.friction_layers import Layers


@dataclass(frozen=True, slots=True)
class PosedLayers(PosedFriction):
    """A friction problem whose compliance is that of layers, in the frames that these carry."""

    def contact_law(self, impulse: Array, velocity: Array, tolerance: float) -> ContactLaw:
        """Return what contacts did by the impulses and velocities of the problem: frames turn within the step."""
        rows, dim = self.problem.rows, self.problem.dim
        p, u = (padded(x.reshape(-1, rows)[:, :dim], 3) for x in (self.z, self.problem.velocity(self.z)))
        return PosedFriction.contact_law(self, p, u, tolerance)

    def normal_compliance(self) -> Array:
        layers, bears = self.problem.layers, self.z.reshape(-1, self.problem.rows)[:, 0] > 0.0
        return np.where(bears, np.zeros(self.problem.mu.size) if layers is None else layers.open[:, 0, 0], 0.0)


def posed_layers(step: ImplicitStep, at: Outcome) -> PosedLayers:
    """Pose what a step solved, at the geometry where it ends."""
    n_c, dim = len(step.contacts), 2 if step.model.planar else 3
    couples = any(contact.axes[2] > 0.0 for contact in step.contacts)
    rows = dim + couples
    W = _mobility(step, at, dim, rows)
    z = np.ascontiguousarray(at.p[:, [*range(dim), *([3] if couples else [])]]).reshape(-1)
    u = np.array([[one.gap / step.h, *one.slip] for one in at.answers]).reshape(n_c, 4)[:, :rows]
    u[[contact.axes[2] == 0.0 for contact in step.contacts], 3:] = 0.0  # nothing resists turning there
    layers = _layers(step, at, dim)
    rest = u.reshape(-1) - np.asarray(W @ z)
    words: dict[str, Any] = {}
    if layers is not None:
        rest.reshape(n_c, rows)[:, :dim] -= layers.velocity(z.reshape(n_c, rows)[:, :dim])
        words = {"compliance": layers.matrix, "saturation": layers.limit}
    if couples or any(np.any(contact.axes[:2] != 1.0) for contact in step.contacts):
        largest = max((float(contact.axes[2]) for contact in step.contacts), default=0.0)
        axes_of = [[*c.axes[:2], c.axes[2] if c.axes[2] > 0.0 else largest][: 2 + couples] for c in step.contacts]
        words["ellipsoid"] = np.array(axes_of)
    mu = np.array([contact.mu for contact in step.contacts])
    return PosedLayers(FrictionProblem(W, rest, mu, dim=dim, **words), z)


def _mobility(step: ImplicitStep, at: Outcome, dim: int, rows: int) -> Any:
    """Return W of bodies and joints at the end of the step; the fourth row of a contact turns about its normal."""
    model, n_c = step.model, len(step.contacts)
    J_a, J_b = np.zeros((n_c, rows, 6)), np.zeros((n_c, rows, 6))
    for c, (contact, one) in enumerate(zip(step.contacts, at.answers, strict=True)):
        axes = np.stack([one.facing.normal, one.frame.t, one.frame.o])[:dim]
        for J, b, sign in ((J_a, contact.a, -1.0), (J_b, contact.b, 1.0)):
            J[c, :dim, :3] = sign * axes
            J[c, :dim, 3:] = -sign * axes @ skew(one.point - at.placements[b].q[:3])
            if rows > dim and contact.axes[2] > 0.0:
                J[c, dim, 3:] = sign * one.facing.normal
    body = np.array([[contact.a, contact.b] for contact in step.contacts], dtype=np.int64).reshape(-1, 2)
    M_inv = inverse_inertia(model.arrays, step.state.q)
    W = Delassus(body[:, 0].copy(), body[:, 1].copy(), J_a, J_b, M_inv)
    if not at.rows.row_count or not n_c:
        return W
    G = at.rows.dense(model.body_count).reshape(-1, model.body_count, 6)
    pushed = np.einsum("bij,rbj->rbi", M_inv, G)
    held = np.einsum("rbi,sbi->rs", G, pushed)
    moved = np.einsum("cki,rci->ckr", J_a, pushed[:, body[:, 0]]) + np.einsum(
        "cki,rci->ckr", J_b, pushed[:, body[:, 1]]
    )
    moved = moved.reshape(rows * n_c, -1)
    return W.dense() - moved @ np.linalg.pinv(held, hermitian=True) @ moved.T


def _layers(step: ImplicitStep, at: Outcome, dim: int) -> Layers | None:
    """Return the layers of both bodies of every contact, None if no contact has any."""
    if all(contact.layers == (None, None) for contact in step.contacts):
        return None
    matrix, limit = np.zeros((len(step.contacts), 2, dim, dim)), np.full((len(step.contacts), 2), np.inf)
    for c, (contact, one) in enumerate(zip(step.contacts, at.answers, strict=True)):
        for side in (0, 1):
            if contact.layers[side] is not None:
                S, limit[c, side] = _yielding(contact, one, at.p[c], side, step.h)
                matrix[c, side] = (S if step.options.active else S * _NORMAL)[:dim, :dim] / step.h
    return Layers(matrix, limit)


def _yielding(contact: ImplicitContact, one: Answer, p: Array, side: int, h: float) -> tuple[Array, float]:
    """Return how a layer gives way above its core, in the frame of the contact, and the impulse that compresses it."""
    layer, before = contact.layers[side], contact.before[side]
    assert layer is not None
    full = layer.full_impulse(before, h)
    above: Any = replace(layer, max_deflection=np.inf)  # type: ignore[type-var]
    S = above.respond(np.array([min(p[0], full), 0.0, 0.0]), before, h).slope
    if side != contact.carrier:
        cosine, sine = one.turned
        Q = np.array([[1.0, 0.0, 0.0], [0.0, cosine, sine], [0.0, -sine, cosine]])
        S = Q.T @ S @ Q
    return 0.5 * (S + S.T), max(full, 0.0)  # below 0: what relaxes alone would reach the core


_NORMAL = np.diag([1.0, 0.0, 0.0])
