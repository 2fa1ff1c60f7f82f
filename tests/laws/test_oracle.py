"""The compiled step against that by functions of Python, in random scenes; more by ``benchmarks/random_oracle.py``."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle import compare, random_scene

AGREED = 1e-9  # of the fastest velocity, both being solved to 1e-12


@pytest.mark.filterwarnings("ignore::signorini.SceneWarning")
@pytest.mark.parametrize("seed", range(14))
def test_every_step_is_that_of_the_functions(seed: int) -> None:
    """Law: from the same state both ways of computing a step come to the same velocities."""
    compared = compare(*random_scene(np.random.default_rng(seed)), steps=20)
    assert compared.steps >= 5
    assert compared.worst <= AGREED
