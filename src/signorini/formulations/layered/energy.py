r"""Where the energy of a geometrically implicit step goes.

From :math:`M(q^l)(v' - v) = W p + G^T r + p_{ext} + h\,l_{vp}` and :math:`u = W^T v'`,

.. math::
    T' - T = p \cdot u + r \cdot G v' + p_{ext} \cdot v' + h\,l_{vp} \cdot v' - \tfrac12 |v' - v|_M^2,

bodies turn about their new spins, which changes no energy. With the gap d between deflected surfaces and the slip s
against them,

.. math::
    p \cdot u = p_f \cdot s - \frac{p_n}{h} d^l + \frac{p_n}{h}\bigl(h u_n - (d' - d^l) + \textstyle\sum \Delta\delta_n
    \bigr) - \frac1h \sum_k (p - p_{r,k} e_n) \cdot \Delta\delta_k - \frac1h \sum_k p_{r,k} \Delta\delta_{n,k},

friction, the gap that closes, the turning of normals, the layers, the cores. A layer takes
:math:`U' - U` and leaves the rest to its dampers and to implicit Euler.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import kinetic_energy
from signorini.formulations.layered.joints import joint_works
from signorini.formulations.layered.step import ImplicitStep, Outcome
from signorini.model import Layer
from signorini.posing.base import Balance


def stored_in(layer: Layer, deflection: Array, *, active: bool) -> float:
    """Return the energy of a layer [J]; where tangential deflections are passive they store nothing."""
    return layer.energy(deflection) if active else layer.normal_energy(deflection)


def layer_work(
    layer: Layer, before: Array, after: Array, held: Array, h: float, *, active: bool
) -> tuple[float, float, float]:
    """Return what a layer gains, what its dampers take, and what implicit Euler does [J].

    `held` is the impulse of springs and dampers in the layer's frame, (3,) [N s].
    """
    change, elastic = after - before, layer.force(after)
    if not active:
        change, elastic = change * _NORMAL, elastic * _NORMAL
    gained = stored_in(layer, after, active=active) - stored_in(layer, before, active=active)
    sprung = float(elastic @ change)
    return gained, float(held @ change) / h - sprung, sprung - gained


_NORMAL = np.array([1.0, 0.0, 0.0])


def layer_balance(step: ImplicitStep, at: Outcome, free: tuple[float, float, float]) -> Balance:
    """Account for the energy of a step; `free` is what layers did that nothing could touch, of :func:`layer_work`."""
    model, state, h, active = step.model, step.state, step.h, step.options.active
    moving = slice(model.fixed_count, None)
    elastic, damping, integration = free
    friction = impact = drive = 0.0
    struck = np.zeros(model.body_count, dtype=bool)
    for contact, p, one in zip(step.contacts, at.p, at.answers, strict=True):
        friction -= float(p[1:] @ one.slip)
        closing = 0.0
        for k, layer in enumerate(contact.layers):
            if layer is None:
                continue
            before, after, core = contact.before[k], one.deflection[k], one.core[k]
            gained, damped, left = layer_work(
                layer, before, after, carried(one.turned, p, core, k, contact.carrier), h, active=active
            )
            elastic, damping, integration = elastic + gained, damping + damped, integration + left
            impact += core * float(after[0] - before[0]) / h
            closing += float(after[0] - before[0])
            struck[[contact.a, contact.b]] |= core > 0.0
        impact += float(p[0]) * contact.gap / h
        integration -= (
            float(p[0]) * (one.velocity[0] - (one.gap - contact.gap - closing) / h) + float(p[0]) * one.gap / h
        )
        if contact.layers == (None, None):
            struck[[contact.a, contact.b]] |= p[0] > 0.0
        if contact.a < model.fixed_count:
            drive -= float(np.concatenate([-one.force, one.torque[0]]) @ at.v[contact.a])
    jump = kinetic_energy(model.arrays, state.q, at.v - state.v)
    struck[: model.fixed_count] = False
    integration += float(np.sum(jump[moving][~struck[moving]])) - float(np.sum(_spun(step, at) * at.v))
    driven, turned = joint_works(model, at.rows, at.r, at.v, state.t + h, h)
    return Balance(
        load_work=float(np.sum((step.p_ext - h * model.arrays.weight)[moving] * at.v[moving])),
        drive_work=drive + driven,
        correction_work=0.0,
        joint_work=turned,
        friction=friction,
        impact=impact + float(np.sum(jump[struck])),
        damping=damping,
        integration=integration,
        elastic=elastic,
    )


def carried(turned: Array, p: Array, core: float, side: int, carrier: int) -> Array:
    """Return the impulse that the springs and dampers of a layer carry, in its own frame, (3,)."""
    normal, (t, o) = p[0] - core, p[1:3]
    if side == carrier:
        return np.array([normal, t, o])
    cosine, sine = turned
    return np.array([normal, cosine * t + sine * o, cosine * o - sine * t])


def _spun(step: ImplicitStep, at: Outcome) -> Array:
    """Return the impulses of the gyroscopic term, (n_b, 6)."""
    if not step.options.implicit_spin or step.model.planar:
        return step.spin
    return np.zeros_like(step.spin)  # across the new spin: without work
