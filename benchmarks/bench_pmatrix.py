"""Cost of the P-test by size, of a map of the rod, and of the validity test on one step.

Run as ``python benchmarks/bench_pmatrix.py``; prints the best of several repeats in milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from signorini._arrays import Array
from signorini.analysis import Axis, Rod, check_state, check_step, p_matrix, rod_columns, stability_map
from signorini.reproduce.s4 import rod_scene
from signorini.simulation import Simulator


def hidden_p_matrix(m: int) -> Array:
    """Return a P-matrix that the quick tests do not see: cycles of three below anything, all rows coupled."""
    r = np.random.default_rng(m)
    D = np.eye(m)
    for k in range(0, m - 2, 3):
        D[k : k + 3, k : k + 3] = [[1.0, 0.0, 3.0], [3.0, 1.0, 0.0], [0.0, 3.0, 1.0]]
    block = np.arange(m) // 3
    above, below = block[:, None] < block, block[:, None] > block
    D[above], D[below] = 0.5 * r.standard_normal(int(above.sum())), 1e-9
    return D


def best(function: Callable[[], object], repeats: int = 7) -> float:
    """Return the shortest time of a call [ms]; the first call, which may compile, does not count."""
    function()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return 1e3 * min(times)


def main() -> None:
    """Print the table."""
    for m in (2, 4, 8, 12, 14, 16, 18, 20):
        D = hidden_p_matrix(m)
        print(f"P-test, m = {m:2d}              {best(lambda D=D: p_matrix(D)):10.3f} ms   {p_matrix(D).reason}")  # type: ignore[misc]
    axes = Axis.midpoints("u_1", -4, 4, 400), Axis.midpoints("u_2", -4, 4, 400)
    print(f"map of the rod, 400 x 400   {best(lambda: stability_map(rod_columns(Rod()), *axes), 3):10.1f} ms")
    simulator = Simulator(rod_scene(Rod(), (1.0, 1.0), 0.2), h=1e-3)
    model, state = simulator.model, simulator.state
    result, _ = simulator.advance()
    step = (model, state, result.contacts, result.impulse, result.velocity)
    print(f"check_state, rod            {best(lambda: check_state(model, state, damping=0.1)):10.3f} ms")
    print(f"check_step, rod             {best(lambda: check_step(*step, damping=0.1)):10.3f} ms")
    print(f"one step of the simulation  {best(simulator.advance):10.3f} ms")


if __name__ == "__main__":
    main()
