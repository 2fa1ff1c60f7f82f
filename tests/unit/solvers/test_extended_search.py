"""The search for solutions with couples ends, wherever its methods come to."""

from __future__ import annotations

import numpy as np

import signorini as sg
from signorini.solvers import Control
from signorini.solvers.extended_friction import ExtendedFriction, _Search


def test_newtons_method_ends_where_there_is_no_number() -> None:
    """Its steps are counted, and where none can be taken it must not look at the same point for ever."""
    looks = 0

    def look(_: int, __: float) -> None:
        nonlocal looks
        looks += 1
        assert looks < 10

    problem = sg.FrictionProblem(np.eye(4), np.array([-1.0, 0, 0, 0]), np.array([0.5]), torsional=np.array([0.1]))
    search = _Search(problem, Control(tolerance=1e-14, callback=look), ExtendedFriction(), 0.0)
    search.newton(np.full(search.scaled.b.shape, np.nan), 1e-3, 60)
    assert search.iterations == 0
    assert not search.solved
