r"""How far errors of contacts leave open where a body goes that nothing but faces holds.

Faces that press on each other are parallel, to the errors of their contacts: the overlap with which these begin, and
the speed by which they miss their law. So the normal of a pair is known to a small angle only, the range of such errors
over the pair's extent, and the impulse along it may push a body aside by as much. Of a body on which impulses are a
million times its weight, a millionth of a radian decides where it goes. Contacts inside their friction cones take such
a push; a body that has one is left out. For each other body,

.. math::
    \frac{\sum p_n\, \theta}{m\,(g h + |v| + u + s/h)}, \qquad
    \theta = \frac{\max d - \min d}{\max(\text{spread of the points}, s_{ab})}, \quad d = \min(\Psi, 0) + h \hat u_n,

is told where it is largest: the sum is over its contacts that bear load, :math:`\hat u_n` is zero where they satisfy
their law, v is the velocity before the step, u the speed at which its contacts closed then, so that what is
hit at rest is measured by what hits it, s a millionth of the least width :math:`s_{ab}` of bodies.

Where contacts close by turning, :math:`h\,|n\cdot(\omega\times r)| / |r|` is the angle of the step that goes into it.
A step has one push, with the arms of its touch; what turns by a radian or more would have pushed along many.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._grades import WAY_OF_NONE
from signorini._jit import inner_kernel, kernel
from signorini.engine.arrays import A_BODY, B_BODY, DISTANCE, NORMAL
from signorini.engine.contacts import contact_arms
from signorini.math.rotation import cross, dot
from signorini.solvers.island_constants import EDGE


@inner_kernel
def _push(value: Array, impulse: Array, miss: Array, first: int, last: int, h: float, width: float) -> float:
    """Return the impulse by which the contacts of a pair may push aside [N s]."""
    least, most, pressed = math.inf, -math.inf, 0.0
    for c in range(first, last):
        if impulse[c, 0] > 0.0:
            d = min(value[c, DISTANCE], 0.0) + h * miss[c]
            least, most, pressed = min(least, d), max(most, d), pressed + impulse[c, 0]
    if not most > least:
        return 0.0
    square = 0.0
    for k in range(3):
        low, high = math.inf, -math.inf
        for c in range(first, last):
            if impulse[c, 0] > 0.0:
                low, high = min(low, value[c, k]), max(high, value[c, k])
        if high > low:
            square += (high - low) ** 2
    return float(pressed * (most - least) / max(math.sqrt(square), width))


@inner_kernel
def _closing(value: Array, c: int, a: int, b: int, fixed: int, q: Array, v: Array) -> tuple[float, float, int]:
    """Return how fast the points of a contact come closer along its normal [m/s].

    Then the square of the turn that goes into it [rad^2/s^2], of the body that turns the most, and that body.
    """
    n, square, turning = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2]), 0.0, a
    speed = dot(n, (v[a, 0] - v[b, 0], v[a, 1] - v[b, 1], v[a, 2] - v[b, 2]))
    arms = contact_arms(value, q, c, a, b, fixed)
    for side in range(2):
        body, r = (b, arms[1]) if side else (a, arms[0])
        turn = dot(n, cross((v[body, 3], v[body, 4], v[body, 5]), r))
        speed += -turn if side else turn
        if turn * turn > square * dot(r, r):
            square, turning = turn * turn / dot(r, r), body
    return (speed, square, turning)


@kernel
def uncertain_motion(
    value: Array,
    index: IntArray,
    impulse: Array,
    miss: Array,
    mu: Array,
    fixed: int,
    q: Array,
    v: Array,
    mass: Array,
    thin: Array,
    gravity: float,
    h: float,
    push: Array,
    hit: Array,
) -> tuple[float, int, float, int]:
    """Return by which part of its own a body's velocity is open, where that is most, and the body, or -1.

    Then the largest turn of a body that goes into closing contacts in the step [rad], and that body, or -1.

    Parameters
    ----------
    value, index : (n_c, 10), (n_c, any)
        Points on both bodies, normals and gaps; bodies. Contacts of two bodies come one after the other.
    impulse, miss, mu : (n_c, 3), (n_c,), (n_c,)
        In contact frames; normal velocities of the law, gaps and compliances included [m/s]; friction.
    q, v : (n_b, 7), (n_b, 6)
        Before the step.
    thin : (n_b,)
        Least widths [m].
    gravity : float
        Its size [m/s^2].
    push, hit : (n_b,), (n_b,)
        Written.
    """
    n_c, first, square, turning = value.shape[0], 0, 0.0, -1
    for b in range(mass.shape[0]):
        push[b], hit[b] = 0.0, 0.0
    for c in range(n_c):
        a, b = index[c, A_BODY], index[c, B_BODY]
        if impulse[c, 0] > 0.0:
            speed, turn, body = _closing(value, c, a, b, fixed, q, v)
            hit[a], hit[b] = max(hit[a], speed), max(hit[b], speed)
            if turn > square:
                square, turning = turn, body
        if impulse[c, 0] > 0.0 and impulse[c, 1] ** 2 + impulse[c, 2] ** 2 < (EDGE * mu[c] * impulse[c, 0]) ** 2:
            push[a], push[b] = -math.inf, -math.inf
        if c + 1 == n_c or index[c + 1, A_BODY] != a or index[c + 1, B_BODY] != b:
            if push[a] >= 0.0 or push[b] >= 0.0:
                aside = _push(value, impulse, miss, first, c + 1, h, min(thin[a], thin[b]))
                push[a] += aside
                push[b] += aside
            first = c + 1
    worst, body = 0.0, -1
    for b in range(fixed, mass.shape[0]):
        if push[b] > 0.0:
            speed = math.sqrt(v[b, 0] ** 2 + v[b, 1] ** 2 + v[b, 2] ** 2)
            part = push[b] / (mass[b] * (gravity * h + speed + hit[b] + WAY_OF_NONE * thin[b] / h))
            if part > worst:
                worst, body = part, b
    return (worst, body, h * math.sqrt(square), turning)
