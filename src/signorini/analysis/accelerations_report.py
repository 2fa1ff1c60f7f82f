"""The instantaneous model in words: is there a solution, what accelerates how, what does each contact do?"""

from __future__ import annotations

from signorini._arrays import Array
from signorini.analysis.answer import Answer
from signorini.analysis.forces import Accelerations, Forces
from signorini.analysis.touching import ContactMode
from signorini.solvers import Status

_MOST = 12  # contacts, bodies or solutions written out
_ZERO = 1e-9  # in SI units: what differences leave of zero

_OPENING = {
    Status.SOLVED: "solved",
    Status.NO_SOLUTION: "no instantaneous solution: no finite forces satisfy the rigid model here (Painleve); a real "
    "body jams or jumps, and a time step answers with an impulse",
    Status.NOT_APPLICABLE: "not applicable: a contact is about to collide, which only an impulse can stop",
    Status.STALLED: "not solved: the solver stalled, which proves nothing",
    Status.UNDECIDED: "not decided",
}


def report(found: Accelerations) -> str:
    """Return the answer as text."""
    opening = _OPENING.get(found.status, str(found.status))
    if found.status is Status.SEVERAL_SOLUTIONS:
        opening = f"{found.solution_count} solutions: the rigid model does not choose between them"
    if found.status is Status.SOLVED:
        opening += {Answer.YES: ", the motion is the only one", Answer.UNDECIDED: ""}.get(found.unique, "")
    lines = [f"t = {found.time:g} s: {opening} (residual {found.residual:.1e})."]
    for k, solution in enumerate(found.solutions[:_MOST]):
        if found.solution_count > 1:
            lines.append(f"  solution {k + 1}:")
        lines += _solution(found, solution)
    if not found.solutions:
        lines += [
            f"  contact {c}: {_place(found, c)}, {ContactMode(int(found.before[c]))}"
            for c in range(min(len(found.bodies), _MOST))
        ]
    lines += [f"  note: {note}." for note in found.notes]
    return "\n".join(lines)


def _solution(found: Accelerations, solution: Forces) -> list[str]:
    lines = []
    moving = [b for b, a in enumerate(solution.acceleration) if a.any()]
    for b in moving[:_MOST]:
        a = solution.acceleration[b]
        lines.append(f"  {solution.names[b]}: a = {_vector(a[:3])} m/s^2, alpha = {_vector(a[3:])} rad/s^2")
    if len(moving) > _MOST:
        lines.append(f"  ... and {len(moving) - _MOST} more bodies")
    lines += [
        f"  contact {c}: {_place(found, c)}, {solution.mode[c]}, force {_vector(solution.force[c])} N"
        for c in range(min(len(found.bodies), _MOST))
    ]
    if len(found.bodies) > _MOST:
        lines.append(f"  ... and {len(found.bodies) - _MOST} more")
    for name, force in list(solution.joint_force.items())[:_MOST]:
        friction = f", friction or motor {solution.joint_friction[name]:.5g}" if name in solution.joint_friction else ""
        what = name if name.startswith("constraint") else f"joint {name}"
        lines.append(f"  {what}: {_vector(force)}{friction}")
    if not solution.forces_unique:
        lines.append("  how contacts and joints share the load is not determined; these forces are one way")
    return lines


def _place(found: Accelerations, c: int) -> str:
    a, b = found.bodies[c]
    return f"{a} / {b} at {_vector(found.point[c])} m"


def _vector(x: Array) -> str:
    return "(" + ", ".join(f"{0.0 if abs(value) < _ZERO else value:.5g}" for value in x) + ")"
