r"""Many steps as one scene: body b of step l is body ``l n_b + b`` of a scene whose steps do not know each other.

A step begins at :math:`(q, v)`, acts at :math:`q_m = q + (1 - \theta) h\,G v` and ends at :math:`(q^+, v^+)`. What it
would do without contacts and joints, the gyroscopic term, free flight and loads, follows from its beginning alone:

.. math:: M(q_m) (v^+ - v_{free}) = J^T p + \text{reactions of joints}.

A body that flies goes on with another spin than it has right after the impulses (:mod:`signorini.dynamics.flight`), but
with the same angular momentum: the spin of the record is taken back to :math:`q_m` by that before it is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini._jit import kernel
from signorini.audit.findings import ROUNDING
from signorini.audit.joints import joint_wrenches
from signorini.audit.record import ContactRows, Record
from signorini.audit.terms import heaps, missed_loads
from signorini.dynamics import (
    JointSystem,
    contact_wrenches,
    drive_velocity,
    gyroscopic_ways,
    inertia_blocks,
    joint_system,
    load_impulse,
    prescribed_pose,
)
from signorini.dynamics.bodies import CONSERVING, EVEN, EXPLICIT, IMPLICIT, inverse_inertia, spun_velocity
from signorini.dynamics.constants import TURN_AT_ONCE
from signorini.dynamics.flight import FLIGHT_COLUMNS, fly_back, fly_bodies, spin_bodies, veer_bodies
from signorini.dynamics.motion import move_bodies
from signorini.math.rotation import rotated, tangent_frame
from signorini.model import Contacts, Model, ModelArrays, State

_MOST_ROWS = 100_000  # of bodies or contacts at once, for the memory


@dataclass(frozen=True, slots=True)
class FreeMotion:
    """Steps without contacts and joints; all arrays by bodies of all steps."""

    q: Array
    """Where the steps act, (N, 7)."""
    M: Array
    """(N, 6, 6)"""
    M_inv: Array
    """(N, 6, 6)"""
    p_ext: Array
    """Impulses of loads, (N, 6)."""
    v: Array
    """Velocities after the loads, (N, 6)."""
    ways: IntArray
    """How bodies take the gyroscopic term, (N,)."""
    v_before: Array
    """Velocities with which bodies arrive where the steps act, (N, 6)."""


def free_motion(
    model: Model,
    q: Array,
    v: Array,
    h: float,
    *,
    theta: float = 1.0,
    gyroscopic: str = "conserving",
    joined_fly: bool = True,
    time: Array | None = None,
) -> FreeMotion:
    """Return what steps of `h` seconds from poses `q` (S, n_b, 7) and velocities `v` (S, n_b, 6) do by themselves.

    `time` (S,), when they begin, is needed where loads are functions.
    """
    S = q.shape[0]
    arrays, ways = _repeated(model.arrays, S), np.tile(gyroscopic_ways(model, gyroscopic, joined_fly=joined_fly), S)
    q_start, v = q.reshape(-1, 7), np.ascontiguousarray(v.reshape(-1, 6))
    there = np.ascontiguousarray(q_start.copy())
    if theta < 1.0:
        flown = np.zeros((there.shape[0], FLIGHT_COLUMNS))
        fly_bodies(ways, arrays.inertia, there, v, (1.0 - theta) * h, flown)
        move_bodies(there, v, (1.0 - theta) * h, True, flown, 0)
        v = v.copy()
        spin_bodies(flown, v)
    if time is not None and any(callable(x) for force in model.forces for x in (force.force, force.torque)):
        states = zip(time + (1.0 - theta) * h, there.reshape(q.shape), v.reshape(S, -1, 6), strict=True)
        p_ext = np.concatenate([load_impulse(model, State(t=float(t), q=x, v=u), h) for t, x, u in states])
    else:
        p_ext = _constant_loads(model, arrays, there, h)
    M_inv = inverse_inertia(arrays, there)
    v_spun = _spun(arrays, ways, there, v, h, theta, S)
    v_free = v_spun + np.einsum("bij,bj->bi", M_inv, p_ext)
    return FreeMotion(there, inertia_blocks(arrays, there), M_inv, p_ext, v_free, ways, v)


def _constant_loads(model: Model, arrays: ModelArrays, q: Array, h: float) -> Array:
    """Return the impulses of loads that are no functions, at the poses `q` (N, 7) of all steps at once, (N, 6)."""
    p_ext = h * arrays.weight
    for force in model.forces:
        b = slice(force.body, None, model.body_count)
        F, torque = (np.zeros(3) if x is None or callable(x) else x for x in (force.force, force.torque))
        p_ext[b, :3] += h * F
        p_ext[b, 3:] += h * torque
        if force.at is not None:
            p_ext[b, 3:] += h * np.cross(rotated(q[b, 3:], force.at), F)
    return p_ext


def after_impulses(arrays: ModelArrays, ways: IntArray, M_inv: Array, q: Array, v: Array) -> Array:
    """Return the velocities with which steps begin to move that end at `q` (N, 7), `v` (N, 6).

    What flies keeps its momentum; `M_inv` (N, 6, 6) belongs to the poses where flights begin.
    """
    out, flies = v.copy(), ways == CONSERVING
    L = np.einsum("bij,bj->bi", inertia_blocks(arrays, q), v)
    out[flies, 3:] = np.einsum("bij,bj->bi", M_inv, L)[flies, 3:]
    return out


def _repeated(arrays: ModelArrays, times: int) -> ModelArrays:
    """Return bodies as often as there are steps."""
    by_body = {name: np.concatenate([getattr(arrays, name)] * times) for name in arrays._fields if name != "gravity"}
    return ModelArrays(**by_body, gravity=arrays.gravity)


def _spun(arrays: ModelArrays, ways: IntArray, q: Array, v: Array, h: float, theta: float, steps: int) -> Array:
    """Return the velocities after the gyroscopic term: implicit ones step to y_theta, and as far again beyond it."""
    if theta == 1.0 or not np.any(ways == IMPLICIT):
        return spun_velocity(arrays, ways, q, v, h)
    fastest = np.linalg.norm(v[:, 3:], axis=1).reshape(steps, -1).max(axis=1)
    parts = np.repeat(np.maximum(1, np.ceil(theta * h * fastest / TURN_AT_ONCE)), v.shape[0] // steps)
    out = np.where((ways == EXPLICIT)[:, None], spun_velocity(arrays, ways, q, v, h), v)
    for k in np.unique(parts):
        mine = np.where(parts == k, ways, 0)
        for _ in range(int(k)):
            out = out + (spun_velocity(arrays, mine, q, out, theta * h / k) - out) / theta
    return np.asarray(out)


class Steps:
    """The steps ``first .. last - 1`` of a record, replayed from their beginnings with the impulses of the record."""

    def __init__(self, record: Record, model: Model, first: int, last: int) -> None:
        scheme = record.scheme
        self.record, self.model, self.first, self.last = record, model, first, last
        self.count, self.body_count = last - first, model.body_count
        self.h = float(record.h[first])
        self.drift = scheme.theta * self.h
        self.step = np.repeat(np.arange(self.count), self.body_count)
        self.body = np.tile(np.arange(self.body_count), self.count)
        self.moving: BoolArray = self.body >= model.fixed_count
        q, v = record.q[first:last], record.v[first:last]
        self.q_start, self.v_start = q.reshape(-1, 7), v.reshape(-1, 6)
        self.q_end, self.v_end = (
            record.q[first + 1 : last + 1].reshape(-1, 7),
            record.v[first + 1 : last + 1].reshape(-1, 6),
        )
        self.v_end = self.v_end - self._ended()
        self.free = free_motion(
            model,
            q,
            v,
            self.h,
            theta=scheme.theta,
            gyroscopic=scheme.gyroscopic,
            joined_fly=scheme.exact_rotation,
            time=record.time[first:last],
        )
        self.drive = self._drive()
        self.contacts, self.rows = self._contacts(record.contacts)
        self.J_a, self.J_b = self._wrenches()
        p = np.zeros((0, 3)) if record.contacts is None else record.contacts.impulse[self.rows]
        self.p = np.ascontiguousarray(p)
        told = record.contacts is not None and record.contacts.couple is not None
        self.couple = record.contacts.couple[self.rows] if told else np.zeros_like(self.p)  # type: ignore[index, union-attr]
        """Couples about the contact frames, (n_c, 3); zero where none are told."""
        self.axes = contact_frames(self.contacts.normal)
        """The contact frames, (n_c, 3, 3)."""
        self.heap = heaps(self)
        """A number that bodies have in common which contacts and joints hold together, (N,)."""
        self.push, self.push_size = self._pushed()
        self.pull, self.pull_size = self._joined()
        self.v_told = self.free.v + np.einsum("bij,bj->bi", self.free.M_inv, self.push + self.pull)
        """Velocities that follow from the impulses of the record, in the axes where the step acts."""
        arrays = _repeated(model.arrays, self.count)
        self.flown, self.v_new = self._flights(arrays)
        """Velocities of the record right after the impulses."""

    def _ended(self) -> Array:
        """Return by how much velocities change where steps end, where they are made to obey the joints, (N, 6)."""
        change, joints = np.zeros((self.body.size, 6)), self.record.joints
        if joints is None or joints.ending is None or not joints.ending[self.first : self.last].any():
            return change
        q, ending = self.q_end.reshape(self.count, -1, 7), joints.ending[self.first : self.last]
        for body, wrench, _ in joint_wrenches(self.model, q, ending):
            change[np.arange(self.count) * self.body_count + body] += wrench
        M_inv = inverse_inertia(_repeated(self.model.arrays, self.count), self.q_end)
        return np.asarray(np.einsum("bij,bj->bi", M_inv, change))

    def _flights(self, arrays: ModelArrays) -> tuple[Array, Array]:
        """Return the flights (N, 7), and the velocities of the record right after the impulses, (N, 6).

        Flights begin where the step acts, or where bodies were displaced to: from where they end at the end of the
        step. A body that nothing else keeps from going through another turns evenly; the record does not tell which.
        It is the way that goes with the impulses, and if both do to rounding the one that leads where the body is.
        """
        ways, flown, v = self.free.ways, np.zeros((self.body.size, FLIGHT_COLUMNS)), self.v_end.copy()
        least, near = np.full(self.body.size, np.inf), np.zeros(self.body.size, dtype=bool)
        for way in (CONSERVING, EVEN):
            found, began = np.zeros_like(flown), self.q_end.copy()
            way_of = np.where(ways == CONSERVING, way, ways)
            fly_back(way_of, arrays.inertia, self.q_end, self.v_end, self.v_told, self.drift, found)
            flew = np.any(found != 0.0, axis=1)
            back = found[flew, :4] * [1.0, -1.0, -1.0, -1.0]
            began[flew, 3:] = quaternion_products(back, self.q_end[flew, 3:])
            v_new = after_impulses(arrays, ways, inverse_inertia(arrays, began), self.q_end, self.v_end)
            missed = missed_loads(self, v_new)[:, 1]
            displaced = quaternion_products(began[:, 3:], self.free.q[:, 3:] * [1.0, -1.0, -1.0, -1.0])
            there = 2.0 * np.linalg.norm(displaced[:, 1:], axis=1) <= ROUNDING
            told = (there == near) | (np.maximum(missed, least) > ROUNDING)
            better = np.where(told, missed < least, there)
            least[better], near[better], flown[better], v[better] = (
                missed[better],
                there[better],
                found[better],
                v_new[better],
            )
        return flown, v

    def joined(self, s: int) -> JointSystem:
        """Return the joints of step `s`, from 0."""
        state, near = self.acting(s)
        M_inv = np.ascontiguousarray(self.free.M_inv[s * self.body_count : (s + 1) * self.body_count])
        secant = self.record.scheme.secant
        return joint_system(self.model, state, near, M_inv, self.drift, secant=secant, span=self.h)

    def acting(self, s: int) -> tuple[State, Array]:
        """Return where step `s`, from 0, acts, and joint coordinates near it."""
        record, mine = self.record, slice(s * self.body_count, (s + 1) * self.body_count)
        assert record.joints is not None
        time = float(record.time[self.first + s]) + (1.0 - record.scheme.theta) * self.h
        state = State(t=time, q=np.ascontiguousarray(self.free.q[mine]), v=self.free.v_before[mine])
        return state, record.joints.coordinate[self.first + s]

    def veered(self) -> tuple[Array, Array]:
        """Return bounds of the normal velocities that the law knows flights to add to contacts, (n_c,) [m/s].

        Steps posed again are so about ends whose arms and normals the record does not tell, by velocities of rounds
        between. There flights add at most what they can at the full arms: moments of inertia obey the triangle
        inequality, so a spin changes by no more than the angle times itself, in the mean of a flight by half of that.
        """
        least, most = np.zeros(self.contacts.contact_count), np.zeros(self.contacts.contact_count)
        scheme = self.record.scheme
        if scheme.polygon is not None or scheme.stiffness is not None or scheme.restitution_law == "poisson":
            return least, most
        veer, flies = np.zeros((self.body.size, 3)), self.free.ways == CONSERVING
        inertia = _repeated(self.model.arrays, self.count).inertia
        veer_bodies(self.free.ways, inertia, self.free.q, self.free.v, self.drift, veer)
        known = self.relative(np.hstack([np.zeros_like(veer), veer]))[:, 0]
        spin = np.maximum(*(np.linalg.norm(v[:, 3:], axis=1) for v in (self.free.v, self.v_told)))
        change = np.where(flies, 0.5 * self.drift * spin**2, 0.0)
        for J, body in ((self.J_a, self.contacts.body_a), (self.J_b, self.contacts.body_b)):
            most += np.linalg.norm(J[:, :, 3:], axis=(1, 2)) / np.sqrt(2.0) * change[body]  # of r x n, r x t, r x o
        column = self.record.column("certificate", "posed_again")
        posed = np.zeros(self.count, dtype=bool) if column is None else column[self.first : self.last] > 0
        # Nor does the record tell velocities with joints and without contacts.
        joined = (self.model.joints.tree.of_body >= 0)[self.body]
        again = posed[self.contact_step] | joined[self.contacts.body_a] | joined[self.contacts.body_b]
        return np.where(again, -most, known), np.where(again, most, known)

    def _drive(self) -> Array:
        """Return the velocities of prescribed bodies as contacts see them, (N, 6); put them where the steps act."""
        model, record, theta = self.model, self.record, self.record.scheme.theta
        drive = np.zeros_like(self.v_start)
        if all(motion is None for motion in model.motions):
            return drive
        for k in range(self.count):
            rows = slice(k * self.body_count, (k + 1) * self.body_count)
            t = float(record.time[self.first + k]) + (1.0 - theta) * self.h
            self.free.q[rows][: model.fixed_count], v = prescribed_pose(model, t)
            state = State(t=t, q=self.free.q[rows], v=np.vstack([v, self.v_start[rows][model.fixed_count :]]))
            drive[rows] = drive_velocity(model, state, self.drift, secant=record.scheme.secant)
            drive[rows][model.fixed_count :] = 0.0
        return drive

    def _contacts(self, table: ContactRows | None) -> tuple[Contacts, slice]:
        """Return the contacts of these steps between bodies of all steps, and which rows of the record they are."""
        if table is None:
            return Contacts.none(), slice(0, 0)
        rows = slice(int(table.start[self.first]), int(table.start[self.last]))
        step = np.repeat(np.arange(self.count), np.diff(table.start[self.first : self.last + 1]))
        contacts = Contacts(
            body_a=table.body_a[rows] + step * self.body_count,
            body_b=table.body_b[rows] + step * self.body_count,
            feature=step,
            point_a=table.point_a[rows],
            point_b=table.point[rows],
            normal=np.ascontiguousarray(table.normal[rows]),
            gap=table.gap[rows],
            material=materials_of(self.model, table.body_a[rows], table.body_b[rows]),
        )
        return contacts, rows

    @property
    def contact_step(self) -> IntArray:
        """Step of each contact, from 0, (n_c,)."""
        return self.contacts.feature

    def _wrenches(self) -> tuple[Array, Array]:
        """Return ``J_a, J_b`` (n_c, 3, 6) at the points where bodies feel impulses."""
        contacts = self.contacts
        point_a, point_b = contacts.point_a, contacts.point_b
        if self.record.scheme.common_point:
            share = np.where(self.moving[contacts.body_a], 0.5, 1.0)[:, None]
            across = contacts.gap[:, None] * contacts.normal
            point_a, point_b = point_a + share * across, point_b - (1.0 - share) * across
        return contact_wrenches(contacts, self.free.q, dim=3, point_a=point_a, point_b=point_b)

    def relative(self, v: Array) -> Array:
        """Return the velocities of contacts that those of bodies make, (n_c, 3)."""
        contacts = self.contacts
        u: Array = np.einsum("cij,cj->ci", self.J_a, v[contacts.body_a])
        u += np.einsum("cij,cj->ci", self.J_b, v[contacts.body_b])
        return u

    def turning(self, v: Array) -> Array:
        """Return the angular velocities of the second bodies relative to the first, about the frames, (n_c, 3)."""
        contacts = self.contacts
        w: Array = np.einsum("cij,cj->ci", self.axes, v[contacts.body_b, 3:] - v[contacts.body_a, 3:])
        return w

    def _pushed(self) -> tuple[Array, Array]:
        """Return what contacts do to bodies, (N, 6), and the sizes of forces and moments in it, (N, 2)."""
        total, size = np.zeros((self.body.size, 6)), np.zeros((self.body.size, 2))
        strength = np.linalg.norm(self.p, axis=1)
        moment, twist = np.einsum("cij,ci->cj", self.axes, self.couple), np.linalg.norm(self.couple, axis=1)
        for J, body, sign in ((self.J_a, self.contacts.body_a, -1.0), (self.J_b, self.contacts.body_b, 1.0)):
            wrench = np.einsum("cij,ci->cj", J, self.p)
            wrench[:, 3:] += sign * moment
            arm = np.sqrt(np.sum(J[:, :, 3:] ** 2, axis=(1, 2)))
            total += by_body(wrench, body, self.body.size)
            size += by_body(np.column_stack([strength, strength * arm + twist]), body, self.body.size)
        return total, size

    @property
    def reaction(self) -> Array:
        """What joints do where the steps act, (S, n_j, 6)."""
        joints, steps = self.record.joints, slice(self.first, self.last)
        assert joints is not None
        return joints.reaction[steps] if joints.ending is None else joints.reaction[steps] - joints.ending[steps]

    def _joined(self) -> tuple[Array, Array]:
        """Return what joints do to bodies, (N, 6), and the sizes of forces and moments in it, (N, 2)."""
        total, size = np.zeros((self.body.size, 6)), np.zeros((self.body.size, 2))
        if self.record.joints is None or not self.model.joints.count:
            return total, size
        for body, wrench, arm in joint_wrenches(self.model, self.free.q.reshape(self.count, -1, 7), self.reaction):
            at = np.arange(self.count) * self.body_count + body
            total[at] += wrench
            size[at, 0] += np.linalg.norm(wrench[:, :3], axis=1)
            size[at, 1] += np.linalg.norm(wrench[:, 3:], axis=1) + arm * np.linalg.norm(wrench[:, :3], axis=1)
        return total, size


def contact_frames(normal: Array) -> Array:
    """Return the rows n, t, o of the frames of contacts, (n_c, 3, 3)."""
    frames = np.empty((normal.shape[0], 3, 3))
    if frames.size:  # records without contacts need not compile the kernel
        _fill_frames(np.ascontiguousarray(normal), frames)
    return frames


@kernel
def _fill_frames(normal: Array, out: Array) -> None:
    for c in range(normal.shape[0]):
        n = (normal[c, 0], normal[c, 1], normal[c, 2])
        t, o = tangent_frame(n)
        for k in range(3):
            out[c, 0, k], out[c, 1, k], out[c, 2, k] = n[k], t[k], o[k]


def quaternion_products(a: Array, b: Array) -> Array:
    """Return products of quaternions, (N, 4)."""
    out = np.empty_like(a)
    out[:, 0] = a[:, 0] * b[:, 0] - np.sum(a[:, 1:] * b[:, 1:], axis=1)
    out[:, 1:] = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return out


def by_body(values: Array, body: IntArray, count: int) -> Array:
    """Add up rows of `values` (n, k) by bodies, (count, k)."""
    columns = [np.bincount(body, values[:, k], minlength=count) for k in range(values.shape[1])]
    return np.stack(columns, axis=1)


def materials_of(model: Model, body_a: IntArray, body_b: IntArray) -> IntArray:
    """Return the row of :class:`~signorini.model.Materials` for pairs of bodies; -1 for those that never touch."""
    keys, data = model.materials.pair, model.materials.pair_material
    if not keys.size:
        return np.zeros(body_a.size, dtype=np.int64)
    key = np.minimum(body_a, body_b) * model.body_count + np.maximum(body_a, body_b)
    row = np.minimum(np.searchsorted(keys, key), keys.size - 1)
    return np.where(keys[row] == key, data[row], 0)


def blocks(record: Record, model: Model) -> Iterator[Steps]:
    """Go through all steps, as many at once as memory allows and are of one length."""
    n, n_b = record.step_count, model.body_count
    start = np.zeros(n + 1, dtype=np.int64) if record.contacts is None else record.contacts.start
    first = 0
    while first < n:
        last = first + 1
        while (
            last < n
            and record.h[last] == record.h[first]
            and (last - first) * n_b < _MOST_ROWS
            and start[last + 1] - start[first] < _MOST_ROWS
        ):
            last += 1
        yield Steps(record, model, first, last)
        first = last
