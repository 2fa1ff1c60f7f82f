"""How far a result can be trusted, and the bounds and rules that certificate and audit have in common."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import numpy as np

from signorini._arrays import Array

OVERLAP_REMARK = 1e-3
"""Overlap, relative to the thinner body of the pair, above which a run is remarked upon: what nobody can see."""
OVERLAP_WRONG = 2e-2
"""... above which it is not trusted. Honest rigid steps of piles in motion reach 1e-2, since gaps are predicted along
normals that turn in the step."""
DRIFT_REMARK = 1e-2
"""How far joints may be apart, relative to the smaller of their bodies or in radians, before it is worth a remark."""
DRIFT_WRONG = 5e-2
"""... before it is wrong. There steps fail, unless bodies turn by about a radian in them."""


GROWING_REMARK = 0.5 * DRIFT_REMARK
"""Drift of joints that keeps growing, above which it is worth a remark: doubling once more, it passes that bound."""
CONFLICT_WRONG = 1e-6
"""Speed that joint equations leave open [m/s, rad/s]. Rounding leaves 1e-12, also where joints are redundant."""
GAIN_REMARK = 1e-4
"""Energy that a collision gains in a step, relative to that of the motion. Tolerances of the solver explain less."""
CORRECTION_REMARK = 0.1
"""Energy given in a whole run to part overlapping bodies, relative to that at play."""
MOMENTUM_REMARK = 1e-2
"""Angular momentum that two bodies lose where they meet swiftly, of what they have about their mass centre."""
TURNED_WRONG = OVERLAP_WRONG
"""Energy that bodies gain or lose in a step since they turn evenly, and not as they fly, of that of the motion, above
which a run is not trusted, as it is not where an audit finds as much unexplained; above GAIN_REMARK it is told."""
UNSURE_REMARK = 0.1
"""Velocity that errors of contacts leave open to a body that no friction holds, of its own, in a step. Piles without
friction reach 1e-2; where a light body was lost under a heavy one it was mostly above a hundred, once 1.3."""
UNSURE_WRONG = 1.0
"""... above which it is not trusted: nothing is known of where the body goes."""
WAY_OF_NONE = 1e-6
"""Way of a body in a step, of its width, that counts as none where that is asked."""
HIT_TURN_REMARK = 1.0
"""Turn of a body that goes into closing contacts in a step [rad]: its one push has the arms of one moment. At half a
radian speeds after hits are right to a tenth, at 2.5 a third or half of what short steps give."""
TAKEN_REMARK = 5e-2
"""Energy that joints and scheme take in `SPAN` steps, relative to that at play in one: as much is seen in a motion."""
TAKEN_WRONG = 0.5
"""... above which a run is not trusted: what is left of its motion is less than what they took."""
SPAN = 1000
"""Steps in which losses are summed up: what drives, motors and loads put in again for ever is lost to no motion."""
PULL_REMARK = 1e-2
"""Energy that joints and scheme give in a run, relative to that of the motion."""
BALANCE_WRONG = 1e-10
"""Relative error of the energy balance, an identity, above which something else than rounding has broken it."""


class Grade(StrEnum):
    """How far a result can be trusted."""

    TRUSTED = "trusted"
    REMARKS = "trusted with remarks"
    NOT_TRUSTED = "not trusted"


_ORDER = tuple(Grade)


def severity(grade: Grade) -> int:
    """Return 0 for what is trusted, 1 with remarks, 2 for what is not."""
    return _ORDER.index(grade)


def worst_of(grades: Iterable[Grade]) -> Grade:
    """Return the worst of these grades; nothing is trusted less than none."""
    return max(grades, key=severity, default=Grade.TRUSTED)


def rises(steps: Array) -> Array:
    """Return how far the sum of what every step gives has risen since its least, after each of them, (n,)."""
    total = np.concatenate([[0.0], np.cumsum(steps)])
    with np.errstate(invalid="ignore"):  # what is not finite is said elsewhere
        risen: Array = (total - np.minimum.accumulate(total))[1:]
    return risen


def losses(steps: Array) -> Array:
    """Return how far the sum of what steps give has fallen within half of `SPAN` or more before each of them, (n,)."""
    fallen = np.zeros_like(steps)
    for first in range(0, max(steps.size - SPAN // 2, 1), SPAN // 2):
        part = slice(first, first + SPAN)
        fallen[part] = np.fmax(fallen[part], rises(-steps[part]))
    return fallen


def at_play(moving: Array, scale: Array) -> float:
    """Return the energy in a run [J] of which joints may give a `PULL_REMARK`.

    It is the largest of the motion in any step, `moving` (n,). Where nothing moves, what joints give is rounding: the
    energies of a step are known to `BALANCE_WRONG` of their `scale` (n,).
    """
    return float(moving.max(initial=0.0) + BALANCE_WRONG / PULL_REMARK * scale.sum())


def given_for_good(made: Array, impact: Array, swing: Array, rebound: Array) -> Array:
    """Return what joints and scheme gave or took for good [J].

    What an `impact` of the same step takes at once is no gain, and of what it ends joints take no more than is left.
    Of `made`, `swing` is by how much more the energy in the middle of a step has changed than that at its end: where
    bodies turn back, contacts that rebound give that back, by their work, `rebound`.
    """
    taken, back = np.maximum(0.0, impact), np.minimum(np.maximum(0.0, -swing), rebound)
    given: Array = np.where(made > 0.0, np.maximum(0.0, made - taken), np.minimum(0.0, made + taken + back))
    return given


def growing(apart: Array, moving: Array) -> tuple[float, float] | None:
    """Return whether joints come apart ever farther: in each quarter of a run, twice as far as half a run before.

    `apart` and the energy of the motion `moving` are those of the steps, (n,). What a step leaves grows as that energy
    does, and no accumulation follows from that. Returned are the largest of the second quarter and of the last.
    """
    quarters = np.array_split(np.arange(apart.size), 4)
    if quarters[-1].size == 0 or apart.max() > DRIFT_REMARK:  # which is said already
        return None
    parts, energy = (np.array([x[k].max() for k in quarters]) for x in (apart, moving))
    faster = max(1.0, energy[3] / energy[1]) if 0.0 < energy[1] < np.inf else 1.0
    if not (parts[3] > GROWING_REMARK and np.all(np.diff(parts) > 0.0) and parts[3] > 2.0 * faster * parts[1]):
        return None
    return float(parts[1]), float(parts[3])
