"""Where two shapes in motion first meet: conservative advancement of one pair, rotation included.

Each body keeps a velocity and a spin, or one spin after another for equal times. In the time in which no support of
either shape along the normal between them can cover the gap nothing can touch, so that time is skipped, again and again
(Mirtich). The pair is looked at by the same kernel that finds the contacts of the scene, called by its address for a
scene of two shapes, so that every kind of shape meets every other and nothing is compiled twice.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from signorini._arrays import Array, IntArray
from signorini._jit import counted, inner_kernel
from signorini.geometry.tables import BODY, BOUND, KIND
from signorini.geometry.vectors import Vector
from signorini.math.rotation import cross, dot, turn_exact
from signorini.model.shapes import ShapeKind

_HALF_SPACE = int(ShapeKind.HALF_SPACE)
MEET, STOP, RECEDE, DISPLACE = 0, 1, 2, 3  # what is asked of points that overlap, each more than the one before
_MOST_LOOKS = 1000  # along the way of a pair that grazes; after so many it is said to meet, which is on the safe side


class Desk(NamedTuple):
    """A scene of two shapes, and what detection works with."""

    find: int
    """Address of the kernel that finds contacts."""
    shape: Array
    """(2, 12)"""
    label: IntArray
    """(2, 12)"""
    solid: Array
    link: IntArray
    pair: IntArray
    """(0, 2)"""
    q: Array
    """Poses of both bodies, (2, 7)."""
    reach: Array
    """(2,)"""
    world: Array
    cells: IntArray
    work: Array
    mark: IntArray
    value: Array
    """Contacts found: point a, point b, normal, gap, (any, 10)."""
    number: IntArray
    """Their bodies, name and row of materials, (any, 4)."""
    spin: Array
    """Spins of both bodies there, (2, 3)."""
    legs: IntArray
    """Number of spins that either body has one after another, 0 for that of its path, (2,)."""
    turn: Array
    """Where these legs begin, and spins, (2, any, 7)."""
    duration: float
    """Of all legs [s]."""


@inner_kernel
def lay_out(desk: Desk, shape: Array, label: IntArray, i: int, j: int) -> None:
    """Put shapes `i` and `j` of a scene on the desk, as shapes of the bodies 0 and 1."""
    for side in range(2):
        s = i if side == 0 else j
        for k in range(shape.shape[1]):
            desk.shape[side, k] = shape[s, k]
        for k in range(label.shape[1]):
            desk.label[side, k] = label[s, k]
        desk.label[side, BODY] = side


@inner_kernel
def _spin(path: Array, b: int) -> Vector:
    return (path[b, 3], path[b, 4], path[b, 5])


@inner_kernel
def _closing_spin(desk: Desk, side: int, w: Vector, n: Vector) -> float:
    """Return how fast points at a distance of 1 can close along `n` because of the spin `w` of a path, or as fast."""
    across = w if desk.legs[side] > 0 else cross(n, w)
    return math.sqrt(dot(across, across))


@inner_kernel
def look_at(desk: Desk, q: Array, path: Array, a: int, b: int, time: float, margin: float) -> int:
    """Move the bodies `a` and `b` from `q` along `path` for `time` seconds; return the number of contacts there.

    Contacts have gaps of at most `margin` [m].
    """
    for side in range(2):
        body = a if side == 0 else b
        e, w = (q[body, 3], q[body, 4], q[body, 5], q[body, 6]), _spin(path, body)
        legs = desk.legs[side]
        if legs > 0:
            leg = desk.duration / legs
            i = min(legs - 1, int(time / leg))
            turn = desk.turn[side, i]
            w = (turn[4], turn[5], turn[6])
            e = turn_exact((turn[0], turn[1], turn[2], turn[3]), w, time - i * leg)
        elif time > 0.0:
            e = turn_exact(e, w, time)
        for k in range(3):
            desk.spin[side, k] = w[k]
        for k in range(3):
            desk.q[side, k] = q[body, k] + time * path[body, k]
        for k in range(4):
            desk.q[side, 3 + k] = e[k]
        desk.reach[side] = 0.5 * margin
    found = counted(
        desk.find,
        (
            desk.shape,
            desk.label,
            desk.solid,
            desk.link,
            desk.pair,
            desk.q,
            desk.reach,
            desk.world,
            desk.cells,
            desk.work,
            desk.mark,
            desk.value,
            desk.number,
        ),
    )
    return int(min(abs(found), desk.value.shape[0]))


@inner_kernel
def least_gap(desk: Desk, count: int) -> int:
    """Return the contact with the smallest gap."""
    least = 0
    for c in range(1, count):
        if desk.value[c, 9] < desk.value[least, 9]:
            least = c
    return least


@inner_kernel
def _relative(path: Array, a: int, b: int) -> Vector:
    return (path[b, 0] - path[a, 0], path[b, 1] - path[a, 1], path[b, 2] - path[a, 2])


@inner_kernel
def _radii(desk: Desk, q: Array, path: Array, a: int, b: int, duration: float) -> tuple[float, float]:
    """Return how far the points of either shape that can meet the other are from their bodies' centres, at most."""
    r_a, r_b = desk.shape[0, BOUND], desk.shape[1, BOUND]
    u = _relative(path, a, b)
    x = (q[b, 0] - q[a, 0], q[b, 1] - q[a, 1], q[b, 2] - q[a, 2])
    between = math.sqrt(dot(x, x)) + duration * math.sqrt(dot(u, u))
    if desk.label[0, KIND] == _HALF_SPACE:
        r_a = between + r_b
    if desk.label[1, KIND] == _HALF_SPACE:
        r_b = between + r_a
    return r_a, r_b


@inner_kernel
def pair_speed(desk: Desk, q: Array, path: Array, a: int, b: int, duration: float) -> float:
    """Return a bound of the speed at which points of the two shapes move against each other [m/s]."""
    r_a, r_b = _radii(desk, q, path, a, b, duration)
    u, w_a, w_b = _relative(path, a, b), _spin(path, a), _spin(path, b)
    return math.sqrt(dot(u, u)) + r_a * math.sqrt(dot(w_a, w_a)) + r_b * math.sqrt(dot(w_b, w_b))


@inner_kernel
def first_meeting(desk: Desk, q: Array, path: Array, a: int, b: int, duration: float, near: float) -> float:
    """Return when the two shapes first come within `near` of each other, inf if they do not within `duration` [s]."""
    r_a, r_b = _radii(desk, q, path, a, b, duration)
    u, w_a, w_b = _relative(path, a, b), _spin(path, a), _spin(path, b)
    speed = pair_speed(desk, q, path, a, b, duration)
    time = 0.0
    for _ in range(_MOST_LOOKS):
        count = look_at(desk, q, path, a, b, time, speed * (duration - time) + near)
        if count == 0:
            return math.inf
        c = least_gap(desk, count)
        gap = desk.value[c, 9]
        if gap <= near:
            return time
        n = (desk.value[c, 6], desk.value[c, 7], desk.value[c, 8])
        closing = -dot(n, u) + r_a * _closing_spin(desk, 0, w_a, n) + r_b * _closing_spin(desk, 1, w_b, n)
        if closing * (duration - time) <= gap - near:
            return math.inf
        time += (gap - 0.5 * near) / closing
        if time >= duration:
            return math.inf
    return time


@inner_kernel
def common_arms(q: Array, a: int, b: int, arm_a: Vector, arm_b: Vector, near: float) -> tuple[Vector, Vector]:
    """Return the arms of two bodies to one point, midway between their own, if these are no farther apart than `near`.

    Equal and opposite impulses that act there change the angular momentum of none of the two without the other's.
    """
    half = (
        0.5 * (q[b, 0] + arm_b[0] - q[a, 0] - arm_a[0]),
        0.5 * (q[b, 1] + arm_b[1] - q[a, 1] - arm_a[1]),
        0.5 * (q[b, 2] + arm_b[2] - q[a, 2] - arm_a[2]),
    )
    if 4.0 * dot(half, half) > near * near:
        return (arm_a, arm_b)
    return (
        (arm_a[0] + half[0], arm_a[1] + half[1], arm_a[2] + half[2]),
        (arm_b[0] - half[0], arm_b[1] - half[1], arm_b[2] - half[2]),
    )


@inner_kernel
def displacement(start: Array, q: Array, b: int) -> tuple[Vector, Vector]:
    """Return by how much body `b` was moved and turned, by little, from `start` to `q`."""
    moved = (q[b, 0] - start[b, 0], q[b, 1] - start[b, 1], q[b, 2] - start[b, 2])
    was, now = (start[b, 4], start[b, 5], start[b, 6]), (q[b, 4], q[b, 5], q[b, 6])
    across = cross(was, now)
    turned = (
        2.0 * (start[b, 3] * now[0] - q[b, 3] * was[0] + across[0]),
        2.0 * (start[b, 3] * now[1] - q[b, 3] * was[1] + across[1]),
        2.0 * (start[b, 3] * now[2] - q[b, 3] * was[2] + across[2]),
    )
    return (moved, turned)


@inner_kernel
def displaced_by(start: Array, q: Array, b: int, arm: Vector, n: Vector) -> float:
    """Return how far the end of `arm` on body `b` has gone along `n` when the body was displaced."""
    moved, turned = displacement(start, q, b)
    return float(dot(n, moved) + dot(n, cross(turned, arm)))


@inner_kernel
def write_met(
    desk: Desk,
    start: Array,
    q: Array,
    path: Array,
    aim: Array,
    a: int,
    b: int,
    fixed: int,
    time: float,
    duration: float,
    beyond: float,
    near: float,
    asks: int,
    c: int,
    value: Array,
    r: int,
) -> float:
    r"""Write contact `c` on the desk, where the bodies are after `time` seconds, as a contact where they started.

    The normal is that of the meeting and so are the arms, from the mass centres to the point where impulses act. The
    gap is what bodies may still approach each other along this normal, at velocities that last for the whole step,

    .. math:: \Psi = \Psi(\tau) - \tau\, n \cdot u ,

    with the relative velocity u of the path there: bodies that keep to the path meet after :math:`\tau`, and those that
    do all of it more slowly at the end of the step. The law knows bodies that fly by the spins that they begin with,
    `aim`; what is left at the end, if bodies keep to the path for `duration`, is the same; if that is negative it is
    taken off the gap `beyond` times more. inf is returned, and nothing written, for points that move apart or so slowly
    that they overlapped already when the step began, at this speed: if it `asks` to ``STOP`` those that sink are to
    stop, and if to ``RECEDE`` those that move apart and overlap are to be parted by as much as they do, if to
    ``DISPLACE`` those that sink as well. Else return what the law then says is left: if that is not negative, it does
    not forbid the path.

    Where the points of two moving bodies are no farther apart than `near` when they start, impulses act midway between
    them, so that the angular momentum of both is kept.

    Bodies go from `q`, where the step has displaced them to part overlaps. It begins at `start`, and contacts are
    written as they are there.
    """
    n, gap = (desk.value[c, 6], desk.value[c, 7], desk.value[c, 8]), desk.value[c, 9]
    share = 1.0 if a < fixed else 0.5  # of the gap, from a to the common point
    arm_a = (
        desk.value[c, 0] + share * gap * n[0] - desk.q[0, 0],
        desk.value[c, 1] + share * gap * n[1] - desk.q[0, 1],
        desk.value[c, 2] + share * gap * n[2] - desk.q[0, 2],
    )
    arm_b = (
        desk.value[c, 3] - (1.0 - share) * gap * n[0] - desk.q[1, 0],
        desk.value[c, 4] - (1.0 - share) * gap * n[1] - desk.q[1, 1],
        desk.value[c, 5] - (1.0 - share) * gap * n[2] - desk.q[1, 2],
    )
    turn_a = cross((desk.spin[0, 0], desk.spin[0, 1], desk.spin[0, 2]), arm_a)
    turn_b = cross((desk.spin[1, 0], desk.spin[1, 1], desk.spin[1, 2]), arm_b)
    speed = dot(n, _relative(path, a, b)) + dot(n, turn_b) - dot(n, turn_a)
    left = gap + (duration - time) * speed
    if a >= fixed:
        arm_a, arm_b = common_arms(start, a, b, arm_a, arm_b, near)
    turn_a, turn_b = cross(_spin(aim, a), arm_a), cross(_spin(aim, b), arm_b)
    way = duration * (dot(n, _relative(aim, a, b)) + dot(n, turn_b) - dot(n, turn_a))
    to_go = left - way
    if to_go < 0.0 and ((STOP <= asks <= RECEDE and speed < 0.0) or to_go > -1e-3 * abs(gap)):
        to_go = 0.0  # to rounding, of what sinks from touch
    if to_go < 0.0 and not (asks >= RECEDE and gap < 0.0):
        return math.inf
    to_go = max(to_go + beyond * min(0.0, left), gap if to_go < 0.0 else 0.0)
    left = to_go + way
    to_go -= displaced_by(start, q, b, arm_b, n) - (displaced_by(start, q, a, arm_a, n) if a >= fixed else 0.0)
    for k in range(3):
        value[r, k] = start[a, k] + (arm_a[k] - share * to_go * n[k])
        value[r, 3 + k] = start[b, k] + (arm_b[k] + (1.0 - share) * to_go * n[k])
        value[r, 6 + k] = n[k]
    value[r, 9] = to_go
    return float(left)
