"""Kernels that are parts of others: machine code of their own would never run.

Numba makes it for every function that it compiles. Here it is made where somebody asks for an address.
"""

from __future__ import annotations

from typing import Any, cast

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock


class Part(JITCodeLibrary):
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
    """Return what stands for a part in Numba's tables: a function that nobody can call from Python."""
    name = description.qualname.split(".")[-1]
    return cast(Any, _dynfunc).make_function(description.lookup_module(), name, "", 0, environment, (library,))
