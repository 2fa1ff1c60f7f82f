r"""The passive law of restitution: Newton's, as far as energy and room permit.

Newton's law asks every contact that collides for :math:`u_n^+ \ge -e\,u_n^-`, whatever friction does meanwhile and
whatever is in the way. It may gain energy, and it may throw a body through what is behind it. So of each island, the
bodies and contacts that hang together, the share :math:`\lambda` of the rebound is asked for,

.. math::
    \sigma = \lambda e\, u_n^- + (1 - \lambda) \max(\sigma, 0) \quad\text{where contacts collide},\qquad
    \max(\sigma, \lambda u_n^-) \quad\text{elsewhere},

the largest for which

.. math::
    G = \sum p \cdot b + \tfrac12 p^T W p - \sum p_n \sigma^{lift} \le 0, \qquad u_n^+ \ge -\Psi/h
    \text{ to within what counts as touch.}

With :math:`u^+ = W p + b`, G is what the impulses add to the kinetic energy that the loads leave,
:math:`T^+ - T(b) = \tfrac12 \sum p \cdot (u^+ + b)`, the work of prescribed bodies and of lifting overlaps apart.
What limits, friction and motors of joints do is left out of it: what they take does not pay for a rebound.

Weights that fall onto something have fallen for h seconds in b, and would give that back too. So in islands without
joints :math:`\tfrac12 \sum p \cdot J h g` is taken from G where it is negative. Then G is
:math:`\tfrac12 \sum p \cdot (u^+ + u^-)`, the change of :math:`T + U(q - (\theta - \tfrac12) h v)`: that is the energy
which the scheme keeps in flight.

The gain is measured beside the energy that passes, :math:`|\sum p \cdot b| + \tfrac12 p^T W p`. Wedged bodies may have
impulses whose work is many times that, and cancels. A rebound is not known to keep the energy where rounding of that
work exceeds the tolerance; and it is not solved where the tolerance, which is relative to the impulses, permits errors
as large as the load, unless it is as much more precise (:data:`~signorini.math.cones.LEVERAGE`).

:math:`\lambda = 1` is Newton's law, taken wherever it keeps to both. :math:`\lambda = 0` is the law without rebound,
which does always: :math:`\sigma \ge 0` there, so that :math:`p \cdot u^+ \le 0`. G depends on :math:`\lambda`
continuously where the solution does, and is a convex parabola while contacts keep to stick, slip or open; its root is
found by the method of Illinois, and what is taken is always on the safe side.

With friction Newton's law may have no solution at all, as for a bar on a hinge whose end can leave the floor only by
slipping more than its cone permits. The law without rebound always has one: standstill is possible. So a rebound for
which none is found is not made at all.
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array
from signorini._jit import inner_kernel, kernel
from signorini.math.cones import LEVERAGE, ROUNDING
from signorini.posing.constants import REBOUND_ROUNDING, SHARE_ROUNDS

# What is known of the rebounds of an island. Excess is how much a share is too large, relative: more than 0 if it is.
(
    ASKED_SHARE,  # that is asked for
    LOW,  # the largest share known to be allowed ...
    LOW_EXCESS,
    HIGH,  # ... the smallest known not to be ...
    HIGH_EXCESS,
    SIDE,  # ... and which of them the last one was: -1, 1
    ROUND,  # how often it was tried, SETTLED when its share is found
    SHARE_COLUMNS,
) = np.arange(8, dtype=np.int64)
SETTLED = -1.0
UNSOLVED = math.inf
"""Excess of a rebound that no solution was found for."""


@inner_kernel
def _narrow(row: Array, excess: float) -> None:
    """Take the share that was tried as a bound, and choose one between the bounds."""
    tried = row[ASKED_SHARE]
    side = 1.0 if excess > 0.0 else -1.0
    near, far = (HIGH, LOW) if side > 0.0 else (LOW, HIGH)
    row[near], row[near + 1] = tried, excess
    if row[SIDE] == side:  # Illinois: the bound that stays must not hold the chord back
        row[far + 1] *= 0.5
    row[SIDE] = side
    row[ASKED_SHARE] = row[LOW] + (row[HIGH] - row[LOW]) * row[LOW_EXCESS] / (row[LOW_EXCESS] - row[HIGH_EXCESS])


@kernel
def relative_gain(gain: float, moved: float, handled: float, tolerance: float) -> tuple[float, float]:
    """Return what a rebound gains beside the energy `moved`, and by which factor works that cancel exceed this.

    `handled` is the sum of all works without their signs. What is gained is not known if rounding of that hides it.
    """
    if handled <= 0.0:
        return (0.0, 1.0)
    excess, leverage = (gain / moved, handled / moved) if moved > 0.0 else (UNSOLVED, UNSOLVED)
    return (excess if ROUNDING * leverage <= tolerance else UNSOLVED, leverage)


@kernel
def is_seen(error: float, size: float, load: float, tolerance: float) -> bool:
    """Tell whether norms of the natural map, of impulses and of what the load alone asks for are those of a solution.

    Not so where the tolerance of the impulses is as large as the load, and the error beside this, too.
    """
    return tolerance * size <= load or error <= LEVERAGE * tolerance * load


@kernel
def next_share(row: Array, excess: float, error: float, tolerance: float) -> bool:
    """Tell whether the share that was tried is the one to take, or set the next one; `excess` is what came of it.

    A whole rebound may exceed by the `error` of its solution; a smaller one must not, nor stay below by more than the
    tolerance.
    """
    row[ROUND] += 1.0
    if not excess < UNSOLVED:  # nor is it a number
        if row[ASKED_SHARE] == 0.0 or row[ROUND] > SHARE_ROUNDS:
            return True
        row[ASKED_SHARE] = 0.0 if row[ROUND] == 1.0 else row[LOW]
        row[ROUND] = SHARE_ROUNDS
        return False
    if row[ROUND] == 1.0:
        if excess <= min(error, tolerance) + REBOUND_ROUNDING:
            return True
        row[HIGH], row[HIGH_EXCESS], row[SIDE], row[ASKED_SHARE] = 1.0, excess, 0.0, 0.0
        return False
    excess += 0.5 * tolerance
    if row[ROUND] == 2.0:
        row[LOW], row[LOW_EXCESS] = 0.0, excess
        if excess >= 0.0:  # no rebound at all
            return True
    elif row[ROUND] > SHARE_ROUNDS or abs(excess) <= 0.5 * tolerance:
        return True
    _narrow(row, excess)
    if row[ROUND] == SHARE_ROUNDS or not row[LOW] < row[ASKED_SHARE] < row[HIGH]:
        row[ROUND] = SHARE_ROUNDS
        row[ASKED_SHARE] = row[LOW]
    return False
