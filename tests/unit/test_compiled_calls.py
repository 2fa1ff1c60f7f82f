"""Kernels that call each other by address, and simulations side by side in threads."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array, IntArray
from signorini._jit import address_of, counted, inner_kernel, kernel, perform, succeeds

ROW = np.zeros(1, dtype=np.int64)


@inner_kernel
def _double(x: IntArray) -> int:
    return int(2 * x[0])


@inner_kernel
def _is_even(x: IntArray) -> bool:
    return bool(x[0] % 2 == 0)


@inner_kernel
def _set_seven(x: IntArray) -> None:
    x[0] = 7


@inner_kernel
def _refuse(x: IntArray) -> None:
    if x[0] == 7:
        raise ValueError("seven is refused")


@kernel
def _sum_of_two(x: Array) -> float:
    s = 0.0
    for value in x[0:2]:
        s += value
    return s


@kernel
def _call_all(addresses: IntArray, x: IntArray) -> tuple[int, bool]:
    perform(addresses[0], (x,))
    return counted(addresses[1], (x,)), succeeds(addresses[2], (x,))


@kernel
def _call(address: int, x: IntArray) -> None:
    perform(address, (x,))


def test_kernels_are_called_by_address() -> None:
    addresses = np.array([address_of(function, ROW) for function in (_set_seven, _double, _is_even)])
    x = np.array([4])
    assert _call_all(addresses, x) == (14, False)
    assert x[0] == 7


def test_what_a_kernel_raises_reaches_whoever_called_it_by_address() -> None:
    """An index out of bounds, where bounds are checked, must not go unseen."""
    with pytest.raises(ValueError, match="seven is refused"):
        _call(address_of(_refuse, ROW), np.array([7]))


def test_simulations_in_threads_are_those_one_after_the_other() -> None:
    def falling(k: int) -> sg.Simulator:
        scene = sg.Scene(gravity=(0, 0, -9.81))
        scene.add_fixed(sg.HalfSpace(), name="floor")
        scene.add_body(sg.Box((0.4, 0.3, 0.2)), mass=2.0, position=(0, 0, 0.4), angular_velocity=(3, k, 2), name="box")
        scene.set_contact(friction=0.4)
        return sg.Simulator(scene, h=0.005)

    alone, together = [falling(k) for k in range(4)], [falling(k) for k in range(4)]
    for simulator in alone:
        simulator.run(60)
    threads = [threading.Thread(target=simulator.run, args=(60,)) for simulator in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.state.q, other.state.q)


def test_constant_slices_compile() -> None:
    assert _sum_of_two(np.array([1.0, 2.0, 4.0])) == 3.0


def test_vector_instructions_stay_on_when_numba_reads_its_settings_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed variable of the environment makes Numba forget what was set in its module."""
    import numba

    monkeypatch.setenv("NUMBA_OPT", os.environ.get("NUMBA_OPT", "3"))
    config: Any = numba.config
    config.reload_config()
    assert config.SLP_VECTORIZE == 1
