"""States: named fields, copies and views of all that they hold."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import signorini as sg

ARRAYS = ("q", "v", "modal", "modal_rate")


def state() -> sg.State:
    return sg.State(t=0.5, q=np.ones((2, 7)), v=np.ones((2, 6)), modal=np.arange(3.0), modal_rate=-np.arange(3.0))


def test_states_are_made_by_name_alone() -> None:
    make: Any = sg.State
    with pytest.raises(TypeError):
        make(0.5, np.ones((2, 7)), np.ones((2, 6)))
    bodies = sg.State(t=0.5, q=np.ones((2, 7)), v=np.ones((2, 6)))
    assert bodies.modal.shape == bodies.modal_rate.shape == (0,)


def test_a_copy_shares_nothing() -> None:
    one = state()
    other = one.copy()
    for name in ARRAYS:
        array = getattr(other, name)
        np.testing.assert_array_equal(array, getattr(one, name))
        assert not np.shares_memory(array, getattr(one, name))
    assert other.shapes == one.shapes == ((2, 7), (2, 6), (3,), (3,))


@pytest.mark.parametrize("name", ARRAYS)
def test_a_view_cannot_be_written_into(name: str) -> None:
    one = state()
    view = getattr(one.read_only(), name)
    assert np.shares_memory(view, getattr(one, name))
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 0.0
    getattr(one, name)[0] = 7.0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_by_python_hold_all(copied: Any) -> None:
    one = state()
    other = copied(one)
    assert other.t == one.t
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(other, name), getattr(one, name))
