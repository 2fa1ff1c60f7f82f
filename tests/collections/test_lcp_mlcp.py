"""The LCPs and mixed LCPs of the Siconos test suite, by the default call."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.problems import LCP, MixedLCP, load_problem
from signorini.solvers import InteriorPointLCP, Lemke, Solver, Status, solve

DATA = Path(__file__).parent / "data" / "lcp_mlcp"
FILES = sorted(DATA.glob("*.npz"))


def complementarity_errors(path: Path, z: Array) -> tuple[float, float, float, float]:
    """Return |equations|, negative part of z and of w, and |z w|, straight from the file."""
    data = np.load(path)
    free = int(data["n_free"]) if "n_free" in data else 0
    w = data["M"] @ z + data["q"]
    v, slack = z[free:], w[free:]
    return (
        float(np.abs(w[:free]).max(initial=0.0)),
        float(np.maximum(-v, 0.0).max(initial=0.0)),
        float(np.maximum(-slack, 0.0).max(initial=0.0)),
        float(np.abs(v * slack).max(initial=0.0)),
    )


def test_all_files_are_there() -> None:
    assert len(FILES) == 19


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_default_call_solves_every_file(path: Path) -> None:
    """0 = equations, 0 <= z ⊥ w >= 0, checked without the library's own residual."""
    problem = load_problem(path)
    assert isinstance(problem, MixedLCP if path.stem.startswith("mlcp") else LCP)
    solution = solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.residual <= 1e-10
    size = 1.0 + float(np.abs(solution.z).max())
    assert max(complementarity_errors(path, solution.z)) <= 1e-10 * size


@pytest.mark.parametrize("solver", [Lemke(), InteriorPointLCP()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("path", [p for p in FILES if p.stem.startswith("mlcp")], ids=lambda path: path.stem)
def test_solvers_agree_on_mixed_problems(path: Path, solver: Solver) -> None:
    """Also where the free block is singular (diodeBridge) or the whole matrix is (Buck*)."""
    solution = solve(load_problem(path), solver)
    assert solution.success
    assert max(complementarity_errors(path, solution.z)) <= 1e-10 * (1.0 + float(np.abs(solution.z).max()))
