"""How much of a rebound is taken: the search for the largest share that exceeds nothing."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from signorini.posing.passive_law import ASKED_SHARE, SHARE_COLUMNS, next_share

pytestmark = pytest.mark.kernels

TOLERANCE = 1e-8


def found(excess: Callable[[float], float], tolerance: float = TOLERANCE) -> tuple[float, list[float]]:
    """Search as a step does; return the share that is taken, and all that were tried."""
    row = np.zeros(int(SHARE_COLUMNS))
    row[ASKED_SHARE] = 1.0
    tried: list[float] = []
    while True:
        tried.append(float(row[ASKED_SHARE]))
        assert len(tried) <= 17
        if next_share(row, excess(tried[-1]), 1e-10, tolerance):
            return tried[-1], tried


@pytest.mark.parametrize("much", [-0.3, 0.0, 0.9e-10])
def test_the_whole_rebound_is_tried_first_and_taken_if_it_exceeds_by_no_more_than_its_error(much: float) -> None:
    assert found(lambda share: much) == (1.0, [1.0])


@pytest.mark.parametrize("root", [1e-3, 0.2, 0.6, 0.95, 0.999])
@pytest.mark.parametrize("bend", [0.0, 0.5, 5.0])
def test_the_root_of_a_parabola_is_found_from_its_safe_side(root: float, bend: float) -> None:
    def excess(share: float) -> float:
        return (share - root) * (1.0 + bend * share)

    share, tried = found(excess)
    assert tried[:2] == [1.0, 0.0]
    assert -TOLERANCE <= excess(share) <= 0.0
    assert len(tried) <= 14


def test_where_nothing_but_no_rebound_is_allowed_none_is_taken() -> None:
    assert found(lambda share: share)[0] == 0.0
    assert found(lambda share: 0.5 if share > 0.0 else -0.5)[0] < 1e-3


@pytest.mark.parametrize("nothing", [math.inf, math.nan])
def test_a_rebound_without_a_solution_is_not_made(nothing: float) -> None:
    assert found(lambda share: nothing if share > 0.0 else -0.5) == (0.0, [1.0, 0.0])
    assert found(lambda share: nothing) == (0.0, [1.0, 0.0])
    share, _ = found(lambda share: nothing if 0.0 < share < 0.3 else share - 0.2)
    assert share == 0.0


@pytest.mark.parametrize("jump", [0.1, 0.5, 0.9])
def test_a_solution_that_jumps_is_taken_before_it_jumps(jump: float) -> None:
    """The last share is one that was allowed when it was tried, though no root is there."""
    share, tried = found(lambda share: 0.02 if share > jump else -0.5)
    assert share <= jump
    assert share == max(s for s in tried if s <= jump)
    assert share > jump - 0.1
