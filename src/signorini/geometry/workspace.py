"""Memory that the narrow phase uses again for every pair."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.model.shapes import Hulls

MAX_POINTS = 8
"""Most contacts that one pair of shapes makes."""


class Workspace(NamedTuple):
    """Scratch tables, large enough for any pair of the given hulls."""

    vertex: Array
    """Vertices of b in the frame of a, (n_v, 3)."""
    normal: Array
    """Face normals of b in the frame of a, (n_f, 3)."""
    offset: Array
    """Face offsets of b in the frame of a, (n_f,)."""
    edges: IntArray
    """Edges of a (row 0) and b (row 1) that may touch, (2, n_e)."""
    polygon: Array
    """Reference face, incident face and the two sides of the clipping, (4, n, 3)."""
    tag: IntArray
    """For each polygon vertex: feature of the reference, feature of the incident shape, side that follows, (4, n, 3)."""
    point: Array
    """Contacts found: point a, point b, normal, gap, in world axes from the origin of shape a, (n, 10)."""
    feature: IntArray
    """Features of a and b of the contacts found, (n, 2)."""


@kernel
def make_workspace(hulls: Hulls) -> Workspace:
    """Allocate for the largest hull."""
    v, f, e = 2, 1, 1
    for h in range(hulls.vertex_start.size - 1):
        v = max(v, hulls.vertex_start[h + 1] - hulls.vertex_start[h])
        f = max(f, hulls.face_start[h + 1] - hulls.face_start[h])
        e = max(e, hulls.edge_start[h + 1] - hulls.edge_start[h])
    m = 2  # a point or a segment clips as itself
    for k in range(hulls.loop_start.size - 1):
        m = max(m, hulls.loop_start[k + 1] - hulls.loop_start[k])
    n = 3 * m + 3  # each side of the reference can add one vertex, a segment counts twice
    rows = max(n, v) + 1
    return Workspace(
        np.empty((v, 3)),
        np.empty((f, 3)),
        np.empty(f),
        np.empty((2, e), dtype=np.int64),
        np.empty((4, n, 3)),
        np.empty((4, n, 3), dtype=np.int64),
        np.empty((rows, 10)),
        np.empty((rows, 2), dtype=np.int64),
    )
