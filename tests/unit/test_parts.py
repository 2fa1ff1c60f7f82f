"""Kernels that other kernels take in, and what of them is kept on disk."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from signorini._arrays import Array
from signorini._jit import address_of, counting_kernel, inner_kernel, kernel, measured

X = np.array([3.0, 4.0])
TYPE: Any = numba.types.Array(numba.float64, 1, "C")


@inner_kernel
def _square(x: float) -> float:
    return x * x


@inner_kernel
def _length(x: Array) -> float:
    if x.size < 2:
        raise ValueError("too short")
    return float(np.sqrt(_square(x[0]) + _square(x[1])))


@inner_kernel
def _length_by_address(x: Array) -> float:
    return _length(x)


@counting_kernel
def _doubled(x: Array) -> Array:
    return 2.0 * x


@kernel
def _length_of_double(x: Array) -> float:
    return float(_length(_doubled(x)))


@kernel
def _length_by_closure(x: Array) -> float:
    def scaled(s: float) -> float:
        return float(s * x[0])

    return float(scaled(1.0) + sum([value for value in x[1:]]))  # noqa: C416


@kernel
def _call(address: int, x: Array) -> float:
    return float(measured(address, (x,)))


def _has_machine_code_on_disk(function: Any) -> bool:
    """Tell what another process would read."""
    return bool(function._cache.load_overload((TYPE,), function.targetctx).library._object_caching_enabled)


def test_parts_do_in_a_kernel_what_they_do_alone() -> None:
    assert _length_of_double(X) == 10.0
    assert _length_by_closure(X) == 7.0


def test_what_a_part_raises_reaches_python() -> None:
    with pytest.raises(ValueError, match="too short"):
        _length_of_double(X[:1])


@pytest.mark.compiled_only
def test_a_kernel_is_kept_as_machine_code_if_it_is_called_by_its_address_and_as_a_part_if_not() -> None:
    """A part in machine code would be work for nothing; what is called, compiled anew in every process if it is not."""
    assert _call(address_of(_length_by_address, X), X) == 5.0
    assert _has_machine_code_on_disk(_length_by_address)
    assert not _has_machine_code_on_disk(_length)
