"""A half-space and the shape above it: what all kinds of shapes have in common."""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.rows import emit
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import dot, rotate


@inner_kernel
def above_plane(parameter: Array, frame: Array, p: int, o: int) -> tuple[Vector, Vector, float]:
    """Return the normal of half-space `p` in the world and in the axes of shape `o`, and the height of o's origin."""
    m = rotate(
        (frame[p, 3], frame[p, 4], frame[p, 5], frame[p, 6]), (parameter[p, 1], parameter[p, 2], parameter[p, 3])
    )
    height = dot(m, along(row(frame, o), -1.0, row(frame, p))) - parameter[p, 0]
    return m, rotate((frame[o, 3], -frame[o, 4], -frame[o, 5], -frame[o, 6]), m), height


@inner_kernel
def emit_on_plane(
    count: int,
    key: int,
    plane_last: bool,
    m: Vector,
    radius: float,
    body: IntArray,
    material: int,
    frame: Array,
    point: Array,
    feature: IntArray,
    value: Array,
    index: IntArray,
    made: IntArray,
) -> None:
    """Add contacts seen in the axes of the shape above the plane with world normal `m`; see :func:`emit`."""
    i, j = key // body.size, key % body.size
    o = i if plane_last else j
    x = (0.0, 0.0, 0.0)
    if not plane_last:
        x = along(row(frame, j), -1.0, row(frame, i))
    e = (frame[o, 3], frame[o, 4], frame[o, 5], frame[o, 6])
    emit(count, key, plane_last, e, x, 0.0, radius, body, material, frame, point, feature, value, index, made)
    # the plane's own normal, without the rounding of turning it there and back
    for r in range(made[0] - count, made[0]):
        for k in range(3):
            value[r, 6 + k] = -m[k] if plane_last else m[k]
