"""The judge of the compiled step."""

from __future__ import annotations

import pytest

import signorini as sg
from signorini.formulations import Engine
from signorini.model import Model

TOLERANCE = 1e-11  # at which both are to solve
ENERGY = 1e-9  # [J] what it leaves open of energies of some tens of joules


class ByPython(sg.MoreauJean):
    """The same laws, step by step in Python."""

    __slots__ = ()

    def engine(self, model: Model, h: float, tolerance: float) -> Engine | None:
        return None


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
