"""Joints as the user writes them, checked at the door."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked, checked_number
from signorini.errors import InputError, suggestion
from signorini.math.poses import by_chain, by_differences
from signorini.model import KnownMotion
from signorini.scene.space import Space

KINDS = (
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "spherical",
    "universal",
    "planar",
    "distance",
    "gear",
)
PLANAR_KINDS = ("fixed", "revolute", "prismatic", "distance", "gear")
WITH_COORDINATE = ("revolute", "prismatic", "distance", "spring")
"""Kinds with one coordinate: angle, displacement, distance less its first value."""
_WITH_FRICTION = ("revolute", "prismatic")
_NEED_AXIS = ("revolute", "prismatic", "cylindrical", "planar")
UNTURNED = ("fixed", "spherical", "distance")
"""Kinds that have no axis."""

_SAME_DERIVATIVE = 1e-6  # relative; differences are good to 1e-10, wrong signs and factors are not near

_CHECKED_AT = (0.0, 1e-2)
_CLOSE = 1e-5  # [s]; differences lose 1e-11 of the coordinate by rounding, 1e-11 of its third derivative

JointMotion = Callable[[float], float] | tuple[Callable[[float], float], ...]
"""The coordinate as a function of time, or that with its first and second derivative."""
LoadFriction = tuple[str, float, float]


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint of two bodies, or of a body and the world; vectors in their 3D form, at the initial pose."""

    name: str
    kind: str
    body_a: str | None
    """None for the world."""
    body_b: str
    anchor: Array
    """World coordinates of the anchor on a and on b, (2, 3) [m]; the same point unless the kind has two."""
    axis: Array
    """Unit axes on a and on b, world axes, (2, 3)."""
    ratio: float
    """Turns of b for each turn of a, of a gear."""
    friction: float
    """Constant limit of dry friction [N, N m]."""
    load_friction: tuple[float, float]
    """Coefficient and radius [m] of friction that follows the reaction; (0, 0) for none."""
    motion: Callable[[float], float] | None
    """A :class:`~signorini.model.KnownMotion` if it came with its derivatives."""
    limits: tuple[float, float]
    stiffness: float
    rest: float
    damping: float
    effort_limit: float


@dataclass(frozen=True, slots=True)
class AddedConstraint:
    """A function of poses that is to be zero, or not negative."""

    name: str
    psi: Callable[[Array, float], Any]
    bodies: tuple[str, ...]
    kind: str
    jacobian: Callable[[Array, float], Any] | None
    size: int
    """Number of components of psi."""


def make_constraint(
    name: str,
    psi: Callable[[Array, float], Any],
    bodies: tuple[str, ...],
    poses: Array,
    kind: str,
    jacobian: Callable[[Array, float], Any] | None,
    *,
    planar: bool,
) -> AddedConstraint:
    """Check a constraint at the initial poses of its bodies."""
    if kind not in ("equality", "inequality"):
        raise InputError(f"{name}: kind is {kind!r}, must be 'equality' or 'inequality'")
    if not callable(psi):
        raise InputError(f"{name}: psi is {psi!r}, must be a function of (q, t)")
    width = 3 if planar else 7

    def value(x: Array) -> Array:
        return checked(np.atleast_1d(psi(x, 0.0)), (None,), f"{name}: psi(q, 0)")

    size = value(poses).size
    if jacobian is not None:
        given = checked(jacobian(poses, 0.0), (size, poses.size), f"{name}: jacobian(q, 0)")
        mine, theirs = by_differences(value, poses, width), by_chain(given, poses, width)
        error, scale = np.abs(mine - theirs).max(initial=0.0), np.abs(mine).max(initial=0.0)
        if error > _SAME_DERIVATIVE * max(scale, 1e-3):
            raise InputError(f"{name}: jacobian differs from the difference of psi by {error:.3g}, must agree with it")
    return AddedConstraint(name, psi, bodies, kind, jacobian, size)


def make_joint(
    what: str,
    kind: str,
    body_a: str | None,
    body_b: str,
    *,
    planar: bool,
    anchor: Array,
    axis: Array | None,
    ratio: float | None,
    friction: float | LoadFriction,
    motion: JointMotion | None,
    limits: Sequence[float] | None,
    spring: float | Sequence[float] | None,
    damping: float | None,
    effort_limit: float | None,
    name: str,
) -> Joint:
    """Check the words of a joint; `anchor` (2, 3) and `axis` (n, 3) or None are already in space.

    A spring between two points is a joint of the kind ``"spring"`` without rigid rows.
    """
    if kind == "distance" and np.linalg.norm(anchor[1] - anchor[0]) == 0.0:
        raise InputError(f"{what}: anchor has two equal points {anchor[0].tolist()}, must be apart")
    constant, load = _friction(what, kind, friction)
    for word, value in (("motion", motion), ("limits", limits), ("spring", spring), ("damping", damping)):
        if value is not None and kind not in WITH_COORDINATE:
            raise InputError(f"{what}: {word} is given, but a {kind} joint has no single coordinate for it")
    if effort_limit is not None and motion is None:
        raise InputError(f"{what}: effort_limit is {effort_limit!r} without motion, must limit a motion")
    if (ratio is None) == (kind == "gear"):
        raise InputError(f"{what}: ratio is {ratio!r}, must be given for a gear and for nothing else")
    stiffness, rest = _spring(what, spring)
    return Joint(
        name=name,
        kind=kind,
        body_a=body_a,
        body_b=body_b,
        anchor=anchor,
        axis=_axes(what, kind, axis, planar),
        ratio=0.0 if ratio is None else _ratio(what, ratio),
        friction=constant,
        load_friction=load,
        motion=_motion(what, motion),
        limits=_limits(what, limits),
        stiffness=stiffness,
        rest=rest,
        damping=0.0 if damping is None else checked_number(damping, f"{what}: damping", least=0.0),
        effort_limit=np.inf
        if effort_limit is None
        else checked_number(effort_limit, f"{what}: effort_limit", above=0.0),
    )


def check_kind(what: str, kind: str, planar: bool) -> None:
    """Raise `InputError` unless users may ask for this kind of joint."""
    if kind not in KINDS:
        raise InputError(
            f"{what}: kind {kind!r} is unknown{suggestion(str(kind), KINDS)}; there are {', '.join(KINDS)}"
        )
    if planar and kind not in PLANAR_KINDS:
        raise InputError(f"{what}: kind is {kind!r}, must be one of {', '.join(PLANAR_KINDS)} in a planar scene")


def _axes(what: str, kind: str, axis: Array | None, planar: bool) -> Array:
    """Return the unit axes on a and b, (2, 3)."""
    if axis is None:
        if kind in _NEED_AXIS and not (planar and kind == "revolute"):
            raise InputError(f"{what}: axis is missing, must be given for a {kind} joint")
        if kind in ("universal", "gear") and not planar:
            raise InputError(f"{what}: axis is missing, must be two axes for a {kind} joint")
        return np.tile([0.0, 0.0, 1.0], (2, 1))
    if kind in UNTURNED:
        raise InputError(f"{what}: axis is {axis.tolist()}, must not be given for a {kind} joint, which has none")
    needed = 2 if kind in ("universal", "gear") else 1
    if axis.shape[0] != needed:
        raise InputError(f"{what}: axis has {axis.shape[0]} vectors, must be {needed} for a {kind} joint")
    length = np.linalg.norm(axis, axis=1)
    if np.any(length == 0.0):
        raise InputError(f"{what}: axis is {axis.tolist()}, must not be zero")
    unit: Array = np.broadcast_to(axis / length[:, None], (2, 3)).copy()
    if kind == "universal" and abs(float(unit[0] @ unit[1])) > 1e-6:
        raise InputError(f"{what}: axis is {axis.tolist()}, must be two axes at a right angle")
    if planar and kind in ("revolute", "gear") and np.any(np.abs(unit[:, 2]) < 1.0 - 1e-12):
        raise InputError(f"{what}: axis is {axis.tolist()}, must be normal to the plane")
    if planar and kind == "prismatic" and np.any(unit[:, 2] != 0.0):
        raise InputError(f"{what}: axis is {axis.tolist()}, must lie in the plane")
    return unit


def anchors_in_space(kind: str, anchor: ArrayLike | None, what: str, space: Space) -> Array:
    """Return the anchors on a and b, (2, 3)."""
    if kind == "gear":
        return np.zeros((2, 3))
    if anchor is None:
        raise InputError(f"{what}: anchor is missing, must be given for a {kind} joint")
    if kind in ("distance", "spring"):
        points = _array_or_none(anchor)
        if points is None or points.ndim != 2 or len(points) != 2:
            raise InputError(f"{what}: anchor is {anchor!r}, must be two points for a {kind} joint")
        return np.array([space.vector(point, f"{what}: anchor") for point in points])
    return np.tile(space.vector(anchor, f"{what}: anchor"), (2, 1))


def axes_in_space(axis: ArrayLike, what: str, space: Space) -> Array:
    """Return one or two axes, (n, 3); in the plane two components of each are given, or three if normal to it."""
    given = _array_or_none(axis)
    if given is None or given.ndim not in (1, 2):
        raise InputError(f"{what}: axis is {axis!r}, must be one vector or two")
    several, what = np.atleast_2d(given), f"{what}: axis"
    return np.array([checked(one, (3,), what) if one.size == 3 else space.vector(one, what) for one in several])


def _array_or_none(value: ArrayLike) -> Array | None:
    """Return `value` as an array of whatever shape, None if it is not made of numbers."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _friction(what: str, kind: str, friction: Any) -> tuple[float, tuple[float, float]]:
    """Return the constant limit, and coefficient and radius of friction by load."""
    by_load = isinstance(friction, tuple | list)
    if by_load:
        if len(friction) != 3 or friction[0] != "load":
            raise InputError(f"{what}: friction is {friction!r}, must be a limit or ('load', coefficient, radius)")
        coefficient = checked_number(friction[1], f"{what}: friction coefficient", least=0.0)
        load = (coefficient, checked_number(friction[2], f"{what}: friction radius", above=0.0))
        constant = 0.0
    else:
        constant, load = checked_number(friction, f"{what}: friction", least=0.0), (0.0, 0.0)
    if (constant > 0.0 or by_load) and kind not in _WITH_FRICTION:
        raise InputError(
            f"{what}: friction is {friction!r}, must be 0 unless the joint is {' or '.join(_WITH_FRICTION)}"
        )
    return constant, load


def _motion(what: str, motion: Any) -> Callable[[float], float] | None:
    """Return the prescribed coordinate, with its derivatives where they are given and agree with it."""
    if isinstance(motion, tuple | list):
        if len(motion) != 3 or not all(map(callable, motion)):
            raise InputError(f"{what}: motion is {motion!r}, must be a function of time or (f, rate, acceleration)")
        known = KnownMotion(*motion)
        _check_derivative(f"{what}: rate", known.value, known.rate)
        _check_derivative(f"{what}: acceleration", known.rate, known.acceleration)
        return known
    if motion is not None and not callable(motion):
        raise InputError(f"{what}: motion is {motion!r}, must be a function of time or (f, rate, acceleration)")
    function: Callable[[float], float] | None = motion
    return function


def _check_derivative(what: str, f: Callable[[float], float], rate: Callable[[float], float]) -> None:
    """Raise `InputError` unless `rate` is that of `f` just after the start, where it may bend, and a little later."""
    for t in _CHECKED_AT:
        ends = (t + _CLOSE, t + 2.0 * _CLOSE)
        low, high = (checked_number(f(x), f"{what}: what it is the rate of, at {x:g} s") for x in ends)
        given = checked_number(rate(t + 1.5 * _CLOSE), f"{what} at {t:g} s")
        found = (high - low) / _CLOSE
        if abs(given - found) > _SAME_DERIVATIVE * max(abs(found), abs(high), 1.0):
            raise InputError(f"{what} is {given:.6g} at {t:g} s, must be {found:.6g} there, as differences say")


def _limits(what: str, limits: Any) -> tuple[float, float]:
    if limits is None:
        return -np.inf, np.inf
    if not isinstance(limits, tuple | list | np.ndarray) or len(limits) != 2:
        raise InputError(f"{what}: limits is {limits!r}, must be a pair (least, largest)")
    try:
        low, high = (float(x) for x in limits)
    except (TypeError, ValueError):
        low = high = np.nan
    if not low < high:
        raise InputError(f"{what}: limits is {limits!r}, must be a pair (least, largest) with least < largest")
    return low, high


def _spring(what: str, spring: Any) -> tuple[float, float]:
    """Return stiffness and relaxed coordinate."""
    if spring is None:
        return 0.0, 0.0
    if isinstance(spring, tuple | list | np.ndarray):
        stiffness, rest = checked(spring, (2,), f"{what}: spring")
        return checked_number(stiffness, f"{what}: spring stiffness", least=0.0), float(rest)
    return checked_number(spring, f"{what}: spring", least=0.0), 0.0


def _ratio(what: str, ratio: Any) -> float:
    value = checked_number(ratio, f"{what}: ratio")
    if value == 0.0:
        raise InputError(f"{what}: ratio is 0, must be the turns of b for each turn of a")
    return value
