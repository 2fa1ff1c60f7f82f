"""Kernels that other kernels take in, and what of them is kept on disk."""

from __future__ import annotations

import re
from typing import Any, cast

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache

from signorini._arrays import Array, IntArray
from signorini._inner import Inner
from signorini._jit import IS_PLAIN, address_of, counting_kernel, inner_kernel, kernel, measured
from signorini.geometry.convex_depth import foot

X = np.array([3.0, 4.0])
TYPE: Any = numba.types.Array(numba.float64, 1, "C")
of_our_compiler = pytest.mark.skipif(IS_PLAIN, reason="Numba makes machine code of all")
CORNER, FACE = np.zeros((4, 9)), np.zeros((4, 3), dtype=np.int64)


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


@kernel
def _foot(corner: Array, face: IntArray) -> float:
    return float(foot(corner, face, 0)[0][0])


def _has_machine_code_on_disk(function: Any) -> bool:
    """Tell what another process would read."""
    library = function._cache.load_overload((TYPE,), function.targetctx).library
    return not isinstance(library, Inner) or library.is_machine_code


def test_parts_do_in_a_kernel_what_they_do_alone() -> None:
    assert _length_of_double(X) == 10.0
    assert _length_by_closure(X) == 7.0


def test_what_a_part_raises_reaches_python() -> None:
    with pytest.raises(ValueError, match="too short"):
        _length_of_double(X[:1])


@of_our_compiler
@pytest.mark.compiled_only
def test_a_kernel_is_kept_as_machine_code_if_it_is_called_by_its_address_and_as_a_part_if_not() -> None:
    """A part in machine code would be work for nothing; what is called, compiled anew in every process if it is not."""
    assert _call(address_of(_length_by_address, X), X) == 5.0
    assert _has_machine_code_on_disk(_length_by_address)
    assert not _has_machine_code_on_disk(_length)


def _text(module: Any) -> str:
    """Return a module as LLVM prints it, but for comments and for what is told to the linker alone."""
    return re.sub(r" *;.*| linkonce_odr", "", str(module)).strip()


@of_our_compiler
@pytest.mark.compiled_only
def test_what_is_linked_into_others_is_not_what_machine_code_was_made_of() -> None:
    """Making it, LLVM lets two slots on the stack be one, which it aligns in that machine code alone."""
    types: Any = tuple(cast(Any, numba).typeof(x) for x in (CORNER, FACE, 0))
    part: Any = foot
    part.compile(types)
    library = part.overloads[types].library
    before = _text(library._final_module)
    assert address_of(part, CORNER, FACE, 0) > 0
    assert _text(library._final_module) != before  # or there would be nothing to fear
    assert _text(library._get_module_for_linking()) == before


@of_our_compiler
@pytest.mark.compiled_only
def test_neither_is_it_of_kernels_with_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: Any = _foot
    monkeypatch.setattr(whole, "_cache", NullCache())  # to be compiled here
    whole(CORNER, FACE)
    (compiled,) = whole.overloads.values()
    assert _text(compiled.library._get_module_for_linking()) != _text(compiled.library._final_module)


@of_our_compiler
@pytest.mark.compiled_only
def test_a_part_that_is_read_is_a_part_again() -> None:
    function: Any = _length
    function.compile((TYPE,))
    read: Any = function._cache.load_overload((TYPE,), function.targetctx).library
    made: Any = function.overloads[TYPE,].library
    assert isinstance(cast(object, read), Inner) and not read.is_machine_code
    assert _text(read._get_module_for_linking()) == _text(made._get_module_for_linking())
