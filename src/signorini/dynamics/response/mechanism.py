r"""Trees of rigid and flexible bodies in joint coordinates, for :mod:`signorini.dynamics.response` (S5 spec 2 to 4).

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

After those of its joint come the modal coordinates of a flexible body, with their rates as speeds. Its frame follows
from the point at which the joint holds it, ``R = R_P Exp(Psi_P q)^T``; its named points are rows of the model, and with
the acceleration x of the frame and of the modes each of them has ``A = T x + A^``. As the method assumes small turns,
the spin of a point is ``w + Psi_P qd``, which is exact for bending in one plane.

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
from signorini.dynamics.response.flexible import bent, elastic_force, equations, handles, rotation, turns, weight
from signorini.dynamics.response.plan import GROUND, Plan, make_plan
from signorini.errors import InputError
from signorini.math.rotation import matrix, turn_exact
from signorini.model import Deformable, Model, State, frame_rows

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
    """Its row in the model, that of its frame."""
    inboard: int
    """Row of the body or the point that it hangs from, -1 for the world."""
    joint: int
    """Its number in the model, -1 if the body floats."""
    kind: str
    sign: float
    """Of the joint's own coordinate beside ours: -1 where body a hangs from body b."""
    anchor: tuple[Array, Array]
    """Origins of A and B in the frames of the mass centres, or of the points [m]."""
    frame: tuple[Array, Array]
    """Rotations of A and B to these frames, (3, 3)."""
    rest: Array
    """Rotation of B to A at coordinates of zero, (3, 3)."""
    driven: bool
    """Whether its coordinate is prescribed."""
    q: slice
    u: slice
    row: int
    """That by which the joint holds it: its own, or that of one of its points."""
    flexible: Deformable | None
    modes_q: slice
    """Its modal coordinates."""
    modes_u: slice
    """Their rates among the speeds."""

    @property
    def size(self) -> int:
        """Number of accelerations of its frame and its modes."""
        return 6 + int(self.modes_u.stop) - int(self.modes_u.start)


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
    modal: Array
    """(n_m,)"""
    modal_rate: Array
    """(n_m,)"""
    points: dict[int, tuple[Array, Array]]
    """T (6, 6 + nu) and A^ (6,) of the rows of points."""


class Mechanism:
    """The trees of a model; joints that close loops are refused."""

    def __init__(self, model: Model, who: str) -> None:
        self.model = model
        self.limbs = _limbs(model, who)
        self.coordinate_count = self.limbs[-1].modes_q.stop if self.limbs else 0
        self.speed_count = self.limbs[-1].modes_u.stop if self.limbs else 0
        frame = {limb.body: k for k, limb in enumerate(self.limbs)}
        self.row = {b: frame[int(f)] for b, f in enumerate(frame_rows(model)) if b >= model.fixed_count}
        """Number of the limb that moves each row."""
        self.bending = [limb for limb in self.limbs if limb.flexible is not None]
        """Limbs that deform."""
        self._start = np.cumsum([0, *(limb.size for limb in self.limbs)])
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
            if limb.flexible is not None:
                q[limb.modes_q] = state.modal[limb.flexible.modes]
            if limb.joint < 0:
                pose = state.q[limb.body]
                q[limb.q] = np.concatenate([pose[:3] + _matrix(pose[3:]) @ limb.anchor[1], pose[3:]])
                continue
            d, R = self._relative(limb, state.q)
            if limb.kind == "spherical":
                q[limb.q], there, turned = state.q[limb.row, 3:], np.zeros(3), R
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
        for side, body in enumerate((limb.inboard, limb.row)):
            R = np.eye(3) if body < 0 else _matrix(poses[body, 3:])
            x = np.zeros(3) if body < 0 else poses[body, :3]
            ends.append((x + R @ limb.anchor[side], R @ limb.frame[side]))
        (x_a, A), (x_b, B) = ends
        return A.T @ (x_b - x_a), A.T @ B

    def speeds(self, state: State, q: Array) -> Array:
        """Return the speeds of a state; velocities that a joint contradicts are an error."""
        u = np.zeros(self.speed_count)
        for limb in self.bending:
            assert limb.flexible is not None
            u[limb.modes_u] = state.modal_rate[limb.flexible.modes]
        at = self.posture(q, u, state)
        v, w = state.v[:, :3], state.v[:, 3:]
        for k, limb in enumerate(self.limbs):
            if limb.joint < 0:
                velocity = _velocity_at(at.x, v, w, limb.body, at.place[k])
                u[limb.u] = np.concatenate([velocity[3:], velocity[:3]])
                continue
            relative = _velocity_at(at.x, v, w, limb.row, at.place[k]) - _velocity_at(
                at.x, v, w, limb.inboard, at.place[k]
            )
            own = np.linalg.lstsq(at.P[k], relative, rcond=None)[0] if at.P[k].size else np.zeros(0)
            u[limb.u] = w[limb.row] if limb.kind == "spherical" else own
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
            out[limb.modes_q] = q[limb.modes_q] + d[limb.modes_u]
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
        modal, modal_rate, points = state.modal.copy(), state.modal_rate.copy(), dict[int, tuple[Array, Array]]()
        for k, limb in enumerate(self.limbs):
            b, a, own, rate = limb.row, limb.inboard, q[limb.q], u[limb.u]
            if limb.joint < 0:
                e[b], R[b], w[b], place[k] = own[3:], _matrix(own[3:]), rate[3:], own[:3]
                r = R[b] @ limb.anchor[1]
                x[b], v[b] = own[:3] - r, rate[:3] - _cross(w[b], r)
                P.append(np.zeros((6, 0)))
                _place_points(limb, q, u, x, e, R, v, w, points)
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
            _place_points(limb, q, u, x, e, R, v, w, points)
        for limb in self.bending:
            assert limb.flexible is not None
            modal[limb.flexible.modes], modal_rate[limb.flexible.modes] = q[limb.modes_q], u[limb.modes_u]
        return Posture(x, e, R, v, w, place, P, turning, modal, modal_rate, points)

    def state(self, at: Posture, t: float) -> State:
        """Return the state of a posture at time `t`."""
        return State(
            t=t, q=np.hstack([at.x, at.e]), v=np.hstack([at.v, at.w]), modal=at.modal, modal_rate=at.modal_rate
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
        self, at: Posture, force: Array, rows: list[list[tuple[int, Array, Array]]], drive: Array, soft: Array
    ) -> Assembly:
        """Assemble the trees in a posture.

        Parameters
        ----------
        force : (n_b, 6)
            Force at the mass centre, or at the point, and moment; weight included where bodies are rigid [N, N m].
        rows : (row of the model, point, direction) in the world of all contact rows of each limb
        drive : (n_u,)
            Accelerations of prescribed coordinates.
        soft : (n_j,)
            Known forces along the joints' own coordinates [N, N m].
        """
        limbs = self.limbs
        handles: list[list[tuple[int, Array]]] = [[] for _ in limbs]
        for k, (a, b) in zip(self._held, self._ends, strict=True):
            for body, row in ((a, limbs[k].inboard), (b, limbs[k].row)):
                if body != GROUND:
                    handles[body].append((row, at.place[k]))
        inertia, bias, jacobian, drift = [], [], [], []
        for k, limb in enumerate(limbs):
            Gamma, beta = self.equations(at, k)
            inertia.append(Gamma)
            bias.append(beta - self.known_force(at, k, force))
            m = 6 * len(handles[k])
            T, fast = np.zeros((m + len(rows[k]), limb.size)), np.zeros(m + len(rows[k]))
            for i, (row, point) in enumerate(handles[k]):
                T[6 * i : 6 * i + 6], fast[6 * i : 6 * i + 6] = self._response_at(at, limb, row, point)
            for i, (row, point, n) in enumerate(rows[k]):
                there, rushing = self._response_at(at, limb, row, point)
                T[m + i], fast[m + i] = n @ there[3:], n @ rushing[3:]
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
        if not assembly.assemble(Bodies(inertia, bias, jacobian, drift), Links(self._counts, D, d, applied)):
            raise InputError("Recursive: the inertia of a body is singular as it is bent now, must resist every motion")
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
            sizes: IntArray = np.array([limb.size for limb in self.limbs], dtype=np.int64)
            self._plans[counts] = Assembly(plan, sizes, self._counts)
        return self._plans[counts]

    def equations(self, at: Posture, k: int) -> tuple[Array, Array]:
        """Return the inertia of a limb, and the inertial part of beta: without loads, stiffness and damping."""
        limb, b = self.limbs[k], self.limbs[k].body
        if limb.flexible is not None:
            own = limb.flexible.modes
            return equations(limb.flexible.body, at.R[b], at.w[b], at.modal[own], at.modal_rate[own])
        I = at.R[b] @ self.model.arrays.inertia[b] @ at.R[b].T
        Gamma = np.zeros((6, 6))
        Gamma[:3, :3] = I
        Gamma[[3, 4, 5], [3, 4, 5]] = self.model.arrays.mass[b]
        return Gamma, np.concatenate([_cross(at.w[b], I @ at.w[b]), np.zeros(3)])

    def known_force(self, at: Posture, k: int, force: Array) -> Array:
        """Return what loads on rows (n_b, 6), weight, stiffness and damping do to frame and modes of a limb."""
        limb, b = self.limbs[k], self.limbs[k].body
        out = np.zeros(limb.size)
        out[:3], out[3:6] = force[b, 3:], force[b, :3]
        if limb.flexible is None:
            return out
        own, body = limb.flexible.modes, limb.flexible.body
        for row in range(limb.flexible.rows.start + 1, limb.flexible.rows.stop):
            if force[row].any():
                out += at.points[row][0].T @ np.concatenate([force[row, 3:], force[row, :3]])
        out += weight(body, at.R[b], at.modal[own], self.model.arrays.gravity)
        return out + elastic_force(body, at.modal[own], at.modal_rate[own])

    def weight(self, at: Posture, k: int) -> Array:
        """Return what gravity does to frame and modes of a limb, (6 + nu,)."""
        limb, b = self.limbs[k], self.limbs[k].body
        if limb.flexible is not None:
            return weight(limb.flexible.body, at.R[b], at.modal[limb.flexible.modes], self.model.arrays.gravity)
        own = self.model.arrays.weight[b]
        return np.concatenate([own[3:], own[:3]])

    def motion(self, at: Posture, k: int) -> Array:
        """Return spin and velocity of the frame of a limb, and the rates of its modes, (6 + nu,)."""
        limb, b = self.limbs[k], self.limbs[k].body
        rate = at.modal_rate[limb.flexible.modes] if limb.flexible is not None else np.zeros(0)
        return np.concatenate([at.w[b], at.v[b], rate])

    def of_limb(self, x: Array, k: int) -> Array:
        """Return the part of a limb among the accelerations of all, (6 + nu,)."""
        return x[self._start[k] : self._start[k + 1]]

    def elastic(self, q: Array) -> float:
        """Return the energy stored in modes [J]."""
        return sum(
            0.5 * float(q[limb.modes_q] @ limb.flexible.body.stiffness @ q[limb.modes_q])
            for limb in self.bending
            if limb.flexible is not None
        )

    def modal_power(self, q: Array, u: Array, u_new: Array) -> tuple[float, float]:
        """Return the power of the stiffness and of the damping of modes at `q` and `u` on the speeds `u_new` [W]."""
        stiff = damped = 0.0
        for limb in self.bending:
            assert limb.flexible is not None
            body, rate = limb.flexible.body, u_new[limb.modes_u]
            stiff -= float(rate @ body.stiffness @ q[limb.modes_q])
            damped -= float(rate @ body.damping @ u[limb.modes_u])
        return stiff, damped

    def _response_at(self, at: Posture, limb: Limb, row: int, point: Array) -> tuple[Array, Array]:
        """Return T (6, 6 + nu) and A^ (6,) of a place in the world that moves with a row of the model."""
        r, w = point - at.x[row], at.w[row]
        S, fast = _shift(r), np.zeros(6)
        fast[3:] = _cross(w, _cross(w, r))
        if row not in at.points:
            return (S if limb.size == 6 else np.hstack([S, np.zeros((6, limb.size - 6))])), fast
        T, own = at.points[row]
        return S @ T, S @ own + fast

    def rates(self, at: Posture, acceleration: Array) -> Array:
        """Return the rates of the speeds from the accelerations of the bodies, (n_u,)."""
        out = np.zeros(self.speed_count)
        for k, limb in enumerate(self.limbs):
            out[limb.modes_u] = self.of_limb(acceleration, k)[6:]
            if limb.joint < 0:
                there = self._acceleration_at(at, acceleration, limb.row, at.place[k])
                out[limb.u] = np.concatenate([there[3:], there[:3]])
                continue
            if not at.P[k].size:
                continue
            outboard = self._acceleration_at(at, acceleration, limb.row, at.place[k])
            if limb.kind == "spherical":
                out[limb.u] = outboard[:3]
                continue
            relative = outboard - at.turning[k]
            relative -= self._acceleration_at(at, acceleration, limb.inboard, at.place[k])
            out[limb.u] = np.linalg.lstsq(at.P[k], relative, rcond=None)[0]
        return out

    def _acceleration_at(self, at: Posture, acceleration: Array, row: int, point: Array) -> Array:
        if row not in self.row:
            return np.zeros(6)
        k = self.row[row]
        T, fast = self._response_at(at, self.limbs[k], row, point)
        return T @ self.of_limb(acceleration, k) + fast

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
    frame = frame_rows(model)
    deformable = {one.row: one for one in model.flexible}
    near: dict[int, list[tuple[int, int, float]]] = {}
    for g in range(joints.count):
        a, b = int(arrays.body_a[g]), int(arrays.body_b[g])
        for here, other, sign in ((a, b, 1.0), (b, a, -1.0)):
            near.setdefault(int(frame[here]) if here >= model.fixed_count else -1, []).append((g, other, sign))
    limbs: list[Limb] = []
    used: set[int] = set()
    seen: set[int] = set()
    sizes = [0, 0]

    def add(row: int, inboard: int, g: int, sign: float) -> None:
        kind = "free" if g < 0 else joints.kinds[g]
        body = int(frame[row])
        own = deformable.get(body)
        parts = []
        for side, joint in enumerate(_SIZES[kind]):
            middle = sizes[side] + joint
            last = middle + (0 if own is None else own.body.mode_count)
            parts.append((slice(sizes[side], middle), slice(middle, last)))
            sizes[side] = last
        anchor, frames, rest = _ends(model, row, inboard, g, sign, kind)
        driven = g >= 0 and joints.motions[g] is not None
        (q, modes_q), (u, modes_u) = parts
        limbs.append(Limb(body, inboard, g, kind, sign, anchor, frames, rest, driven, q, u, row, own, modes_q, modes_u))
        seen.add(body)

    def grow(first: int) -> None:
        waiting = [first]
        for at in waiting:
            for g, other, sign in near.get(at, []):
                if g in used:
                    continue
                if other < model.fixed_count or int(frame[other]) in seen:
                    raise InputError(f"joint {joints.names[g]!r}: closes a loop, must not for {who}, which knows trees")
                used.add(g)
                inboard = int(arrays.body_a[g] if sign > 0.0 else arrays.body_b[g])
                add(other, inboard, g, sign)
                waiting.append(int(frame[other]))

    grow(-1)
    for body in range(model.fixed_count, model.body_count):
        if int(frame[body]) not in seen:
            add(body, -1, -1, 1.0)
            grow(body)
    return limbs


def _ends(
    model: Model, row: int, inboard: int, g: int, sign: float, kind: str
) -> tuple[tuple[Array, Array], tuple[Array, Array], Array]:
    """Return origins and rotations of A and B on their rows, and the rotation of B to A at coordinates of zero."""
    if g < 0:
        return (np.zeros(3), -model.mass_centre[row]), (np.eye(3), np.eye(3)), np.eye(3)
    arrays = model.joints.arrays
    sides = ((arrays.anchor_a[g], arrays.frame_a[g]), (arrays.anchor_b[g], arrays.frame_b[g]))
    if sign < 0.0:
        sides = sides[::-1]
    frame = (_matrix(sides[0][1]), _matrix(sides[1][1]))
    poses = model.initial_state.q
    at = [np.eye(3) if b < 0 else _matrix(poses[b, 3:]) for b in (inboard, row)]
    rest = (at[0] @ frame[0]).T @ (at[1] @ frame[1]) if kind == "universal" else np.eye(3)
    return (sides[0][0].copy(), sides[1][0].copy()), frame, rest


def _place_points(
    limb: Limb,
    q: Array,
    u: Array,
    x: Array,
    e: Array,
    R: Array,
    v: Array,
    w: Array,
    points: dict[int, tuple[Array, Array]],
) -> None:
    """Fill in the frame and all points of a flexible limb from the row by which it is held."""
    if limb.flexible is None:
        return
    own, rate, b, held = q[limb.modes_q], u[limb.modes_u], limb.body, limb.row
    named = limb.flexible.points
    if held != b:
        k = held - b - 1
        R[b] = R[held] @ rotation(named.Psi[k] @ own).T
        w[b] = w[held] - R[b] @ (named.Psi[k] @ rate)
        r = R[b] @ bent(named, own)[k]
        x[b], e[b] = x[held] - r, _quaternion(R[b], e[b])
        v[b] = v[held] - _cross(w[b], r) - R[b] @ ((named.Phi[k] + named.Chi[k] @ own) @ rate)
    T, fast = handles(named, R[b], w[b], own, rate)
    there, turned = bent(named, own) @ R[b].T, turns(named, own)
    motion = np.concatenate([w[b], v[b], rate])
    for k in range(there.shape[0]):
        row = b + 1 + k
        points[row] = T[k], fast[k]
        if row != held:
            x[row], R[row] = x[b] + there[k], R[b] @ turned[k]
            e[row] = _quaternion(R[row], e[row])
            velocity = T[k] @ motion
            w[row], v[row] = velocity[:3], velocity[3:]


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
