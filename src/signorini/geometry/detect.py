"""Detect contacts: from the configuration to the table of candidate contacts."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.geometry.convex_depth import MAX_CORNERS, MAX_FACES
from signorini.geometry.curved_pairs import curved_pairs
from signorini.geometry.curved_planes import curved_on_planes
from signorini.geometry.features import MAX_CANDIDATES
from signorini.geometry.implicit_pairs import Implicits, implicit_pairs, split_pairs
from signorini.geometry.pairs import candidate_pairs, world_frames
from signorini.geometry.patches import PATCH_CORNERS
from signorini.geometry.polytopes import polytope_pairs
from signorini.geometry.reduction import MAX_POINTS
from signorini.geometry.simple_pairs import simple_pairs
from signorini.geometry.solids import PART_COLUMNS, SOLID_COLUMNS
from signorini.geometry.support import curved_boxes
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
    return detect_arrays(model.shapes, model.hulls, model.materials, model.fixed_count, state.q, reach, model.implicit)


def detect_arrays(
    shapes: ShapeArrays,
    hulls: Hulls,
    materials: Materials,
    fixed_count: int,
    q: Array,
    reach: Array,
    implicit: Implicits = (),
) -> Contacts:
    """Do the work of :func:`detect` on arrays."""
    kind, body, position, quaternion, parameter, hull, bound = shapes
    n = body.size
    frame, box = np.empty((n, 7)), np.empty((n, 6))
    curved = world_frames(
        body, position, quaternion, parameter, hull, bound, hulls.vertex, hulls.vertex_start, q, reach, frame, box
    )
    if curved > 0:
        curved_boxes(kind, body, parameter, bound, reach, frame, box)
    found = candidate_pairs(shapes, fixed_count, q, reach, frame, box)
    if found.size == 0:
        return Contacts.none()
    value, index = np.empty((0, 10)), np.empty((0, 4), dtype=np.int64)
    if implicit:
        found, described = split_pairs(kind, found)
        value, index = implicit_pairs(shapes, hulls, implicit, materials, reach, frame, described)
    if found.size > 0:
        rows = _by_kernels(shapes, hulls, materials, curved > 0, reach, frame, found)
        value, index = (
            (rows[0], rows[1]) if not implicit else (np.vstack([value, rows[0]]), np.vstack([index, rows[1]]))
        )
    order = np.argsort(index[:, 2], kind="stable")
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


def _by_kernels(
    shapes: ShapeArrays, hulls: Hulls, materials: Materials, curved: bool, reach: Array, frame: Array, found: IntArray
) -> tuple[Array, IntArray]:
    """Return the contacts of the pairs `found` as rows of points, normal and gap (n, 10) and of numbers (n, 4).

    Scratch memory is made here, which takes no time to compile, and kernels that no pair needs are not called, so
    that they need not be compiled. Each kernel leaves the keys of the pairs that it does not know at the front.
    """
    kind, body, _, _, parameter, hull, bound = shapes
    # The largest hull is no larger than all of them together; memory that is not touched costs nothing.
    v, f, m = hulls.vertex.shape[0], hulls.face_offset.size, 3 * hulls.loop.size + 6
    rows = max(m, v, MAX_POINTS) + 1
    point, feature = np.empty((rows, 10)), np.empty((rows, 3), dtype=np.int64)
    capacity = found.size * (MAX_POINTS if f or curved else 2)
    value, index = np.empty((capacity, 10)), np.empty((capacity, 4), dtype=np.int64)
    made = np.zeros(1, dtype=np.int64)
    pairs = (materials.pair, materials.pair_material, reach, frame, found)
    simple_pairs(
        kind, body, parameter, hull, bound, hulls.vertex, hulls.vertex_start, *pairs, point, feature, value, index, made
    )
    if found[0] >= 0 and f > 0:
        polytope_pairs(
            kind,
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
    if found[0] >= 0 and curved:
        curved_on_planes(kind, body, parameter, hull, *pairs, point, feature, value, index, made)
    if found[0] >= 0 and curved:
        m = 3 * (hulls.loop.size + 2 * PATCH_CORNERS) + 6
        point, feature = np.empty((m, 10)), np.empty((m, 3), dtype=np.int64)
        curved_pairs(
            kind,
            body,
            parameter,
            hull,
            bound,
            *hulls,
            *pairs,
            np.empty((2 * v, 3)),
            np.empty((2 * f, 4)),
            np.empty((2, PART_COLUMNS), dtype=np.int64),
            np.empty((2, SOLID_COLUMNS)),
            np.empty((5, 10)),
            np.empty((MAX_CORNERS, 9)),
            np.empty((MAX_FACES, 3), dtype=np.int64),
            np.empty((MAX_FACES, 4)),
            np.empty((3 * MAX_FACES, 2), dtype=np.int64),
            np.empty((2, MAX_CANDIDATES, 2), dtype=np.int64),
            np.empty((8, 7)),
            np.empty((2 * m, 3)),
            np.empty((2, 4)),
            np.empty((2, PART_COLUMNS), dtype=np.int64),
            np.empty(2 * m, dtype=np.int64),
            np.empty(4, dtype=np.int64),
            np.empty((2 * m, 2), dtype=np.int64),
            np.empty((4 * m, 3)),
            np.empty((4 * m, 3), dtype=np.int64),
            point,
            feature,
            value,
            index,
            made,
        )
    return value[: made[0]], index[: made[0]]
