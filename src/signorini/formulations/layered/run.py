"""Many geometrically implicit steps in compiled code, where shapes, loads and layers need no function of Python.

A step that is not for kernels, since surfaces face each other by features, or no start leads to a solution, is left to
the functions of :class:`~signorini.QuasiRigid`: both evaluate the same rows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from signorini._arrays import Array, IntArray
from signorini._jit import bare_kernel, counted, inner_kernel
from signorini.dynamics.bodies import gyroscopic, world_inertia
from signorini.formulations.layered.answer import AXES, BEFORE, DEFLECTION, GAP_BEFORE, MU, OWN, TANGENT
from signorini.formulations.layered.kernels import (
    ACTIVE,
    CONTACTS,
    FIXED,
    IMPLICIT_SPIN,
    PLANAR,
    SIZE,
    Posed,
    ball_scale,
    choose_units,
    lay_out,
)
from signorini.formulations.layered.newton import LOST, Newton, solve_posed
from signorini.geometry.moving_kernels import NORMAL, PLANE, SURFACES, begin_flat, is_flat, start_touch
from signorini.geometry.rows import FEATURE_BITS
from signorini.math.rotation import tangent_frame
from signorini.model.layer_kernels import NONE, respond, stored
from signorini.posing.constants import GRAZING, IMPLICIT_SHARP, REACH_FACTOR, REACH_FRACTION, RELAXED

AHEAD, KEPT, WAS_AHEAD, WAS_KEPT, WHY, ITERATIONS = range(6)
"""Entries of ``tally``: contacts of the coming step and layers kept; the same before the last step; why a run ended."""
DONE, DECLINED, NEW_PAIR, TOO_SMALL = range(4)
"""Why a run ended: all was done; a step is not for kernels; a pair of shapes is met for the first time; arrays are too
small."""
TIME, STORED, RESIDUAL, GRAVITY = range(4)
"""Entries of ``number``."""
PRESSED, FREE, WEIGHT, STOP, GRAZE = range(5)
"""Starts: as the last step went on, free flight, weights on contacts, bodies stopped at cores, grazing contacts."""


class Keep(NamedTuple):
    """Layers by the names of their contacts, see :class:`.memory.LayerMemory`; arrays may have more rows."""

    name: IntArray
    body: IntArray
    deflection: Array
    tangent: Array
    impulse: Array


class Scene(NamedTuple):
    """What does not change."""

    inertia: Array
    weight: Array
    bound: Array
    way: IntArray
    friction: Array
    """By materials, (n_m,)."""
    ellipsoid: Array
    """(n_m, 3)"""
    shape: Array
    label: IntArray
    solid: Array
    link: IntArray
    pair: IntArray


class Track(NamedTuple):
    """Where a run is."""

    scene: Scene
    keep: Keep
    was: Keep
    world: Array
    cells: IntArray
    work: Array
    mark: IntArray
    value: Array
    """Contacts of the coming step, (any, 10)."""
    tag: IntArray
    was_value: Array
    was_tag: IntArray
    key: IntArray
    """Pairs of shapes that were met, sorted, (any,)."""
    pairs: Array
    """Their surfaces, (any, 42)."""
    reach: Array
    v_free: Array
    q_before: Array
    v_before: Array
    known: IntArray
    """Rows of what is kept of the contacts of a step, -1 for none, (any,)."""
    tally: IntArray
    number: Array
    shapes: int
    find: int
    """Address of the kernel that finds contacts."""


@inner_kernel
def _place_of(names: IntArray, count: int, name: int) -> int:
    """Return where a name is in a sorted list, -1 if it is not."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if names[middle] < name:
            low = middle + 1
        else:
            high = middle
    return low if low < count and names[low] == name else -1


@inner_kernel
def _load_bodies(P: Posed, R: Track) -> None:
    """Fill inertia and impulses, and the velocities of free flight."""
    B, h, scene = P.bodies, P.number[0], R.scene
    for b in range(P.counts[FIXED], B.q.shape[0]):
        A = P.sheet.slope[0]
        world_inertia(scene.inertia[b], B.free[b], B.q[b], A)
        for i in range(3):
            B.M[b, i, i] = B.mass[b]
            for j in range(3):
                B.M[b, 3 + i, 3 + j] = A[i, j]
        for k in range(6):
            B.push[b, k] = h * scene.weight[b, k]
        if P.counts[IMPLICIT_SPIN] == 0 and P.counts[PLANAR] == 0:
            x, y, z = B.v[b, 3], B.v[b, 4], B.v[b, 5]
            L0 = A[0, 0] * x + A[0, 1] * y + A[0, 2] * z
            L1 = A[1, 0] * x + A[1, 1] * y + A[1, 2] * z
            L2 = A[2, 0] * x + A[2, 1] * y + A[2, 2] * z
            B.push[b, 3] -= h * (y * L2 - z * L1)
            B.push[b, 4] -= h * (z * L0 - x * L2)
            B.push[b, 5] -= h * (x * L1 - y * L0)
        _add_solved(B.M[b], B.push[b], B.free[b], B.mass[b], B.v[b], R.v_free[b])


@inner_kernel
def _add_solved(M: Array, push: Array, free: Array, mass: float, v: Array, out: Array) -> None:
    """Fill the velocity that an impulse makes of `v`."""
    a00, a01, a02 = M[3, 3], M[3, 4], M[3, 5]
    a11, a12, a22 = M[4, 4], M[4, 5], M[5, 5]
    c00, c01, c02 = a11 * a22 - a12 * a12, a02 * a12 - a01 * a22, a01 * a12 - a02 * a11
    c11, c12, c22 = a00 * a22 - a02 * a02, a01 * a02 - a00 * a12, a00 * a11 - a01 * a01
    det = a00 * c00 + a01 * c01 + a02 * c02
    x, y, z = push[3], push[4], push[5]
    for k in range(3):
        out[k] = v[k] + free[k] * push[k] / mass
    out[3] = v[3] + free[3] * (c00 * x + c01 * y + c02 * z) / det
    out[4] = v[4] + free[4] * (c01 * x + c11 * y + c12 * z) / det
    out[5] = v[5] + free[5] * (c02 * x + c12 * y + c22 * z) / det


@inner_kernel
def _pose(P: Posed, R: Track) -> int:
    """Pose the contacts of the step; return DONE, or why not."""
    T, B, n_c = P.contacts, P.bodies, R.tally[AHEAD]
    if n_c > T.body.shape[0] or n_c + R.tally[KEPT] > R.was.name.shape[0]:
        return TOO_SMALL
    P.counts[CONTACTS] = n_c
    last = -1
    for c in range(n_c):
        name, material = R.tag[c, 2], R.tag[c, 3]
        key = name >> (2 * FEATURE_BITS)
        if key == last:  # shapes that touch at several places do so by their features
            return DECLINED
        last = key
        row = _place_of(R.key, R.key.shape[0], key)
        if row < 0:
            return NEW_PAIR
        kind = R.pairs[row, 0]
        if kind < PLANE or kind > SURFACES:
            return DECLINED
        a, b = R.tag[c, 0], R.tag[c, 1]
        T.body[c, 0], T.body[c, 1] = a, b
        for k in range(T.pair.shape[1]):
            T.pair[c, k] = R.pairs[row, k]
        start_touch(T.pair[c], B.q[a], B.q[b], R.value[c], T.touch[c], P.desk)
        x, e = T.contact[c], R.scene.ellipsoid[material]
        x[MU] = R.scene.friction[material]
        x[AXES], x[AXES + 1], x[AXES + 2] = 1.0, 1.0, 0.0
        if e[0] > 0.0 or e[1] > 0.0 or e[2] > 0.0:
            x[AXES], x[AXES + 1], x[AXES + 2] = e[0], e[1], e[2]
        known = _place_of(R.keep.name, R.tally[KEPT], name)
        R.known[c] = known
        t = tangent_frame((R.value[c, 6], R.value[c, 7], R.value[c, 8]))[0]
        soft = B.law[a, 0] != NONE or B.law[b, 0] != NONE
        for k in range(2):
            for i in range(3):
                x[BEFORE + 3 * k + i], x[TANGENT + 3 * k + i] = 0.0, t[i]
                if known >= 0 and soft:
                    x[BEFORE + 3 * k + i] = R.keep.deflection[known, k, i]
                    x[TANGENT + 3 * k + i] = R.keep.tangent[known, k, i]
        x[GAP_BEFORE] = R.value[c, 9] + x[BEFORE] + x[BEFORE + 3]
    return DONE


@inner_kernel
def _begin(P: Posed, R: Track, w: Newton, which: int) -> bool:
    """Write a start to ``w.z``; False if there is none of this kind."""
    B, T, n = P.bodies, P.contacts, P.counts[SIZE]
    for i in range(n):
        w.z[i] = 0.0
    for b in range(P.counts[FIXED], B.q.shape[0]):
        for k in range(6):
            i = B.dof[b, k]
            if i >= 0:
                w.z[i] = 0.0 if which == STOP else (B.v[b, k] if which == WEIGHT else R.v_free[b, k])
    found = which != PRESSED
    for c in range(P.counts[CONTACTS]):
        known, i = R.known[c], T.row[c, 0]
        if T.chart[c] >= 0:
            w.z[T.bent[c, 0]], w.z[T.bent[c, 1]] = T.at[c, 0], T.at[c, 1]
        if which == PRESSED and known >= 0 and R.keep.impulse[known, 0] > 0.0:
            found = True
            for k in range(4):
                j = T.row[c, k]
                if j >= 0:
                    w.z[j] = R.keep.impulse[known, k] / ball_scale(T.contact, c, k)
            for side in range(2):
                b = T.body[c, side]
                for k in range(6):
                    j = B.dof[b, k]
                    if j >= 0:
                        w.z[j] = B.v[b, k]
        elif which >= WEIGHT:
            coming, least, lightest = 0.0, math.inf, math.inf
            for side in range(2):
                b, sign = T.body[c, side], -1.0 if side == 0 else 1.0
                for k in range(3):
                    coming += sign * T.touch[c, NORMAL + k] * R.v_free[b, k]
                if b >= P.counts[FIXED]:
                    p = R.scene.weight[b]
                    least = min(least, P.number[0] * math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]))
                    lightest = min(lightest, B.mass[b])
            w.z[i] = max(0.0, -coming) * lightest if which == STOP else (least if which == WEIGHT else GRAZING * least)
    return found


@inner_kernel
def _bend(P: Posed, R: Track, which: int, bent: bool) -> int:
    """Make the points of pressed contacts of flat surfaces unknowns, if they are to be `bent`.

    Return how many there are, -1 where no surface is flat.
    """
    T, B, found = P.contacts, P.bodies, -1
    for c in range(P.counts[CONTACTS]):
        T.chart[c] = -1
        if is_flat(T.pair[c]) and P.counts[PLANAR] == 0:
            found, known = max(found, 0), R.known[c]
            if bent and (which >= WEIGHT or (which == PRESSED and known >= 0 and R.keep.impulse[known, 0] > 0.0)):
                T.chart[c] = begin_flat(T.pair[c], B.q[T.body[c, 0]], B.q[T.body[c, 1]], T.at[c], P.desk)
                found += 1
    return found


@inner_kernel
def _solved(P: Posed, R: Track, w: Newton) -> bool:
    """Solve from one start after another, with points of flat surfaces as unknowns, then with all eliminated."""
    R.tally[ITERATIONS] = 0
    for start in range(10):
        which, bent = start // 2, start % 2 == 0
        flat = _bend(P, R, which, bent)
        if bent and flat <= 0:
            continue
        if flat >= 0 or start == 1:
            lay_out(P)
            if P.counts[SIZE] > w.z.shape[0]:
                return False
            choose_units(P, R.number[GRAVITY], w.unit, w.row_unit)
        if not _begin(P, R, w, which):
            continue
        if R.tally[ITERATIONS] > 0:
            _pose(P, R)  # where surfaces faced each other as the step began
        residual, iterations = solve_posed(P, w, IMPLICIT_SHARP)
        R.tally[ITERATIONS] += iterations
        R.number[RESIDUAL] = residual
        if residual <= IMPLICIT_SHARP:
            return True
        if residual == LOST and flat < 0:
            return False
    return False


@inner_kernel
def _keep_row(P: Posed, R: Track, c: int, old: int, m: int) -> int:
    """Keep contact `c`, or what relaxes in row `old` of the memory, in row `m`; return how many rows there are then."""
    K, T, h, w = R.keep, P.contacts, P.number[0], P.sheet
    if c >= 0:
        K.name[m] = R.was_tag[c, 2]
        for k in range(4):
            K.impulse[m, k] = T.p[c, k]
        for k in range(2):
            K.body[m, k] = T.body[c, k]
            for i in range(3):
                K.deflection[m, k, i] = T.answer[c, DEFLECTION + 3 * k + i]
                K.tangent[m, k, i] = T.answer[c, OWN + 3 * k + i]
    else:
        K.name[m] = R.was.name[old]
        for k in range(4):
            K.impulse[m, k] = 0.0
        for k in range(2):
            b = R.was.body[old, k]
            K.body[m, k] = b
            for i in range(3):
                w.p[i], w.before[k, i] = 0.0, R.was.deflection[old, k, i]
            if P.bodies.law[b, 0] != NONE:
                respond(P.bodies.law[b], w.p, w.before[k], h, w.deflection[k], w.slope[k])
            for i in range(3):
                soft = P.bodies.law[b, 0] != NONE
                K.deflection[m, k, i] = w.deflection[k, i] if soft else w.before[k, i]
                K.tangent[m, k, i] = 0.0
                for j in range(3):
                    K.tangent[m, k, i] += P.poses.turn[b, i, j] * R.was.tangent[old, k, j]
    held = K.impulse[m, 0] > 0.0
    for k in range(2):
        for i in range(3):
            held = held or abs(K.deflection[m, k, i]) >= RELAXED
    if not held:
        return m
    for k in range(2):
        law = P.bodies.law[K.body[m, k]]
        if law[0] != NONE:
            R.number[STORED] += stored(law, K.deflection[m, k], P.counts[ACTIVE] == 1)
    return m + 1


@inner_kernel
def _remember(P: Posed, R: Track) -> None:
    """Keep what contacts did and what relaxes, in the order of names; what there was goes to ``R.was``."""
    K, W, old = R.keep, R.was, R.tally[KEPT]
    for m in range(old):
        W.name[m] = K.name[m]
        for k in range(4):
            W.impulse[m, k] = K.impulse[m, k]
        for k in range(2):
            W.body[m, k] = K.body[m, k]
            for i in range(3):
                W.deflection[m, k, i], W.tangent[m, k, i] = K.deflection[m, k, i], K.tangent[m, k, i]
    R.tally[WAS_KEPT] = old
    R.number[STORED] = 0.0
    c, o, m = 0, 0, 0
    while c < P.counts[CONTACTS] or o < old:
        if c < P.counts[CONTACTS] and (o >= old or R.was_tag[c, 2] <= W.name[o]):
            if o < old and R.was_tag[c, 2] == W.name[o]:
                o += 1
            m = _keep_row(P, R, c, -1, m)
            c += 1
        else:
            m = _keep_row(P, R, -1, o, m)
            o += 1
    R.tally[KEPT] = m


@inner_kernel
def _look(P: Posed, R: Track) -> bool:
    """Find the contacts that may close in the coming step; False if there is no room for them."""
    B, h, scene = P.bodies, P.number[0], R.scene
    v = R.v_free
    for b in range(B.q.shape[0]):
        for k in range(6):
            v[b, k] = B.v[b, k]
    gyroscopic(scene.way, scene.inertia, B.q, B.v, h, v)
    for b in range(B.q.shape[0]):
        R.reach[b] = 0.0
        if b >= P.counts[FIXED]:
            A = P.sheet.slope[0]
            world_inertia(scene.inertia[b], B.free[b], B.q[b], A)
            for i in range(3):
                for j in range(3):
                    B.M[b, 3 + i, 3 + j] = A[i, j]
            for k in range(6):
                B.push[b, k] = h * scene.weight[b, k]
            _add_solved(B.M[b], B.push[b], B.free[b], B.mass[b], v[b], v[b])
            speed = math.sqrt(v[b, 0] ** 2 + v[b, 1] ** 2 + v[b, 2] ** 2)
            speed += scene.bound[b] * math.sqrt(v[b, 3] ** 2 + v[b, 4] ** 2 + v[b, 5] ** 2)
            R.reach[b] = REACH_FACTOR * h * speed + REACH_FRACTION * scene.bound[b]
    found = counted(
        R.find,
        (
            *(scene.shape, scene.label, scene.solid, scene.link, scene.pair),
            *(B.q, R.reach, R.world, R.cells, R.work, R.mark, R.value, R.tag),
        ),
    )
    R.tally[AHEAD] = max(found, 0)
    return found >= 0


@bare_kernel
def run_steps(P: Posed, w: Newton, R: Track, steps: int) -> int:
    """Take so many steps, or fewer; ``R.tally[WHY]`` says why. Return how many were taken."""
    B = P.bodies
    for done in range(steps):
        why = _pose(P, R)
        if why != DONE:
            R.tally[WHY] = why
            return done
        _load_bodies(P, R)
        if not _solved(P, R, w):
            R.tally[WHY] = DECLINED
            return done
        R.tally[WAS_AHEAD] = R.tally[AHEAD]
        for c in range(R.tally[AHEAD]):
            for k in range(10):
                R.was_value[c, k] = R.value[c, k]
            for k in range(4):
                R.was_tag[c, k] = R.tag[c, k]
        for b in range(B.q.shape[0]):
            for k in range(7):
                R.q_before[b, k] = B.q[b, k]
                B.q[b, k] = P.poses.q[b, k]
            for k in range(6):
                R.v_before[b, k] = B.v[b, k]
                B.v[b, k] = P.poses.v[b, k]
        _remember(P, R)
        R.number[TIME] += P.number[0]
        if not _look(P, R):
            R.tally[WHY] = TOO_SMALL
            return done + 1
    R.tally[WHY] = DONE
    return steps
