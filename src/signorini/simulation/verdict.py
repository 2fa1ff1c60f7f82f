"""Whether a run can be trusted: columns of the certificate against bounds, each with its reason.

The judge reads numbers that the step computed from its new state, never what a solver says of itself. Whatever is said
is a row of a table, or a function of its own where one row does not do; numbers that are not finite are never well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini._grades import (
    BALANCE_WRONG,
    CONFLICT_WRONG,
    CORRECTION_REMARK,
    DRIFT_REMARK,
    DRIFT_WRONG,
    GAIN_REMARK,
    HIT_TURN_REMARK,
    MOMENTUM_REMARK,
    OVERLAP_REMARK,
    OVERLAP_WRONG,
    PULL_REMARK,
    SPAN,
    TAKEN_REMARK,
    TAKEN_WRONG,
    TURNED_WRONG,
    UNSURE_REMARK,
    UNSURE_WRONG,
    Grade,
    at_play,
    growing,
    losses,
    rises,
    severity,
    worst_of,
)
from signorini.solvers import Status

if TYPE_CHECKING:
    from signorini.simulation.certificate import Certificate

_NO = 0  # signorini.analysis.Answer.NO, which is loaded only by those who ask for its test
_NAMED_STEPS = 5
_FAULTS = ("joints torn apart", "joints contradict each other", "joints drive a body against what nothing can move")


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
    advice: tuple[str, ...] = ()
    """What to try, of which some may be in force already, see :func:`untried`."""


SMALLER_H, DEFAULT_LAW, PROJECTION, STIFFNESS = (
    "a smaller h",
    "the default law of restitution",
    "MoreauJean(projection=True)",
    "MoreauJean(stiffness=...)",
)
_IN_FORCE: dict[str, Callable[[dict[str, Any]], bool]] = {
    DEFAULT_LAW: lambda options: options.get("restitution_law", "passive") == "passive",
    PROJECTION: lambda options: options.get("projection") is True,
    STIFFNESS: lambda options: options.get("stiffness") is not None,
}
"""Of advice that names a setting: whether a run with such options has it."""


def untried(advice: Iterable[str], scheme: dict[str, Any] | None) -> list[str]:
    """Return the advice that differs from what was run; all of it if the file does not tell the scheme."""
    options: Any = {} if scheme is None else next(iter(scheme.values()), {})
    return [word for word in advice if scheme is None or word not in _IN_FORCE or not _IN_FORCE[word](options)]


def judge(certificate: Certificate) -> list[Finding]:
    """Return all that is to be said against a run, the gravest first."""
    looks = (*(row.look for row in _TABLE), _taken, _overlap, _unsure, _swift, _joints, _growing)
    found = [finding for look in looks if (finding := look(certificate)) is not None]
    return sorted(found, key=lambda finding: -severity(finding.grade))


def grade(findings: Iterable[Finding]) -> str:
    """Return the verdict in words."""
    return str(worst_of(finding.grade for finding in findings))


def _finding(
    grade: Grade,
    what: str,
    wrong: BoolArray,
    size: Array,
    value: Callable[[int], str],
    advice: tuple[str, ...],
    bodies: Callable[[int], tuple[int, ...]] = lambda _: (),
) -> Finding | None:
    """Return a finding about the steps that are `wrong`, the worst of which is where `size` is largest."""
    steps = np.flatnonzero(wrong)
    if not steps.size:
        return None
    worst = int(steps[np.argmax(np.nan_to_num(size[steps], nan=np.inf))])
    return Finding(grade, what, int(steps.size), worst, value(worst), bodies(worst), advice=advice)


@dataclass(frozen=True, slots=True)
class _Row:
    """One thing to look for."""

    what: str
    grade: Grade
    wrong: Callable[[Certificate], Any]
    """In which steps it is found, (n,)."""
    size: Callable[[Certificate], Any]
    """How bad it is, (n,)."""
    value: Callable[[Certificate, int], str]
    """The same in words, of a step."""
    advice: tuple[str, ...] = (SMALLER_H,)

    def look(self, c: Certificate) -> Finding | None:
        """Return what is found in a run."""
        return _finding(self.grade, self.what, self.wrong(c), self.size(c), lambda l: self.value(c, l), self.advice)


def _unsolved(c: Certificate, l: int) -> str:
    failed = np.flatnonzero(c.failed())
    which = ", ".join(f"{k} ({Status(int(c.status[k]))})" for k in failed[:_NAMED_STEPS])
    return f"residual {c.residual[l]:.1e}, steps {which}" + (", ..." if failed.size > _NAMED_STEPS else "")


def _not_finite(c: Certificate) -> BoolArray:
    numbers = (c.residual, c.cone_violation, c.joint_drift, c.joint_conflict, c.energy_error, c.correction_work)
    wrong: BoolArray = ~np.logical_and.reduce([np.isfinite(column) for column in numbers]) | np.isnan(c.min_gap)
    return wrong


def _first(c: Certificate) -> Array:
    """Name the first of several."""
    return -np.arange(c.residual.size, dtype=float)


def _rise(steps: Array) -> float:
    """Return the largest rise of a sum between any two steps."""
    return float(rises(steps).max(initial=0.0))


def _at_play(c: Certificate) -> float:
    """Return the energy of the motion in a run [J]; files of earlier versions tell only with that of the weight."""
    return at_play(np.where(np.isnan(c.energy_moving), c.energy_scale, c.energy_moving), c.energy_scale)


def _correction(c: Certificate) -> float:
    return float(np.abs(c.correction_work).sum())


def _overlap(c: Certificate) -> Finding | None:
    share = c.overlap / c.overlap_extent
    if np.isnan(share).any():
        text = "in files of earlier versions"
        return Finding(Grade.REMARKS, "overlap not recorded", share.size, 0, text)
    deep = share > OVERLAP_REMARK
    wrong = bool(np.any(share > OVERLAP_WRONG))
    began = deep[:1].any() and int(np.argmax(share)) == 0
    return _finding(
        Grade.NOT_TRUSTED if wrong else Grade.REMARKS,
        "bodies overlap" + (" from the start on" if began else ""),
        share > OVERLAP_WRONG if wrong else deep,
        share,
        lambda l: f"{c.overlap[l]:.2e} m, {share[l]:.2g} of the thinner body",
        ("another start",) if began else (SMALLER_H,),
        lambda l: (int(c.overlap_a[l]), int(c.overlap_b[l])),
    )


def _unsure(c: Certificate) -> Finding | None:
    """Return whether rounding or tolerance decide where a body goes."""
    wrong = bool(np.any(c.unsure > UNSURE_WRONG))
    return _finding(
        Grade.NOT_TRUSTED if wrong else Grade.REMARKS,
        "errors of contacts push a body aside",
        c.unsure > (UNSURE_WRONG if wrong else UNSURE_REMARK),
        c.unsure,
        lambda l: f"{c.unsure[l]:.2g} of its velocity is open",
        ("friction", "masses that differ less", "the heavy body fixed"),
        lambda l: (int(c.unsure_body[l]),),
    )


def _swift(c: Certificate) -> Finding | None:
    """Return whether bodies hit others while they turn far."""
    return _finding(
        Grade.REMARKS,
        "what turns far in a step hits too weakly",
        c.hit_turn > HIT_TURN_REMARK,
        c.hit_turn,
        lambda l: f"{c.hit_turn[l]:.2g} rad a step",
        (SMALLER_H,),
        lambda l: (int(c.hit_body[l]),),
    )


def _joints(c: Certificate) -> Finding | None:
    wrong = c.joint_fault > 0
    if wrong.any():
        l = int(np.flatnonzero(wrong)[0])
        what = _FAULTS[min(int(c.joint_fault[l]), len(_FAULTS)) - 1]
        joint = int(c.drift_joint[l] if c.joint_fault[l] == 1 else c.conflict_joint[l])
        value = f"{c.joint_drift[l]:.1e} m or rad apart, {c.joint_conflict[l]:.1e} m/s or rad/s unmet"
        return Finding(Grade.NOT_TRUSTED, what, int(wrong.sum()), l, value, joints=(joint,), advice=(SMALLER_H,))
    fight = c.joint_conflict > CONFLICT_WRONG
    if fight.any():
        l = int(np.argmax(c.joint_conflict))
        value = f"{c.joint_conflict[l]:.1e} m/s or rad/s unmet"
        joints = (int(c.conflict_joint[l] if c.conflict_joint[l] >= 0 else c.drift_joint[l]),)
        advice = ("motions that agree", "one joint less")
        return Finding(Grade.NOT_TRUSTED, _FAULTS[1], int(fight.sum()), l, value, joints=joints, advice=advice)
    apart = c.joint_apart > DRIFT_REMARK
    if not apart.any():
        return None
    l = int(np.argmax(c.joint_apart))
    grade = Grade.NOT_TRUSTED if c.joint_apart[l] > DRIFT_WRONG else Grade.REMARKS
    value = f"{c.joint_drift[l]:.1e} m or rad, {c.joint_apart[l]:.2g} of the smaller body"
    joints = (int(c.drift_joint[l]),)
    return Finding(grade, "joints apart", int(apart.sum()), l, value, joints=joints, advice=(SMALLER_H,))


def _growing(c: Certificate) -> Finding | None:
    """Return whether joints come apart ever farther."""
    found = growing(c.joint_apart, c.energy_moving)
    if found is None:
        return None
    l = int(np.argmax(c.joint_apart))
    value = f"{found[0]:.2g} of the smaller body in the first half of the run, {found[1]:.2g} at its end"
    joints = (int(c.drift_joint[l]),)
    what, steps = "joints drift apart", c.joint_apart.size
    return Finding(Grade.REMARKS, what, steps, l, value, joints=joints, advice=(SMALLER_H,))


def _taken(c: Certificate) -> Finding | None:
    """Return whether joints and scheme take too much."""
    part, whole = float(losses(c.joint_work).max(initial=0.0)), float(c.energy_scale.max(initial=0.0))
    return _finding(
        Grade.NOT_TRUSTED if part > TAKEN_WRONG * whole else Grade.REMARKS,
        "energy lost in joints",
        (c.joint_work < 0.0) & (part > TAKEN_REMARK * whole),
        -c.joint_work,
        lambda _: f"{part:.2e} J in at most {SPAN} steps",
        (SMALLER_H,),
    )


def _turned(c: Certificate, l: int) -> str:
    return f"{c.turned_energy[l]:.2g} of the energy of the motion changed"


_TABLE = (
    _Row("law not solved", Grade.NOT_TRUSTED, lambda c: c.failed(), lambda c: c.residual, _unsolved),
    _Row(
        "numbers not finite",
        Grade.NOT_TRUSTED,
        _not_finite,
        _first,
        lambda c, l: "nan or inf",
        ("a look at masses, loads and speeds just before",),
    ),
    _Row(
        "bodies go through each other",
        Grade.NOT_TRUSTED,
        lambda c: c.unfollowed > 0,
        lambda c: c.unfollowed.astype(float),
        lambda c, l: f"{c.unfollowed[l]} pairs",
    ),
    _Row(
        "energy unexplained",
        Grade.NOT_TRUSTED,
        lambda c: ~(c.energy_error <= BALANCE_WRONG),
        lambda c: c.energy_error,
        lambda c, l: f"{c.energy_error[l]:.1e} of the energies at play",
    ),
    _Row(
        "contacts made compliant gave way too far",
        Grade.NOT_TRUSTED,
        lambda c: c.yielded == 1,
        lambda c: np.divide(c.deflection, c.extent, out=np.zeros(c.extent.size), where=c.extent > 0.0),
        lambda c, l: f"{c.deflection[l]:.1e} m, bodies {c.extent[l]:.1e} m thin",
    ),
    _Row(
        "contacts compliant",
        Grade.REMARKS,
        lambda c: (c.compliance > 0.0) & (c.layered == 0),  # layers give way as the scene says
        lambda c: c.deflection,
        lambda c, l: f"gave way by {c.deflection[l]:.1e} m",
    ),
    _Row(
        "collisions gained energy",
        Grade.REMARKS,
        lambda c: c.energy_gain > GAIN_REMARK,
        lambda c: c.energy_gain,
        lambda c, l: f"{c.energy_gain[l]:.2g} of the energy of the motion in one step",
        (SMALLER_H, DEFAULT_LAW),
    ),
    _Row(
        "collisions lost angular momentum",
        Grade.REMARKS,
        lambda c: c.lost_momentum > MOMENTUM_REMARK,
        lambda c: c.lost_momentum,
        lambda c, l: f"{c.lost_momentum[l]:.2g} of that of two bodies that met swiftly",
    ),
    _Row(
        "bodies turned otherwise than they fly",
        Grade.NOT_TRUSTED,
        lambda c: c.turned_energy > TURNED_WRONG,
        lambda c: c.turned_energy,
        _turned,
    ),
    _Row(
        "bodies turned otherwise than they fly",
        Grade.REMARKS,
        lambda c: (c.turned_energy > GAIN_REMARK) & (c.turned_energy <= TURNED_WRONG),
        lambda c: c.turned_energy,
        _turned,
    ),
    _Row(
        "energy from parting overlaps",
        Grade.REMARKS,
        lambda c: (
            (c.correction_work != 0.0)
            & (_correction(c) > CORRECTION_REMARK * float(np.max(c.energy_scale, initial=0.0)))
        ),
        lambda c: np.abs(c.correction_work),
        lambda c, l: f"{_correction(c):.2e} J in all",
    ),
    _Row(
        "energy from pulling joints together",
        Grade.REMARKS,
        lambda c: (c.joint_work > 0.0) & (_rise(c.joint_work) > PULL_REMARK * _at_play(c)),
        lambda c: c.joint_work,
        lambda c, l: f"{_rise(c.joint_work):.2e} J in all",
        (SMALLER_H, PROJECTION),
    ),
    *(
        _Row(
            f"rigid contact forces not {word}",
            Grade.REMARKS,
            lambda c, word=word: getattr(c, word) == _NO,  # type: ignore[misc]
            _first,
            lambda c, l: "first of them",
            (STIFFNESS,),
        )
        for word in ("unique", "stable")
    ),
)
