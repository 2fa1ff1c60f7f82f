"""The judge of the compiled step."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from signorini.formulations import Phases, PosedFriction
from signorini.posing.base import StepResult

TOLERANCE = 1e-11  # at which both are to solve
ENERGY = 1e-9  # [J] what it leaves open of energies of some tens of joules


def balances_agree(first: sg.StepReport, second: sg.StepReport) -> None:
    """Compare where the energy went; which bodies count as hit is open where an impulse is next to nothing."""
    a, b = first.result.balance._asdict(), second.result.balance._asdict()
    for balance in (a, b):
        balance["impact"] += balance.pop("integration")
    assert a == pytest.approx(b, abs=ENERGY)


def certificates_agree(first: sg.StepReport, second: sg.StepReport) -> None:
    """Compare what can be checked of the step."""
    a, b = first.certificate, second.certificate
    assert a.status == b.status == sg.Status.SOLVED
    assert a.residual <= TOLERANCE
    assert a.energy_error <= 1e-12
    for word in ("min_gap", "compliance", "deflection", "correction_work"):
        assert getattr(a, word) == pytest.approx(getattr(b, word), rel=1e-6, abs=1e-9)
    assert first.result.memory.stored == pytest.approx(second.result.memory.stored, abs=ENERGY)


def overlaps(report: sg.StepReport) -> bool:
    """Tell whether bodies overlapped at first: the compiled step parts them by a displacement, Python by velocities."""
    return float(report.result.contacts.gap.min(initial=0.0)) < -1e-8


def another_solution(first: StepResult, second: StepResult) -> bool:
    """Tell whether both steps solve one and the same problem: Coulomb's law may leave velocities open, too."""
    one, other = first.posed, second.posed
    if isinstance(one, Phases) and isinstance(other, Phases):
        one, other = one.phases[0], other.phases[0]
    assert isinstance(one, PosedFriction) and isinstance(other, PosedFriction)
    (p, x), (q, y) = (one.problem, one.z), (other.problem, other.z)
    same = p.b.shape == q.b.shape and bool(np.abs(p.b - q.b).max() <= 1e-12 * np.abs(q.b).max())
    return same and q.residual(x) <= 2.0 * TOLERANCE and p.residual(y) <= 2.0 * TOLERANCE
