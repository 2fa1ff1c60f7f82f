"""Detect contacts: from the configuration to the table of candidate contacts."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.geometry.half_space import half_space_contacts
from signorini.geometry.pairs import boxes, bounded_pairs, half_space_pairs, material_of, sorted_pairs, world_poses
from signorini.geometry.polytopes import polytope_contacts
from signorini.geometry.segments import round_contacts, subtract
from signorini.geometry.workspace import MAX_POINTS, Workspace, make_workspace
from signorini.math.rotation import dot
from signorini.model.contacts import Contacts
from signorini.model.model import Model
from signorini.model.shapes import Hulls, ShapeArrays
from signorini.model.state import State

_HALF_SPACE, _SPHERE, _CAPSULE = 0, 1, 2
_FEATURE_BITS = 13  # for each of two shapes; with 37 bits for the pair up to 370 000 shapes have names of their own


def detect(model: Model, state: State, reach: Array) -> Contacts:
    """Find all candidate contacts: pairs of surfaces that may meet within the coming step.

    Parameters
    ----------
    model, state
        Shapes and where their bodies are.
    reach : (n_b,) [m]
        How far any surface point of each body may move. Shapes of different bodies make candidates where their gap
        is at most the sum of both reaches, unless both bodies are fixed or the pair is excluded.
    """
    materials = model.materials
    return detect_arrays(
        model.shapes, model.hulls, materials.pair, materials.pair_material, model.fixed_count, state.q, reach
    )


@kernel
def detect_arrays(
    shapes: ShapeArrays,
    hulls: Hulls,
    pair: IntArray,
    pair_material: IntArray,
    fixed_count: int,
    q: Array,
    reach: Array,
) -> Contacts:
    """Do the work of :func:`detect` on arrays, for callers that are kernels themselves."""
    n = shapes.body.size
    position, quaternion = np.empty((n, 3)), np.empty((n, 4))
    lower, upper = np.empty((n, 3)), np.empty((n, 3))
    world_poses(shapes, q, position, quaternion)
    boxes(shapes, hulls, position, quaternion, reach, lower, upper)
    found = np.empty((max(4 * n, 16), 2), dtype=np.int64)
    found, count = half_space_pairs(shapes, position, quaternion, q, reach, found)
    found, count = bounded_pairs(shapes, lower, upper, fixed_count, found, count)
    found = sorted_pairs(found, count, n)

    work = make_workspace(hulls)
    capacity = max(2 * count, 16)
    values, index = np.empty((capacity, 10)), np.empty((capacity, 4), dtype=np.int64)
    rows = 0
    for c in range(count):
        i, j = found[c, 0], found[c, 1]
        a, b = shapes.body[i], shapes.body[j]
        material = material_of(a, b, fixed_count, q.shape[0], pair, pair_material)
        if material < 0:
            continue
        made = _pair_contacts(shapes, hulls, i, j, position, quaternion, reach[a] + reach[b], work)
        if rows + made > capacity:
            capacity = 2 * (rows + made)
            values, index = _enlarged(values, index, rows, capacity)
        _sort_by_feature(work, made)
        for p in range(made):
            for k in range(3):
                values[rows, k] = work.point[p, k] + position[i, k]
                values[rows, 3 + k] = work.point[p, 3 + k] + position[i, k]
                values[rows, 6 + k] = work.point[p, 6 + k]
            values[rows, 9] = work.point[p, 9]
            index[rows, 0] = a
            index[rows, 1] = b
            index[rows, 2] = ((i * n + j) << (2 * _FEATURE_BITS)) + _feature_code(work, p)
            index[rows, 3] = material
            rows += 1
    return _table(values, index, rows)


@kernel
def _pair_contacts(
    shapes: ShapeArrays,
    hulls: Hulls,
    i: int,
    j: int,
    position: Array,
    quaternion: Array,
    margin: float,
    work: Workspace,
) -> int:
    """Write the contacts of shapes ``i < j`` with gaps up to `margin`; return how many."""
    x = subtract(position[j], position[i])
    e_i, e_j = quaternion[i], quaternion[j]
    if shapes.kind[i] == _HALF_SPACE:
        return half_space_contacts(shapes, hulls, i, j, x, e_i, e_j, margin, work)
    if shapes.kind[j] == _HALF_SPACE:
        back = subtract(position[i], position[j])
        count = half_space_contacts(shapes, hulls, j, i, back, e_j, e_i, margin, work)
        _exchange(work, count, x)
        return count
    if shapes.kind[i] <= _CAPSULE and shapes.kind[j] <= _CAPSULE:
        return round_contacts(shapes, hulls, i, j, x, e_i, e_j, margin, work)
    return polytope_contacts(shapes, hulls, i, j, x, e_i, e_j, margin, work)


@kernel
def _exchange(work: Workspace, count: int, x: tuple[float, float, float]) -> None:
    """Make b of a, and a of b, whose origin lies at `x` from that of a."""
    for c in range(count):
        for k in range(3):
            a = work.point[c, k]
            work.point[c, k] = work.point[c, 3 + k] + x[k]
            work.point[c, 3 + k] = a + x[k]
            work.point[c, 6 + k] *= -1.0
        feature = work.feature[c, 0]
        work.feature[c, 0] = work.feature[c, 1]
        work.feature[c, 1] = feature


@kernel
def _feature_code(work: Workspace, c: int) -> int:
    """Pack the features of both shapes; those of hulls with thousands of edges may share a code."""
    cut = (1 << _FEATURE_BITS) - 1
    return ((work.feature[c, 0] & cut) << _FEATURE_BITS) + (work.feature[c, 1] & cut)


@kernel
def _sort_by_feature(work: Workspace, count: int) -> None:
    """Sort the few contacts of a pair by feature."""
    for c in range(1, count):
        k = c
        while k > 0 and _feature_code(work, k) < _feature_code(work, k - 1):
            for column in range(10):
                value = work.point[k, column]
                work.point[k, column] = work.point[k - 1, column]
                work.point[k - 1, column] = value
            for column in range(2):
                feature = work.feature[k, column]
                work.feature[k, column] = work.feature[k - 1, column]
                work.feature[k - 1, column] = feature
            k -= 1


@kernel
def _enlarged(values: Array, index: IntArray, rows: int, capacity: int) -> tuple[Array, IntArray]:
    """Return copies of both tables with more room."""
    more_values, more_index = np.empty((capacity, 10)), np.empty((capacity, 4), dtype=np.int64)
    for r in range(rows):
        for k in range(10):
            more_values[r, k] = values[r, k]
        for k in range(4):
            more_index[r, k] = index[r, k]
    return more_values, more_index


@kernel
def _table(values: Array, index: IntArray, rows: int) -> Contacts:
    """Return the first `rows` rows as contacts."""
    body_a, body_b = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    feature, material = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    point_a, point_b, normal = np.empty((rows, 3)), np.empty((rows, 3)), np.empty((rows, 3))
    gap = np.empty(rows)
    for r in range(rows):
        body_a[r], body_b[r], feature[r], material[r] = index[r, 0], index[r, 1], index[r, 2], index[r, 3]
        gap[r] = values[r, 9]
        for k in range(3):
            point_a[r, k] = values[r, k]
            point_b[r, k] = values[r, 3 + k]
            normal[r, k] = values[r, 6 + k]
    return Contacts(body_a, body_b, feature, point_a, point_b, normal, gap, material)
