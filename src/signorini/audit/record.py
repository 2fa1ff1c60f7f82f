"""A run as its file tells it, and the scheme by which its steps were made."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.audit.findings import ROUNDING, TOLERANCE
from signorini.dynamics.bodies import WAYS
from signorini.errors import FileError
from signorini.io import clipped, read_tree, short
from signorini.model import Model
from signorini.scene import Scene, compile_scene, scene_from_text

_NEEDED = ("names", "time", "q", "v")
_OPTIONS = ("theta", "gyroscopic", "projection", "restitution_law", "stiffness", "sleeping")


@dataclass(frozen=True, slots=True)
class Scheme:
    """How a step goes from velocities and impulses to velocities and places; see the theory of time stepping."""

    theta: float = 1.0
    gyroscopic: str = "conserving"
    exact_rotation: bool = True
    """Bodies turn by the exponential map, otherwise as in S1 eq. (26)."""
    common_point: bool = True
    """Both bodies of a contact feel the impulse at one point, otherwise each on its own surface."""
    secant: bool = True
    """Prescribed bodies count with their mean velocity over a step, otherwise with that at its start."""
    follows_drives: bool = True
    """Driven joints are where they are driven to at the end of a step, otherwise they move as fast."""
    projection: bool = False
    displaces_overlaps: bool = True
    """Bodies that overlap may be displaced, without a word to their velocities."""
    restitution_law: str = "newton"
    stiffness: float | None = None
    sleeping: bool = False
    polygon: tuple[int, float] | None = None
    """Number and angle of friction directions, None for the exact cone."""
    told: bool = True
    """Whether the file tells the scheme."""


@dataclass(frozen=True, slots=True)
class ContactRows:
    """Contacts of all steps; step l owns the rows ``start[l]:start[l + 1]``."""

    start: IntArray
    body_a: IntArray
    body_b: IntArray
    point_a: Array
    point: Array
    normal: Array
    gap: Array
    impulse: Array
    mu: Array | None
    """Coefficients of the record; None: those of the scene."""
    velocity: Array | None
    """Relative velocities that the record tells, in the contact frames, (rows, 3)."""
    couple: Array | None
    """Couples on body b about the contact frames, (rows, 3); None: the record does not tell them."""


@dataclass(frozen=True, slots=True)
class JointRows:
    """Joints of all steps."""

    names: tuple[str, ...]
    coordinate: Array
    """(n+1, n_j)"""
    speed: Array
    """(n+1, n_j)"""
    reaction: Array
    """Impulse and moment on body b at its anchor, world axes, (n, n_j, 6)."""
    ending: Array | None = None
    """The part of it that acts where steps end; None: all acts where they begin."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a file holds."""

    source: str
    tree: dict[str, Any]
    """All of it."""
    names: tuple[str, ...]
    model: Model | None
    time: Array
    """(n+1,)"""
    h: Array
    """(n,)"""
    q: Array
    v: Array
    modal: Array
    """Further coordinates, those of modes first, (n+1, n_m)."""
    modal_rate: Array
    """Their rates, (n+1, n_m)."""
    contacts: ContactRows | None
    joints: JointRows | None
    tolerance: float
    scheme: Scheme

    @property
    def step_count(self) -> int:
        """Number of steps."""
        return int(self.h.size)

    def column(self, group: str, name: str) -> Array | None:
        """Return one number for each step or state, None if the file has no such column."""
        value = self.tree.get(group, {}).get(name) if group else self.tree.get(name)
        size = self.step_count
        return value if isinstance(value, np.ndarray) and value.shape in ((size,), (size + 1,)) else None


def read_record(path: str | os.PathLike[str], scene: Scene | None = None) -> Record:
    """Read a file; `scene` is needed where the file cannot hold it."""
    try:
        return record_of(read_tree(path), str(path), scene)
    except FileError:
        raise
    except (TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise FileError(f"{path}: is no record of a run: {clipped(str(error), 150)}") from error


def record_of(tree: dict[str, Any], source: str, scene: Scene | None = None) -> Record:
    """Return the record in the content of a file.

    Raises
    ------
    FileError
        If motion is missing, or does not fit the scene.
    """
    if "last" in tree:
        raise FileError(f"{source}: only part of the run was recorded, must be all states of all bodies to be repeated")
    missing = [word for word in _NEEDED if word not in tree]
    if missing:
        raise FileError(f"{source}: {', '.join(map(repr, missing))} missing, must hold {', '.join(_NEEDED)}")
    names, time = tuple(map(str, tree["names"])), _floats(tree["time"])
    n, n_b = time.size - 1, len(names)
    q, v = _floats(tree["q"]), _floats(tree["v"])
    for word, array, shape in (("q", q, (n + 1, n_b, 7)), ("v", v, (n + 1, n_b, 6))):
        if n < 0 or array.shape != shape:
            raise FileError(f"{source}: {word} has the shape {array.shape}, must be {shape} for names and time")
    modal_rate = _floats(tree.get("modal_rate", np.zeros((n + 1, 0))))
    if modal_rate.ndim != 2 or modal_rate.shape[0] != n + 1:
        raise FileError(f"{source}: modal_rate has the shape {modal_rate.shape}, must have {n + 1} rows")
    modal = _floats(tree.get("modal", np.zeros_like(modal_rate)))
    if modal.shape != modal_rate.shape:
        raise FileError(f"{source}: modal has the shape {modal.shape}, must be {modal_rate.shape} like modal_rate")
    settings = tree.get("settings") or {}
    if not isinstance(settings, dict):
        raise FileError(f"{source}: settings are {short(settings)}, must be a group")
    if scene is None and settings.get("scene") is not None:
        scene = scene_from_text(settings["scene"], source)
    model = None if scene is None else compile_scene(scene)
    if model is not None and model.names != names:
        raise FileError(f"{source}: bodies are {short(names)}, the scene has {short(model.names)}")
    joints = _joints(tree.get("joints"), n)
    if model is not None and joints is not None and model.joints.names != joints.names:
        raise FileError(f"{source}: joints are {short(joints.names)}, the scene has {short(model.joints.names)}")
    return Record(
        source=source,
        tree=tree,
        names=names,
        model=model,
        time=time,
        h=_steps(time, _number(settings, "h", source)),
        q=q,
        v=v,
        modal=modal,
        modal_rate=modal_rate,
        contacts=_contacts(tree.get("contacts"), n, n_b, source),
        joints=joints,
        tolerance=_number(settings, "tolerance", source) or TOLERANCE,
        scheme=_scheme(settings, source),
    )


def _floats(value: Any) -> Array:
    return np.ascontiguousarray(value, dtype=np.float64)


def _steps(time: Array, h: float | None) -> Array:
    """Return the lengths of the steps: those of the settings, which are not rounded, where the times agree."""
    between = np.diff(time)
    if h is None:
        return between
    agrees = np.abs(between - h) <= ROUNDING * h + 1e-15 * np.abs(time[1:])
    steps: Array = np.where(agrees, h, between)
    return steps


def _contacts(columns: Any, steps: int, bodies: int, source: str) -> ContactRows | None:
    """Return the table of contacts, None if the file has none for its steps."""
    if not isinstance(columns, dict) or np.size(columns.get("start", ())) != steps + 1 or steps == 0:
        return None
    needed = ("start", "body_a", "body_b", "point", "normal", "gap", "impulse")
    missing = [word for word in needed if word not in columns]
    if missing:
        raise FileError(f"{source}: contacts: {', '.join(map(repr, missing))} missing")
    start, a, b = (np.ascontiguousarray(columns[word], dtype=np.int64) for word in needed[:3])
    point, normal, gap, impulse = (_floats(columns[word]) for word in needed[3:])
    rows = a.size
    whole = start[0] == 0 and start[-1] == rows and np.all(np.diff(start) >= 0) and b.size == gap.size == rows
    if not whole or any(x.shape != (rows, 3) for x in (point, normal, impulse)):
        raise FileError(f"{source}: contacts: columns must have one row for each of the {rows} contacts")
    if rows and not (a.min() >= 0 and b.min() >= 0 and max(a.max(), b.max()) < bodies):
        raise FileError(f"{source}: contacts: bodies must be numbers from 0 to {bodies - 1}")
    more = {word: _floats(columns[word]) for word in ("point_a", "mu", "velocity", "couple") if word in columns}
    for word, column in more.items():
        if column.shape != ((rows,) if word == "mu" else (rows, 3)):
            raise FileError(f"{source}: contacts: {word} has the shape {column.shape}, must have {rows} rows")
    point_a = more["point_a"] if "point_a" in more else point - gap[:, None] * normal
    told = (more.get(word) for word in ("mu", "velocity", "couple"))
    return ContactRows(start, a, b, point_a, point, normal, gap, impulse, *told)


def _joints(columns: Any, steps: int) -> JointRows | None:
    """Return joints, None if the file does not tell what they did in its steps."""
    words = ("names", "coordinate", "speed", "reaction")
    if not isinstance(columns, dict) or any(word not in columns for word in words):
        return None
    names = tuple(map(str, columns["names"]))
    coordinate, speed, reaction = (_floats(columns[word]) for word in words[1:])
    fits = coordinate.shape == speed.shape == (steps + 1, len(names)) and reaction.shape == (steps, len(names), 6)
    ending = _floats(columns["ending"]) if columns.get("ending") is not None else None
    fits = fits and (ending is None or ending.shape == reaction.shape)
    return JointRows(names, coordinate, speed, reaction, ending) if fits else None


def _number(settings: dict[str, Any], word: str, source: str) -> float | None:
    """Return a positive number of the settings, None if they do not have it."""
    value = settings.get(word)
    if value is not None and not (isinstance(value, int | float) and 0.0 < value < np.inf):
        raise FileError(f"{source}: settings: {word} is {short(value)}, must be a number above 0")
    return None if value is None else float(value)


def _scheme(settings: dict[str, Any], source: str) -> Scheme:
    """Return the scheme that the settings name; without any word of it the default, as documented."""
    words = [settings[word] for word in ("scheme", "formulation") if word in settings]
    if not words:
        return Scheme()
    if not isinstance(words[0], dict) or len(words[0]) != 1:
        return Scheme(told=False)
    ((name, options),) = words[0].items()
    told = {word: options[word] for word in _OPTIONS if word in options} if isinstance(options, dict) else {}
    if told.get("gyroscopic", "implicit") not in WAYS or not 0.5 <= told.get("theta", 1.0) <= 1.0:
        raise FileError(f"{source}: settings: {name}: {short(told)} is no way to make steps")
    if name == "moreau_jean":
        return Scheme(**told, displaces_overlaps=told.get("theta", 1.0) == 1.0 and told.get("stiffness") is None)
    if name == "stewart_trinkle":
        return Scheme(
            **told,
            exact_rotation=False,
            common_point=False,
            secant=False,
            follows_drives=False,
            displaces_overlaps=False,
            polygon=(int(options.get("directions", 8)), float(options.get("rotation", 0.0))),
        )
    return Scheme(told=False)
