r"""What a gap asks of the normal velocity at the end of a step.

The law of a contact is :math:`0 \le p_n \perp u_n + \sigma \ge 0` (De Saxce's term apart) with the shift

.. math::
    \sigma = \begin{cases}
        \Psi/h & \Psi \ge 0: \text{bodies may close the gap, no more},\\
        0 & -s \le \Psi < 0 \text{ or } \Psi \le s/2 \text{ if it carried load in the last step}: \text{in touch},\\
        \max\bigl(\beta (\Psi + s)/h,\, -v\bigr) & \Psi < -s: \text{overlaps recede gently},
    \end{cases}

unless the contact collides and rebounds, :math:`\sigma = e\, u_n^-`, or by the share :math:`\lambda` of that,
:math:`\lambda e\, u_n^- + (1 - \lambda) \max(\sigma, 0)`, see :mod:`signorini.posing.passive_law`.

It collides if it would touch within the step both with the loads and without them: of what rolls towards an edge, its
weight, which something else holds, is no approach, and what its weight alone would bring into touch is there in the
next step.

The band s is half a millionth of the body: it makes the velocities asked for agree with each other in hyperstatic
scenes at rest, where gaps differ by rounding: not all of them could close at once, and loads would jump from leg to
leg. A body that is lifted out of an overlap loses speed less quickly than gravity could take it, so that it never
hops. The work of lifting, ``-p_n sigma``, is the correction work of the certificate.

Bodies fly on after the impulses (:mod:`signorini.dynamics.flight`), and their flights add :math:`d` to the normal
velocity in the mean of the step, which the law takes into account: :math:`\sigma + d` in place of :math:`\sigma`. Where
that asks bodies to part they do so no faster than they came, :math:`\max(\sigma + d, \min(\sigma, 0, u_n^-))`, so that
no energy is gained by it. A contact that lasts while its bodies tumble comes to each step at :math:`-d`, which the
flight of the last one left, and leaves it at :math:`d`: nothing is lost either.

While some contact rebounds, the others take :math:`\max(\sigma, \lambda u_n^-)`: with :math:`\lambda = 1` those that
were parting may be driven together at that speed, but no faster. Then a collision without friction never gains energy,
whatever the coefficients: :math:`T^+ - T = \tfrac12 \sum p_n (u_n^+ + u_n^-) \le 0`, loads and lifting apart. With
:math:`\sigma \ge 0` alone a contact that was parting and ends at :math:`u_n^+ = -\sigma` would add
:math:`\tfrac12 p_n (u_n^- - \sigma) > 0`.
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array
from signorini._jit import inner_kernel, kernel
from signorini.model import Contacts, Model
from signorini.posing.constants import BAND, BARELY, HALF_BAND, LIFT_SPEED, RECOVERY, REST_STEPS


def lift_speed(gravity: float, h: float) -> float:
    """Return the largest speed at which overlaps recede [m/s], for gravity of this size."""
    return LIFT_SPEED * gravity * h if gravity > 0.0 else math.inf


def pull_and_lift(gravity: float, h: float, theta: float) -> tuple[float, float]:
    """Return gravity and the largest speed at which overlaps recede, as a law with theta h in place of h takes them.

    What gravity does in h seconds decides. Without any, overlaps into which bodies have drifted stay: nothing would
    hold the bodies once they part.
    """
    if theta < 1.0:
        gravity = max(gravity, BARELY)
    gravity /= theta
    return gravity, lift_speed(gravity, theta * h)


@inner_kernel
def gap_shift(gap: float, size: float, loaded: bool, h: float, lift: float) -> float:
    """Return sigma of a contact that does not rebound [m/s]; `lift` is the largest speed of recovery."""
    if gap >= 0.0:
        return 0.0 if loaded and gap <= HALF_BAND * size else gap / h
    deep = gap + BAND * size
    return max(RECOVERY * deep / h, -lift) if deep < 0.0 else 0.0


def contact_sizes(model: Model, contacts: Contacts) -> Array:
    """Return the radius of the smaller moving body of every contact, (n_c,) [m]."""
    bound, a, b = model.arrays.bound, contacts.body_a, contacts.body_b
    size: Array = np.where(a < model.fixed_count, bound[b], np.minimum(bound[a], bound[b]))
    return size


@kernel
def normal_shifts(
    gap: Array,
    veered: Array,
    size: Array,
    free: Array,
    before: Array,
    restitution: Array,
    last: Array,
    gravity: float,
    lift: float,
    h: float,
    share: float,
    shift: Array,
    correction: Array,
    may_close: Array,
) -> bool:
    """Write sigma of all contacts, the part of it that lifts bodies out of overlaps, and how fast they may close.

    All are (n_c,) [m/s]. Only contacts that were parting faster may not close as they like: inf of others. Return
    whether some contact rebounds.

    Parameters
    ----------
    veered : (n_c,) [m/s]
        Normal velocity that flights add in the mean of the step.
    size : (n_c,) [m]
        Radius of the smaller moving body.
    free, before : (n_c, any) [m/s]
        Relative velocities, normal first: at the end of the step without contact impulses, and at its start.
    restitution : (n_c,)
    last : (n_c, any) [N s]
        Impulses of the last step, normal first.
    gravity : its size [m/s^2]
    lift : largest speed at which overlaps recede [m/s], 0 where they are parted by other means
    share : of the rebound that is asked for, 0 to 1
    """
    rest = max(REST_STEPS * gravity * h, BARELY)
    rebounds = False
    for c in range(gap.shape[0]):
        shift[c] = gap_shift(gap[c], size[c], last[c, 0] > 0.0, h, lift)
        correction[c] = max(0.0, -shift[c])
        shift[c] = max(shift[c] + veered[c], min(shift[c], 0.0, before[c, 0]))
        closing = max(0.0, shift[c])
        may_close[c] = closing if before[c, 0] > closing else math.inf
        e = restitution[c]
        if e > 0.0 and gap[c] + h * max(free[c, 0], before[c, 0]) <= 0.0 and before[c, 0] < -rest:
            shift[c] = share * e * before[c, 0] + (1.0 - share) * closing
            correction[c] = 0.0
            rebounds = True
    if rebounds:
        for c in range(gap.shape[0]):
            if share * before[c, 0] > shift[c]:  # never so where a contact rebounds: there e <= 1
                shift[c] = share * before[c, 0]
                correction[c] = 0.0
    return rebounds
