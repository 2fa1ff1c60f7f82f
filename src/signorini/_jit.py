"""The one door to Numba.

Every compiled function of the library is made by :func:`kernel`. Compiler options therefore live in one place,
kernels keep their Python type for the type checker, and ``NUMBA_DISABLE_JIT=1`` turns the whole library into plain
Python for the debugger and for coverage. ``SIGNORINI_PLAIN_NJIT=1`` compiles the same kernels by ``numba.njit`` as
everybody has it, without the compiler and the cache of this library: what goes wrong there too is not due to
them.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np

from signorini._compiler import Compiler
from signorini._kernel_cache import KernelCache, has_none

# Products of small matrices in half the time. Numba reads its settings from the environment again before it compiles:
# one made elsewhere would last only until somebody changes another.
os.environ.setdefault("NUMBA_SLP_VECTORIZE", "1")

IS_PLAIN = os.environ.get("SIGNORINI_PLAIN_NJIT", "0") not in ("", "0")
"""Whether Numba alone compiles kernels."""

P = ParamSpec("P")
R = TypeVar("R")


def is_cold() -> bool:
    """Tell whether nothing was ever compiled on this machine, so that the first calls will be slow."""
    disabled: bool = numba.config.DISABLE_JIT  # type: ignore[attr-defined]
    return not disabled and not IS_PLAIN and has_none()


def is_compiled(function: Callable[..., Any]) -> bool:
    """Tell whether there is machine code of a kernel, in memory or on disk."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return True
    dispatcher: Any = function
    code = dispatcher.py_func.__code__
    name = f"*{dispatcher.py_func.__qualname__}-{code.co_firstlineno}.*.nbi"
    return bool(dispatcher.overloads) or any(Path(dispatcher.stats.cache_path).glob(name))


@cache
def announce_compilation() -> None:
    """Say on standard error that something is compiled now, once in a process."""
    print("signorini: compiling, once on this machine (10 to 60 seconds on two cores) ...", file=sys.stderr, flush=True)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` on its first call and keep the machine code on disk.

    ``error_model="numpy"`` makes ``1.0 / 0.0`` an ``inf`` rather than a raise, so a kernel reports trouble only through
    the status that it returns. ``fastmath`` stays off: results must not depend on how the compiler reorders a sum.
    Python's lock is released meanwhile, so that scenes may be simulated side by side in threads.
    """
    return _compiled(function, no_cfunc_wrapper=True, nogil=True)  # nobody calls kernels from C


def inner_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` like :func:`kernel`, for calls from other kernels only.

    It has no entry for Python, which would take up to a third of the time to compile a small function, and does not
    count references to arrays: it neither makes nor returns any. Unless :func:`address_of` asks for it, its machine
    code is that of the kernels which call it.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def bare_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` like :func:`kernel`, without counting references to arrays: it neither makes nor returns any.

    Where arrays come in tuples, each mention of a tuple counts all of its arrays.
    """
    return _compiled(function, no_cfunc_wrapper=True, nogil=True, _nrt=False)


def counting_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` like :func:`inner_kernel`, where it makes or returns arrays.

    It counts its arrays in and out by atomic additions, 5 ns each: for ten tables 0.1 us, often more than the work.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _compiled(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    njit: Any = numba.njit
    if IS_PLAIN:
        return cast(Callable[P, R], njit(error_model="numpy", nogil=True, cache=True)(function))
    compiled = njit(error_model="numpy", pipeline_class=Compiler, **options)(function)
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        compiled._cache = KernelCache(cast(FunctionType, function))  # as njit(cache=True) would, but opened late
    return cast(Callable[P, R], compiled)


# --- arrays by address ---------------------------------------------------------
# A call from Python costs 0.07 us for each array. A kernel of many arrays takes one table of addresses instead, and
# whoever keeps the table keeps the arrays alive (:class:`signorini._arena.Arena`).

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    _by_address: dict[int, Callable[..., Any]] = {}

    def address_of(function: Callable[..., Any], *arguments: Any) -> int:
        """Return a number by which kernels call `function`."""
        _by_address[id(function)] = function
        return id(function)

    def perform(address: int, arguments: tuple[Any, ...]) -> None:
        """Call a kernel that returns nothing."""
        _by_address[int(address)](*arguments)

    def succeeds(address: int, arguments: tuple[Any, ...]) -> bool:
        """Call a kernel that returns a truth value."""
        return bool(_by_address[int(address)](*arguments))

    def counted(address: int, arguments: tuple[Any, ...]) -> int:
        """Call a kernel that returns an integer."""
        return int(_by_address[int(address)](*arguments))

    def measured(address: int, arguments: tuple[Any, ...]) -> float:
        """Call a kernel that returns a number."""
        return float(_by_address[int(address)](*arguments))

    def callback(function: Callable[[int], None]) -> tuple[int, Any]:
        """Return a number by which kernels call a function of Python, with an integer, and what keeps it alive."""
        _by_address[id(function)] = function
        return id(function), function

    def _view(address: int, shape: tuple[int, ...], kind: Any) -> Any:
        count = int(np.prod(shape))
        return np.ctypeslib.as_array((kind * max(count, 1)).from_address(int(address)))[:count].reshape(shape)

    def reals(table: Any, k: int) -> Any:
        """Return the float array (n,) in row `k` of a table of addresses and shapes."""
        return _view(table[k, 0], (table[k, 1],), ctypes.c_double)

    def real_rows(table: Any, k: int) -> Any:
        """Return a float array (n, m)."""
        return _view(table[k, 0], (table[k, 1], table[k, 2]), ctypes.c_double)

    def real_blocks(table: Any, k: int) -> Any:
        """Return a float array (n, m, l)."""
        return _view(table[k, 0], (table[k, 1], table[k, 2], table[k, 3]), ctypes.c_double)

    def wholes(table: Any, k: int) -> Any:
        """Return an integer array (n,)."""
        return _view(table[k, 0], (table[k, 1],), ctypes.c_int64)

    def whole_rows(table: Any, k: int) -> Any:
        """Return an integer array (n, m)."""
        return _view(table[k, 0], (table[k, 1], table[k, 2]), ctypes.c_int64)

else:
    from numba import extending
    from numba.core import cgutils
    from numba.np import arrayobj

    _types: Any = numba.types
    _intrinsic: Any = extending.intrinsic
    _if_unlikely: Any = cgutils.if_unlikely
    _make_array: Any = arrayobj.make_array
    _populate_array: Any = arrayobj.populate_array

    def address_of(function: Callable[..., Any], *arguments: Any) -> int:
        """Compile a kernel for arguments of these types, or read it from disk; return its address."""
        dispatcher: Any = function
        signature = tuple(cast(Any, numba).typeof(argument) for argument in arguments)
        if not IS_PLAIN:
            dispatcher._cache.is_by_address = True
        dispatcher.compile(signature)
        compiled = dispatcher.overloads[signature]
        address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        return address

    # As Numba calls functions: where the result goes, and an error; then the argument. Zero says that all is well.
    _prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)

    def callback(function: Callable[[int], None]) -> tuple[int, Any]:
        """Return the address by which kernels `perform` a function of Python, and what keeps it alive.

        It takes an integer and raises nothing: C would lose it. Python's lock is taken meanwhile.
        """

        def called(_result: Any, _error: Any, argument: int) -> int:
            function(argument)
            return 0

        made = _prototype(called)
        return int(ctypes.cast(made, ctypes.c_void_p).value or 0), made

    def _caller(kind: Any) -> Any:
        @_intrinsic  # type: ignore[untyped-decorator]
        def call(typing_context: Any, address: Any, arguments: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                convention, types = context.call_conv, signature.args[1].types
                pointer = convention.get_function_type(kind, types).as_pointer()
                unpacked = [builder.extract_value(values[1], k) for k in range(len(types))]
                function = builder.inttoptr(values[0], pointer)
                status, result = convention.call_function(builder, function, kind, types, unpacked)
                with _if_unlikely(builder, status.is_error):
                    convention.return_status_propagate(builder, status)
                return result

            return kind(_types.int64, arguments), generate

        return call

    perform = _caller(_types.none)
    succeeds = _caller(_types.boolean)
    counted = _caller(_types.int64)
    measured = _caller(_types.float64)

    def _opener(kind: Any, dimensions: int) -> Any:
        made = _types.Array(kind, dimensions, "C")

        @_intrinsic  # type: ignore[untyped-decorator]
        def opened(typing_context: Any, table: Any, k: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                word = context.get_value_type(_types.intp)
                rows = _make_array(table)(context, builder, values[0])
                first = builder.mul(context.cast(builder, values[1], k, _types.intp), word(4))
                address, *shape = [
                    builder.load(builder.gep(rows.data, [builder.add(first, word(i))])) for i in range(dimensions + 1)
                ]
                strides = [word(8)]
                for extent in reversed(shape[1:]):
                    strides.insert(0, builder.mul(strides[0], extent))
                array = _make_array(made)(context, builder)
                _populate_array(
                    array,
                    data=builder.inttoptr(address, array.data.type),
                    shape=shape,
                    strides=strides,
                    itemsize=word(8),
                    meminfo=None,
                )
                return array._getvalue()

            return made(table, k), generate

        return opened

    reals = _opener(_types.float64, 1)
    real_rows = _opener(_types.float64, 2)
    real_blocks = _opener(_types.float64, 3)
    wholes = _opener(_types.int64, 1)
    whole_rows = _opener(_types.int64, 2)
