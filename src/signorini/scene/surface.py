"""Closed surfaces of triangles: what is wrong with one, in words, and its volume."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray

_THIN = 1e-9  # volume over the cube of the extent below which a body has no thickness
# Determinants of coordinates scaled to 1 are wrong by about 1e-15: less than this says nothing of the side.
_ROUNDING = 1e-13
_AT_ONCE = 200_000  # pairs of triangles tested in one sweep of memory


def volume_of(vertices: Array, triangles: IntArray) -> float:
    """Return the volume that a closed surface encloses, whichever way its triangles run."""
    return abs(_signed_volume(vertices, triangles))


def _signed_volume(vertices: Array, triangles: IntArray) -> float:
    x = vertices - vertices.mean(axis=0)
    return float(np.linalg.det(x[triangles]).sum()) / 6.0


def outward(vertices: Array, triangles: IntArray) -> IntArray:
    """Return the triangles such that they enclose a positive volume: counter-clockwise seen from outside."""
    return triangles if _signed_volume(vertices, triangles) > 0.0 else np.ascontiguousarray(triangles[:, ::-1])


def fault_of(vertices: Array, triangles: IntArray) -> str:
    """Say why triangles do not enclose a volume, and where; the empty text if they do."""
    if len(triangles) == 0:
        return "has no triangle with an area"
    extent = float(np.ptp(vertices[triangles.reshape(-1)], axis=0).max())
    start, end = triangles.reshape(-1), np.roll(triangles, -1, axis=1).reshape(-1)
    key, back = start * len(vertices) + end, end * len(vertices) + start
    distinct, count = np.unique(key, return_counts=True)
    if (count > 1).any():
        v, w = divmod(int(distinct[count > 1][0]), len(vertices))
        return (
            f"has {int((count > 1).sum())} edges along which triangles disagree on the outside or more than two meet, "
            f"the first from {_place(vertices[v])} to {_place(vertices[w])}"
        )
    lonely = ~np.isin(back, distinct)
    if lonely.any():
        k = int(np.flatnonzero(lonely)[0])
        return (
            f"is open along {int(lonely.sum())} edges, "
            f"the first from {_place(vertices[start[k]])} to {_place(vertices[end[k]])}"
        )
    if volume_of(vertices, triangles) < _THIN * extent**3:
        return "has no thickness"
    crossing = first_crossing((vertices - vertices.mean(axis=0)) / extent, triangles)
    if crossing is not None:
        i, j = crossing
        return f"crosses itself: triangles at {_place(vertices[triangles[i]].mean(axis=0))} and " + _place(
            vertices[triangles[j]].mean(axis=0)
        )
    return ""


def _place(x: Array) -> str:
    return "(" + ", ".join(f"{c:.6g}" for c in x) + ")"


def first_crossing(vertices: Array, triangles: IntArray) -> tuple[int, int] | None:
    """Return two triangles without common vertex of which a side of one pierces the other, None if there are none.

    Coordinates are of size 1. Triangles are swept along x, so that work grows with the number of pairs whose boxes
    overlap.
    """
    corners = vertices[triangles]
    low, high = corners.min(axis=1), corners.max(axis=1)
    order = np.argsort(low[:, 0], kind="stable")
    last = np.searchsorted(low[order, 0], high[order, 0], side="right")
    first: IntArray = np.arange(len(order))
    waiting: list[IntArray] = []
    for i in first.tolist():
        others = order[i + 1 : last[i]]
        here = order[i]
        near = others[((low[others] <= high[here]) & (low[here] <= high[others])).all(axis=1)]
        if near.size:
            waiting.append(np.column_stack([np.full(near.size, here), near]))
        if waiting and (i == len(order) - 1 or sum(map(len, waiting)) > _AT_ONCE):
            pairs = np.concatenate(waiting)
            waiting = []
            apart = ~(triangles[pairs[:, 0]][:, :, None] == triangles[pairs[:, 1]][:, None, :]).any(axis=(1, 2))
            pairs = pairs[apart]
            hit = np.flatnonzero(_pierced(corners[pairs[:, 0]], corners[pairs[:, 1]]))
            hit = hit if hit.size else np.flatnonzero(_pierced(corners[pairs[:, 1]], corners[pairs[:, 0]]))
            if hit.size:
                return int(pairs[hit[0], 0]), int(pairs[hit[0], 1])
    return None


def _pierced(sides: Array, triangle: Array) -> BoolArray:
    """Tell whether a side of the first triangle goes through the inside of the second, (n, 3, 3) each."""
    a, b, c = (triangle[:, k] for k in range(3))
    hit = np.zeros(len(sides), dtype=bool)
    for k in range(3):
        p, q = sides[:, k], sides[:, (k + 1) % 3]
        above, below = _side(a, b, c, p), _side(a, b, c, q)
        through = above * below < 0
        turns = np.stack([_side(p, q, a, b), _side(p, q, b, c), _side(p, q, c, a)])
        hit |= through & ((turns > 0).all(axis=0) | (turns < 0).all(axis=0))
    return hit


def _side(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return on which side of the plane abc the point d lies: 1, -1, or 0 for on it, to rounding."""
    volume = np.einsum("ni,ni->n", np.cross(b - a, c - a), d - a)
    return np.sign(np.where(np.abs(volume) > _ROUNDING, volume, 0.0))
