"""Detect contacts: from the configuration to the table of candidate contacts."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.geometry.pairs import candidate_pairs, world_frames
from signorini.geometry.polytopes import polytope_pairs
from signorini.geometry.reduction import MAX_POINTS
from signorini.geometry.simple_pairs import simple_pairs
from signorini.model.contacts import Contacts
from signorini.model.model import Materials, Model
from signorini.model.shapes import Hulls, ShapeArrays
from signorini.model.state import State


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
    return detect_arrays(model.shapes, model.hulls, model.materials, model.fixed_count, state.q, reach)


def detect_arrays(
    shapes: ShapeArrays, hulls: Hulls, materials: Materials, fixed_count: int, q: Array, reach: Array
) -> Contacts:
    """Do the work of :func:`detect` on arrays.

    Scratch memory is made here, which takes no time to compile, and kernels that no pair needs are not called, so
    that they need not be compiled.
    """
    kind, body, position, quaternion, parameter, hull, bound = shapes
    n = body.size
    frame, box = np.empty((n, 7)), np.empty((n, 6))
    world_frames(
        body, position, quaternion, parameter, hull, bound, hulls.vertex, hulls.vertex_start, q, reach, frame, box
    )
    found = candidate_pairs(shapes, fixed_count, q, reach, frame, box)
    if found.size == 0:
        return Contacts.none()
    # The largest hull is no larger than all of them together; memory that is not touched costs nothing.
    v, f, m = hulls.vertex.shape[0], hulls.face_offset.size, 3 * hulls.loop.size + 6
    rows = max(m, v) + 1
    point, feature = np.empty((rows, 10)), np.empty((rows, 3), dtype=np.int64)
    capacity = found.size * (MAX_POINTS if f else 2)
    value, index = np.empty((capacity, 10)), np.empty((capacity, 4), dtype=np.int64)
    made = np.zeros(1, dtype=np.int64)
    pairs = (materials.pair, materials.pair_material, reach, frame, found)
    simple_pairs(
        kind, body, parameter, hull, bound, hulls.vertex, hulls.vertex_start, *pairs, point, feature, value, index, made
    )
    if found[0] >= 0 and f > 0:
        polytope_pairs(
            body,
            parameter,
            hull,
            bound,
            *hulls,
            *pairs,
            np.empty((2 * v, 3)),
            np.empty((2 * f, 4)),
            np.empty((2, 10), dtype=np.int64),
            np.empty((2, hulls.edge.shape[0]), dtype=np.int64),
            np.empty((4 * m, 3)),
            np.empty((4 * m, 3), dtype=np.int64),
            point,
            feature,
            value,
            index,
            made,
        )
    order = np.argsort(index[: made[0], 2], kind="stable")
    value, index = value[order], index[order]
    return Contacts(
        body_a=index[:, 0].copy(),
        body_b=index[:, 1].copy(),
        feature=index[:, 2].copy(),
        point_a=value[:, 0:3].copy(),
        point_b=value[:, 3:6].copy(),
        normal=value[:, 6:9].copy(),
        gap=value[:, 9].copy(),
        material=index[:, 3].copy(),
    )
