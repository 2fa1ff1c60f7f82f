"""Options that are True or False take nothing else: the word "no" would count as true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.solvers import Clarabel

FLAGS: list[tuple[Callable[..., Any], str, str]] = [
    (sg.MoreauJean, "sleeping", "MoreauJean: sleeping"),
    (sg.MoreauJean, "projection", "MoreauJean: projection"),
    (sg.StewartTrinkle, "projection", "StewartTrinkle: projection"),
    (sg.Scene, "planar", "scene: planar"),
    (Clarabel, "polish", "Clarabel: polish"),
]


@pytest.mark.parametrize("value", ["no", 1, None])
@pytest.mark.parametrize(("make", "word", "what"), FLAGS, ids=[what for *_, what in FLAGS])
def test_a_flag_is_true_or_false(make: Callable[..., Any], word: str, what: str, value: object) -> None:
    with pytest.raises(sg.InputError, match=f"{what} is {value!r}, must be True or False"):
        make(**{word: value})
    make(**{word: False})
    make(**{word: np.True_})
