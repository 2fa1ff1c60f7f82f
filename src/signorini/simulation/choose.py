"""Formulations by name, for scene files, the command line and checkpoints."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from signorini.errors import InputError, suggestion
from signorini.formulations import Formulation, MoreauJean, StewartTrinkle

FORMULATIONS: dict[str, type[Any]] = {"moreau_jean": MoreauJean, "stewart_trinkle": StewartTrinkle}


def formulation_from_dict(data: str | dict[str, Any], where: str) -> Formulation:
    """Return the formulation that a file names: ``stewart_trinkle`` or ``{stewart_trinkle: {directions: 8}}``."""
    if isinstance(data, str):
        data = {data: {}}
    if not isinstance(data, dict) or len(data) != 1:
        raise InputError(f"{where}: formulation is {data!r}, must be one name with its options")
    ((name, options),) = data.items()
    kind = FORMULATIONS[_nearest(name, list(FORMULATIONS), f"{where}: formulation")]
    words = [f.name for f in fields(kind) if f.name != "solver"]
    options = {} if options is None else options
    for key in options:
        _nearest(key, words, f"{where}: formulation {name}: option")
    made: Formulation = kind(**options)
    return made


def formulation_to_dict(formulation: Any) -> dict[str, Any] | None:
    """Return name and options for a file; None if the formulation or its solver is not one a file can name."""
    scheme = scheme_to_dict(formulation)
    if scheme is None:
        return None
    solver = next(f for f in fields(formulation) if f.name == "solver")
    usual = solver.default_factory() if solver.default_factory is not MISSING else solver.default
    return scheme if formulation.solver == usual else None


def scheme_to_dict(formulation: Any) -> dict[str, Any] | None:
    """Return name and options, the solver left out: all that steps can be judged by; None for other formulations."""
    for name, kind in FORMULATIONS.items():
        if type(formulation) is kind:
            return {name: {f.name: getattr(formulation, f.name) for f in fields(kind) if f.name != "solver"}}
    return None


def _nearest(word: str, known: list[str], what: str) -> str:
    """Return `word` if it is known, else raise with the nearest word."""
    if word in known:
        return word
    raise InputError(f"{what} {word!r} is unknown{suggestion(word, known)}")
