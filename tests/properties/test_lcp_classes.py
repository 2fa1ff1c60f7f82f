"""Properties that hold for every LCP of a class, searched by Hypothesis, and a piece of the long random run."""

from __future__ import annotations

import runpy
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from signorini.problems import LCP
from signorini.solvers import Control, Enumerate, Lemke, Status, solve

entries = st.floats(-10.0, 10.0).map(lambda x: round(x, 3))  # keep data away from denormals
sizes = st.integers(1, 8)


@st.composite
def positive_definite(draw: st.DrawFn) -> LCP:
    """M = A A^T + I + (B - B^T): a P-matrix, so exactly one solution exists."""
    n = draw(sizes)
    A = draw(arrays(np.float64, (n, n), elements=entries))
    B = draw(arrays(np.float64, (n, n), elements=entries))
    return LCP(A @ A.T + np.eye(n) + B - B.T, draw(arrays(np.float64, (n,), elements=entries)))


@st.composite
def anything(draw: st.DrawFn) -> LCP:
    """Small integers: singular, degenerate, unsolvable ones abound."""
    n = draw(st.integers(1, 4))
    whole = st.integers(-2, 2).map(float)
    return LCP(draw(arrays(np.float64, (n, n), elements=whole)), draw(arrays(np.float64, (n,), elements=whole)))


@given(positive_definite())
def test_lemke_solves_every_positive_definite_problem(problem: LCP) -> None:
    """Theorem 4.4.1 of Cottle, Pang & Stone; one covering vector is enough."""
    solution = Lemke(attempts=1).solve(problem, Control())
    assert solution.status is Status.SOLVED
    assert solution.residual <= 1e-12


@given(positive_definite(), st.randoms(use_true_random=False))
def test_order_of_pairs_is_immaterial(problem: LCP, random: Random) -> None:
    """Renumbering the pairs renumbers the solution and changes nothing else."""
    order = list(range(problem.size))
    random.shuffle(order)
    shuffled = LCP(np.asarray(problem.M)[np.ix_(order, order)], problem.q[order])
    z = solve(problem).z
    np.testing.assert_allclose(solve(shuffled).z, z[order], rtol=1e-9, atol=1e-9 * (1.0 + np.abs(z).max()))


@settings(max_examples=150)
@given(anything())
def test_default_agrees_with_the_search_of_all_cones(problem: LCP) -> None:
    """For n <= 4 all 16 complementary cones tell whether a solution exists: the default must find one, or deny it."""
    everything = Enumerate().solve(problem, Control())
    solution = solve(problem)
    if everything.success:
        assert solution.success
    elif everything.status is Status.NO_SOLUTION:
        assert solution.status is Status.NO_SOLUTION
    z, w = solution.z, problem.slack(solution.z)
    if solution.success:
        assert np.abs(np.minimum(z, w)).max() <= 1e-8 * (1.0 + np.abs(z).max())


def test_a_piece_of_the_long_random_run() -> None:
    """Zero wrong "solved" by any solver; the default solves every problem of a class with theory."""
    script = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "random_lcp.py"))
    rows = script["random_run"](count=180, every=5, seed=1)
    assert len(rows) == 9 * 6
    for row in rows:
        assert row["wrong"] == 0, row
        if row["solver"] == "LinearAuto" and row["class"] != "no theory":
            assert row["solved"] == row["tried"], row
        if row["solver"] == "Lemke" and row["class"] != "no theory":
            assert row["solved"] == row["tried"], row


def test_the_independent_measure_of_the_random_run_can_reject() -> None:
    script = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "random_lcp.py"))
    problem = LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    assert script["independent_residual"](problem, np.array([4 / 3, 7 / 3])) <= 1e-15
    assert script["independent_residual"](problem, np.array([1.0, 2.0])) == pytest.approx(0.5 / 3.0)


IMPOSSIBLE = (
    "no solution",
    "infeasible",
    "pressed",
    "squeezed",
    "tail",
    "gap",
    "apart",
    "nonpositive",
    "without",
    "contra",
)


def test_a_piece_of_the_campaign_of_verdicts() -> None:
    """Of problems with and without solution none is called solved that is not, and no call outlasts its budget."""
    script = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "random_verdicts.py"))
    tallies = script["campaign"](lcp=240, mcp=48, friction=120, seed=5)
    for name, tally in tallies.items():
        assert (tally.wrong, tally.late) == (0, 0), name
        impossible = any(word in name for word in IMPOSSIBLE)
        unknown = any(word in name for word in ("any matrix", "whole", "1e80"))
        assert tally.solved == (0 if impossible else tally.tried) or unknown, name
