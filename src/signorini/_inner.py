"""Kernels that only others call, and take in: machine code of their own would never run.

Numba makes it, and an entry for Python, for every function that it compiles. Here it is made where somebody asks for an
address, which saves 21 % of the CPU time of a cold start (``benchmarks/bench_compiler.py``).

To make machine code LLVM changes the module that it is made of. Slots on the stack that are never in use together
become one, and the one that stays is said to be aligned as it was, though what used the other may rely on more: machine
code made of that once more stores to addresses that it must not. So what is linked into others is set aside before.
"""

from __future__ import annotations

from typing import Any, cast

from llvmlite import binding  # type: ignore[import-untyped]
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock


class Whole(JITCodeLibrary):
    """The code of a kernel with an entry for Python."""

    def _finalize_final_module(self) -> None:
        self._finalized = True
        cast(Any, self)._get_module_for_linking()  # a copy, which is kept
        cast(Any, super())._finalize_final_module()


class Inner(Whole):
    """The code of a kernel, ready to be linked into others."""

    is_machine_code = False

    def _finalize_final_module(self) -> None:
        cast(Any, self)._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function; make machine code for it if there is none yet."""
        cast(Any, self)._ensure_finalized()
        with global_compiler_lock:
            if not self.is_machine_code:
                cast(Any, super())._finalize_final_module()
                self.is_machine_code = True
        return cast(int, cast(Any, super()).get_pointer_to_function(name))

    def serialize_using_object_code(self) -> Any:
        """Return what is kept on disk: machine code if there is any."""
        whole: Any = super()
        return whole.serialize_using_object_code() if self.is_machine_code else whole.serialize_using_bitcode()


def nobodys_entry(library: Any, description: Any, environment: Any) -> Any:
    """Return what stands for an inner kernel in Numba's tables: a function that nobody can call from Python."""
    name = description.qualname.split(".")[-1]
    return cast(Any, _dynfunc).make_function(description.lookup_module(), name, "", 0, environment, (library,))


class Kept(CompileResultCacheImpl):
    """What is kept of a kernel on disk."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return a kernel that was read, an inner one as an inner one again."""
        (name, kind, data), description, environment, signature, objectmode, lifted, types, starts, others = payload
        if kind != "bitcode":
            return cast(Any, super()).rebuild(target_context, payload)
        for start in starts:
            start()
        library: Any = cast(Any, Inner)(target_context.codegen(), name)
        library.enable_object_caching()
        library._final_module = binding.parse_bitcode(data)
        library._finalize_final_module()
        return cast(Any, CompileResult)(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=nobodys_entry(library, description, environment),
            typing_error=None,
            type_annotation=types,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            fndesc=description,
            library=library,
            call_helper=None,
            environment=environment,
            metadata=None,
            reload_init=starts,
            referenced_envs=others,
        )
