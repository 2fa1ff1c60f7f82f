"""How far Newton's and Euler's equations are missed, beside the sizes of their terms and what rounding leaves of them.

Forces and moments are measured apart, so that a heap at rest is judged by the impulses that keep it there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._scipy import sparse

if TYPE_CHECKING:
    from signorini.audit.steps import Steps

ROUNDED = 1e-13
"""Of all that a heap carries: what a few hundred roundings leave in the equations of one of its bodies."""
_LINEAR_AND_ANGULAR = (slice(0, 3), slice(3, 6))


def missed_loads(steps: Steps, v: Array) -> Array:
    """Return by which part velocities `v` (N, 6) right after the impulses miss forces and moments, (N, 2)."""
    free, sizes = steps.free, steps.push_size + steps.pull_size
    missed = np.einsum("bij,bj->bi", free.M, v - steps.v_told) * _freedom(steps)
    for k, three in enumerate(_LINEAR_AND_ANGULAR):
        sizes[:, k] += np.linalg.norm(free.p_ext[:, three], axis=1)
        for u in (steps.v_start, v):
            sizes[:, k] += np.linalg.norm(np.einsum("bij,bj->bi", free.M[:, three, three], u[:, three]), axis=1)
    lengths = np.stack([np.linalg.norm(missed[:, three], axis=1) for three in _LINEAR_AND_ANGULAR], axis=1)
    return ratio(np.maximum(0.0, lengths - _rounding(steps, sizes)), sizes)


def _rounding(steps: Steps, sizes: Array) -> Array:
    """Return what rounding leaves in the equations of forces and moments, by their `sizes` (N, 2), (N, 2).

    Joints that have nothing to carry hand rounding of the forces on to moments, and of moments to forces, from each
    body of the heap to all others. The joints of a scene are solved together, and count as one heap.
    """
    heap, bound = steps.heap, steps.model.arrays.bound[steps.body]
    joined = (steps.model.joints.tree.of_body >= 0)[steps.body]
    heap = np.where(joined, heap.size + steps.step, heap)
    lever = np.where(bound > 0.0, bound, 1.0)
    force = np.bincount(heap, (sizes[:, 0] + sizes[:, 1] / lever) * steps.moving)[heap]
    left: Array = ROUNDED * np.stack([force, force * lever], axis=1)
    return left


def _freedom(steps: Steps) -> Array:
    """Return 1 for the directions in which bodies may move, (N, 6)."""
    free = steps.model.arrays.free[steps.body].copy()
    free[~steps.moving] = 0.0
    return free


def ratio(part: Array, whole: Array) -> Array:
    """Return ``part / whole``, 0 where both vanish, and infinite for what is not a number."""
    out = np.divide(part, whole, out=np.where(part == 0.0, 0.0, np.inf), where=whole > 0.0)
    return np.where(np.isnan(out), np.inf, out)


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
