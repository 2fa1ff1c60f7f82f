r"""Newton's and Euler's equations of every body in every step, and that places follow velocities.

What is missed of :math:`M (v^+ - v_{free}) = J^T p` is compared with the sizes of all terms of the equation
(:mod:`signorini.audit.terms`). Bodies that nothing touches are judged once more without knowledge of how they turn:
their angular momentum in world axes changes by the moment of the loads alone, :math:`L^+ = L + h \tau`.

Places follow velocities, :math:`q^+ = q_m + \theta h\, G v^+`, to rounding too, except that bodies in a heap with
overlaps may be displaced to part them. Such displacements are not recorded; they are the least in the mean of squares
over the mass of each body, and must not be larger by this measure than a few times the overlaps of the heap together.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.audit.findings import TOUCH, Worst
from signorini.audit.steps import Steps, quaternion_products
from signorini.audit.terms import missed_loads, ratio
from signorini.dynamics import prescribed_pose
from signorini.dynamics.bodies import CONSERVING, gyroscopic_ways
from signorini.dynamics.motion import move_bodies
from signorini.math.rotation import rotated

NO_OVERLAP = 1e-7
"""Of the smaller body: overlaps that nobody needs to part."""
DISPLACED = 4.0
"""How far a body may be displaced, in the mean over its mass, of all overlaps of its heap."""


def missed_momentum(steps: Steps, judged: BoolArray, *, turns: BoolArray, displaced: BoolArray) -> Worst:
    """Return by which part the equations of the bodies `judged` (N,) are missed; moments only where `turns`.

    The places of bodies `displaced` tell nothing of their angular momentum.
    """
    force, moment = missed_loads(steps, steps.v_new).T
    value = np.maximum(force, np.where(turns, moment, 0.0))
    value = np.maximum(value, np.where(turns & ~displaced, _missed_spin(steps), 0.0))
    mine = steps.moving & judged
    return Worst.of(value[mine], steps.step[mine], steps.body[mine], steps.count)


def _missed_spin(steps: Steps) -> Array:
    """Return by which part ``L+ = L + h tau`` is missed by bodies in free flight, (N,)."""
    scheme = steps.record.scheme
    one = gyroscopic_ways(steps.model, scheme.gyroscopic, joined_fly=scheme.exact_rotation)
    ways = np.tile(one, steps.count)
    flies = (ways == CONSERVING) & (steps.push_size[:, 0] == 0.0) & (steps.pull_size[:, 0] == 0.0)
    inertia = steps.model.arrays.inertia[steps.body]
    L = [_momentum(inertia, q, v) for q, v in ((steps.q_start, steps.v_start), (steps.q_end, steps.v_end))]
    tau = steps.free.p_ext[:, 3:]
    size = sum(np.linalg.norm(x, axis=1) for x in (*L, tau))
    return np.where(flies, ratio(np.linalg.norm(L[1] - L[0] - tau, axis=1), size), 0.0)


def _momentum(inertia: Array, q: Array, v: Array) -> Array:
    """Return angular momenta in world axes, (N, 3)."""
    back = q[:, 3:] * [1.0, -1.0, -1.0, -1.0]
    return rotated(q[:, 3:], np.einsum("bij,bj->bi", inertia, rotated(back, v[:, 3:])))


def displacements(steps: Steps) -> Array:
    """Return by how much bodies are not where their velocities carry them: ways and turns (N, 6) [m, rad].

    Turns are those before the motion of the step.
    """
    there, v = steps.free.q.copy(), steps.v_new.copy()
    exact = steps.record.scheme.exact_rotation or steps.model.planar
    move_bodies(there, v, steps.drift, exact, steps.flown, 0)
    out = np.zeros((there.shape[0], 6))
    out[:, :3] = steps.q_end[:, :3] - there[:, :3]
    turned = quaternion_products(steps.q_end[:, 3:], _conjugate(there[:, 3:]))
    back = quaternion_products(there[:, 3:], _conjugate(steps.free.q[:, 3:]))
    turn = quaternion_products(quaternion_products(_conjugate(back), turned), back)
    turn *= np.where(turn[:, :1] < 0.0, -1.0, 1.0)
    out[:, 3:] = 2.0 * turn[:, 1:]  # small angles, or they are much too large anyway
    out[~steps.moving] = 0.0
    return out


def _conjugate(e: Array) -> Array:
    return e * [1.0, -1.0, -1.0, -1.0]


def slack_of_heaps(steps: Steps) -> Array:
    """Return by how much contacts of the heap of every body overlap, and are open though they touch, (N,) [m].

    It is zero for heaps without an overlap that is more than rounding.
    """
    heap, contacts, bound = steps.heap, steps.contacts, steps.model.arrays.bound[steps.body]
    a, b = contacts.body_a, contacts.body_b
    size = np.where(
        steps.moving[a] & steps.moving[b], np.minimum(bound[a], bound[b]), np.where(steps.moving[b], bound[b], bound[a])
    )
    owner = heap[np.where(steps.moving[b], b, a)]
    sums = np.bincount(owner, np.abs(contacts.gap) * (contacts.gap <= TOUCH * size), minlength=heap.size)
    deep = np.bincount(owner, contacts.gap < -NO_OVERLAP * size, minlength=heap.size) > 0
    return np.where(steps.moving & deep[heap], sums[heap], 0.0)


def _ways(steps: Steps, moved: Array) -> Array:
    """Return by how much bodies are `moved`, as the root of the mean square over their mass, (N,) [m].

    By this measure a body that is pushed at one point never goes farther than the point: a needle rolls as it likes.
    """
    away = np.zeros(steps.body.size)
    mine, M = steps.moving, steps.free.M[steps.moving]
    away[mine] = np.sqrt(np.einsum("bi,bij,bj->b", moved[mine], M, moved[mine]) / M[:, 0, 0])
    return away


def strayed(steps: Steps, moved: Array, slack: Array, excused: BoolArray) -> Worst:
    """Return by which part of way and place, or by which angle, bodies are `moved` (N, 6) that nothing excuses.

    Bodies may be moved to part overlaps, by the `slack` (N,) that their heaps have.
    """
    place = np.linalg.norm(steps.q_end[:, :3], axis=1) + steps.h * np.linalg.norm(steps.v_end[:, :3], axis=1)
    size = place + steps.model.arrays.bound[steps.body]
    value = np.maximum(ratio(np.linalg.norm(moved[:, :3], axis=1), size), np.linalg.norm(moved[:, 3:], axis=1))
    value[_ways(steps, moved) <= DISPLACED * slack] = 0.0
    mine = steps.moving & ~excused
    return Worst.of(value[mine], steps.step[mine], steps.body[mine], steps.count)


def overlaps_displaced(steps: Steps, moved: Array, thin: Array) -> Worst:
    """Return by how much overlaps of contacts were parted by displacements `moved` (N, 6), of the thinner body.

    The distance of convex bodies is a convex function of their translation, so only by turning do they end deeper than
    gaps at the start foretell. A step that is posed again where bodies end parts that, too: what counts is more than
    the way that surfaces go by turning in the step.
    """
    contacts, bound = steps.contacts, steps.model.arrays.bound[steps.body]
    opened, turned = np.minimum(steps.relative(moved)[:, 0], -contacts.gap), np.zeros(steps.body.size)
    for v in (steps.v_start, steps.v_new):
        own = np.where(steps.moving[:, None], v, steps.drive)
        turned = np.maximum(turned, steps.h * bound * np.linalg.norm(own[:, 3:], axis=1))
    way = turned[contacts.body_a] + turned[contacts.body_b]
    width = np.minimum(thin[steps.body[contacts.body_a]], thin[steps.body[contacts.body_b]])
    beyond = np.maximum(0.0, opened - way)
    value = np.divide(beyond, width, out=np.zeros_like(beyond), where=np.isfinite(width))
    return Worst.of(value, steps.contact_step, np.arange(steps.rows.start, steps.rows.stop), steps.count)


def ways_to_close(steps: Steps) -> Array:
    """Return by how much the bodies of contacts may come closer in their step at most, (n_c,) [m].

    They close along the normal of the contact, and by what both turn: bodies that turn are posed where they meet on
    their way, on other sides than they show at its start, with a normal that has turned as far as they.
    """
    bound, contacts, h = steps.model.arrays.bound[steps.body], steps.contacts, steps.drift
    pair, way = (contacts.body_a, contacts.body_b), np.zeros(contacts.contact_count)
    for v in (steps.v_start, steps.v_new):
        own = np.where(steps.moving[:, None], v, steps.drive)
        angle = h * np.linalg.norm(own[:, 3:], axis=1)
        turned = sum((bound * angle)[b] for b in pair)
        across = h * np.linalg.norm(own[pair[1], :3] - own[pair[0], :3], axis=1) * sum(angle[b] for b in pair)
        way = np.maximum(way, np.maximum(0.0, -h * steps.relative(own)[:, 0]) + turned + across)
    return way


def misplaced(steps: Steps) -> Worst:
    """Return how far fixed bodies are from where they stand or are driven to [m, and turns by components]."""
    model, record = steps.model, steps.record
    value, who = np.zeros(steps.count), np.full(steps.count, -1)
    still = all(motion is None for motion in model.motions)
    pose = model.initial_state.q[: model.fixed_count]
    for k in range(steps.count if model.fixed_count else 0):
        at = steps.first + k + 1
        if not still:
            pose = prescribed_pose(model, float(record.time[at]))[0]
        q = record.q[at, : model.fixed_count]
        size = 1.0 + np.linalg.norm(pose[:, :3], axis=1)
        off = np.linalg.norm(q - pose, axis=1) / size
        value[k], who[k] = off.max(), int(np.argmax(off))
    return Worst(np.where(np.isnan(value), np.inf, value), who)
