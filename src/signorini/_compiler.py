"""Numba's compiler with a memory, which halves its type inference.

Numba finds the type of every ``a * b`` anew, by trying all implementations of ``*`` that it knows one after another. A
kernel of a few hundred products of floats spends most of its type inference there.
"""

from __future__ import annotations

from typing import Any, cast

from numba.core import types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonTypeInference


@cast(Any, register_pass)(mutates_CFG=True, analysis_only=False)
class _Inference(NopythonTypeInference):
    """Type inference that remembers, within one kernel, what each function of Numba returns for arguments of a type."""

    _name = "signorini_type_inference"

    def run_pass(self, state: Any) -> Any:
        context = state.typingctx
        before = vars(context).get("resolve_function_type")  # that of a kernel which calls this one
        resolve = type(context).resolve_function_type
        known: dict[Any, Any] = {}

        def remembered(function: Any, arguments: Any, keywords: Any) -> Any:
            known_to_numba = isinstance(function, types.Function) or not isinstance(function, types.Type)
            constant = any(isinstance(argument, slice) for argument in arguments)  # not to be looked up
            if keywords or constant or not known_to_numba:
                return resolve(context, function, arguments, keywords)
            signature = known.get((function, arguments))
            if signature is None:
                signature = known[function, arguments] = resolve(context, function, arguments, keywords)
            return signature

        context.resolve_function_type = remembered
        try:
            return cast(Any, super()).run_pass(state)
        finally:
            if before is None:
                del context.resolve_function_type
            else:
                context.resolve_function_type = before


class Compiler(CompilerBase):
    """The pipeline of ``numba.njit`` with that inference."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        passes = cast(Any, DefaultPassBuilder).define_nopython_pipeline(self.state)
        passes.passes = [(_Inference if made is NopythonTypeInference else made, why) for made, why in passes.passes]
        passes.finalize()
        return [passes]
