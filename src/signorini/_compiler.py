"""Numba's compiler, without what kernels of loops and numbers have no use for.

What each of its tricks saves of the CPU time of a cold start is said beside it, as ``benchmarks/bench_compiler.py`` has
measured for two stages of the step (:doc:`developing`); one that saves less than a tenth is not kept.
"""

from __future__ import annotations

from typing import Any, ClassVar, cast

from numba.core import types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering, NopythonTypeInference

from signorini._inner import Inner, Whole, nobodys_entry

_register: Any = register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]


class _Instead:
    """Puts a function in place of a method of one object for a while."""

    def __init__(self, owner: Any, name: str, function: Any) -> None:
        self._owner, self._name, self._function = owner, name, function

    def __enter__(self) -> None:
        self._before = vars(self._owner).get(self._name)  # that of a kernel which calls this one
        setattr(self._owner, self._name, self._function)

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._before)


@_register
class _Inference(NopythonTypeInference):
    """Type inference that remembers what each function of Numba returns for arguments of a type.

    Numba finds the type of every ``a * b`` anew, by trying all implementations of ``*`` that it knows one after
    another. A kernel of a few hundred products of floats spends most of its type inference there. Saves 13 %.
    """

    _name = "signorini_type_inference"
    _known: ClassVar[dict[Any, Any]] = {}

    def run_pass(self, state: Any) -> Any:
        context = state.typingctx
        resolve = type(context).resolve_function_type
        known = self._known.setdefault((context, state.flags.nrt), {})

        def remembered(function: Any, arguments: Any, keywords: Any) -> Any:
            known_to_numba = isinstance(function, types.Function) or not isinstance(function, types.Type)
            constant = any(isinstance(argument, slice) for argument in arguments)  # not to be looked up
            if keywords or constant or not known_to_numba:
                return resolve(context, function, arguments, keywords)
            signature = known.get((function, arguments))
            if signature is None:
                signature = known[function, arguments] = resolve(context, function, arguments, keywords)
            return signature

        with _Instead(context, "resolve_function_type", remembered):
            return cast(Any, super()).run_pass(state)


class _LowerUncounted(Lower):
    """Lowering without reference counts, which kernels that make and return no arrays do not need. Saves 14 %."""

    def delvar(self, name: Any) -> None:
        """Forget a variable: there is nothing to be counted down."""


@_register
class _Lowering(NativeLowering):
    """Lowering without machine code of kernels that only others call, and without counts where a kernel has none."""

    _name = "signorini_lowering"

    @property
    def lowering_class(self) -> Any:
        """The class that does it."""
        return self._lower

    def run_pass(self, state: Any) -> Any:
        context, alone = state.targetctx, not state.flags.no_cpython_wrapper  # else called by kernels only
        self._lower = Lower if state.flags.nrt else _LowerUncounted
        state.library = cast(Any, Whole if alone else Inner)(context.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        if alone:
            return cast(Any, super()).run_pass(state)
        with _Instead(context, "get_executable", nobodys_entry):
            return cast(Any, super()).run_pass(state)


_INSTEAD_OF = {NopythonTypeInference: _Inference, NativeLowering: _Lowering}


class Compiler(CompilerBase):
    """The pipeline of ``numba.njit`` with these passes."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        passes = cast(Any, DefaultPassBuilder).define_nopython_pipeline(self.state)
        passes.passes = [(_INSTEAD_OF.get(made, made), why) for made, why in passes.passes]
        passes.finalize()
        return [passes]
