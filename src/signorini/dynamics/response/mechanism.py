r"""Trees of rigid bodies in joint coordinates, for :mod:`signorini.dynamics.response` (S5 spec 2 to 4).

From the root outwards, with the frame A of a joint on its inboard body and its frame B on the outboard one,

.. math::
    V_b - V_a = P u, \qquad A_b - A_a = P \dot u + A_t, \qquad A_t = \dot P u,

where a is the point of the inboard body that coincides with the origin of B. Spatial vectors are stacked (angular,
linear) in world axes, as in S5. Joints hold exactly: poses follow from their coordinates.

A coordinate whose motion is prescribed, S5 eq. (27), leaves P: all six directions of its joint are held, and
:math:`P \ddot q` joins A_t. Springs and dampers of joints act as known wrenches along P.

===========  ================================  ============================================
joint        coordinates                       speeds
===========  ================================  ============================================
fixed        none                              none
revolute     angle                             its rate
prismatic    displacement                      its rate
cylindrical  displacement, angle               their rates
spherical    quaternion of the outboard body   its spin, in the world
universal    angles about both axes            their rates
planar       two displacements, angle          their rates
none         origin of the body, quaternion    its velocity and the spin, in the world
===========  ================================  ============================================

Speeds of a spherical joint are those of its outboard body and not relative ones: so it turns at a constant spin in the
world while coordinates move at constant speeds, whatever its inboard body does meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics.motion import motion_acceleration, motion_rate
from signorini.dynamics.response.assembly import Assembly, Bodies, Links
from signorini.dynamics.response.plan import GROUND, Plan, make_plan
from signorini.errors import InputError
from signorini.math.rotation import matrix, turn_exact
from signorini.model import Model, State

_SIZES = {
    "free": (7, 6),
    "fixed": (0, 0),
    "revolute": (1, 1),
    "prismatic": (1, 1),
    "cylindrical": (2, 2),
    "spherical": (4, 3),
    "universal": (2, 2),
    "planar": (3, 3),
}
"""Numbers of coordinates and of speeds."""
_SLIDES = {"prismatic": (2,), "cylindrical": (2,), "planar": (0, 1)}
"""Axes of A along which coordinates displace B, the first ones."""
_TURNS = ("revolute", "cylindrical", "planar")
"""Kinds whose last coordinate turns B about the last axis of A."""
_Z = np.array([0.0, 0.0, 1.0])
_APART = 1e-9  # of positions in metres and directions: more than rounding of poses that people type with nine digits


@dataclass(frozen=True, slots=True)
class Limb:
    """A moving body with what it hangs by."""

    body: int
    """Its row in the model."""
    inboard: int
    """Row of the body that it hangs from, -1 for the world."""
    joint: int
    """Its number in the model, -1 if the body floats."""
    kind: str
    sign: float
    """Of the joint's own coordinate beside ours: -1 where body a hangs from body b."""
    anchor: tuple[Array, Array]
    """Origins of A and B in the frames of the mass centres [m]."""
    frame: tuple[Array, Array]
    """Rotations of A and B to these frames, (3, 3)."""
    rest: Array
    """Rotation of B to A at coordinates of zero, (3, 3)."""
    driven: bool
    """Whether its coordinate is prescribed."""
    q: slice
    u: slice


class Posture(NamedTuple):
    """Poses and velocities of all bodies of the model, and the motion subspaces of the limbs."""

    x: Array
    """(n_b, 3)"""
    e: Array
    """(n_b, 4)"""
    R: Array
    """(n_b, 3, 3)"""
    v: Array
    """(n_b, 3)"""
    w: Array
    """(n_b, 3)"""
    place: Array
    """Origin of each limb's B, (n, 3)."""
    P: list[Array]
    """(6, f) of each limb."""
    turning: Array
    """A_t of each limb, (n, 6)."""


class Mechanism:
    """The trees of a model; joints that close loops are refused."""

    def __init__(self, model: Model, who: str) -> None:
        self.model = model
        self.limbs = _limbs(model, who)
        self.coordinate_count = self.limbs[-1].q.stop if self.limbs else 0
        self.speed_count = self.limbs[-1].u.stop if self.limbs else 0
        self.row = {limb.body: k for k, limb in enumerate(self.limbs)}
        held = [limb for limb in self.limbs if limb.joint >= 0]
        self._held = [self.row[limb.body] for limb in held]
        self._ends = [(self.row.get(limb.inboard, GROUND), self.row[limb.body]) for limb in held]
        self._counts = np.array([6 if limb.driven else 6 - _SIZES[limb.kind][1] for limb in held], dtype=np.int64)
        self.driven = [limb for limb in held if limb.driven]
        """Limbs whose coordinates are prescribed."""
        soft = (model.joints.stiffness != 0.0) | (model.joints.damping != 0.0)
        self._soft = [(g, k) for g, k in enumerate(self._held) if soft[self.limbs[k].joint]]
        self._plans: dict[tuple[int, ...], Assembly] = {}

    # --- coordinates ---------------------------------------------------------

    def configuration(self, state: State) -> Array:
        """Return the coordinates of a state; a joint that its poses contradict is an error."""
        q = np.zeros(self.coordinate_count)
        for limb in self.limbs:
            if limb.joint < 0:
                pose = state.q[limb.body]
                q[limb.q] = np.concatenate([pose[:3] + _matrix(pose[3:]) @ limb.anchor[1], pose[3:]])
                continue
            d, R = self._relative(limb, state.q)
            if limb.kind == "spherical":
                q[limb.q], there, turned = state.q[limb.body, 3:], np.zeros(3), R
            else:
                q[limb.q] = _coordinates(limb, d, R)
                there, turned = _placed(limb, q[limb.q])
            if max(np.abs(there - d).max(), np.abs(turned - R).max()) > _APART * max(1.0, float(np.abs(d).max())):
                name = self.model.joints.names[limb.joint]
                raise InputError(f"joint {name!r}: poses of its bodies contradict it, must fit at the start")
        return q

    def _relative(self, limb: Limb, poses: Array) -> tuple[Array, Array]:
        """Return origin and rotation of B as seen from A."""
        ends = []
        for side, body in enumerate((limb.inboard, limb.body)):
            R = np.eye(3) if body < 0 else _matrix(poses[body, 3:])
            x = np.zeros(3) if body < 0 else poses[body, :3]
            ends.append((x + R @ limb.anchor[side], R @ limb.frame[side]))
        (x_a, A), (x_b, B) = ends
        return A.T @ (x_b - x_a), A.T @ B

    def speeds(self, state: State, q: Array) -> Array:
        """Return the speeds of a state; velocities that a joint contradicts are an error."""
        u = np.zeros(self.speed_count)
        at = self.posture(q, u, state)
        v, w = state.v[:, :3], state.v[:, 3:]
        for k, limb in enumerate(self.limbs):
            if limb.joint < 0:
                velocity = _velocity_at(at.x, v, w, limb.body, at.place[k])
                u[limb.u] = np.concatenate([velocity[3:], velocity[:3]])
                continue
            relative = _velocity_at(at.x, v, w, limb.body, at.place[k]) - _velocity_at(
                at.x, v, w, limb.inboard, at.place[k]
            )
            own = np.linalg.lstsq(at.P[k], relative, rcond=None)[0] if at.P[k].size else np.zeros(0)
            u[limb.u] = w[limb.body] if limb.kind == "spherical" else own
            left = relative - at.P[k] @ own
            if np.abs(left).max() > _APART * max(1.0, float(np.abs(state.v).max())):
                name = self.model.joints.names[limb.joint]
                raise InputError(
                    f"joint {name!r}: velocities of its bodies contradict it by {np.abs(left).max():.3g} m/s or rad/s, "
                    "must fit at the start"
                )
        return u

    def moved(self, q: Array, d: Array) -> Array:
        """Return the configuration after a second at the constant speeds `d`."""
        out = q.copy()
        for limb in self.limbs:
            own, by = q[limb.q], d[limb.u]
            if limb.kind == "spherical":
                out[limb.q] = turn_exact(tuple(own), tuple(by), 1.0)
            elif limb.kind == "free":
                out[limb.q.start : limb.q.start + 3] = own[:3] + by[:3]
                out[limb.q.start + 3 : limb.q.stop] = turn_exact(tuple(own[3:]), tuple(by[3:]), 1.0)
            else:
                out[limb.q] = own + by
        return out

    def posture(self, q: Array, u: Array, state: State) -> Posture:
        """Return poses and velocities; fixed bodies are as in `state`."""
        n = self.model.body_count
        x, e, R = state.q[:, :3].copy(), state.q[:, 3:].copy(), np.zeros((n, 3, 3))
        v, w = state.v[:, :3].copy(), state.v[:, 3:].copy()
        for b in range(self.model.fixed_count):
            R[b] = _matrix(e[b])
        place, turning, P = np.zeros((len(self.limbs), 3)), np.zeros((len(self.limbs), 6)), []
        for k, limb in enumerate(self.limbs):
            b, a, own, rate = limb.body, limb.inboard, q[limb.q], u[limb.u]
            if limb.joint < 0:
                e[b], R[b], w[b], place[k] = own[3:], _matrix(own[3:]), rate[3:], own[:3]
                r = R[b] @ limb.anchor[1]
                x[b], v[b] = own[:3] - r, rate[:3] - _cross(w[b], r)
                P.append(np.zeros((6, 0)))
                continue
            R_a, x_a = (np.eye(3), np.zeros(3)) if a < 0 else (R[a], x[a])
            v_a, w_a = (np.zeros(3), np.zeros(3)) if a < 0 else (v[a], w[a])
            A = R_a @ limb.frame[0]
            if limb.kind == "spherical":
                place[k] = x_a + R_a @ limb.anchor[0]
                e[b], R[b] = own, _matrix(own)
                subspace, by = np.eye(6, 3), np.concatenate([rate - w_a, np.zeros(3)])
            else:
                d, turned = _placed(limb, own)
                place[k] = x_a + R_a @ limb.anchor[0] + A @ d
                R[b] = A @ turned @ limb.frame[1].T
                e[b] = _quaternion(R[b], e[b])
                subspace = _subspace(limb, A, turned)
                by = subspace @ rate
                turning[k, :3], turning[k, 3:] = _cross(w_a, by[:3]), 2.0 * _cross(w_a, by[3:])
            P.append(subspace)
            x[b] = place[k] - R[b] @ limb.anchor[1]
            w[b] = w_a + by[:3]
            v[b] = v_a + _cross(w_a, place[k] - x_a) + by[3:] - _cross(w[b], place[k] - x[b])
            if limb.kind == "universal":
                turning[k, :3] += rate[0] * rate[1] * _cross(subspace[:3, 0], subspace[:3, 1])
        return Posture(x, e, R, v, w, place, P, turning)

    def state(self, at: Posture, state: State, t: float) -> State:
        """Return the state of a posture at time `t`."""
        return State(
            t=t, q=np.hstack([at.x, at.e]), v=np.hstack([at.v, at.w]), modal=state.modal, modal_rate=state.modal_rate
        )

    def joint_coordinates(self, q: Array) -> Array:
        """Return the coordinates of joints that have one of their own, zero of others, (n_j,) [m, rad]."""
        out = np.zeros(self.model.joints.count)
        for limb in self.limbs:
            if limb.kind in ("revolute", "prismatic"):
                out[limb.joint] = limb.sign * q[limb.q.start]
        return out

    def joint_speeds(self, u: Array) -> Array:
        """Return the rates of :meth:`joint_coordinates`, (n_j,)."""
        out = np.zeros(self.model.joints.count)
        for limb in self.limbs:
            if limb.kind in ("revolute", "prismatic"):
                out[limb.joint] = limb.sign * u[limb.u.start]
        return out

    # --- prescribed coordinates, springs and dampers --------------------------

    def prescribed(self, t: float, q: Array, u: Array) -> tuple[Array, Array, Array]:
        """Return coordinates, speeds and accelerations (n_u,) with the prescribed ones as they are at time `t`."""
        q, u, a = q.copy(), u.copy(), np.zeros_like(u)
        for limb in self.driven:
            motion = self.model.joints.motions[limb.joint]
            assert motion is not None
            q[limb.q] = limb.sign * motion(t)
            u[limb.u] = limb.sign * motion_rate(motion, t, 0.0, secant=False)
            a[limb.u] = limb.sign * motion_acceleration(motion, t)
        return q, u, a

    def drawn(self, t: float, q: Array, u: Array, h: float) -> Array:
        """Return the accelerations that carry prescribed coordinates to where they are `h` seconds later, (n_u,)."""
        a = np.zeros_like(u)
        for limb in self.driven:
            motion = self.model.joints.motions[limb.joint]
            assert motion is not None
            a[limb.u] = ((limb.sign * motion(t + h) - q[limb.q]) / h - u[limb.u]) / h
        return a

    def soft_forces(self, q: Array, u: Array) -> tuple[Array, Array]:
        """Return the forces of springs and of dampers along all joints' own coordinates, (n_j,) each [N, N m]."""
        joints = self.model.joints
        return -joints.stiffness * (self.joint_coordinates(q) - joints.rest), -joints.damping * self.joint_speeds(u)

    def efforts(self, at: Posture, wrench: Array) -> Array:
        """Return what joints that have a coordinate of their own push along it, (n_j,) [N, N m]."""
        out = np.zeros(self.model.joints.count)
        for g, k in enumerate(self._held):
            limb = self.limbs[k]
            if limb.kind in ("revolute", "prismatic"):
                out[limb.joint] = limb.sign * float(at.P[k][:, 0] @ wrench[g])
        return out

    # --- dynamics ------------------------------------------------------------

    def assembled(
        self, at: Posture, force: Array, rows: list[list[tuple[Array, Array]]], drive: Array, soft: Array
    ) -> Assembly:
        """Assemble the trees in a posture.

        Parameters
        ----------
        force : (n_b, 6)
            Force at the mass centre and moment on each body, weight included [N, N m].
        rows : (point, direction) in the world of all contact rows of each limb
        drive : (n_u,)
            Accelerations of prescribed coordinates.
        soft : (n_j,)
            Known forces along the joints' own coordinates [N, N m].
        """
        model, limbs = self.model, self.limbs
        handles: list[list[Array]] = [[] for _ in limbs]
        for k, (a, b) in zip(self._held, self._ends, strict=True):
            for body in (a, b):
                if body != GROUND:
                    handles[body].append(at.place[k])
        inertia, bias, jacobian, drift = [], [], [], []
        for k, limb in enumerate(limbs):
            b = limb.body
            w, x = at.w[b], at.x[b]
            I = at.R[b] @ model.arrays.inertia[b] @ at.R[b].T
            Gamma = np.zeros((6, 6))
            Gamma[:3, :3] = I
            Gamma[[3, 4, 5], [3, 4, 5]] = model.arrays.mass[b]
            inertia.append(Gamma)
            bias.append(np.concatenate([_cross(w, I @ w) - force[b, 3:], -force[b, :3]]))
            m = 6 * len(handles[k])
            T, fast = np.zeros((m + len(rows[k]), 6)), np.zeros(m + len(rows[k]))
            for i, point in enumerate(handles[k]):
                r = point - x
                T[6 * i : 6 * i + 6] = _shift(r)
                fast[6 * i + 3 : 6 * i + 6] = _cross(w, _cross(w, r))
            for i, (point, n) in enumerate(rows[k]):
                r = point - x
                T[m + i, :3], T[m + i, 3:] = _cross(r, n), n
                fast[m + i] = n @ _cross(w, _cross(w, r))
            jacobian.append(T)
            drift.append(fast)
        D, d = np.zeros((len(self._held), 6, 6)), np.zeros((len(self._held), 6))
        for g, k in enumerate(self._held):
            count = int(self._counts[g])
            D[g, :, :count] = np.eye(6) if count == 6 else _complement(at.P[k])
            turning = at.turning[k] + at.P[k] @ drive[self.limbs[k].u] if self.limbs[k].driven else at.turning[k]
            d[g, :count] = D[g, :, :count].T @ turning
        applied = np.zeros_like(d)
        for g, k in self._soft:
            applied[g] = at.P[k][:, 0] * self.limbs[k].sign * soft[self.limbs[k].joint]
        assembly = self._assembly(tuple(len(own) for own in rows))
        assembly.assemble(Bodies(inertia, bias, jacobian, drift), Links(self._counts, D, d, applied))
        return assembly

    def _assembly(self, counts: tuple[int, ...]) -> Assembly:
        """Return the assembly for these numbers of contact rows, in the order that carries the fewer of them."""
        if counts not in self._plans:
            if len(self._plans) > 64:  # contacts that come and go
                self._plans.clear()
            plans: list[Plan] = [make_plan(self._ends, counts)]
            if any(counts):
                plans.append(make_plan(self._ends, counts, late=True))
            plan = min(plans, key=lambda one: one.carried)
            sizes: IntArray = np.full(len(counts), 6, dtype=np.int64)
            self._plans[counts] = Assembly(plan, sizes, self._counts)
        return self._plans[counts]

    def rates(self, at: Posture, acceleration: Array) -> Array:
        """Return the rates of the speeds from the accelerations of the bodies, (n_u,)."""
        out = np.zeros(self.speed_count)
        A = acceleration.reshape(-1, 6)
        for k, limb in enumerate(self.limbs):
            if limb.joint < 0:
                there = self._acceleration_at(at, A, limb.body, at.place[k])
                out[limb.u] = np.concatenate([there[3:], there[:3]])
                continue
            if limb.kind == "spherical":
                out[limb.u] = A[k, :3]
                continue
            if not at.P[k].size:
                continue
            relative = self._acceleration_at(at, A, limb.body, at.place[k]) - at.turning[k]
            relative -= self._acceleration_at(at, A, limb.inboard, at.place[k])
            out[limb.u] = np.linalg.lstsq(at.P[k], relative, rcond=None)[0]
        return out

    def _acceleration_at(self, at: Posture, A: Array, body: int, point: Array) -> Array:
        if body not in self.row:
            return np.zeros(6)
        own, r, w = A[self.row[body]], point - at.x[body], at.w[body]
        return np.concatenate([own[:3], own[3:] + _cross(own[:3], r) + _cross(w, _cross(w, r))])

    def reactions(self, at: Posture, wrench: Array) -> Array:
        """Return force and moment on body b of each joint at its anchor, (n_j, 6) [N, N m]."""
        out = np.zeros((self.model.joints.count, 6))
        for g, k in enumerate(self._held):
            limb = self.limbs[k]
            moment, force = wrench[g, :3], wrench[g, 3:]
            if limb.sign < 0.0:  # on body a, at the origin of B, which is its anchor; b's is that of A
                anchor = (np.zeros(3) if limb.inboard < 0 else at.x[limb.inboard]) + (
                    limb.anchor[0] if limb.inboard < 0 else at.R[limb.inboard] @ limb.anchor[0]
                )
                moment, force = -(moment + _cross(at.place[k] - anchor, force)), -force
            out[limb.joint] = np.concatenate([force, moment])
        return out


# --- limbs -------------------------------------------------------------------


def _limbs(model: Model, who: str) -> list[Limb]:
    """Return the moving bodies, every one after what it hangs from."""
    joints, arrays = model.joints, model.joints.arrays
    near: dict[int, list[tuple[int, int, float]]] = {}
    for g in range(joints.count):
        a, b = int(arrays.body_a[g]), int(arrays.body_b[g])
        near.setdefault(a if a >= model.fixed_count else -1, []).append((g, b, 1.0))
        near.setdefault(b if b >= model.fixed_count else -1, []).append((g, a, -1.0))
    limbs: list[Limb] = []
    used: set[int] = set()
    seen: set[int] = set()
    sizes = [0, 0]

    def add(body: int, inboard: int, g: int, sign: float) -> None:
        kind = "free" if g < 0 else joints.kinds[g]
        n_q, n_u = _SIZES[kind]
        limbs.append(
            _limb(model, body, inboard, g, sign, kind, slice(sizes[0], sizes[0] + n_q), slice(sizes[1], sizes[1] + n_u))
        )
        sizes[0], sizes[1] = sizes[0] + n_q, sizes[1] + n_u
        seen.add(body)

    def grow(first: int) -> None:
        waiting = [first]
        for at in waiting:
            for g, other, sign in near.get(at, []):
                if g in used:
                    continue
                if other in seen or other < model.fixed_count:
                    raise InputError(f"joint {joints.names[g]!r}: closes a loop, must not for {who}, which knows trees")
                used.add(g)
                inboard = int(arrays.body_a[g] if sign > 0.0 else arrays.body_b[g])
                add(other, inboard, g, sign)
                waiting.append(other)

    grow(-1)
    for body in range(model.fixed_count, model.body_count):
        if body not in seen:
            add(body, -1, -1, 1.0)
            grow(body)
    return limbs


def _limb(model: Model, body: int, inboard: int, g: int, sign: float, kind: str, q: slice, u: slice) -> Limb:
    zero, one = np.zeros(3), np.eye(3)
    if g < 0:
        return Limb(body, -1, g, kind, sign, (zero, -model.mass_centre[body]), (one, one), one, False, q, u)
    arrays = model.joints.arrays
    sides = ((arrays.anchor_a[g], arrays.frame_a[g]), (arrays.anchor_b[g], arrays.frame_b[g]))
    if sign < 0.0:
        sides = sides[::-1]
    frame = (_matrix(sides[0][1]), _matrix(sides[1][1]))
    poses = model.initial_state.q
    at = [np.eye(3) if b < 0 else _matrix(poses[b, 3:]) for b in (inboard, body)]
    rest = (at[0] @ frame[0]).T @ (at[1] @ frame[1]) if kind == "universal" else one
    anchor, driven = (sides[0][0].copy(), sides[1][0].copy()), model.joints.motions[g] is not None
    return Limb(body, inboard, g, kind, sign, anchor, frame, rest, driven, q, u)


def _placed(limb: Limb, q: Array) -> tuple[Array, Array]:
    """Return origin and rotation of B as seen from A, of coordinates."""
    d, R = np.zeros(3), np.eye(3)
    for k, axis in enumerate(_SLIDES.get(limb.kind, ())):
        d[axis] = q[k]
    if limb.kind in _TURNS:
        R = _about_z(q[-1])
    elif limb.kind == "universal":
        R = _about_z(q[0]) @ limb.rest @ _about_z(q[1])
    return d, R


def _coordinates(limb: Limb, d: Array, R: Array) -> Array:
    """Return the coordinates nearest to this origin and rotation of B as seen from A."""
    slides = [d[axis] for axis in _SLIDES.get(limb.kind, ())]
    if limb.kind == "universal":
        now, first = R @ _Z, limb.rest @ _Z
        back, back_first = R.T @ _Z, limb.rest.T @ _Z
        return np.array([_angle(first, now), _angle(back, back_first)])
    return np.array([*slides, *([np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])] if limb.kind in _TURNS else [])])


def _angle(first: Array, second: Array) -> float:
    """Return the angle about z from one vector to another."""
    return float(np.arctan2(first[0] * second[1] - first[1] * second[0], first[0] * second[0] + first[1] * second[1]))


def _subspace(limb: Limb, A: Array, turned: Array) -> Array:
    """Return P at the origin of B, (6, f), for the frame A in the world."""
    P = np.zeros((6, _SIZES[limb.kind][1]))
    for k, axis in enumerate(_SLIDES.get(limb.kind, ())):
        P[3:, k] = A[:, axis]
    if limb.kind in _TURNS:
        P[:3, -1] = A[:, 2]
    elif limb.kind == "universal":
        P[:3, 0], P[:3, 1] = A[:, 2], A @ turned @ _Z
    return P


def _complement(P: Array) -> Array:
    """Return orthonormal directions across P, (6, 6 - f)."""
    return np.linalg.qr(P, mode="complete")[0][:, P.shape[1] :] if P.size else np.eye(6)


def _velocity_at(x: Array, v: Array, w: Array, body: int, point: Array) -> Array:
    if body < 0:
        return np.zeros(6)
    return np.concatenate([w[body], v[body] + _cross(w[body], point - x[body])])


def _shift(r: Array) -> Array:
    """Return ``S(r)^T``: velocity of a point from that of the frame, (6, 6)."""
    S = np.eye(6)
    S[3, 1], S[3, 2], S[4, 0], S[4, 2], S[5, 0], S[5, 1] = r[2], -r[1], -r[2], r[0], r[1], -r[0]
    return S


def _cross(a: Array, b: Array) -> Array:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _matrix(e: Array) -> Array:
    return np.array(matrix(tuple(e))).reshape(3, 3)


def _about_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _quaternion(R: Array, near: Array) -> Array:
    """Return the unit quaternion of a rotation on the side of `near`, by its largest component for accuracy."""
    t = np.array(
        [
            1.0 + R[0, 0] + R[1, 1] + R[2, 2],
            1.0 + R[0, 0] - R[1, 1] - R[2, 2],
            1.0 - R[0, 0] + R[1, 1] - R[2, 2],
            1.0 - R[0, 0] - R[1, 1] + R[2, 2],
        ]
    )
    k = int(np.argmax(t))
    a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    f, g, h = R[1, 0] + R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2]
    e = np.array([[t[0], a, b, c], [a, t[1], f, g], [b, f, t[2], h], [c, g, h, t[3]]])[k]
    unit: Array = e / np.linalg.norm(e)
    return -unit if unit @ near < 0.0 else unit
