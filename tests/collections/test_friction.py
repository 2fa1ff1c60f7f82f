"""Published friction problems (origin and licence: data/FRICTION.md), solved by the default call."""

from __future__ import annotations

from pathlib import Path

import pytest

from signorini.problems import FrictionProblem, load_problem
from signorini.solvers import solve

DATA = Path(__file__).parent / "data"
CONTACTS = {
    "BoxesStack1-i100000-32.npz": 52,
    "Capsules-nc26-s600.npz": 26,
    "Confeti-ex13-4contact-Fc3D-SBM.npz": 4,
    "FC2D_SliderCrankLagrangian00000.npz": 2,
    "FC3D_Example1.npz": 3,
    "FrictionContact3D_1c.npz": 1,
    "FrictionContactProblem00031.npz": 11,
    "GFC3D_Example00_badly_scaled.npz": 1,
    "GFC3D_TwoRods1-condensed.npz": 3,
    "GFC3D_TwoRods1.npz": 3,
    "KaplasTower-nc46-s40.npz": 46,
    "LMGC_GlobalFrictionContactProblem00046.hdf5": 9,
    "NESpheres_10_1.npz": 9,
    "OneObject-i100000-316.npz": 25,
    "Rover1041.npz": 5,
    "Rover4613.npz": 5,
    "gfc2d_granularflowonwall_00069_00350.npz": 69,
    "local_problem_test.hdf5": 48,
    "sliding_cube.npz": 4,
}


@pytest.mark.parametrize("name", sorted(CONTACTS))
def test_default_call(name: str) -> None:
    """Scale-free residual 1e-10 and the collections' own measure 1e-8."""
    problem = load_problem(DATA / name)
    assert isinstance(problem, FrictionProblem)
    assert problem.contact_count == CONTACTS[name]
    solution = solve(problem)
    assert solution.success
    assert problem.residual(solution.z) <= 1e-10
    assert problem.rel(solution.z) <= 1e-8


def test_global_and_local_form_are_the_same_problem() -> None:
    """GFC3D_TwoRods1 was published in both forms (the condensed one printed with seven digits)."""
    condensed = load_problem(DATA / "GFC3D_TwoRods1-condensed.npz")
    whole = load_problem(DATA / "GFC3D_TwoRods1.npz")
    assert isinstance(condensed, FrictionProblem)
    assert isinstance(whole, FrictionProblem)
    assert abs(whole.dense() - condensed.dense()).max() <= 1e-6 * abs(condensed.dense()).max()
    assert abs(whole.b - condensed.b).max() <= 1e-6 * abs(condensed.b).max()
