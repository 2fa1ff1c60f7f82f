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
(:mod:`~signorini.geometry.moving_touch`), so that the impulses are the contact's only unknowns (S3 spec, section 7);
the kernels stand in :mod:`.answer`.
Both bodies feel them at one point, between the two deflected surfaces. The tangents of the frame are carried by a layer
and projected onto the new tangent plane; of two layers the first carries the frame, and each its own deflection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.formulations.layered.answer import (
    A_GAP,
    ANSWER_COLUMNS,
    ANSWER_ROWS,
    COLUMNS,
    CORE,
    D_FORCE,
    D_GAP,
    D_SLIP,
    D_TORQUE,
    DEFLECTION,
    FORCE,
    OWN,
    POINT,
    SLIP,
    SLOPE,
    TORQUE,
    TURNED,
    VELOCITY,
    O,
    Poses,
    T,
    answer_rows,
    depths,
    sheet,
)
from signorini.geometry.implicit_touch import Touch
from signorini.geometry.moving_kernels import TOUCH_COLUMNS, WEIGHT_A
from signorini.geometry.moving_touch import Facing, Pair
from signorini.model import Layer
from signorini.model.layer_kernels import LAW_COLUMNS


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
    """Tangents of a contact."""

    t: Array
    o: Array


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


def contact_row(contact: ImplicitContact) -> Array:
    """Return a contact as :mod:`.answer` takes it, (17,)."""
    return np.concatenate([[contact.mu], contact.axes, [contact.gap], *contact.before, *contact.tangents])


def law_row(layer: Layer | None, h: float) -> Array:
    """Return the law of a layer as a row; of zeros without a layer, (29,)."""
    return np.zeros(LAW_COLUMNS) if layer is None else layer.row(h)


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
    poses = Poses(*(np.array([getattr(body, name) for body in (a, b)], dtype=np.float64) for name in Poses._fields))
    row, w, (law_a, law_b) = contact_row(contact), sheet(), (law_row(layer, h) for layer in contact.layers)
    p = np.array(p, dtype=np.float64)
    deep = depths(row, law_a, law_b, p, h, w) if level_set else (0.0, 0.0)
    facing = contact.pair.facing(a.q, b.q, deep, near)
    if facing is None:
        return None
    value, D = np.zeros(ANSWER_COLUMNS), np.zeros((ANSWER_ROWS, COLUMNS))
    touch, slopes = facing_rows_of(facing)
    answer_rows(row, law_a, law_b, 0, 1, poses, p, h, touch, slopes, active, level_set, w, value, D)
    return answer_of(facing, value, D)


def facing_rows_of(facing: Facing) -> tuple[Array, Array]:
    """Return a facing as rows: gap, normal and points, and their derivatives."""
    touch = np.zeros(TOUCH_COLUMNS)
    touch[:WEIGHT_A] = np.concatenate([[facing.gap], facing.normal, facing.point_a, facing.point_b])
    return touch, np.vstack([facing.d_gap, facing.d_normal, facing.d_point_a, facing.d_point_b])


def answer_of(facing: Facing, value: Array, D: Array) -> Answer:
    """Return rows of :mod:`.answer` by name; copies."""
    x, D = value.copy(), D.copy()

    def two(start: int, size: int) -> tuple[Array, Array]:
        return x[start : start + size], x[start + size : start + 2 * size]

    slope = two(SLOPE, 9)
    return Answer(
        facing=facing,
        gap=float(x[A_GAP]),
        point=x[POINT:T],
        frame=Frame(x[T:O], x[O:SLIP]),
        slip=x[SLIP:VELOCITY],
        velocity=x[VELOCITY:FORCE],
        force=x[FORCE:TORQUE],
        torque=two(TORQUE, 3),
        deflection=two(DEFLECTION, 3),
        core=(float(x[CORE]), float(x[CORE + 1])),
        slope=(slope[0].reshape(3, 3), slope[1].reshape(3, 3)),
        turned=x[TURNED:OWN],
        own=two(OWN, 3),
        d_gap=D[D_GAP],
        d_slip=D[D_SLIP:D_FORCE],
        d_force=D[D_FORCE:D_TORQUE],
        d_torque=(D[D_TORQUE : D_TORQUE + 3], D[D_TORQUE + 3 :]),
    )
