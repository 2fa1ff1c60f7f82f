r"""One contact of a step that is implicit in its geometry: what it asks and exerts at the new poses, with derivatives.

==================  ========================================  =============================================
here                S3                                        meaning
==================  ========================================  =============================================
a, b                bodies 2, 1                               the normal points from a to b, p acts on b
``n, t, o``         :math:`n, t, o` at l + 1                  frame of the contact
``p``               :math:`p_n, p_t, p_o, p_r`                impulses in it, (4,) [N s, N m s]
``gap``             :math:`d`                                 between the deflected surfaces [m]
``slip``            :math:`s_t, s_o, s_r`                     against the deflected surface, (3,) [m/s, rad/s]
``deflection``      :math:`\delta_n, \delta_t, \delta_o`      of the layers of a and b, (3,) each [m]
==================  ========================================  =============================================

Deflections follow from the impulses (:mod:`~signorini.model.layers`), points and normal from the poses
(:mod:`~signorini.geometry.moving_touch`), so that the impulses are the contact's only unknowns (S3 spec, section 7).
Both bodies feel them at one point, between the two deflected surfaces. The tangents of the frame are carried by a layer
and projected onto the new tangent plane; of two layers the first carries the frame, and each its own deflection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.geometry.implicit_touch import Touch
from signorini.geometry.moving_touch import Facing, Pair, skew
from signorini.model import Layer

COLUMNS = 16
"""Of derivatives: velocities of a and of b (6 each), impulses (4)."""
_P = slice(12, 16)


@dataclass(frozen=True, slots=True)
class ImplicitContact:
    """A candidate contact of a step, as the step begins."""

    a: int
    b: int
    pair: Pair
    near: Touch
    """What detection found."""
    gap: float
    """Between the deflected surfaces [m]."""
    mu: float
    axes: Array
    """Half axes e_t, e_o, e_r of friction, (3,) [-, -, m]."""
    layers: tuple[Layer | None, Layer | None]
    """Of a and of b."""
    before: tuple[Array, Array]
    """Deflections of both layers, (3,) each [m]."""
    tangents: tuple[Array, Array]
    """Of the frames of both layers, in world axes; without layers that of the frame at hand, (3,) each."""

    @property
    def carrier(self) -> int:
        """Which layer carries the frame: 0 for that of a, 1 for that of b, -1 without layers."""
        return 0 if self.layers[0] is not None else 1 if self.layers[1] is not None else -1


class Placement(NamedTuple):
    """A body at the end of a step, with the derivatives of its pose by its velocity."""

    q: Array
    """(7,)"""
    v: Array
    """(6,)"""
    turn: Array
    """Rotation since the start of the step, (3, 3)."""
    moves: float
    """Derivative of the position: h, 0 for fixed bodies [s]."""
    turns: Array
    """Derivative of the rotation by the spin, (3, 3) [s]."""


class Frame(NamedTuple):
    """Tangents of a contact with their derivatives."""

    t: Array
    o: Array
    d_t: Array
    """(3, 16)"""
    d_o: Array


class Answer(NamedTuple):
    """A contact at the end of a step; derivatives by velocities and impulses, (..., 16)."""

    facing: Facing
    """Of the surfaces, deflected or not as the formulation takes them."""
    gap: float
    point: Array
    """Where both bodies feel the impulse, (3,) [m]."""
    frame: Frame
    slip: Array
    velocity: Array
    """Of b against a at that point: along n, t, o, and about n, (4,)."""
    force: Array
    """Impulse on b, world axes, (3,) [N s]."""
    torque: tuple[Array, Array]
    """Moments of the impulse about the mass centres, on a and on b, (3,) each [N m s]."""
    deflection: tuple[Array, Array]
    core: tuple[float, float]
    """Impulses of the cores [N s]."""
    slope: tuple[Array, Array]
    """Of the deflections by impulses, in the frame of the contact, (3, 3) each [m/(N s)]."""
    turned: Array
    """Cosine and sine of the angle from the contact's tangent to that of the second of two layers, (2,)."""
    own: tuple[Array, Array]
    """New tangents of the frames of both layers."""
    d_gap: Array
    d_slip: Array
    d_force: Array
    d_torque: tuple[Array, Array]


def answer(
    contact: ImplicitContact,
    a: Placement,
    b: Placement,
    p: Array,
    h: float,
    near: Touch,
    *,
    active: bool,
    level_set: bool,
) -> Answer | None:
    """Return what a contact does under the impulses `p` (4,) at the new poses; None where surfaces face nowhere."""
    twist = _twists(a, b)
    depth, d_depth = np.zeros(2), np.zeros((2, COLUMNS))
    if level_set:  # the normal deflection does not depend on the frame here, see QuasiRigid.init
        for k, layer in enumerate(contact.layers):
            if layer is not None:
                found = layer.respond(p[:3], contact.before[k], h)
                depth[k], d_depth[k, 12:15] = found.deflection[0], found.slope[0]
    facing = contact.pair.facing(a.q, b.q, (float(depth[0]), float(depth[1])), near)
    if facing is None:
        return None
    d_normal, d_a, d_b = (
        part[:, :12] @ twist + part[:, 12:] @ d_depth for part in (facing.d_normal, facing.d_point_a, facing.d_point_b)
    )
    n, placements = facing.normal, (a, b)

    own, frames = _frames(contact, placements, n, d_normal)
    frame = frames[max(contact.carrier, 0)]
    responses = [
        _respond(contact.layers[k], contact.before[k], p, h, frame, frames[k], d_normal, n, k != contact.carrier)
        for k in (0, 1)
    ]
    gap, d_gap = facing.gap, facing.d_gap[:12] @ twist + facing.d_gap[12:] @ d_depth
    c, d_c = 0.5 * (facing.point_a + facing.point_b), 0.5 * (d_a + d_b)
    if not level_set:
        (da, db), (dda, ddb) = ([r.deflection[0] for r in responses], [r.d_deflection[0] for r in responses])
        gap, d_gap = gap + da + db, d_gap + dda + ddb
        c = c + 0.5 * (db - da) * n
        d_c = d_c + 0.5 * ((db - da) * d_normal + np.outer(n, ddb - dda))

    force = p[0] * n + p[1] * frame.t + p[2] * frame.o
    d_force = p[0] * d_normal + p[1] * frame.d_t + p[2] * frame.d_o
    d_force[:, 12] += n
    d_force[:, 13] += frame.t
    d_force[:, 14] += frame.o
    S_f, torque, d_torque, u, d_u = skew(force), [], [], np.zeros(3), np.zeros((3, COLUMNS))
    for k, (body, sign) in enumerate(((a, -1.0), (b, 1.0))):
        r, d_r = c - body.q[:3], d_c.copy()
        d_r[:, 6 * k : 6 * k + 3] -= body.moves * _I
        S_r, omega = skew(r), body.v[3:]
        moment, d_moment = S_r @ force + p[3] * n, S_r @ d_force - S_f @ d_r + p[3] * d_normal
        d_moment[:, 15] += n
        torque.append(sign * moment)
        d_torque.append(sign * d_moment)
        u += sign * (body.v[:3] - S_r @ omega)
        d_u += sign * (skew(omega) @ d_r)
        if body.moves > 0.0:
            d_u[:, 6 * k : 6 * k + 3] += sign * _I
            d_u[:, 6 * k + 3 : 6 * k + 6] -= sign * S_r
    spin, d_spin = b.v[3:] - a.v[3:], np.zeros((3, COLUMNS))
    d_spin[:, 3:6], d_spin[:, 9:12] = -_I * (a.moves > 0.0), _I * (b.moves > 0.0)
    velocity = np.array([n @ u, frame.t @ u, frame.o @ u, n @ spin])
    slip = velocity[1:].copy()
    d_slip = np.stack([u @ frame.d_t + frame.t @ d_u, u @ frame.d_o + frame.o @ d_u, spin @ d_normal + n @ d_spin])
    if active:
        for one in responses:
            slip[:2] += one.rate
            d_slip[:2] += one.d_rate
    return Answer(
        facing=facing,
        gap=float(gap),
        point=c,
        frame=frame,
        slip=slip,
        velocity=velocity,
        force=force,
        torque=(torque[0], torque[1]),
        deflection=(responses[0].deflection, responses[1].deflection),
        core=(responses[0].core, responses[1].core),
        slope=(responses[0].slope, responses[1].slope),
        turned=responses[1].turned,
        own=own,
        d_gap=d_gap,
        d_slip=d_slip,
        d_force=d_force,
        d_torque=(d_torque[0], d_torque[1]),
    )


_I = np.eye(3)


def _twists(a: Placement, b: Placement) -> Array:
    """Return the derivatives of the twists of both bodies, (12, 16)."""
    out = np.zeros((12, COLUMNS))
    for k, body in enumerate((a, b)):
        out[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.moves * _I
        out[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = body.turns
    return out


def _frames(
    contact: ImplicitContact, placements: tuple[Placement, Placement], n: Array, d_n: Array
) -> tuple[tuple[Array, Array], tuple[Frame, Frame]]:
    """Return the tangents of both layers, and their frames; the tangent of a rigid side is that of the other."""
    carrier, frames = contact.carrier, []
    for k in (0, 1):
        side = k if contact.layers[k] is not None else carrier
        s, d_s = contact.tangents[max(side, 0)], np.zeros((3, COLUMNS))
        if side >= 0:
            s = placements[side].turn @ s
            d_s[:, 6 * side + 3 : 6 * side + 6] = -skew(s) @ placements[side].turns
        frames.append(_frame(s, d_s, n, d_n))
    return (frames[0].t, frames[1].t), (frames[0], frames[1])


def _frame(s: Array, d_s: Array, n: Array, d_n: Array) -> Frame:
    """Project `s` onto the plane across n; t is its direction, o = n x t."""
    along = float(n @ s)
    w = s - along * n
    size = float(np.sqrt(w @ w))
    t = w / size
    d_w = d_s - along * d_n - np.outer(n, s @ d_n + n @ d_s)
    d_t = (d_w - np.outer(t, t @ d_w)) / size
    return Frame(t, _cross(n, t), d_t, skew(n) @ d_t - skew(t) @ d_n)


def _cross(x: Array, y: Array) -> Array:
    return np.array([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]])


class _Response(NamedTuple):
    """A layer in the frame of the contact."""

    deflection: Array
    """In the layer's own frame, (3,)."""
    d_deflection: Array
    """(3, 16)"""
    core: float
    slope: Array
    rate: Array
    """Velocity of the surface against the body, taken along -t and -o, (2,) [m/s]."""
    d_rate: Array
    turned: Array


_RIGID = _Response(
    np.zeros(3),
    np.zeros((3, COLUMNS)),
    0.0,
    np.zeros((3, 3)),
    np.zeros(2),
    np.zeros((2, COLUMNS)),
    np.array([1.0, 0.0]),
)


def _respond(
    layer: Layer | None,
    before: Array,
    p: Array,
    h: float,
    frame: Frame,
    mine: Frame,
    d_n: Array,
    n: Array,
    own: bool,
) -> _Response:
    """Return how a layer whose frame is `mine` responds to the impulses `p` in `frame`."""
    if layer is None:
        return _RIGID
    d_p = np.zeros((3, COLUMNS))
    d_p[:, 12:15] = _I
    if not own:
        found = layer.respond(p[:3], before, h)
        d_deflection = found.slope @ d_p
        rate = (found.deflection[1:] - before[1:]) / h
        return _Response(
            found.deflection, d_deflection, found.core, found.slope, rate, d_deflection[1:] / h, _RIGID.turned
        )
    # The layer's tangent is the contact's turned about n; Q takes components of the contact's frame to the layer's.
    cosine, sine = float(frame.t @ mine.t), float(frame.o @ mine.t)
    d_angle = mine.o @ mine.d_t - frame.o @ frame.d_t
    Q = np.array([[1.0, 0.0, 0.0], [0.0, cosine, sine], [0.0, -sine, cosine]])
    d_Q = np.array([[0.0, 0.0, 0.0], [0.0, -sine, cosine], [0.0, -cosine, -sine]])  # by the angle
    found = layer.respond(Q @ p[:3], before, h)
    d_deflection = found.slope @ (Q @ d_p + np.outer(d_Q @ p[:3], d_angle))
    change = (found.deflection - before) / h
    rate = Q.T @ change
    d_rate = Q.T @ d_deflection / h + np.outer(d_Q.T @ change, d_angle)
    return _Response(
        found.deflection,
        d_deflection,
        found.core,
        Q.T @ found.slope @ Q,
        rate[1:],
        d_rate[1:],
        np.array([cosine, sine]),
    )
