r"""Nearly flat caps of superellipsoids: points around a closest point that are as close.

Where a coordinate vanishes, a surface of exponent :math:`p > 2` has no curvature in its direction. A turn by
:math:`\theta` takes the point that touches a plane to :math:`a\,\theta^{1/(p-1)}`: by a tenth of the semi-axis at
:math:`p = 8` and a ten millionth of a radian, which is less than gaps are resolved to. A contact posed there alone
jumps over the cap from step to step, and the moment of its force with it.

What such a turn leaves where they are are the ends of the patch, the points at a given depth :math:`\delta` below the
tangent plane: at the centre of a cap :math:`w = a\,(p\,\delta/a)^{1/p}` away. They move by some
:math:`\theta\,w^2/\delta` only. So where a patch is wide the ends of two chords through the closest point, along the axes
of the body across the normal, are posed in its place, at the gap of the closest point: the depth is less than what the
law resolves of gaps, by which in its eyes the patch is flat. A patch that is wide in one direction has two ends.
Patches of curved surfaces are narrow, and their contacts remain as they are.
"""

from __future__ import annotations

import numpy as np

from signorini._jit import inner_kernel
from signorini.geometry.constants import CAP_DEPTH, CAP_WIDTH
from signorini.geometry.vectors import Vector, along
from signorini.math.rotation import dot
from signorini.model.shape_kinds import Size

_ROUNDS = 60  # of Newton's method for the end of a chord; some twenty do
_END = 1e-14  # of its length: a change that ends it

Chord = tuple[Vector, float, float]
"""Direction of a chord in the axes of the body, and the lengths along it and against it; 0 where it is short."""


@inner_kernel
def _norm(size: Size, x: Vector, t: Vector) -> tuple[float, float]:
    """Return ``sum |x_i / a_i|^p`` and a p-th of its derivative along `t`."""
    p = size[3] - 1.0
    u, v, w = x[0] / size[0], x[1] / size[1], x[2] / size[2]
    f, g, h = abs(u) ** p, abs(v) ** p, abs(w) ** p
    slope = np.copysign(f, u) * t[0] / size[0] + np.copysign(g, v) * t[1] / size[1] + np.copysign(h, w) * t[2] / size[2]
    return f * abs(u) + g * abs(v) + h * abs(w), slope


@inner_kernel
def _length(size: Size, o: Vector, t: Vector) -> float:
    """Return how far the surface is from the point `o` inside it along `t`.

    Newton's method for ``(sum |x_i / a_i|^p)^(1/p) = 1`` from where the way leaves the box around the solid. The norm
    is convex, so that the length falls to its root.
    """
    length = np.inf
    for k in range(3):
        if t[k] != 0.0:
            length = min(length, (np.copysign(size[k], t[k]) - o[k]) / t[k])
    for _ in range(_ROUNDS):
        power, slope = _norm(size, along(o, length, t), t)
        if not slope > 0.0:
            break
        step = power * (1.0 - power ** (-1.0 / size[3])) / slope
        length -= step
        if not step > _END * length:
            break
    return length


@inner_kernel
def _chord(size: Size, n: Vector, o: Vector, i: int) -> Chord:
    """Return the chord through `o` in the direction of axis `i` across the normal."""
    s = -n[i]
    axis = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
    t = along(axis, s, n)
    f = 1.0 / np.sqrt(dot(t, t))
    t = (f * t[0], f * t[1], f * t[2])
    way = CAP_WIDTH * size[i]
    if _norm(size, along(o, way, t), t)[0] > 1.0 or _norm(size, along(o, -way, t), t)[0] > 1.0:
        return t, 0.0, 0.0
    return t, _length(size, o, t), _length(size, o, (-t[0], -t[1], -t[2]))


@inner_kernel
def cap_patch(size: Size, n: Vector, x: Vector, most: float) -> tuple[int, int, Chord, Chord]:
    """Return the patch around the point `x` of a superellipsoid with outward normal `n`, in its axes.

    That is two axes of the body and the chords along them, which with the normal make a right-handed frame. Its depth is ``CAP_DEPTH`` of the least semi-axis, or of `most` if that is less.
    """
    k = 0 if abs(n[0]) > abs(n[1]) else 1
    if abs(n[2]) > max(abs(n[0]), abs(n[1])):
        k = 2
    i, j = (k + 1) % 3, (k + 2) % 3
    if n[k] < 0.0:
        i, j = j, i
    o = along(x, -CAP_DEPTH * min(most, size[0], size[1], size[2]), n)
    return i, j, _chord(size, n, o, i), _chord(size, n, o, j)


@inner_kernel
def end_name(i: int, against: int) -> int:
    """Return the number of the end of a patch in the direction of axis `i`, or against it; 1 is the closest point."""
    return 2 + 2 * i + against
