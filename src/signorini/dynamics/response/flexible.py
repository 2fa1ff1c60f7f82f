r"""Bodies that deform by modes in a floating frame, S5 eqs. (1)-(3), with foreshortening.

A material point is at :math:`r = r_0 + \Phi q + \tfrac12 q^T \chi q` in the frame, and with the current partials
:math:`\Phi^* = \Phi + \chi q`

.. math::
    V_P = S(r)^T V + [\Psi; \Phi^*] \dot q, \qquad
    A_P = S(r)^T A + [\Psi; \Phi^*] \ddot q + \hat A, \qquad
    \hat A = [w \times \Psi \dot q;\; w \times (w \times r) + 2 w \times \Phi^* \dot q + (\chi \dot q) \dot q].

The equations of motion :math:`\Gamma [A; \ddot q] + \beta = \sum T^T F` follow by sums over points of mass, which for
beams are those of a quadrature that is exact for polynomial shapes. Spatial vectors are stacked (angular, linear) in
world axes. The paper has no formula for geometric stiffness; second-order displacements :math:`\chi` make axial loads
of every kind stiffen bending, and :math:`\Gamma_{FF}` depends on q.

References
----------
.. [S5] Bhalerao & Anderson (2010), eqs. (1)-(4); :math:`\chi` and its terms are section 2 of the specification.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.math.rotation import matrix, turn_exact
from signorini.model import Deformable, Flexible, Points


class Deformed(NamedTuple):
    """Points of a body in a state of motion, as seen from its frame, in world axes."""

    r: Array
    """(n, 3)"""
    partial: Array
    """Phi*, (n, 3, nu)."""
    turn: Array
    """Psi, (n, 3, nu)."""
    rate: Array
    """``Phi* qd``, (n, 3)."""
    bias: Array
    """Linear part of A^, (n, 3)."""
    bias_turn: Array
    """Angular part, (n, 3)."""


def deformed(points: Points, R: Array, w: Array, q: Array, qd: Array) -> Deformed:
    """Return points of a body whose frame is turned by `R` (3, 3) and turns at `w` (3,) in the world."""
    own = points.Phi + points.Chi @ q
    r = bent(points, q) @ R.T
    partial, turn = R @ own, R @ points.Psi
    rate = partial @ qd
    W = _across(w)  # x @ W.T is w x x, for all points at once
    bias = r @ (W @ W).T + 2.0 * rate @ W.T + ((points.Chi @ qd) @ qd) @ R.T
    return Deformed(r, partial, turn, rate, bias, (turn @ qd) @ W.T)


def equations(body: Flexible, R: Array, w: Array, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return Gamma (6 + nu, 6 + nu), and the inertial part of beta (6 + nu,): without weight, stiffness and damping."""
    at, m = deformed(body.points, R, w, q, qd), body.mass
    n = 6 + body.mode_count
    T = np.zeros((m.size, 3, n))
    T[:, :, :3] = -_skew(at.r)
    T[:, :, 3:6] = np.eye(3)
    T[:, :, 6:] = at.partial
    weighted = (m[:, None, None] * T).reshape(-1, n)
    Gamma = weighted.T @ T.reshape(-1, n)
    J = R @ body.turning @ R.T
    Gamma[:3, :3] += J
    beta = weighted.T @ at.bias.reshape(-1)
    beta[:3] += _across(w) @ (J @ w)
    return 0.5 * (Gamma + Gamma.T), beta


def weight(body: Flexible, R: Array, q: Array, gravity: Array) -> Array:
    """Return the generalised force of gravity (3,) on frame and modes, (6 + nu,)."""
    points, m, g = body.points, body.mass, R.T @ gravity
    moment = R @ (_across(m @ bent(points, q)) @ g)
    return np.concatenate([moment, m.sum() * gravity, m @ (g @ (points.Phi + points.Chi @ q))])


def elastic_force(body: Flexible, q: Array, qd: Array) -> Array:
    """Return what stiffness and damping do to frame and modes, (6 + nu,)."""
    return np.concatenate([np.zeros(6), -body.stiffness @ q - body.damping @ qd])


def handles(points: Points, R: Array, w: Array, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return T (n, 6, 6 + nu) and A^ (n, 6) of points where joints and loads act."""
    at = deformed(points, R, w, q, qd)
    T = np.zeros((at.r.shape[0], 6, 6 + q.size))
    T[:, :3, :3] = T[:, 3:, 3:6] = np.eye(3)
    T[:, 3:, :3] = -_skew(at.r)
    T[:, :3, 6:], T[:, 3:, 6:] = at.turn, at.partial
    return T, np.hstack([at.bias_turn, at.bias])


def turns(points: Points, q: Array) -> Array:
    """Return the rotations of the points against the frame, ``Exp(Psi q)``, (n, 3, 3)."""
    return np.array([rotation(theta) for theta in points.Psi @ q]).reshape(-1, 3, 3)


def rotation(theta: Array) -> Array:
    """Return ``Exp(theta)``, (3, 3)."""
    return np.array(matrix(turn_exact((1.0, 0.0, 0.0, 0.0), tuple(theta), 1.0))).reshape(3, 3)


def bent(points: Points, q: Array) -> Array:
    """Return where the points are in the frame, (n, 3)."""
    out: Array = points.place + points.Phi @ q + 0.5 * (points.Chi @ q) @ q
    return out


# --- energies ----------------------------------------------------------------


def motion_of(
    one: Deformable, q: Array, v: Array, modal: Array, modal_rate: Array, gravity: Array
) -> tuple[Array, Array]:
    """Return the kinetic and the potential energy of a flexible body in one state or many, (...) [J].

    Point by point, ``T = 1/2 sum m |v + w x r + Phi* qd|^2`` and ``V = - sum m g . (x + r)``: other sums than those of
    the equations of motion.
    """
    points, m = one.body.points, one.body.mass
    pose, rate = q[..., one.row, :], v[..., one.row, :]
    a, a_rate = modal[..., one.modes], modal_rate[..., one.modes]
    R = _matrices(pose[..., 3:])
    second = np.einsum("nijk,...k->...nij", points.Chi, a)
    r = points.place + np.einsum("...nij,...j->...ni", points.Phi + 0.5 * second, a)
    own = np.einsum("...nij,...j->...ni", points.Phi + second, a_rate)
    r, own = (np.einsum("...ij,...nj->...ni", R, x) for x in (r, own))
    w = rate[..., None, 3:]
    speed = rate[..., None, :3] + own
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        speed[..., i] += w[..., j] * r[..., k] - w[..., k] * r[..., j]
    spin = np.einsum("...ji,...j->...i", R, rate[..., 3:])
    kinetic = 0.5 * np.einsum("n,...ni,...ni->...", m, speed, speed)
    kinetic += 0.5 * np.einsum("...i,ij,...j->...", spin, one.body.turning, spin)
    potential = -np.einsum("n,...ni,i->...", m, pose[..., None, :3] + r, gravity)
    return kinetic, potential


def _matrices(e: Array) -> Array:
    """Return the rotation matrices of quaternions (..., 4), (..., 3, 3)."""
    w, x, y, z = np.moveaxis(e, -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _across(w: Array) -> Array:
    """Return the matrix of the cross product with a vector, (3, 3)."""
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _skew(r: Array) -> Array:
    """Return the matrices of the cross products with vectors, (n, 3, 3)."""
    S = np.zeros((r.shape[0], 3, 3))
    S[:, 0, 1], S[:, 0, 2], S[:, 1, 2] = -r[:, 2], r[:, 1], -r[:, 0]
    S[:, 1, 0], S[:, 2, 0], S[:, 2, 1] = r[:, 2], -r[:, 1], r[:, 0]
    return S
