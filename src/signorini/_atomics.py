"""Words of memory that threads share: operations of one piece, seen by others in order; see :mod:`signorini._jit`.

A word is an entry ``table[row, 0]`` of an int64 array of four columns. Without compilation there is one thread, and
plain operations do. Numba has no such operations for the kernels of a CPU: they are written here in its terms.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from typing import Any

import numba

from signorini._jit import perform

ONE_THREAD: bool = numba.config.DISABLE_JIT  # type: ignore[attr-defined]
"""Whether nothing is compiled, so that threads would be of no use."""

if ONE_THREAD:

    def read_word(table: Any, row: int) -> int:
        """Return a word; what its writer wrote before it is seen from here on."""
        return int(table[row, 0])

    def write_word(table: Any, row: int, value: int) -> None:
        """Set a word, after everything that was written before."""
        table[row, 0] = value

    def add_to_word(table: Any, row: int, value: int) -> int:
        """Add to a word; return what it was."""
        old = int(table[row, 0])
        table[row, 0] += value
        return old

    def swap_word(table: Any, row: int, old: int, new: int) -> bool:
        """Set a word to `new` if it is `old`; tell whether it was."""
        same = bool(table[row, 0] == old)
        if same:
            table[row, 0] = new
        return same

    def attempt(address: int, arguments: tuple[Any, ...]) -> bool:
        """Call a kernel that returns nothing; tell whether it came to its end."""
        try:
            perform(address, arguments)
        except Exception:
            return False
        return True

    def pause() -> None:
        """Tell the processor that a loop waits."""

    def call_system(address: int, value: int) -> None:
        """Call a function of the system of one integer at most, as :func:`system_waits` found it."""

else:
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import extending
    from numba.core import cgutils
    from numba.np import arrayobj

    _types: Any = numba.types
    _intrinsic: Any = extending.intrinsic
    _make_array: Any = arrayobj.make_array
    _insert_function: Any = cgutils.get_or_insert_function
    _HAS_PAUSE = platform.machine() in ("x86_64", "AMD64")

    def _word(context: Any, builder: Any, kind: Any, table: Any, row: Any) -> Any:
        """Return the address of a word."""
        rows = _make_array(kind)(context, builder, table)
        return builder.gep(rows.data, [builder.mul(row, ir.Constant(row.type, 4))])

    @_intrinsic  # type: ignore[untyped-decorator]
    def read_word(typing_context: Any, table: Any, row: Any) -> Any:
        """Return a word; what its writer wrote before it is seen from here on."""

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.load_atomic(_word(context, builder, table, *values), "acquire", 8)

        return _types.int64(table, _types.int64), generate

    @_intrinsic  # type: ignore[untyped-decorator]
    def write_word(typing_context: Any, table: Any, row: Any, value: Any) -> Any:
        """Set a word, after everything that was written before."""

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            builder.store_atomic(values[2], _word(context, builder, table, *values[:2]), "release", 8)
            return context.get_dummy_value()

        return _types.none(table, _types.int64, _types.int64), generate

    @_intrinsic  # type: ignore[untyped-decorator]
    def add_to_word(typing_context: Any, table: Any, row: Any, value: Any) -> Any:
        """Add to a word; return what it was."""

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.atomic_rmw("add", _word(context, builder, table, *values[:2]), values[2], "acq_rel")

        return _types.int64(table, _types.int64, _types.int64), generate

    @_intrinsic  # type: ignore[untyped-decorator]
    def swap_word(typing_context: Any, table: Any, row: Any, old: Any, new: Any) -> Any:
        """Set a word to `new` if it is `old`; tell whether it was."""

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            word = _word(context, builder, table, *values[:2])
            done = builder.cmpxchg(word, values[2], values[3], "acq_rel", "acquire")
            return builder.extract_value(done, 1)

        return _types.boolean(table, _types.int64, _types.int64, _types.int64), generate

    @_intrinsic  # type: ignore[untyped-decorator]
    def attempt(typing_context: Any, address: Any, arguments: Any) -> Any:
        """Call a kernel that returns nothing; tell whether it came to its end."""

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            convention, types = context.call_conv, signature.args[1].types
            pointer = convention.get_function_type(_types.none, types).as_pointer()
            unpacked = [builder.extract_value(values[1], k) for k in range(len(types))]
            function = builder.inttoptr(values[0], pointer)
            status, _ = convention.call_function(builder, function, _types.none, types, unpacked)
            return builder.not_(status.is_error)

        return _types.boolean(_types.int64, arguments), generate

    @_intrinsic  # type: ignore[untyped-decorator]
    def pause(typing_context: Any) -> Any:
        """Tell the processor that a loop waits."""

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            if _HAS_PAUSE:
                kind = ir.FunctionType(ir.VoidType(), [])
                builder.call(_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
            return context.get_dummy_value()

        return _types.none(), generate

    @_intrinsic  # type: ignore[untyped-decorator]
    def call_system(typing_context: Any, address: Any, value: Any) -> Any:
        """Call a function of the system of one integer at most, as :func:`system_waits` found it."""

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            number = ir.IntType(32)
            function = builder.inttoptr(values[0], ir.FunctionType(number, [number]).as_pointer())
            builder.call(function, [builder.trunc(values[1], number)])
            return context.get_dummy_value()

        return _types.none(_types.int64, _types.int64), generate


def system_waits() -> tuple[int, int, int]:
    """Return the addresses of the functions that let others run and that sleep, and for how long the latter is asked.

    That is 200 microseconds, or the shortest sleep there is.
    """
    if sys.platform == "win32":
        system: Any = ctypes.WinDLL("kernel32")
        give_way, sleep, time = system.SwitchToThread, system.Sleep, 1
    else:
        system = ctypes.CDLL(None)
        give_way, sleep, time = system.sched_yield, system.usleep, 200
    first, second = (ctypes.cast(function, ctypes.c_void_p).value for function in (give_way, sleep))
    return int(first or 0), int(second or 0), time
