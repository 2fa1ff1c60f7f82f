"""What is said of a scene at the door, once: whatever looks as if it was not meant.

Each check is a function of the compiled scene that returns at most a line for each kind of trouble: the worst case by
name, its value with unit, how many others there are, and what to try.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import bilateral_rows, constraint_rows, drive_velocity, joint_coordinates
from signorini.model import Contacts, Model, RowKind, State
from signorini.model.thickness import thinnest_extents
from signorini.posing.gap_law import contact_sizes
from signorini.scene.compile import ROUGHEST

FAR = 1e9
"""Numbers, and ratios of masses, beyond this are told: of sixteen digits hardly seven are left for the rest."""
TOUCH = 1e-6  # of the smaller body's radius: overlaps up to twice the band that the law of gaps takes for touch
_DIGITS = 1e-3  # relative: typed digits may be few, anything worse is a mistake
_ROUNDING = 1e-9  # rad or m
_SMALL_MOVE = 0.1  # of a radian or of a body's width: what a good step moves at most


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Something in a scene that its author may not have meant."""

    kind: str
    message: str

    def __str__(self) -> str:
        return self.message


def look(model: Model, state: State, h: float, contacts: Contacts, *, contact_given: bool) -> list[Suspicion]:
    """Return what is suspicious about a run in steps of `h` seconds from `state`.

    `contacts` are those at the state, near ones at least; `contact_given` tells whether the user wrote anything about
    contacts.
    """
    found: list[Suspicion] = []
    for check in (_far_numbers, _mass_ratio):
        found += check(model, state)
    found += _overlaps(model, contacts)
    found += [] if contact_given else _no_contact_data(model)
    if model.joints.any:
        found += [*_joint_starts(model, state), *_unmet_constraints(model, state), *_unmet_velocities(model, state, h)]
    found += [*_fast_bodies(model, state, h), *_fast_drives(model, state, h)]
    return found


def _others(count: int) -> str:
    """Return how a message goes on where it names one of several."""
    return f" (and {count} more)" if count > 0 else ""


# --- numbers -----------------------------------------------------------------------


def _far_numbers(model: Model, state: State) -> Iterator[Suspicion]:
    """Tell of each kind of number that is beyond a thousand million of its unit."""
    joints, shapes = model.joints, model.shapes
    size = np.zeros(model.body_count)
    np.maximum.at(size, shapes.body, np.where(np.isfinite(shapes.bound), shapes.bound, 0.0))
    bodies = [f"body {name!r}" for name in model.names]
    hinges = [f"joint {name!r}" for name in joints.names]
    kinds: list[tuple[str, list[str], Array, str, str]] = [
        ("mass", bodies, model.arrays.mass, "kg", "masses are in kg"),
        ("size", bodies, 2.0 * size, "m", "lengths are in m"),
        ("position", bodies, np.abs(state.q[:, :3]).max(axis=1), "m", "lengths are in m"),
        ("speed", bodies, np.linalg.norm(state.v[:, :3], axis=1), "m/s", "speeds are in m/s"),
        ("angular speed", bodies, np.linalg.norm(state.v[:, 3:], axis=1), "rad/s", "they are in rad/s"),
        ("gravity", ["scene"], np.array([np.linalg.norm(model.arrays.gravity)]), "m/s^2", "it is in m/s^2"),
        ("stiffness", hinges, joints.stiffness, "N/m or N m/rad", "a rigid joint costs less than so stiff a spring"),
        ("damping", hinges, joints.damping, "N s/m or N m s/rad", "a rigid joint costs less than so stiff a damper"),
    ]
    if model.materials.friction.max() >= ROUGHEST:
        yield Suspicion(
            "far friction",
            f"contact: friction is {ROUGHEST:g} or more, and counts as that; a few units hold as well as infinity does",
        )
    for kind, names, value, unit, hint in kinds:
        beyond = np.flatnonzero(value > FAR)
        if beyond.size:
            k = beyond[np.argmax(value[beyond])]
            told = f"{value[k]:.3g} {unit}".rstrip()
            rest = _others(beyond.size - 1)
            yield Suspicion(f"far {kind}", f"{names[k]}: {kind} is {told}, beyond {FAR:g}{rest}; {hint}")


def _mass_ratio(model: Model, state: State) -> Iterator[Suspicion]:
    """Tell of masses so unlike that the lighter is lost in the rounding of the heavier."""
    mass = model.arrays.mass[model.fixed_count :]
    light, heavy = int(np.argmin(mass)), int(np.argmax(mass))
    if mass[heavy] > FAR * mass[light]:
        names = model.names[model.fixed_count :]
        yield Suspicion(
            "mass ratio",
            f"body {names[heavy]!r} has a mass of {mass[heavy]:.3g} kg, body {names[light]!r} of {mass[light]:.3g} kg: "
            f"a ratio of {mass[heavy] / mass[light]:.1e}, beyond {FAR:g}; check both, or make the heavy one fixed",
        )


# --- contacts ----------------------------------------------------------------------


def _overlaps(model: Model, contacts: Contacts) -> Iterator[Suspicion]:
    """Tell of bodies that overlap by more than counts as touch, and of layers that begin deflected."""
    depth = -contacts.gap
    deep = depth > TOUCH * contact_sizes(model, contacts)
    within = deep & (depth <= _thickness(model, contacts))
    for rows in (np.flatnonzero(deep & ~within), np.flatnonzero(within)):
        if not rows.size:
            continue
        others = _others(len({(int(contacts.body_a[c]), int(contacts.body_b[c])) for c in rows}) - 1)
        worst = rows[np.argmax(depth[rows])]
        a, b = model.names[contacts.body_a[worst]], model.names[contacts.body_b[worst]]
        what = f"bodies {a!r} and {b!r} overlap by {depth[worst]:.3g} m at the start{others}"
        if within[worst]:
            yield Suspicion("deflected", f"{what}, within their layers: these begin deflected by as much")
        else:
            let = f"place them apart, or let them pass through each other by scene.exclude({a!r}, {b!r})"
            yield Suspicion("overlap", f"{what}: {let}")


def _thickness(model: Model, contacts: Contacts) -> Array:
    """Return how thick the layers at contacts are together, (n_c,) [m]."""
    of = np.zeros(model.body_count)
    for k, layer in enumerate(model.layers):
        of[k] = 0.0 if layer is None else layer.max_deflection
    return np.asarray(of[contacts.body_a] + of[contacts.body_b])


def _no_contact_data(model: Model) -> Iterator[Suspicion]:
    """Tell of bodies that may touch in a scene that says nothing about contacts."""
    pair = _pair_that_may_touch(model)
    if pair is None:
        return
    a, b = (model.names[k] for k in pair)
    mu, e = float(model.materials.friction[0]), float(model.materials.restitution[0])
    yield Suspicion(
        "no contact data",
        f"no contact data are given, so bodies such as {a!r} and {b!r} meet with friction {mu:g} and restitution "
        f"{e:g}: say scene.set_contact(friction=...), 0 if that is meant",
    )


def _pair_that_may_touch(model: Model) -> tuple[int, int] | None:
    """Return two bodies, one of them free, that are neither excluded nor parts of one mechanism; None if all are."""
    key = model.materials.pair[model.materials.pair_material < 0]
    apart = {divmod(int(k), model.body_count) for k in key}
    group, shaped = _mechanisms(model), np.unique(model.shapes.body).tolist()
    if len({group[b] for b in shaped}) == 1:
        return None
    for b in shaped:
        for a in shaped:
            if a < b and b >= model.fixed_count and group[a] != group[b] and (a, b) not in apart:
                return a, b
    return None


def _mechanisms(model: Model) -> list[int]:
    """Return for every body a number that it shares with all that joints connect it to, (n_b,)."""
    first, arrays = list(range(model.body_count)), model.joints.arrays

    def root(b: int) -> int:
        while first[b] != b:
            first[b] = b = first[first[b]]
        return b

    for a, b in zip(arrays.body_a.tolist(), arrays.body_b.tolist(), strict=True):
        if a >= 0:
            first[root(a)] = root(b)
    return [root(b) for b in range(model.body_count)]


# --- joints ------------------------------------------------------------------------


def _unit(model: Model, g: int) -> str:
    return "rad" if model.joints.kinds[g] == "revolute" else "m"


def _joint_starts(model: Model, state: State) -> Iterator[Suspicion]:
    """Tell of limits and of prescribed motions that do not contain the start."""
    joints = model.joints
    start = joint_coordinates(joints, state.q, np.zeros(joints.count))
    outside = np.maximum(joints.limits[:, 0] - start, start - joints.limits[:, 1])
    bad = np.flatnonzero(outside > _ROUNDING)
    if bad.size:
        g = int(bad[np.argmax(outside[bad])])
        low, high = joints.limits[g]
        yield Suspicion(
            "joint limit",
            f"joint {joints.names[g]!r} starts at {start[g]:.6g} {_unit(model, g)}, its limits are ({low:.6g}, "
            f"{high:.6g}) {_unit(model, g)}{_others(bad.size - 1)}: coordinates count from the initial "
            "pose, so shift the limits by the coordinate that it has there, or place the bodies within them",
        )
    motions = [start[g] if motion is None else motion(state.t) for g, motion in enumerate(joints.motions)]
    # A motor of limited effort may well be told to go where it is not.
    jump = np.where(np.isinf(joints.effort_limit), np.abs(np.array(motions, dtype=float) - start), 0.0)
    bad = np.flatnonzero(jump > _ROUNDING)
    if bad.size:
        g = int(bad[np.argmax(jump[bad])])
        yield Suspicion(
            "motion start",
            f"joint {joints.names[g]!r}: motion({state.t:g}) is {motions[g]:.6g} {_unit(model, g)}, but the joint "
            f"starts at {start[g]:.6g} {_unit(model, g)}{_others(bad.size - 1)}: begin the motion where "
            "the bodies are placed, or it jumps there in the first step",
        )


def _unmet_constraints(model: Model, state: State) -> Iterator[Suspicion]:
    """Tell of users' constraints that do not hold at the start, by more than a part of the bodies' size."""
    joints = model.joints
    for one, sided in (*((c, False) for c in joints.equalities), *((c, True) for c in joints.inequalities)):
        rows = constraint_rows(model, one, state.q, state.t)
        size = float(model.arrays.bound[list(one.bodies)].max(initial=0.0))
        slope = np.sqrt(np.add.reduceat((rows.J[:, :3] ** 2).sum(axis=1), rows.start[:-1]))
        unmet = np.maximum(-rows.psi, 0.0) if sided else np.abs(rows.psi)
        k = int(np.argmax(unmet))
        if unmet[k] > max(_DIGITS * size * slope[k], _ROUNDING):
            yield Suspicion(
                "constraint",
                f"{one.name} is {rows.psi[k]:.3g} at the start, must be {'>= 0' if sided else '0'}: place its bodies "
                "so that it holds",
            )


def _unmet_velocities(model: Model, state: State, h: float) -> Iterator[Suspicion]:
    """Tell of initial velocities that a joint does not allow; drives may start with a jerk, and springs do not mind."""
    joints, arrays = model.joints, model.joints.arrays
    rows = bilateral_rows(model, state, joint_coordinates(joints, state.q, np.zeros(joints.count)), h, secant=True)
    moving = state.v.copy()
    moving[: model.fixed_count] = 0.0
    excess = np.abs(rows.velocity(moving) + rows.rate)[: joints.joint_row_count]
    excess[(joints.drive == 1) | (joints.spring == 1)] = 0.0
    speed, spin = np.linalg.norm(state.v[:, :3], axis=1), np.linalg.norm(state.v[:, 3:], axis=1)
    scale = np.zeros((2, joints.count))  # of velocities at the anchors, and of turns
    for body, anchor in ((arrays.body_a, arrays.anchor_a), (arrays.body_b, arrays.anchor_b)):
        there = body >= 0
        at_anchor = speed[body] + np.linalg.norm(anchor, axis=1) * spin[body]
        scale = np.maximum(scale, np.where(there, [at_anchor, spin[body]], 0.0))
    straight = np.isin(joints.rows.kind, (RowKind.SLIDE, RowKind.DISTANCE))
    g = joints.rows.joint
    bad = np.flatnonzero(excess > _DIGITS * np.where(straight, scale[0, g], scale[1, g]))
    if bad.size:
        r = int(bad[np.argmax(excess[bad])])
        a, b = arrays.body_a[g[r]], arrays.body_b[g[r]]
        ends = f"{model.names[b]!r}" if a < 0 else f"{model.names[a]!r} and {model.names[b]!r}"
        yield Suspicion(
            "joint velocity",
            f"joint {joints.names[g[r]]!r}: the initial velocities of {ends} contradict it by {excess[r]:.3g} "
            f"{'m/s' if straight[r] else 'rad/s'}{_others(np.unique(g[bad]).size - 1)}: give velocities "
            "that the joint allows, or it changes them by an impact in the first step",
        )


# --- the step size -------------------------------------------------------------------


def _fast_bodies(model: Model, state: State, h: float) -> Iterator[Suspicion]:
    """Tell of bodies that move by more than their width, or turn by more than a radian, in the first step."""
    v = drive_velocity(model, state, h, secant=True)
    v[model.fixed_count :] = state.v[model.fixed_count :]
    way, turn = h * np.linalg.norm(v[:, :3], axis=1), h * np.linalg.norm(v[:, 3:], axis=1)
    thin = np.full(model.body_count, np.inf)
    if way.any() and _pair_that_may_touch(model) is not None:  # else nothing is there to be missed
        thin = thinnest_extents(model.shapes, model.hulls, model.body_count)
    thin[thin <= 0.0] = np.inf
    far = np.flatnonzero(way > thin)
    if far.size:
        b = far[np.argmax(way[far] / thin[far])]
        yield Suspicion(
            "fast body",
            f"body {model.names[b]!r} moves by {way[b]:.3g} m in a step of h = {h:g} s and is {thin[b]:.3g} m thin"
            f"{_others(far.size - 1)}: try h = {_better(h, way[b] / thin[b]):.1g} s",
        )
    fast = np.flatnonzero(turn > 1.0)
    if fast.size:
        b = fast[np.argmax(turn[fast])]
        yield Suspicion(
            "fast turn",
            f"body {model.names[b]!r} turns by {turn[b]:.3g} rad in a step of h = {h:g} s"
            f"{_others(fast.size - 1)}: try h = {_better(h, turn[b]):.1g} s",
        )


def _fast_drives(model: Model, state: State, h: float) -> Iterator[Suspicion]:
    """Tell of joints whose prescribed motion is more than a radian, or the width of what moves, in the first step."""
    joints = model.joints
    if not joints.drive.any():
        return
    thin = thinnest_extents(model.shapes, model.hulls, model.body_count)
    for g, motion in enumerate(joints.motions):
        if motion is None or np.isfinite(joints.effort_limit[g]):
            continue
        way = abs(motion(state.t + h) - motion(state.t))
        most = 1.0 if joints.kinds[g] == "revolute" else float(thin[joints.arrays.body_b[g]])
        if way > most > 0.0:
            yield Suspicion(
                "fast drive",
                f"joint {joints.names[g]!r}: its motion is {way:.3g} {_unit(model, g)} in a step of h = {h:g} s: "
                f"try h = {_better(h, way / most):.1g} s",
            )


def _better(h: float, excess: float) -> float:
    """Return a step in which motion is a small part of what it may be."""
    return h * _SMALL_MOVE / excess
