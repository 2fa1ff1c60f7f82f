"""What the file of a run must hold: types, shapes, and numbers that name rows or bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from signorini.errors import FileError
from signorini.io import short
from signorini.simulation.deformed import check_flexible
from signorini.simulation.recording import Recording
from signorini.simulation.seen import check_looks

Sizes = dict[str, int]

_STATES = {
    "q": ("states", "recorded", 7),
    "v": ("states", "recorded", 6),
    "modal": ("states", "modal"),
    "modal_rate": ("states", "modal"),
    "kinetic": ("states",),
    "potential": ("states",),
    "mass_centre": ("bodies", 3),
}
_CONTACTS: dict[str, tuple[str | int, ...]] = {
    **dict.fromkeys(("body_a", "body_b", "mode", "feature"), ("contacts",)),
    **dict.fromkeys(("gap", "core_impulse"), ("contacts",)),
    **dict.fromkeys(("point_a", "point", "normal", "impulse", "velocity", "couple", "deflection"), ("contacts", 3)),
}
_JOINTS: dict[str, tuple[str | int, ...]] = {
    "coordinate": ("states", "joints"),
    "speed": ("states", "joints"),
    "effort": ("recorded steps", "joints"),
    "reaction": ("recorded steps", "joints", 6),
    "ending": ("recorded steps", "joints", 6),
}
_LAYERS: dict[str, tuple[str | int, ...]] = {
    "body": ("layers", 2),
    "deflection": ("layers", 2, 3),
    "spring": ("layers", 2, 3),
    "core": ("layers", 2),
    "couple": ("layers",),
}
_WHOLE = ("body_a", "body_b", "mode", "feature", "body", "start")
_GROUPS = ("contacts", "joints", "balance", "certificate", "memory", "settings")
_MODES = 3
_SETTINGS: dict[str, tuple[type, ...]] = {
    "h": (float,),
    "duration": (float,),
    "tolerance": (float,),
    "record": (str,),
    "validity": (type(None), bool, float),
    "on_failure": (str,),
    "formulation": (type(None), dict),
    "scheme": (type(None), dict),
    "scene": (type(None), str),
    "warnings": (list,),
    "every": (int,),
    "bodies": (type(None), list),
}
_LAST: dict[str, tuple[str | int, ...]] = {
    "q": ("bodies", 7),
    "v": ("bodies", 6),
    "modal": ("modal",),
    "modal_rate": ("modal",),
    "joints": ("joints",),
}


def check_tree(tree: Mapping[str, Any], where: str) -> None:
    """Raise `FileError` unless a file of a run, whatever version, holds what its format says.

    What is missing is not told here.
    """
    for group in _GROUPS:
        if not isinstance(tree.get(group), dict):
            raise FileError(f"{where}: {group} is {short(tree.get(group))}, must be a group")
    joints = tree["joints"]
    for what, names in (("names", tree.get("names")), ("joints/names", joints.get("names"))):
        if not isinstance(names, list) or len(set(names)) != len(names):
            raise FileError(f"{where}: {what} are {short(names)}, must be a list of names, each once")
    bodies = len(tree["names"])
    fixed = tree.get("fixed_count")
    if type(fixed) is not int or not 0 <= fixed <= bodies:
        raise FileError(f"{where}: fixed_count is {short(fixed)}, must be a number from 0 to {bodies}")
    for word, kind in (("planar", bool), ("elastic", float)):
        if type(tree.get(word)) is not kind:
            raise FileError(f"{where}: {word} is {short(tree.get(word))}, must be a {kind.__name__}")
    time = _array(tree, "time", (None,), where)
    if time.size == 0 or not np.isfinite(time).all() or (np.diff(time) < 0.0).any():
        raise FileError(f"{where}: time is {short(time.tolist())}, must be at least one moment, and grow")
    modal = tree.get("modal")
    recording = _recording(tree, where)
    steps = _steps(tree, time.size, recording.every, where)
    sizes = {
        "states": time.size,
        "recorded steps": time.size - 1,
        "steps": steps,
        "bodies": bodies,
        "recorded": recording.rows(tree["names"], fixed).size,
        "joints": len(joints["names"]),
        "modal": modal.shape[1] if isinstance(modal, np.ndarray) and modal.ndim == 2 else 0,
        "contacts": _flat(tree["contacts"], time.size, "contacts", where),
    }
    _check_group(tree, _STATES, sizes, where)
    _check_group(tree["contacts"], _CONTACTS, sizes, f"{where}: contacts")
    _check_group(joints, _JOINTS, sizes, f"{where}: joints")
    for group in ("balance", "certificate"):
        _check_group(tree[group], dict.fromkeys(tree[group], ("steps",)), sizes, f"{where}: {group}")
    for word in ("body_a", "body_b"):
        _check_range(tree["contacts"], word, bodies, f"{where}: contacts")
    _check_range(tree["contacts"], "mode", _MODES, f"{where}: contacts")
    if "layers" in tree:
        if not isinstance(tree["layers"], dict):
            raise FileError(f"{where}: layers is {short(tree['layers'])}, must be a group")
        sizes["layers"] = _flat(tree["layers"], time.size + 1, "layers", where)
        _check_group(tree["layers"], _LAYERS, sizes, f"{where}: layers")
        _check_range(tree["layers"], "body", bodies, f"{where}: layers")
    if "flexible" in tree:
        check_flexible(tree["flexible"], sizes["modal"], where)
    if "looks" in tree:
        check_looks(tree["looks"], bodies, where)
    if not recording.is_whole:
        last = tree.get("last")
        if not isinstance(last, dict) or type(last.get("t")) is not float or not all(name in last for name in _LAST):
            raise FileError(f"{where}: last is {short(last)}, must be the state at the end")
        _check_group(last, _LAST, sizes, f"{where}: last")


def _recording(tree: Mapping[str, Any], where: str) -> Recording:
    """Return what was recorded."""
    settings = tree["settings"]
    _check_settings(settings, where)
    every, bodies = settings.get("every", 1), settings.get("bodies") or ()
    if every < 1 or not all(isinstance(name, str) for name in bodies):
        raise FileError(f"{where}: settings: every and bodies are {short([every, bodies])}, must be a number and names")
    return Recording.of(settings)


def _steps(tree: Mapping[str, Any], states: int, every: int, where: str) -> int:
    """Return the number of steps: that of states tells it, but where only every k-th was recorded."""
    if every == 1:
        return states - 1
    residual = tree["certificate"].get("residual")
    steps = residual.size if isinstance(residual, np.ndarray) else 0
    if steps // every != states - 1:
        raise FileError(f"{where}: has {states} states of {steps} steps, must have every {every}th")
    return steps


def _array(group: Mapping[str, Any], name: str, shape: tuple[int | None, ...], where: str) -> Any:
    """Return a column of the given shape, None for any length."""
    value = group.get(name)
    kinds = "iub" if name in _WHOLE else "biuf"
    if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
        raise FileError(f"{where}: {name} is {_kind(value)}, must be an array of {'whole ' * (kinds == 'iub')}numbers")
    if value.ndim == len(shape) and shape[0] not in (None, len(value)):
        raise FileError(f"{where}: {name!r} has {len(value)} rows, must have {shape[0]}")
    if value.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, value.shape, strict=True)):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise FileError(f"{where}: {name!r} has the shape {value.shape}, must have ({wanted})")
    return value


def _kind(value: Any) -> str:
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) else short(value)


def _check_group(
    group: Mapping[str, Any], shapes: Mapping[str, tuple[str | int, ...]], sizes: Sizes, where: str
) -> None:
    for name, shape in shapes.items():
        if group.get(name) is not None:
            _array(group, name, tuple(sizes[n] if isinstance(n, str) else n for n in shape), where)


def _flat(group: Mapping[str, Any], most: int, what: str, where: str) -> int:
    """Return how many rows the steps of a flat table own, at most so many steps being told."""
    start = _array(group, "start", (None,), f"{where}: {what}")
    if not 0 < start.size <= most or start[0] != 0 or (np.diff(start) < 0).any():
        raise FileError(f"{where}: {what}: start has {start.size} rows, must have up to {most}, and grow from 0")
    return int(start[-1])


def _check_range(group: Mapping[str, Any], name: str, count: int, where: str) -> None:
    values = group.get(name)
    if isinstance(values, np.ndarray) and values.size and not (values.min() >= 0 and values.max() < count):
        raise FileError(f"{where}: {name} has values beyond 0 to {count - 1}")


def _check_settings(settings: Mapping[str, Any], where: str) -> None:
    for word, kinds in _SETTINGS.items():
        if word in settings and type(settings[word]) not in kinds:
            names = " or ".join(kind.__name__ for kind in kinds)
            raise FileError(f"{where}: settings: {word} is {short(settings[word])}, must be {names}")


def checked_memory(own: Mapping[str, Any], found: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return what a file remembers as a formulation's `own` memory does, which has arrays of such types and widths."""
    arrays: dict[str, Any] = {}
    for name, value in found.items():
        if name not in own:
            raise FileError(f"{where}: memory has {short(name)}, must have {', '.join(own)}")
        like = own[name]
        if isinstance(like, np.ndarray):
            exact = name == "coordinate"
            _array({name: value}, name, like.shape if exact else (None, *like.shape[1:]), f"{where}: memory")
            if value.dtype.kind != like.dtype.kind:
                raise FileError(f"{where}: memory: {name} is {_kind(value)}, must be of {like.dtype}")
            value = value.astype(like.dtype)
        elif type(value) is not type(like) and not (isinstance(like, int) and type(value) is float):
            raise FileError(f"{where}: memory: {name} is {_kind(value)}, must be a {type(like).__name__}")
        arrays[name] = value
    lengths = {len(arrays[name]) for name in ("feature", "impulse", "body", "deflection", "tangent") if name in arrays}
    if len(lengths) > 1 or (np.diff(arrays.get("feature", np.zeros(0))) < 0).any():
        raise FileError(f"{where}: memory has columns of {sorted(lengths)} rows, must be one sorted table")
    return arrays
