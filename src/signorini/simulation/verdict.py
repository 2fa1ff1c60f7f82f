"""Whether a run can be trusted: columns of the certificate against bounds, each with its reason.

The judge reads numbers that the step computed from its new state, never what a solver says of itself. Every finding is
a function of its own that returns None where all is well; numbers that are not finite never are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini._words import Word
from signorini.solvers import Status

if TYPE_CHECKING:
    from signorini.simulation.certificate import Certificate

OVERLAP_REMARK = 1e-3
"""Overlap, relative to the thinner body of the pair, above which a run is remarked upon: what nobody can see."""
OVERLAP_WRONG = 2e-2
"""... above which it is not trusted. Honest rigid steps of piles in motion reach 1e-2, since gaps are predicted along
normals that turn in the step."""
DRIFT_REMARK = 1e-2
"""How far joints may be apart, relative to the smaller of their bodies, before that is worth a remark."""
DRIFT_WRONG = 5e-2
"""... before it is wrong. There steps fail, unless bodies turn by about a radian in them."""
CONFLICT_WRONG = 1e-6
"""Speed that joint equations leave open [m/s, rad/s]. Rounding leaves 1e-12, also where joints are redundant."""
BALANCE_WRONG = 1e-10
"""Relative error of the energy balance, an identity, above which something else than rounding has broken it."""
GAIN_REMARK = 1e-4
"""Energy that contacts give in a step, relative to that of the motion. Tolerances of the solver explain less."""
CORRECTION_REMARK = 0.1
"""Energy given in a whole run to part overlapping bodies, relative to that at play."""
PULL_REMARK = 1e-2
"""... and to pull joints together."""

_NO = 0  # signorini.analysis.Answer.NO, which is loaded only by those who ask for its test
_NAMED_STEPS = 5
_FAULTS = ("joints torn apart", "joints contradict each other", "joints drive a body against what nothing can move")


class Grade(Word):
    """How far a run can be trusted; ``str()`` gives the words."""

    TRUSTED = 0
    TRUSTED_WITH_REMARKS = 1
    NOT_TRUSTED = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that lowers the grade of a run."""

    grade: Grade
    what: str
    steps: int
    """In how many steps."""
    worst: int
    """In which of them it is worst."""
    value: str
    """How much that is, with its unit."""
    bodies: tuple[int, ...] = ()
    joints: tuple[int, ...] = ()
    advice: str = ""


def judge(certificate: Certificate) -> list[Finding]:
    """Return all that is to be said against a run, the gravest first."""
    found = [finding for look in _LOOKS if (finding := look(certificate)) is not None]
    return sorted(found, key=lambda finding: -finding.grade)


def grade(findings: Iterable[Finding]) -> str:
    """Return the verdict in words."""
    return str(max((finding.grade for finding in findings), default=Grade.TRUSTED))


def _finding(
    grade: Grade,
    what: str,
    wrong: BoolArray,
    size: Array,
    value: Callable[[int], str],
    advice: str,
    bodies: Callable[[int], tuple[int, ...]] = lambda _: (),
) -> Finding | None:
    """Return a finding about the steps that are `wrong`, the worst of which is where `size` is largest."""
    steps = np.flatnonzero(wrong)
    if not steps.size:
        return None
    worst = int(steps[np.argmax(np.nan_to_num(size[steps], nan=np.inf))])
    return Finding(grade, what, int(steps.size), worst, value(worst), bodies(worst), advice=advice)


def _unsolved(c: Certificate) -> Finding | None:
    failed = c.failed()
    first = np.flatnonzero(failed)[:_NAMED_STEPS]
    which = ", ".join(f"{l} ({Status(int(c.status[l]))})" for l in first)
    return _finding(
        Grade.NOT_TRUSTED,
        "law not solved",
        failed,
        c.residual,
        lambda l: f"residual {c.residual[l]:.1e}, steps {which}" + (", ..." if failed.sum() > first.size else ""),
        "a smaller h",
    )


def _not_finite(c: Certificate) -> Finding | None:
    numbers = (c.residual, c.cone_violation, c.joint_drift, c.joint_conflict, c.energy_error, c.correction_work)
    wrong: BoolArray = ~np.logical_and.reduce([np.isfinite(column) for column in numbers]) | np.isnan(c.min_gap)
    return _finding(
        Grade.NOT_TRUSTED,
        "numbers not finite",
        wrong,
        -np.arange(wrong.size, dtype=float),
        lambda _: "nan or inf",
        "a look at masses, loads and speeds just before",
    )


def _overlap(c: Certificate) -> Finding | None:
    share = c.overlap / c.overlap_extent
    if np.isnan(share).any():
        text = "in files of earlier versions"
        return Finding(Grade.TRUSTED_WITH_REMARKS, "overlap not recorded", share.size, 0, text)
    deep = share > OVERLAP_REMARK
    wrong = bool(np.any(share > OVERLAP_WRONG))
    began = deep[:1].any() and int(np.argmax(share)) == 0
    return _finding(
        Grade.NOT_TRUSTED if wrong else Grade.TRUSTED_WITH_REMARKS,
        "bodies overlap" + (" from the start on" if began else ""),
        share > OVERLAP_WRONG if wrong else deep,
        share,
        lambda l: f"{c.overlap[l]:.2e} m, {share[l]:.2g} of the thinner body",
        "another start" if began else "a smaller h",
        lambda l: (int(c.overlap_a[l]), int(c.overlap_b[l])),
    )


def _through(c: Certificate) -> Finding | None:
    return _finding(
        Grade.NOT_TRUSTED,
        "bodies go through each other",
        c.unfollowed > 0,
        c.unfollowed.astype(float),
        lambda l: f"{c.unfollowed[l]} pairs",
        "a smaller h",
    )


def _joints(c: Certificate) -> Finding | None:
    wrong = c.joint_fault > 0
    if wrong.any():
        l = int(np.flatnonzero(wrong)[0])
        what = _FAULTS[min(int(c.joint_fault[l]), len(_FAULTS)) - 1]
        joint = int(c.drift_joint[l] if c.joint_fault[l] == 1 else c.conflict_joint[l])
        value = f"{c.joint_drift[l]:.1e} m or rad apart, {c.joint_conflict[l]:.1e} m/s or rad/s unmet"
        return Finding(Grade.NOT_TRUSTED, what, int(wrong.sum()), l, value, joints=(joint,), advice="a smaller h")
    fight = c.joint_conflict > CONFLICT_WRONG
    if fight.any():
        l = int(np.argmax(c.joint_conflict))
        value = f"{c.joint_conflict[l]:.1e} m/s or rad/s unmet"
        joints = (int(c.conflict_joint[l] if c.conflict_joint[l] >= 0 else c.drift_joint[l]),)
        advice = "motions that agree, or one joint less"
        return Finding(Grade.NOT_TRUSTED, _FAULTS[1], int(fight.sum()), l, value, joints=joints, advice=advice)
    apart = c.joint_apart > DRIFT_REMARK
    if not apart.any():
        return None
    l = int(np.argmax(c.joint_apart))
    grade = Grade.NOT_TRUSTED if c.joint_apart[l] > DRIFT_WRONG else Grade.TRUSTED_WITH_REMARKS
    value = f"{c.joint_drift[l]:.1e} m or rad, {c.joint_apart[l]:.2g} of the smaller body"
    joints = (int(c.drift_joint[l]),)
    return Finding(grade, "joints apart", int(apart.sum()), l, value, joints=joints, advice="a smaller h")


def _pull(c: Certificate) -> Finding | None:
    made = np.concatenate([[0.0], np.cumsum(c.joint_work)])
    total = float(np.max(made - np.minimum.accumulate(made)))
    wrong = total > PULL_REMARK * float(np.max(c.energy_scale, initial=0.0))
    return _finding(
        Grade.TRUSTED_WITH_REMARKS,
        "energy from pulling joints together",
        (c.joint_work > 0.0) & wrong,
        c.joint_work,
        lambda _: f"{total:.2e} J in all",
        "a smaller h, or MoreauJean(projection=True)",
    )


def _unbalanced(c: Certificate) -> Finding | None:
    return _finding(
        Grade.NOT_TRUSTED,
        "energy unexplained",
        ~(c.energy_error <= BALANCE_WRONG),
        c.energy_error,
        lambda l: f"{c.energy_error[l]:.1e} of the energies at play",
        "a smaller h",
    )


def _yielded(c: Certificate) -> Finding | None:
    return _finding(
        Grade.NOT_TRUSTED,
        "contacts made compliant gave way too far",
        c.yielded == 1,
        np.divide(c.deflection, c.extent, out=np.zeros(c.extent.size), where=c.extent > 0.0),
        lambda l: f"{c.deflection[l]:.1e} m, bodies {c.extent[l]:.1e} m thin",
        "a smaller h",
    )


def _soft(c: Certificate) -> Finding | None:
    return _finding(
        Grade.TRUSTED_WITH_REMARKS,
        "contacts compliant",
        c.compliance > 0.0,
        c.deflection,
        lambda l: f"gave way by {c.deflection[l]:.1e} m",
        "a smaller h",
    )


def _gain(c: Certificate) -> Finding | None:
    return _finding(
        Grade.TRUSTED_WITH_REMARKS,
        "collisions gained energy",
        c.energy_gain > GAIN_REMARK,
        c.energy_gain,
        lambda l: f"{c.energy_gain[l]:.2g} of the energy of the motion in one step",
        "the default law of restitution",
    )


def _correction(c: Certificate) -> Finding | None:
    total = float(np.abs(c.correction_work).sum())
    wrong = total > CORRECTION_REMARK * float(np.max(c.energy_scale, initial=0.0))
    return _finding(
        Grade.TRUSTED_WITH_REMARKS,
        "energy from parting overlaps",
        (c.correction_work != 0.0) & wrong,
        np.abs(c.correction_work),
        lambda l: f"{total:.2e} J in all",
        "a smaller h",
    )


def _not_unique(c: Certificate) -> Finding | None:
    return _invalid("rigid contact forces not unique", c.unique)


def _not_stable(c: Certificate) -> Finding | None:
    return _invalid("rigid contact forces not stable", c.stable)


def _invalid(what: str, answer: IntArray) -> Finding | None:
    first = -np.arange(answer.size, dtype=float)
    return _finding(
        Grade.TRUSTED_WITH_REMARKS, what, answer == _NO, first, lambda _: "first of them", "MoreauJean(stiffness=...)"
    )


_LOOKS = (
    _unsolved,
    _not_finite,
    _overlap,
    _through,
    _joints,
    _unbalanced,
    _yielded,
    _soft,
    _gain,
    _correction,
    _pull,
    _not_unique,
    _not_stable,
)
