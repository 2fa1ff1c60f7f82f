"""The mixed NCP with balls: natural map by hand, checks at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from signorini.errors import InputError
from signorini.problems import MixedNCP


def test_natural_map_by_hand() -> None:
    """Row 0 is an equation, 1 a pair, (2, 3) a ball of radius 0.5 z_1 = 1.

    x - y = (3 - 0, 4 - 0) = (3, 4) is projected to (0.6, 0.8): the map there is (3 - 0.6, 4 - 0.8).
    """
    problem = MixedNCP(lambda z: np.array([0.25, 3.0, 0.0, 0.0]), pairs=[1], balls=[((2, 3), 1, 0.5)], x0=np.zeros(4))
    z = np.array([7.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(problem.natural(z, problem.F(z)), [0.25, 2.0, 2.4, 3.2], rtol=1e-15)
    assert problem.residual(z) == pytest.approx(3.2, rel=1e-15)
    inside = np.array([7.0, 2.0, 0.6, 0.8])
    np.testing.assert_allclose(problem.natural(inside, problem.F(inside))[2:], 0.0, atol=1e-16)


def test_units_scale_the_map_and_not_the_radius() -> None:
    """In units of 2 for z and 8 for F a slip of 4 pushes by 0.5: from 2/2 = 1 to 0.5, in the ball of 3/2."""
    problem = MixedNCP(
        lambda z: np.array([z[0] - 3.0, 4.0]),
        balls=[((1,), 0, 1.0)],
        unit=[1.0, 2.0],
        row_unit=[1.0, 8.0],
        x0=np.zeros(2),
    )
    z = np.array([3.0, 2.0])
    np.testing.assert_allclose(problem.natural(z, problem.F(z)), [0.0, 0.5], rtol=1e-15)
    slid = np.array([3.0, -3.0])
    assert problem.residual(slid) == 0.0


def test_a_radius_below_zero_is_a_point() -> None:
    problem = MixedNCP(lambda z: np.array([z[0] + 1.0, 5.0]), balls=[((1,), 0, 1.0)], x0=np.zeros(2))
    assert problem.residual(np.array([-1.0, 0.0])) == 0.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"pairs": [3]}, "must be from 0 to 2"),
        ({"pairs": [1], "balls": [((1, 2), 0, 1.0)]}, "must name each once"),
        ({"balls": [((1, 2), 2, 1.0)]}, "another unknown for its radius"),
        ({"balls": [((1, 2), 0, -1.0)]}, "factor of a ball is -1.0, must be >= 0"),
        ({"balls": [((1, 2), 0, 1.0)], "unit": [1.0, 1.0, 2.0]}, "must be one for all of its members"),
        ({"unit": 0.0}, "unit has the entry 0.0, must be > 0"),
        ({"J": 3}, "J is 3, must be a function of z or None"),
    ],
)
def test_bad_input_is_named(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MixedNCP(lambda z: z, **{"x0": np.zeros(3), **words})


def test_where_f_is_not_defined_the_residual_is_infinite() -> None:
    assert MixedNCP(lambda z: z / 0.0, x0=[1.0]).residual(np.array([1.0])) == np.inf
