"""The certificate in words: a short table and a plain verdict."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.simulation.certificate import NOT_TESTED, Certificate
from signorini.solvers import Status

_ROUNDING = 1e-10  # above this an energy balance that is an identity has been broken by something else than rounding
_MOST_STEPS = 5  # named in the verdict


def report_text(time: Array, certificate: Certificate, tolerance: float) -> str:
    """Return the table of worst values with the times at which they happened, and whether to trust the run."""
    n = certificate.residual.size
    if n == 0:
        return "certificate: no steps"
    h = float(np.diff(time).mean())
    lines = [
        f"certificate of {n} steps, t = {time[0]:g} .. {time[-1]:g} s, h = {h:g} s",
        f"  {'check':<34}{'worst':>12}   at t [s]",
    ]
    finite_gap = np.where(np.isfinite(certificate.min_gap), certificate.min_gap, np.inf)
    rows = [
        ("residual of the contact law", certificate.residual, ""),
        ("deepest overlap [m]", np.maximum(0.0, -finite_gap), ""),
        ("impulse outside the friction cone", certificate.cone_violation, ""),
        ("angle slip / friction [rad]", certificate.dissipation_angle, ""),
        ("energy balance error", certificate.energy_error, ""),
        ("joint drift [m, rad]", certificate.joint_drift, ""),
    ]
    for what, values, _ in rows:
        worst = int(np.argmax(values))
        lines.append(f"  {what:<34}{values[worst]:12.2e}   {time[worst + 1]:.6g}")
    lines.append(f"  {'energy from gap correction [J]':<34}{certificate.correction_work.sum():12.2e}   (sum)")
    lines.append(f"  {'largest compliance posed':<34}{certificate.compliance.max():12.2e}{_softness(certificate)}")
    verdict = _verdict(time, certificate, tolerance)
    return "\n".join(
        [
            *lines,
            verdict,
            *_indeterminacy_lines(certificate),
            *_redundancy_lines(certificate),
            *_validity_lines(time, certificate),
        ]
    )


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


def _indeterminacy_lines(certificate: Certificate) -> list[str]:
    """Say how many components of contact impulses the motion leaves open, if any."""
    most = int(certificate.indeterminate.max())
    if most == 0:
        return []
    steps = int(np.count_nonzero(certificate.indeterminate))
    return [
        f"Contact forces: at least {most} components are not determined by the motion (in {steps} steps); "
        "at rest the smallest forces are taken."
    ]


def _redundancy_lines(certificate: Certificate) -> list[str]:
    """Say how many equations of joints follow from the others, if any do."""
    most = int(certificate.redundant_rows.max())
    if most == 0:
        return []
    steps = int(np.count_nonzero(certificate.redundant_rows))
    return [
        f"Redundant joints: {most} joint equations follow from others (in {steps} steps); the motion is unique, "
        "joint impulses are the smallest of many."
    ]


def _validity_lines(time: Array, certificate: Certificate) -> list[str]:
    """Say in how many steps the rigid model was found not to be valid, if it was tested."""
    if np.all(certificate.unique == NOT_TESTED):
        return []
    from signorini.analysis import Answer

    lines = []
    for what, answers in (("unique", certificate.unique), ("stable", certificate.stable)):
        bad = np.flatnonzero(answers == Answer.NO)
        if bad.size:
            lines.append(
                f"Rigid model: contact forces are not {what} in {bad.size} steps, first at t = {time[bad[0]]:.6g} s."
            )
    return lines or ["Rigid model: no step was found whose contact forces are not unique or not stable."]


def _verdict(time: Array, certificate: Certificate, tolerance: float) -> str:
    """Say whether the run can be trusted, and if not, why."""
    failed = np.flatnonzero(certificate.failed())
    unbalanced = np.flatnonzero(certificate.energy_error > _ROUNDING)
    yielded = np.flatnonzero(certificate.yielded == 1)
    if not failed.size and not unbalanced.size and not yielded.size:
        return f"Trusted: every step satisfies the law posed to {tolerance:g}, and energy is accounted for."
    reasons = []
    if failed.size:
        named = ", ".join(
            f"{l} (t = {time[l]:.6g} s, {Status(int(certificate.status[l]))}, residual {certificate.residual[l]:.1e})"
            for l in failed[:_MOST_STEPS]
        )
        more = f" and {failed.size - _MOST_STEPS} more" if failed.size > _MOST_STEPS else ""
        reasons.append(f"{failed.size} steps were not solved to {tolerance:g}: {named}{more}")
    if unbalanced.size:
        reasons.append(
            f"the energy balance does not close in {unbalanced.size} steps, first at t = {time[unbalanced[0]]:.6g} s"
        )
    if yielded.size:
        worst = yielded[np.argmax(certificate.deflection[yielded] / certificate.extent[yielded])]
        reasons.append(
            f"contacts that had to be made compliant gave way too far in {yielded.size} steps, most at t = "
            f"{time[worst]:.6g} s: by {certificate.deflection[worst]:.1e} m, where bodies are "
            f"{certificate.extent[worst]:.1e} m thin"
        )
    return "Not trusted: " + "; ".join(reasons) + "."
