r"""How much angular momentum the contacts of a step lose between two moving bodies.

Impulses are equal and opposite, so momentum is kept exactly. They act at one point of both bodies where these are when
the step acts, and then angular momentum is kept as well, unless bodies meet swiftly after :math:`\tau` seconds
(:mod:`signorini.engine.meet`). There the arms are those of the meeting, while mass centres go at their new
velocities all of the step, and the two bodies together lose :math:`\tau\, u \times p`, u being the relative velocity of
their mass centres. That is told, in parts of what is at play: the angular momentum about the common mass centre,
:math:`|\mu\, x \times u| + |I_a \omega_a| + |I_b \omega_b|` with the reduced mass :math:`\mu`.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.dynamics.bodies import apply3
from signorini.math.rotation import cross, dot, tangent_frame, unrotate

Vector = tuple[float, float, float]

_ROUNDING = 1e-9  # of the sizes of two bodies: distances of points that are one
_UNKNOWN = 1e-6  # of an impulse, which is found to the tolerance of a step


@inner_kernel
def _at_play(a: int, b: int, q: Array, v: Array, mass: Array, inertia: Array) -> float:
    """Return the angular momentum of two bodies about their mass centre, size by size [N m s]."""
    x = (q[b, 0] - q[a, 0], q[b, 1] - q[a, 1], q[b, 2] - q[a, 2])
    u = (v[b, 0] - v[a, 0], v[b, 1] - v[a, 1], v[b, 2] - v[a, 2])
    turning = cross(x, u)
    total = mass[a] * mass[b] / (mass[a] + mass[b]) * math.sqrt(dot(turning, turning))
    for side in range(2):
        c = a if side == 0 else b
        L = apply3(inertia[c], unrotate((q[c, 3], q[c, 4], q[c, 5], q[c, 6]), (v[c, 3], v[c, 4], v[c, 5])))
        total += math.sqrt(dot(L, L))
    return float(total)


@kernel
def lost_momentum(
    value: Array,
    index: IntArray,
    impulse: Array,
    common: bool,
    fixed: int,
    q: Array,
    v: Array,
    mass: Array,
    inertia: Array,
    bound: Array,
) -> float:
    """Return the largest loss of angular momentum of two bodies by their contacts, in parts of what is at play.

    Parameters
    ----------
    value, index : (n_c, 10), (n_c, any)
        Points on both bodies, normals and gaps; bodies. Contacts of two bodies come one after the other.
    impulse : (n_c, 3)
        In contact frames.
    common : bool
        Impulses act halfway across the gap, otherwise each on its own surface.
    q, v : (n_b, 7), (n_b, 6)
        Before the step.
    """
    worst, lost, least, n_c = 0.0, (0.0, 0.0, 0.0), 0.0, value.shape[0]
    for c in range(n_c):
        a, b = index[c, 0], index[c, 1]
        if a < fixed:
            continue
        n, across = (value[c, 6], value[c, 7], value[c, 8]), value[c, 9] if common else 0.0
        d = (
            value[c, 3] - value[c, 0] - across * n[0],
            value[c, 4] - value[c, 1] - across * n[1],
            value[c, 5] - value[c, 2] - across * n[2],
        )
        if dot(d, d) > (_ROUNDING * (bound[a] + bound[b])) ** 2:
            t, o = tangent_frame(n)
            p = (
                impulse[c, 0] * n[0] + impulse[c, 1] * t[0] + impulse[c, 2] * o[0],
                impulse[c, 0] * n[1] + impulse[c, 1] * t[1] + impulse[c, 2] * o[1],
                impulse[c, 0] * n[2] + impulse[c, 1] * t[2] + impulse[c, 2] * o[2],
            )
            more = cross(d, p)
            lost = (lost[0] + more[0], lost[1] + more[1], lost[2] + more[2])
            least += _UNKNOWN * math.sqrt(dot(d, d) * dot(p, p))
        if c + 1 == n_c or index[c + 1, 0] != a or index[c + 1, 1] != b:
            size = math.sqrt(dot(lost, lost))
            if size > least:  # as a central hit loses nothing, and has nothing at play
                worst = max(worst, size / max(size, _at_play(a, b, q, v, mass, inertia)))
            lost, least = (0.0, 0.0, 0.0), 0.0
    return worst
