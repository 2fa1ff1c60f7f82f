"""The validity test in words: which contacts, which eigenvalues, what to change."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.analysis.answer import Answer
from signorini.analysis.contact_stability import BoundaryLayer, Complex, Stability, boundary_layer
from signorini.analysis.judgement import Judgement
from signorini.analysis.p_matrix import p_matrix
from signorini.analysis.touching import ContactMode
from signorini.analysis.validity import Outcome, Validity
from signorini.solvers import Status

_OPENING = {
    Outcome.VALID: "The rigid model is valid here: contact forces exist, are unique and stable.",
    Outcome.NO_OBJECTION: "Nothing speaks against the rigid model here; part of the question stays open, see below.",
    Outcome.CAUTION: "The rigid model is valid here only under a condition.",
    Outcome.NOT_VALID: "The rigid model is NOT valid here: do not believe its contact forces.",
}
_MOST = 12  # contacts or eigenvalues written out


def verdict(validity: Validity) -> str:
    """Return the verdict, the contacts, the findings of every group and the notes as text."""
    if not validity.mode.size:
        return f"t = {validity.time:g} s: no contact. {_OPENING[Outcome.VALID]}"
    lines = [f"t = {validity.time:g} s: {_OPENING[validity.outcome]}"]
    lines += _contacts(validity)
    for judgement in validity.judgements:
        lines += _group(validity, judgement)
    lines += [f"  note: {note}." for note in validity.notes]
    return "\n".join(lines)


def friction_that_is_valid(judgement: Judgement, damping: float | None) -> float:
    """Return the factor up to which all friction coefficients of a group may grow from 0 with every force valid.

    1 means that nothing need change. Forces are looked at with the contacts that press now, for `damping` (None: for
    every positive damping).
    """

    def valid(factor: float) -> bool:
        D = judgement.matrix.with_friction(factor)
        if not judgement.sharing_open and not p_matrix(D):
            return False
        for rows, _ in judgement.layers:
            layer = boundary_layer(_restricted(judgement, D, rows), damping=damping)
            if layer.stability is not Stability.STABLE:
                return False
        return True

    factors = np.linspace(0.0, 1.0, 101)[1:]
    lost = next((float(f) for f in factors if not valid(float(f))), None)
    if lost is None:
        return 1.0
    low, high = lost - 0.01, lost
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if valid(middle) else (low, middle)
    return low


def _restricted(judgement: Judgement, D: Array, rows: IntArray) -> Array:
    """Return D of the pressing contacts on independent normals."""
    return judgement.matrix.on_independent_normals(rows, D) if rows.size else np.zeros((0, 0))


def _contacts(validity: Validity) -> list[str]:
    lines = []
    for c, (a, b) in enumerate(validity.names[:_MOST]):
        at = ", ".join(f"{x:.4g}" for x in validity.point[c])
        lines.append(
            f"  contact {c}: {a} / {b} at ({at}) m, {ContactMode(int(validity.mode[c]))}, "
            f"friction {validity.friction[c]:g}"
        )
    if len(validity.names) > _MOST:
        lines.append(f"  ... and {len(validity.names) - _MOST} contacts more")
    return lines


def _group(validity: Validity, judgement: Judgement) -> list[str]:
    rows = judgement.matrix.contacts
    lines = [f"  sliding{' together' if rows.size > 1 else ''}: {_list(rows)}", f"    unique: {_uniqueness(judgement)}"]
    if judgement.solution_status is Status.NO_SOLUTION:
        lines.append("    this load: no forces satisfy the rigid model; a real body would jam or jump (impact)")
    elif len(judgement.solutions) > 1:
        lines.append(f"    this load: {len(judgement.solutions)} solutions, the model does not choose")
    elif judgement.solution_status not in (None, Status.SOLVED):
        lines.append(f"    this load: not decided ({judgement.solution_status})")
    for k, (pressing, layer) in enumerate(judgement.layers):
        which = f"solution {k + 1}, " if len(judgement.layers) > 1 else ""
        lines.append(f"    {which}pressing: {_forces(judgement, k, rows[pressing])}")
        if pressing.size:
            lines.append(f"    {which}stable: {_stability(layer)}")
    lines += [f"    to change: {change}" for change in _changes(validity, judgement)]
    return lines


def _uniqueness(judgement: Judgement) -> str:
    found, rows = judgement.p, judgement.matrix.contacts
    if judgement.sharing_open:
        normals = f"{judgement.matrix.rank} independent normals for {rows.size} contacts"
        if judgement.unique is Answer.YES:
            return f"yes, the motion; {normals}: how they share the load only their stiffness decides"
        if judgement.unique is Answer.UNDECIDED:
            return f"left open; {normals}, and the motion depends on how they share the load"
        return f"{judgement.unique}; {normals}"
    if judgement.unique is Answer.YES:
        return "yes, for every load (D is a P-matrix)"
    subset = rows[list(found.subset)]
    if judgement.unique is Answer.NO and len(found.subset) == 1:
        d = judgement.matrix.D[found.subset[0], found.subset[0]]
        return (
            f"not for every load; at {_list(subset)} friction presses the bodies together more than the normal "
            f"force parts them (d = {d:.4g} 1/kg)"
        )
    words = {Answer.NO: "not for every load", Answer.BORDERLINE: "borderline", Answer.UNDECIDED: "not decided"}
    return f"{words[judgement.unique]}; {_list(subset)}: {found.reason}"


def _forces(judgement: Judgement, k: int, pressing: IntArray) -> str:
    if not pressing.size:
        return "none"
    if k < len(judgement.solutions):
        values = judgement.solutions[k][judgement.solutions[k] > 0.0]
        return f"{_list(pressing)} with {', '.join(f'{x:.4g}' for x in values[:_MOST])} N"
    return _list(pressing)


def _stability(layer: BoundaryLayer) -> str:
    spectrum = f"eigenvalues of D {_spectrum(layer.eigenvalues)} 1/kg"
    given = "" if layer.damping is None else f" and it is {layer.damping:.4g} kg"
    words = {
        Stability.STABLE: "yes"
        if layer.critical_damping == 0.0
        else f"yes, damping c^2/k must exceed {layer.critical_damping:.6g} kg{given}",
        Stability.MARGINAL: "on the border",
        Stability.DAMPING_NEEDED: f"if damping c^2/k of the contacts exceeds {layer.critical_damping:.6g} kg",
        Stability.OSCILLATORY: f"no, forces chatter: damping c^2/k must exceed {layer.critical_damping:.6g} kg{given}",
        Stability.UNSTABLE: "no, whatever the damping",
    }
    # With any damping a pair that splits by rounding needs next to none of it; only undamped contacts feel it.
    doubt = "; two eigenvalues nearly coincide" if layer.sensitive and layer.damping == 0.0 else ""
    return f"{words[layer.stability]}; {spectrum}{doubt}"


def _changes(validity: Validity, judgement: Judgement) -> list[str]:
    """Suggest what would make a group valid, cheapest first; nothing where nothing is wrong."""
    needs_damping = any(
        layer.stability in (Stability.OSCILLATORY, Stability.DAMPING_NEEDED) for _, layer in judgement.layers
    )
    unstable = judgement.stable is Answer.NO or judgement.unique is Answer.NO
    if not (needs_damping or unstable):
        return []
    changes = []
    if needs_damping and np.isfinite(judgement.critical_damping):
        changes.append(f"damping c^2/k of the contacts above {judgement.critical_damping:.6g} kg")
    factor = friction_that_is_valid(judgement, validity.damping)
    if 0.0 < factor < 1.0:
        friction = validity.friction[judgement.matrix.contacts]
        changes.append(f"friction at most {', '.join(f'{mu * factor:.4g}' for mu in friction[:_MOST])}")
    if judgement.unique is Answer.NO or not np.isfinite(judgement.critical_damping):
        changes.append("the geometry: a contact ahead of the mass centre along its slip digs in, one behind does not")
    return changes


def _spectrum(eigenvalues: Complex) -> str:
    words = []
    for z in eigenvalues[:_MOST]:
        if z.imag == 0.0:
            words.append(f"{z.real:.4g}")
        elif z.imag > 0.0:
            words.append(f"{z.real:.4g} +- {z.imag:.4g}i")
    more = ", ..." if eigenvalues.size > _MOST else ""
    return ", ".join(words) + more


def _list(rows: IntArray) -> str:
    noun = "contact" if rows.size == 1 else "contacts"
    return f"{noun} " + ", ".join(str(int(c)) for c in rows[:_MOST]) + (", ..." if rows.size > _MOST else "")
