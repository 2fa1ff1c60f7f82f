r"""Newton's and Euler's equations of every body in every step, and that places follow velocities.

What is missed of :math:`M (v^+ - v_{free}) = J^T p` is compared with the sizes of all terms of the equation, forces and
moments apart, so that a heap at rest is judged by the impulses that keep it there. Bodies that nothing touches are
judged once more without knowledge of how they turn: their angular momentum in world axes changes by the moment of the
loads alone, :math:`L^+ = L + h \tau`.

Places follow velocities, :math:`q^+ = q_m + \theta h\, G v^+`, to rounding too, except that bodies in a heap with
overlaps may be displaced to part them. Such displacements are not recorded; they must not be larger than the overlaps
of the heap together, times the lever by which a body that is lifted at one end moves at the other.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini._scipy import sparse
from signorini.audit.findings import TOUCH, Worst
from signorini.audit.steps import Steps, quaternion_products
from signorini.dynamics import prescribed_pose
from signorini.dynamics.bodies import CONSERVING, gyroscopic_ways
from signorini.dynamics.motion import move_bodies
from signorini.math.rotation import rotated

NO_OVERLAP = 1e-7
"""Of the smaller body: overlaps that nobody needs to part."""
ROUNDED = 1e-13
"""Of all that a heap carries: what a few hundred roundings leave in the equations of one of its bodies."""
LEVER = 4.0
"""How far the farthest point of a body may move where one of its points is moved by 1."""


def missed_momentum(steps: Steps, judged: BoolArray, *, turns: BoolArray, displaced: BoolArray) -> Worst:
    """Return by which part the equations of the bodies `judged` (N,) are missed; moments only where `turns`.

    The places of bodies `displaced` tell nothing of their angular momentum.
    """
    free = steps.free
    missed = np.einsum("bij,bj->bi", free.M, steps.v_new - steps.v_told)
    missed *= _freedom(steps)
    value = np.zeros(steps.body.size)
    sizes, parts = steps.push_size + steps.pull_size, (slice(0, 3), slice(3, 6))
    for k, part in enumerate(parts):
        M = free.M[:, part, part]
        sizes[:, k] += np.linalg.norm(free.p_ext[:, part], axis=1)
        for v in (steps.v_start, steps.v_new):
            sizes[:, k] += np.linalg.norm(np.einsum("bij,bj->bi", M, v[:, part]), axis=1)
    rounding = _rounding(steps, sizes)
    for k, part in enumerate(parts):
        beyond = np.maximum(0.0, np.linalg.norm(missed[:, part], axis=1) - rounding[:, k])
        share = _ratio(beyond, sizes[:, k])
        value = np.maximum(value, np.where(turns | (k == 0), share, 0.0))
    value = np.maximum(value, np.where(turns & ~displaced, _missed_spin(steps), 0.0))
    mine = steps.moving & judged
    return Worst.of(value[mine], steps.step[mine], steps.body[mine], steps.count)


def _rounding(steps: Steps, sizes: Array) -> Array:
    """Return what rounding leaves in the equations of forces and moments, by their `sizes` (N, 2), (N, 2).

    Joints that have nothing to carry hand rounding of the forces on to moments, and of moments to forces, from each
    body of the heap to all others. The joints of a scene are solved together, and count as one heap.
    """
    heap, bound = heaps(steps), steps.model.arrays.bound[steps.body]
    joined = (steps.model.joints.tree.of_body >= 0)[steps.body]
    heap = np.where(joined, heap.size + steps.step, heap)
    lever = np.where(bound > 0.0, bound, 1.0)
    force = np.bincount(heap, (sizes[:, 0] + sizes[:, 1] / lever) * steps.moving)[heap]
    left: Array = ROUNDED * np.stack([force, force * lever], axis=1)
    return left


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
    return np.where(flies, _ratio(np.linalg.norm(L[1] - L[0] - tau, axis=1), size), 0.0)


def _momentum(inertia: Array, q: Array, v: Array) -> Array:
    """Return angular momenta in world axes, (N, 3)."""
    back = q[:, 3:] * [1.0, -1.0, -1.0, -1.0]
    return rotated(q[:, 3:], np.einsum("bij,bj->bi", inertia, rotated(back, v[:, 3:])))


def _freedom(steps: Steps) -> Array:
    """Return 1 for the directions in which bodies may move, (N, 6)."""
    free = steps.model.arrays.free[steps.body].copy()
    free[~steps.moving] = 0.0
    return free


def _ratio(part: Array, whole: Array) -> Array:
    """Return ``part / whole``, 0 where both vanish, and infinite for what is not a number."""
    out = np.divide(part, whole, out=np.where(part == 0.0, 0.0, np.inf), where=whole > 0.0)
    return np.where(np.isnan(out), np.inf, out)


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


def heaps(steps: Steps) -> IntArray:
    """Return a number for each body that those have in common which contacts and joints hold together, (N,)."""
    contacts, joints, N = steps.contacts, steps.model.joints, steps.body.size
    a, b = contacts.body_a, contacts.body_b
    both = steps.moving[a] & steps.moving[b]
    edges = [np.stack([a[both], b[both]])]
    held = joints.arrays.body_a >= steps.model.fixed_count
    for k, l in zip(joints.arrays.body_a[held], joints.arrays.body_b[held], strict=True):
        shift = np.arange(steps.count) * steps.body_count
        edges.append(np.stack([k + shift, l + shift]))
    i, j = np.concatenate(edges, axis=1)
    graph = sparse.csr_array((np.ones(i.size), (i, j)), shape=(N, N))
    return np.asarray(sparse.csgraph.connected_components(graph, directed=False)[1], dtype=np.int64)


def room_to_part(steps: Steps) -> Array:
    """Return by how much contacts of the heap of every body overlap, and are open though they touch, (N,) [m].

    It is zero for heaps without an overlap that is more than rounding.
    """
    heap, contacts, bound = heaps(steps), steps.contacts, steps.model.arrays.bound[steps.body]
    a, b = contacts.body_a, contacts.body_b
    size = np.where(
        steps.moving[a] & steps.moving[b], np.minimum(bound[a], bound[b]), np.where(steps.moving[b], bound[b], bound[a])
    )
    owner = heap[np.where(steps.moving[b], b, a)]
    sums = np.bincount(owner, np.abs(contacts.gap) * (contacts.gap <= TOUCH * size), minlength=heap.size)
    deep = np.bincount(owner, contacts.gap < -NO_OVERLAP * size, minlength=heap.size) > 0
    return np.where(steps.moving & deep[heap], sums[heap], 0.0)


def _ways(steps: Steps, moved: Array) -> Array:
    """Return by how much the farthest points of bodies are `moved`, (N,) [m]."""
    bound = steps.model.arrays.bound[steps.body]
    away: Array = np.linalg.norm(moved[:, :3], axis=1) + bound * np.linalg.norm(moved[:, 3:], axis=1)
    return away


def strayed(steps: Steps, moved: Array, room: Array, excused: BoolArray) -> Worst:
    """Return by which part of way and place, or by which angle, bodies are `moved` (N, 6) that nothing excuses.

    Bodies may be moved to part overlaps, by the `room` (N,) that their heaps have.
    """
    place = np.linalg.norm(steps.q_end[:, :3], axis=1) + steps.h * np.linalg.norm(steps.v_end[:, :3], axis=1)
    size = place + steps.model.arrays.bound[steps.body]
    value = np.maximum(_ratio(np.linalg.norm(moved[:, :3], axis=1), size), np.linalg.norm(moved[:, 3:], axis=1))
    value[_ways(steps, moved) <= LEVER * room] = 0.0
    mine = steps.moving & ~excused
    return Worst.of(value[mine], steps.step[mine], steps.body[mine], steps.count)


def parted(steps: Steps, moved: Array, thin: Array) -> Worst:
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
