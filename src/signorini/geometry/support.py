"""Boxes that contain the curved shapes in the world."""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.tables import BODY, BOUND, KIND, LOWER, SIZE, UPPER
from signorini.math.rotation import matrix
from signorini.model.shape_kinds import CYLINDER, LAST_CURVED, curved_support


@inner_kernel
def curved_boxes(shape: Array, label: IntArray, reach: Array, world: Array) -> None:
    """Write the world boxes, grown by reach, of the curved shapes to their rows of `world`."""
    for i in range(label.shape[0]):
        kind = label[i, KIND]
        if kind < CYLINDER or kind > LAST_CURVED:
            continue
        R = matrix((world[i, 3], world[i, 4], world[i, 5], world[i, 6]))
        s = (shape[i, SIZE], shape[i, SIZE + 1], shape[i, SIZE + 2], shape[i, SIZE + 3])
        for k in range(3):
            n = (R[3 * k], R[3 * k + 1], R[3 * k + 2])
            low = curved_support(kind, s, (-n[0], -n[1], -n[2]))
            high = curved_support(kind, s, n)
            # The last term covers rounding, so that bodies in exact touch are found with no reach at all.
            grow = reach[label[i, BODY]] + 1e-14 * (abs(world[i, k]) + shape[i, BOUND])
            world[i, LOWER + k] = world[i, k] + n[0] * low[0] + n[1] * low[1] + n[2] * low[2] - grow
            world[i, UPPER + k] = world[i, k] + n[0] * high[0] + n[1] * high[1] + n[2] * high[2] + grow
