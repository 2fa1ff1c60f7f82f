"""S2 (Anitescu & Hart): the tables of the specification, by the same functions as ``signorini reproduce``.

The two long examples are run in part: some lines of the table of random problems, the first steps of the pile.
"""

from __future__ import annotations

import numpy as np
import pytest

from signorini.reproduce import Check, Reproduction, s2, s2_convergence, s2_pile
from signorini.solvers import AnitescuHart, solve


def missed(outcome: Reproduction) -> list[Check]:
    return [check for check in outcome.checks if not check.passed]


def test_single_contact_tables_6_1_and_6_2() -> None:
    outcome = s2.single_contact()
    assert missed(outcome) == []
    assert len(outcome.checks) == 61
    assert sum("two-cycle" in row["finding"] for row in outcome.data["contacts"]) == 1


def test_nonconvex_6_3() -> None:
    outcome = s2.nonconvex()
    assert missed(outcome) == []
    assert len(outcome.checks) == 10 + 3 * 4


@pytest.mark.parametrize(
    ("family", "mu", "factor_1", "factor_2", "error_3"),
    [("gauss", 0.1, 0.0432, 0.053, 0.050), ("gauss", 0.5, 0.3390, 0.285, 0.199), ("pile4", 0.1, 0.2124, 0.258, 0.359)],
)
def test_convergence_lines_of_6_4(family: str, mu: float, factor_1: float, factor_2: float, error_3: float) -> None:
    row = s2_convergence.measure(family, mu)
    assert row["median_factor_1"] == pytest.approx(factor_1, rel=0.1)
    assert row["median_factor_2"] == pytest.approx(factor_2, rel=0.1)
    assert row["median_error_3"] == pytest.approx(error_3, abs=5.1e-4)
    assert row["max_ratio_3"] < 1.68
    assert row["not_converged"] == [0, 0]


def test_two_velocity_solutions() -> None:
    """Both are solutions: residuals small, velocities 0.0128 apart."""
    checks = s2_convergence._against_lemke()
    assert [check for check in checks if not check.passed] == []
    assert len(checks) == 8


def test_first_steps_of_the_pile_6_5() -> None:
    checks = s2_pile._first_steps()
    assert [check for check in checks if not check.passed] == []
    assert len(checks) == 10


def test_trajectory_of_the_pile_by_algorithm_1() -> None:
    """Table 6.5 up to t = 0.1, written out; every step confirmed by the residual recomputed from the problem."""
    trajectory = s2_pile.run(1, 0.1)
    q, kinetic = s2_pile.centres(trajectory), trajectory.energy().kinetic
    for l, height, width, energy in ((5, 4.8286362, 15.016961, 1.28501), (10, 4.8246466, 15.062249, 5.1581)):
        assert q[l, :, 1].mean() == pytest.approx(height, abs=1e-5)
        assert np.ptp(q[l, :, 0]) == pytest.approx(width, abs=1e-4)
        assert kinetic[l] == pytest.approx(energy, rel=0.01)
    assert trajectory.certificate.residual.max() < 1e-8
    # Mirror symmetry: the abscissae of the whole pile are those of its mirror image.
    np.testing.assert_allclose(np.sort(q[-1, :, 0]), np.sort(-q[-1, :, 0]), atol=1e-8)


def test_algorithm_3_loses_too_much_energy() -> None:
    trajectory = s2_pile.run(3, 0.05, on_failure="keep")
    q, kinetic = s2_pile.centres(trajectory), trajectory.energy().kinetic
    assert q[5, :, 1].mean() == pytest.approx(4.8290562, abs=1e-5)
    assert np.ptp(q[5, :, 0]) == pytest.approx(15.012344, abs=1e-4)
    assert kinetic[5] == pytest.approx(0.62103, rel=0.01)
    assert trajectory.certificate.failed().all()


def test_large_piles_are_solved_by_every_acceleration() -> None:
    problem, _, _ = s2_pile.first_step(8, 0.1, AnitescuHart(max_iterations=1))
    speeds = []
    for acceleration in ("newton", "anderson", "none"):
        found = solve(problem, AnitescuHart(acceleration=acceleration), tolerance=1e-8)
        assert found.success
        speeds.append(np.abs(problem.velocity(found.z)).max())
    assert np.ptp(speeds) < 1e-6


def test_figures_of_the_pile_are_drawn() -> None:
    from signorini.visual.piles import plot_convergence, plot_factors, plot_pile

    q = np.random.default_rng(0).uniform(size=(5, 2))
    panels = plot_pile([(0.0, q), (1.0, q + 1.0)], 0.1, "two").axes
    assert [len(axes.collections[0].get_paths()) for axes in panels] == [5, 5]
    lines = plot_convergence([("a", np.array([1.0, 0.1])), ("b", np.array([0.0]))], "two").axes[0].lines
    assert [np.asarray(line.get_xdata()).size for line in lines] == [2, 1]
    assert len(plot_factors({"x": [(0.1, 0.2, 0.0), (0.2, 0.4, 0.3)]}, "one").axes[0].lines) == 4
