"""Things by name, for scene files, the command line and checkpoints: formulations, and what they remember."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from signorini.errors import FileError, InputError, suggestion
from signorini.formulations import AnyMemory, Formulation, MoreauJean, QuasiRigid, Recursive, StewartTrinkle
from signorini.io import clipped, short
from signorini.simulation.tree_shapes import checked_memory

FORMULATIONS: dict[str, type[Any]] = {
    "moreau_jean": MoreauJean,
    "stewart_trinkle": StewartTrinkle,
    "quasi_rigid": QuasiRigid,
    "recursive": Recursive,
}
"""Formulations by the word that scene files and the command line use."""
_OBJECTS = ("solver", "integrator")  # options that are objects: no file holds them


def formulation_from_dict(data: str | dict[str, Any], where: str) -> Formulation:
    """Return the formulation that a file names: ``stewart_trinkle`` or ``{stewart_trinkle: {directions: 8}}``."""
    made: Formulation = named(FORMULATIONS, data, where, "formulation")
    return made


def formulation_to_dict(formulation: Any) -> dict[str, Any] | None:
    """Return name and options for a file; None if the formulation or its solver is not one a file can name."""
    scheme = scheme_to_dict(formulation)
    return scheme if scheme is not None and all(_is_usual(formulation, word) for word in _OBJECTS) else None


def scheme_to_dict(formulation: Any) -> dict[str, Any] | None:
    """Return name and options, the solver left out: all that steps can be judged by; None for other formulations."""
    return name_of(FORMULATIONS, formulation)


def named(kinds: Mapping[str, type[Any]], data: str | dict[str, Any], where: str, what: str) -> Any:
    """Return the thing that a file names: one of `kinds`, dataclasses by name, alone or with options."""
    if isinstance(data, str):
        data = {data: {}}
    if not isinstance(data, dict) or len(data) != 1:
        raise InputError(f"{where}: {what} is {short(data)}, must be one name with its options")
    ((name, options),) = data.items()
    kind = kinds[_nearest(name, list(kinds), f"{where}: {what}")]
    options = {} if options is None else options
    if not isinstance(options, dict):
        raise InputError(f"{where}: {what} {name} is {short(options)}, must be a mapping of its options")
    for key in options:
        _nearest(key, _words(kind), f"{where}: {what} {name}: option")
    try:
        return kind(**options)
    except InputError as error:
        raise InputError(f"{where}: {clipped(str(error), 200)}") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where}: {what} {name} cannot have the options {short(options)}: {error}") from error


def name_of(kinds: Mapping[str, type[Any]], thing: Any) -> dict[str, Any] | None:
    """Return name and options of a thing, the inverse of :func:`named`; None if it is none of `kinds`."""
    for name, kind in kinds.items():
        if type(thing) is kind:
            return {name: {word: getattr(thing, word) for word in _words(kind)}}
    return None


def _words(kind: type[Any]) -> list[str]:
    """Return the options that a file may give."""
    return [field.name for field in fields(kind) if field.name not in _OBJECTS]


def _is_usual(thing: Any, word: str) -> bool:
    """Tell whether an option is what it is if nobody says anything, or is not there at all."""
    for field in fields(thing):
        if field.name == word:
            usual = field.default_factory() if field.default_factory is not MISSING else field.default
            return bool(getattr(thing, word) == usual)
    return True


def memory_to_dict(memory: AnyMemory) -> dict[str, Any]:
    """Return what a stepper remembers, as files hold it."""
    return {"kind": memory.kind, **memory.to_arrays()}


def memory_from_dict(own: AnyMemory, data: dict[str, Any], where: str) -> AnyMemory:
    """Return the memory of a file; it must be of the type of the formulation's `own`."""
    arrays = dict(data)
    found = arrays.pop("kind", None)
    if found != own.kind:
        raise FileError(f"{where}: memory is of the kind {short(found)}, must be {own.kind!r} for this formulation")
    try:
        return own.from_arrays(checked_memory(own.to_arrays(), arrays, where))
    except (KeyError, TypeError) as error:
        raise FileError(f"{where}: the memory is incomplete: {error}") from error


def _nearest(word: str, known: list[str], what: str) -> str:
    """Return `word` if it is known, else raise with the nearest word."""
    if word in known:
        return word
    raise InputError(f"{what} {short(word)} is unknown{suggestion(word, known)}")
