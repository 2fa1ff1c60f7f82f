"""Where the shapes are in the world: their frames, and boxes around them grown by the reach of their bodies."""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.tables import BODY, BOUND, BOX, KIND, LOWER, SIZE, TURN, UPPER, VERTEX_COUNT, VERTEX_ROW
from signorini.geometry.vectors import row
from signorini.math.rotation import dot, matrix, multiply, rotate
from signorini.model.shapes import ShapeKind

HALF_SPACE = int(ShapeKind.HALF_SPACE)
SPHERE = int(ShapeKind.SPHERE)


@inner_kernel
def _extent(label: IntArray, solid: Array, i: int, h: float, u: float, v: float, w: float) -> tuple[float, float]:
    """Return the least and the largest ``u x + v y + w z`` over the vertices of shape `i`; `h` if it is symmetric."""
    if h > 0.0:
        return -h, h
    first = label[i, VERTEX_ROW]
    low = u * solid[first, 0] + v * solid[first, 1] + w * solid[first, 2]
    high = low
    for r in range(first + 1, first + label[i, VERTEX_COUNT]):
        s = u * solid[r, 0] + v * solid[r, 1] + w * solid[r, 2]
        low, high = min(low, s), max(high, s)
    return low, high


@inner_kernel
def place_shapes(shape: Array, label: IntArray, solid: Array, q: Array, reach: Array, world: Array) -> None:
    """Write the frames of all shapes in the world, and the boxes of those that are rounded polytopes.

    A half-space gets its normal and offset instead; boxes of curved shapes are made elsewhere.
    """
    for i in range(label.shape[0]):
        b = label[i, BODY]
        e = (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
        x = rotate(e, row(shape, i))
        f = multiply(e, (shape[i, TURN], shape[i, TURN + 1], shape[i, TURN + 2], shape[i, TURN + 3]))
        for k in range(3):
            world[i, k] = q[b, k] + x[k]
        for k in range(4):
            world[i, 3 + k] = f[k]
        if label[i, KIND] == HALF_SPACE:
            m = rotate(f, (shape[i, SIZE + 1], shape[i, SIZE + 2], shape[i, SIZE + 3]))
            for k in range(3):
                world[i, LOWER + k] = m[k]
            world[i, UPPER] = dot(m, row(world, i)) + shape[i, SIZE]
            continue
        # The last term covers rounding, so that bodies in exact touch are found with no reach at all.
        grow = shape[i, SIZE] + reach[b] + 1e-14 * shape[i, BOUND]
        if label[i, KIND] == SPHERE:
            for k in range(3):
                wide = grow + 1e-14 * abs(world[i, k])
                world[i, LOWER + k] = world[i, k] - wide
                world[i, UPPER + k] = world[i, k] + wide
        elif label[i, VERTEX_COUNT] > 0:
            R = matrix(f)
            for k in range(3):
                wide = grow + 1e-14 * abs(world[i, k])
                u, v, w = R[3 * k], R[3 * k + 1], R[3 * k + 2]
                h = 0.0
                if label[i, BOX] == 1:
                    h = abs(u) * shape[i, SIZE + 1] + abs(v) * shape[i, SIZE + 2] + abs(w) * shape[i, SIZE + 3]
                low, high = _extent(label, solid, i, h, u, v, w)
                world[i, LOWER + k] = world[i, k] + low - wide
                world[i, UPPER + k] = world[i, k] + high + wide
