"""The certificate in words: a short table, remarks, notes and a plain verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.simulation.certificate import NOT_TESTED, Certificate
from signorini.simulation.verdict import Finding, grade, judge, untried


def report_text(
    time: Array,
    certificate: Certificate,
    tolerance: float,
    bodies: Sequence[str],
    joints: Sequence[str],
    scheme: dict[str, Any] | None = None,
) -> str:
    """Return the table of worst values with the times at which they happened, and whether to trust the run."""
    n = certificate.residual.size
    if n == 0:
        return "certificate: no steps"
    h = float(np.diff(time).mean())
    lines = [
        f"certificate of {n} steps, t = {time[0]:g} .. {time[-1]:g} s, h = {h:g} s",
        f"  {'check':<34}{'worst':>12}   at t [s]",
    ]
    rows = [
        ("residual of the contact law", certificate.residual),
        ("deepest overlap [m]", certificate.overlap),
        ("... of the thinner body", certificate.overlap / certificate.overlap_extent),
        ("impulse outside the friction cone", certificate.cone_violation),
        ("angle slip / friction [rad]", certificate.dissipation_angle),
        ("energy balance error", certificate.energy_error),
        ("joint drift [m, rad]", certificate.joint_drift),
    ]
    for what, values in rows:
        worst = int(np.argmax(np.nan_to_num(values, nan=np.inf)))
        lines.append(f"  {what:<34}{values[worst]:12.2e}   {time[worst + 1]:.6g}")
    lines.append(f"  {'energy from gap correction [J]':<34}{certificate.correction_work.sum():12.2e}   (sum)")
    lines.append(f"  {'largest compliance posed':<34}{certificate.compliance.max():12.2e}{_softness(certificate)}")
    findings = judge(certificate)
    remarks = told(findings, time, bodies, joints, scheme)
    return "\n".join(
        [
            *lines,
            *(f"remark: {remark}" for remark in remarks),
            *(f"note: {note}" for note in _notes(certificate)),
            _verdict(grade(findings), findings, tolerance),
        ]
    )


def told(
    findings: Iterable[Finding],
    time: Array,
    bodies: Sequence[str],
    joints: Sequence[str],
    scheme: dict[str, Any] | None = None,
) -> list[str]:
    """Return one line for each finding: what, how many steps, worst value, when, who, what to try.

    `scheme` is the name of the formulation with its options: what it has already is not worth trying.
    """
    return [_line(finding, time, bodies, joints, untried(finding.advice, scheme)) for finding in findings]


def _line(finding: Finding, time: Array, bodies: Sequence[str], joints: Sequence[str], advice: list[str]) -> str:
    names = [repr(bodies[b]) for b in finding.bodies]
    names += [f"joint {joints[j]!r}" for j in finding.joints if 0 <= j < len(joints)]
    return (
        f"{finding.what} in {_steps(finding)}, worst at t = {time[finding.worst + 1]:.6g} s: {finding.value}"
        + (f", {' and '.join(names)}" if names else "")
        + (f"; try {', or '.join(advice)}" if advice else "")
    )


def _verdict(words: str, findings: Sequence[Finding], tolerance: float) -> str:
    """Say in one line whether the run can be trusted, and if not, why."""
    if not findings:
        return f"Trusted: every step satisfies the law posed to {tolerance:g}, and energy is accounted for."
    gravest = [finding for finding in findings if finding.grade == findings[0].grade]
    reasons = (f"{finding.what} in {_steps(finding)} ({finding.value})" for finding in gravest)
    return f"{words.capitalize()}: " + "; ".join(reasons) + "."


def _steps(finding: Finding) -> str:
    return "1 step" if finding.steps == 1 else f"{finding.steps} steps"


def _softness(certificate: Certificate) -> str:
    """Say how many steps were compliant, and how far contacts gave way beside the width of the bodies."""
    soft = np.flatnonzero(certificate.compliance > 0.0)
    if not soft.size:
        return "   (rigid)"
    share = np.divide(
        certificate.deflection,
        certificate.extent,
        where=certificate.extent > 0.0,
        out=np.zeros(certificate.extent.size),
    )
    worst = int(np.argmax(share))
    return (
        f"   (in {soft.size} steps; gave way by {certificate.deflection[worst]:.2e} m at most, "
        f"bodies {certificate.extent[worst]:.2e} m thin)"
    )


def _notes(certificate: Certificate) -> list[str]:
    """Say what is worth knowing and never lowers the grade."""
    notes = []
    most = int(certificate.indeterminate.max())
    if most:
        steps = int(np.count_nonzero(certificate.indeterminate))
        notes.append(
            f"at least {most} components of contact forces are not determined by the motion (in {steps} steps); "
            "at rest the smallest forces are taken."
        )
    most = int(certificate.redundant_rows.max())
    if most:
        steps = int(np.count_nonzero(certificate.redundant_rows))
        notes.append(
            f"redundant joints: {most} joint equations follow from others (in {steps} steps); the motion is unique, "
            "joint impulses are the smallest of many."
        )
    if np.any(certificate.unique != NOT_TESTED):
        tested = int(np.count_nonzero(certificate.unique != NOT_TESTED))
        notes.append(f"rigid model: unique and stable contact forces were asked for in {tested} steps.")
    return notes
