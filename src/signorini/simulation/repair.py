"""What is still good of a damaged file of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from signorini.errors import FileError
from signorini.io import read_damaged_tree

_STATES = ("time", "q", "v", "modal", "modal_rate", "kinetic", "potential", "joints/coordinate", "joints/speed")
_NEVER = ("format", "names", "fixed_count", "planar", "mass_centre", "elastic", "settings/", "joints/names")


def repaired_tree(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the tree of a run up to the first step that is damaged.

    How many steps there were, and are, is in the settings: ``"repaired"``. A run that lost steps, or what its stepper
    remembered, cannot be resumed: it has no memory.

    Raises
    ------
    FileError
        If what all steps need is damaged.
    """
    tree, damage = read_damaged_tree(path)
    if not damage:
        return tree
    if "last" in tree or any(name.startswith("last/") for name in damage):
        raise FileError(f"{path}: only part of the run was recorded, a damaged record of a part cannot be repaired")
    for name in damage:
        if name.startswith(_NEVER):
            raise FileError(f"{path}: {name} is damaged, which all steps need: nothing can be read")
    time = tree.get("time")
    if not isinstance(time, np.ndarray) or time.ndim != 1:
        raise FileError(f"{path}: time is damaged, which all steps need: nothing can be read")
    steps = time.size - 1
    kept = min(steps, *(_steps(tree, name, rows, steps) for name, rows in damage.items()))
    if kept < 0:
        raise FileError(f"{path}: the first state is damaged: nothing can be read")
    settings = {**tree["settings"], "repaired": f"{kept} of {steps} steps"}
    memory = tree["memory"] if kept == steps and not any(name.startswith("memory") for name in damage) else {}
    return {**_cut(tree, steps, kept), "memory": memory, "settings": settings}


def _steps(tree: Mapping[str, Any], name: str, rows: int, steps: int) -> int:
    """Return how many steps are good of a column that is good for so many rows."""
    group, _, column = name.rpartition("/")
    if group == "memory":
        return steps
    if name in _STATES:
        return rows - 1
    if group in ("contacts", "layers"):
        if column == "start":
            return rows - (1 if group == "contacts" else 2)
        start = tree[group].get("start")
        whole = isinstance(start, np.ndarray) and start.ndim == 1
        return int(np.searchsorted(start, rows, side="right")) - (1 if group == "contacts" else 2) if whole else -1
    return rows


def _cut(tree: Mapping[str, Any], steps: int, kept: int) -> dict[str, Any]:
    """Return the tree without the steps after the first `kept`."""
    whole = dict(tree)
    for group in ("balance", "certificate", "joints", "contacts", "layers"):
        if isinstance(tree.get(group), dict):
            whole[group] = {
                name: _rows(column, _length(tree[group], group, name, kept)) for name, column in tree[group].items()
            }
    for name in _STATES:
        if name in tree:
            whole[name] = _rows(tree[name], kept + 1)
    return whole


def _length(group: Mapping[str, Any], word: str, name: str, kept: int) -> int | None:
    """Return how many rows of a column belong to the first steps, None for all."""
    if word in ("contacts", "layers"):
        more = 1 if word == "contacts" else 2
        return kept + more if name == "start" else int(group["start"][: kept + more][-1])
    if word == "joints":
        return None if name == "names" else kept + (f"{word}/{name}" in _STATES)
    return kept


def _rows(column: Any, count: int | None) -> Any:
    return column if count is None or column is None else column[:count]
