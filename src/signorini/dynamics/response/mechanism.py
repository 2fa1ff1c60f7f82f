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

Chords, the joints that close loops, act in the accelerations like all others. Their own speeds follow from those of
their bodies. A distance joint holds the direction n between its points, with ``n . (a_b - a_a) = -|v_t|^2 / |d|``. A
gear holds ``c . w_b - r u . w_a``: its handle on a turns by ``r c u^T w_a``, as b is to turn. What coordinates and
speeds leave open is closed by :meth:`Mechanism.closed`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics.motion import motion_acceleration, motion_rate
from signorini.dynamics.response.articulated import fill_directions, fill_leaves, place_limbs
from signorini.dynamics.response.articulated_bodies import Articulated, limb_arrays
from signorini.dynamics.response.assembly import Assembly, Bodies, Links, Solved
from signorini.dynamics.response.flexible import elastic_force, equations, weight
from signorini.dynamics.response.limbs import (
    LINES,
    OWN,
    SIZES,
    Hinge,
    Limb,
    along,
    coordinates,
    make_limbs,
    placed,
    subspace,
)
from signorini.dynamics.response.plan import GROUND, Plan, make_plan
from signorini.dynamics.response.posture import Posture, Subspaces, frames, place_points, relative_pose
from signorini.dynamics.response.spatial import cross, matrix, shift, turn_of, velocity_at
from signorini.errors import InputError
from signorini.math.rotation import turn_exact
from signorini.model import Model, State, frame_rows

_SINGULAR = "Recursive: the inertia of a body is singular as it is bent now, must resist every motion"
_MOST_MOVES = 12  # onto chords; Newton's method needs two or three
_CLOSED = 1e-14  # of the places in metres, and of a radian: rounding, some dozens
_APART = 1e-9  # of positions in metres and directions: more than rounding of poses that people type with nine digits


class Mechanism:
    """The trees of a model, and the chords that close loops."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.limbs, self.chords = make_limbs(model)
        self.hinges: list[Hinge] = [*self.limbs, *self.chords]
        self.coordinate_count = self.limbs[-1].modes_q.stop if self.limbs else 0
        self.speed_count = self.limbs[-1].modes_u.stop if self.limbs else 0
        frame = {limb.body: k for k, limb in enumerate(self.limbs)}
        self.row = {b: frame[int(f)] for b, f in enumerate(frame_rows(model)) if b >= model.fixed_count}
        """Number of the limb that moves each row."""
        self.bending = [limb for limb in self.limbs if limb.flexible is not None]
        """Limbs that deform."""
        self._start = np.cumsum([0, *(limb.size for limb in self.limbs)])
        self._held = [k for k, hinge in enumerate(self.hinges) if hinge.joint >= 0]
        held = [self.hinges[k] for k in self._held]
        self._ends = [(self.row.get(hinge.inboard, GROUND), self.row.get(hinge.row, GROUND)) for hinge in held]
        self._counts: IntArray = np.array([hinge.held for hinge in held], dtype=np.int64)
        self.driven = [hinge for hinge in held if hinge.driven]
        """Hinges whose coordinates are prescribed."""
        self.hinge_of = {hinge.joint: k for k, hinge in enumerate(self.hinges)}
        """Number of the hinge of each joint."""
        soft = (model.joints.stiffness != 0.0) | (model.joints.damping != 0.0)
        self._soft = [(g, k) for g, k in enumerate(self._held) if soft[self.hinges[k].joint]]
        self._plans: dict[tuple[int, ...], Assembly] = {}
        grips: list[list[tuple[int, int]]] = [[] for _ in self.limbs]
        for k, ends in zip(self._held, self._ends, strict=True):
            for side, body in enumerate(ends):
                if body != GROUND:
                    grips[body].append((k, side))
        self._grip_start: IntArray = np.cumsum([0, *(len(own) for own in grips)], dtype=np.int64)
        self._grips: IntArray = np.array([one for own in grips for one in own], dtype=np.int64).reshape(-1, 2).T.copy()
        """Hinge and side of the handles of all limbs, one after another, (2, m)."""
        kinds = np.array([self.hinges[k].kind == "gear" for k in self._grips[0]], dtype=bool)
        self._geared_grips = kinds & (self._grips[1] == 0)
        rigid = [-1 if limb.flexible is not None else limb.body for limb in self.limbs]
        self._rigid: IntArray = np.array(rigid, dtype=np.int64)
        self.tables, self._work = limb_arrays(self.limbs), np.zeros((4, 3, 3))
        columns = [(hinge.columns, hinge.held if hinge.joint >= 0 else 0, hinge.acts_along) for hinge in self.hinges]
        table: IntArray = np.array(columns, dtype=np.int64).reshape(-1, 3)
        self._hold = table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()
        self.is_rigid_tree = not self.bending and not self.chords
        """Whether accelerations where nothing touches are found as those of articulated bodies."""
        self.bodies = self._articulated() if self.is_rigid_tree else None
        self.tree: IntArray = np.arange(len(self.limbs))
        """A number for each limb, the same for those that hang together."""
        for a, b in self._ends:
            if GROUND not in (a, b):
                self.tree[self.tree == self.tree[a]] = self.tree[b]

    def _drive(self, k: int) -> slice:
        """Return where the coordinate of a hinge stands among prescribed ones; those of chords follow the speeds."""
        if k < len(self.limbs):
            return self.limbs[k].u
        first = self.speed_count + k - len(self.limbs)
        return slice(first, first + 1)

    def _articulated(self) -> Articulated:
        parent = np.array([self.row.get(limb.inboard, GROUND) for limb in self.limbs], dtype=np.int64)
        left = [6 if limb.joint < 0 else 0 if limb.driven else SIZES[limb.kind][1] for limb in self.limbs]
        return Articulated(parent, np.array(left, dtype=np.int64))

    # --- coordinates ---------------------------------------------------------

    def configuration(self, state: State) -> Array:
        """Return the coordinates of a state; a joint that its poses contradict is an error."""
        q = np.zeros(self.coordinate_count)
        x, R = state.q[:, :3], np.array([matrix(pose[3:]) for pose in state.q]).reshape(-1, 3, 3)
        for limb in self.limbs:
            if limb.flexible is not None:
                q[limb.modes_q] = state.modal[limb.flexible.modes]
            if limb.joint < 0:
                pose = state.q[limb.body]
                q[limb.q] = np.concatenate([pose[:3] + matrix(pose[3:]) @ limb.anchor[1], pose[3:]])
                continue
            d, turned = relative_pose(limb, x, R)
            if limb.kind == "spherical":
                q[limb.q], there, own = state.q[limb.row, 3:], np.zeros(3), turned
            else:
                q[limb.q] = coordinates(limb, d, turned)
                there, own = placed(limb, q[limb.q])
            self._refuse_apart(limb, max(np.abs(there - d).max(), np.abs(own - turned).max()), float(np.abs(d).max()))
        at = self.posture(q, np.zeros(self.speed_count), state)
        D = self._directions(at)
        for k, chord in enumerate(self.chords, len(self.limbs)):
            gap = D[k].T @ self._gap(at, k, state.t)
            if not chord.driven:  # those are compared with their motion
                self._refuse_apart(chord, float(np.abs(gap).max(initial=0.0)), float(np.abs(at.place[k]).max()))
        return q

    def _refuse_apart(self, hinge: Hinge, error: float, size: float) -> None:
        if error > _APART * max(1.0, size):
            name = self.model.joints.names[hinge.joint]
            raise InputError(f"joint {name!r}: poses of its bodies contradict it, must fit at the start")

    def speeds(self, state: State, q: Array) -> Array:
        """Return the speeds of a state; velocities that a joint contradicts are an error."""
        u = np.zeros(self.speed_count)
        for limb in self.bending:
            assert limb.flexible is not None
            u[limb.modes_u] = state.modal_rate[limb.flexible.modes]
        at = self.posture(q, u, state)._replace(v=state.v[:, :3], w=state.v[:, 3:])
        fastest, D = max(1.0, float(np.abs(state.v).max(initial=0.0))), self._directions(at)
        for k, hinge in enumerate(self.hinges):
            relative, P = self._relative_velocity(at, k), at.P[k]
            if isinstance(hinge, Limb):
                own = along(P, relative)
                if hinge.joint < 0:
                    own = np.concatenate([relative[3:], relative[:3]])
                u[hinge.u] = at.w[hinge.row] if hinge.kind == "spherical" else own
            if hinge.joint < 0:
                continue
            across = D[k]
            if hinge.driven:  # along the coordinate it is compared with its motion
                across = across - P @ (P.T @ across)
            left = float(np.abs(across.T @ relative).max(initial=0.0))
            if left > _APART * fastest:
                name = self.model.joints.names[hinge.joint]
                raise InputError(
                    f"joint {name!r}: velocities of its bodies contradict it by {left:.3g} m/s or rad/s, "
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
        x, e, R = state.q[:, :3].copy(), state.q[:, 3:].copy(), np.zeros((self.model.body_count, 3, 3))
        v, w = state.v[:, :3].copy(), state.v[:, 3:].copy()
        for b in range(self.model.fixed_count):
            R[b] = matrix(e[b])
        n, count = len(self.limbs), len(self.hinges)
        place, turning, P = np.zeros((count, 3)), np.zeros((count, 6)), np.zeros((count, 6, 3))
        modal, modal_rate, points = state.modal.copy(), state.modal_rate.copy(), dict[int, tuple[Array, Array]]()
        q, u = np.ascontiguousarray(q), np.ascontiguousarray(u)
        first = 0
        for k, limb in enumerate(self.limbs):
            if limb.flexible is not None or k == n - 1:  # what is inboard is in place up to here
                place_limbs(first, k + 1, *self.tables, q, u, x, e, R, v, w, place, P, turning, self._work)
                first = k + 1
            if limb.flexible is not None:
                place_points(limb, q, u, x, e, R, v, w, points)
                own = limb.flexible.modes
                modal[own], modal_rate[own] = q[limb.modes_q], u[limb.modes_u]
        subspaces = Subspaces(P, self._hold[0])
        at = Posture(x, e, R, v, w, place, place.copy(), subspaces, turning, modal, modal_rate, points)
        for k in range(n, count):
            self._place_chord(at, k)
        return at

    def _place_chord(self, at: Posture, k: int) -> None:
        """Fill in place, P and A_t of a chord."""
        chord = self.hinges[k]
        (x_a, A), (x_b, B) = frames(chord, at.x, at.R)
        at.place[k] = at.across[k] = x_b
        if chord.kind in LINES:
            at.across[k] = x_a
            d = x_b - x_a
            length = float(np.linalg.norm(d))
            n = d / length if length > 0.0 else d
            at.P[k][3:, 0] = n
            v = self._relative_velocity(at, k)[3:]
            at.turning[k, 3:] = -n * (float(v @ v) - float(n @ v) ** 2) / max(length, 1e-300)
        elif chord.kind == "gear":
            at.P[k][:3, 0] = B[:, 2]
        else:
            P = subspace(chord, A, A.T @ B)
            at.P[k][:] = P
            w_a = np.zeros(3) if chord.inboard < 0 else at.w[chord.inboard]
            own = along(P, self._relative_velocity(at, k))
            by = P @ own
            at.turning[k, :3], at.turning[k, 3:] = cross(w_a, by[:3]), 2.0 * cross(w_a, by[3:])
            if chord.kind == "universal":
                at.turning[k, :3] += own[0] * own[1] * cross(P[:3, 0], P[:3, 1])

    def _relative_velocity(self, at: Posture, k: int) -> Array:
        """Return the velocity of b against a of a hinge, (6,); of a floating body that of its frame."""
        hinge = self.hinges[k]
        V_a = velocity_at(at.x, at.v, at.w, hinge.inboard, at.across[k])
        return velocity_at(at.x, at.v, at.w, hinge.row, at.place[k]) - self._geared(at, k) @ V_a

    def _geared(self, at: Posture, k: int) -> Array:
        """Return how the handle on a of a hinge moves: as its body, but that of a gear as b is to turn, (6, 6)."""
        hinge = self.hinges[k]
        if hinge.kind != "gear":
            return np.eye(6)
        (_, A), (_, B) = frames(hinge, at.x, at.R)
        out = np.zeros((6, 6))
        out[:3, :3] = self.model.joints.arrays.parameter[hinge.joint] * np.outer(B[:, 2], A[:, 2])
        return out

    def state(self, at: Posture, t: float) -> State:
        """Return the state of a posture at time `t`."""
        return State(
            t=t, q=np.hstack([at.x, at.e]), v=np.hstack([at.v, at.w]), modal=at.modal, modal_rate=at.modal_rate
        )

    def measured(self, at: Posture, q: Array, u: Array, near: Array) -> tuple[Array, Array]:
        """Return coordinates and speeds of joints that have one of their own, zero of others, (n_j,) each [m, rad].

        Angles of chords are on the turn next to that of `near` (n_j,).
        """
        coordinate, speed = np.zeros(self.model.joints.count), np.zeros(self.model.joints.count)
        for limb in self.limbs:
            if limb.kind in OWN:
                coordinate[limb.joint], speed[limb.joint] = limb.sign * q[limb.q.start], limb.sign * u[limb.u.start]
        for k, chord in enumerate(self.chords, len(self.limbs)):
            if chord.kind not in OWN:
                continue
            g = chord.joint
            speed[g] = float(at.P[k][:, 0] @ self._relative_velocity(at, k))
            if chord.kind in LINES:
                length = float(np.linalg.norm(at.place[k] - at.across[k]))
                coordinate[g] = length - self.model.joints.arrays.parameter[g]
                continue
            coordinate[g] = coordinates(chord, *relative_pose(chord, at.x, at.R))[0]
            if chord.kind == "revolute":
                coordinate[g] += 2.0 * np.pi * np.round((near[g] - coordinate[g]) / (2.0 * np.pi))
        return coordinate, speed

    # --- prescribed coordinates, springs and dampers --------------------------

    def prescribed(self, t: float, q: Array, u: Array) -> tuple[Array, Array, Array]:
        """Return coordinates and speeds with the prescribed ones as they are at `t`, and accelerations of these."""
        q, u, drive = q.copy(), u.copy(), np.zeros(self.speed_count + len(self.chords))
        for hinge in self.driven:
            motion = self.model.joints.motions[hinge.joint]
            assert motion is not None
            drive[self._drive(self.hinge_of[hinge.joint])] = hinge.sign * motion_acceleration(motion, t)
            if isinstance(hinge, Limb):
                q[hinge.q] = hinge.sign * motion(t)
                u[hinge.u] = hinge.sign * motion_rate(motion, t, 0.0, secant=False)
        return q, u, drive

    def drawn(self, t: float, coordinate: Array, speed: Array, h: float) -> Array:
        """Return the accelerations that carry prescribed coordinates to where they are `h` seconds later."""
        drive = np.zeros(self.speed_count + len(self.chords))
        for hinge in self.driven:
            g = hinge.joint
            motion = self.model.joints.motions[g]
            assert motion is not None
            drive[self._drive(self.hinge_of[g])] = hinge.sign * ((motion(t + h) - coordinate[g]) / h - speed[g]) / h
        return drive

    def soft_forces(self, coordinate: Array, speed: Array) -> tuple[Array, Array]:
        """Return the forces of springs and of dampers along all joints' own coordinates, (n_j,) each [N, N m]."""
        joints = self.model.joints
        return -joints.stiffness * (coordinate - joints.rest), -joints.damping * speed

    def efforts(self, at: Posture, wrench: Array) -> Array:
        """Return what joints that have a coordinate of their own push along it, (n_j,) [N, N m]."""
        out = np.zeros(self.model.joints.count)
        for g, k in enumerate(self._held):
            hinge = self.hinges[k]
            if hinge.moves:
                out[hinge.joint] = hinge.sign * float(at.P[k][:, 0] @ wrench[g])
        return out

    def held_wrench(self, at: Posture, wrench: Array) -> Array:
        """Return wrenches of joints without what they push along their own coordinates, (n_held, 6)."""
        out = wrench.copy()
        for g, k in enumerate(self._held):
            if self.hinges[k].moves:
                axis = at.P[k][:, 0]
                out[g] -= axis * float(axis @ wrench[g])
        return out

    def direction(self, at: Posture, g: int) -> tuple[Array, float]:
        """Return the direction of the own coordinate of joint `g` on b against a, (6,), and A_t along it."""
        k = self.hinge_of[g]
        axis: Array = self.hinges[k].sign * at.P[k][:, 0]
        return axis, float(axis @ at.turning[k])

    def chord_work(self, at: Posture, pushed: Posture, wrench: Array) -> float:
        """Return the power of the wrenches of chords on the speeds of `pushed`, of what is not along their coordinates.

        Chords hold accelerations; how their speeds change in a step they hold to the first order only.
        """
        total = 0.0
        for g, k in enumerate(self._held):
            if k >= len(self.limbs):
                relative, P = self._relative_velocity(pushed, k), at.P[k]
                total += float(wrench[g] @ relative)
                if self.hinges[k].moves:
                    total -= float(P[:, 0] @ wrench[g]) * float(P[:, 0] @ relative)
        return total

    # --- loops -----------------------------------------------------------------

    def closed(self, q: Array, u: Array, state: State, t: float) -> tuple[Array, Array]:
        """Return coordinates and speeds moved onto the chords, by as little kinetic energy as can be.

        Impulses of the chords move the bodies, and the response of all joints tells how.
        """
        if not self.chords:
            return q, u
        last = np.inf
        for _ in range(_MOST_MOVES):
            at = self.posture(q, u, state)
            gap = self._left(at, {k: self._gap(at, k, t) for k in self._chord_numbers})
            error = float(np.abs(gap).max(initial=0.0))
            if error <= _CLOSED * max(1.0, float(np.abs(at.place).max())) or error > last:
                break
            last = error
            q = self.moved(q, -self._jump(at, gap))
        at = self.posture(q, u, state)
        return q, u - self._jump(at, self._left(at, {k: self._rate_gap(at, k, t) for k in self._chord_numbers}))

    def unmet(self, at: Posture, t: float) -> Array:
        """Return the largest speed that each chord leaves open, (n_j,) [m/s, rad/s]."""
        out, D = np.zeros(self.model.joints.count), self._directions(at)
        for k in self._chord_numbers:
            gap = D[k].T @ self._rate_gap(at, k, t)
            out[self.hinges[k].joint] = np.abs(gap).max(initial=0.0)
        return out

    @property
    def _chord_numbers(self) -> range:
        return range(len(self.limbs), len(self.hinges))

    def _gap(self, at: Posture, k: int, t: float) -> Array:
        """Return by how far b of a chord is from where a holds it, as a turn and a displacement (6,)."""
        chord = self.hinges[k]
        motion = self.model.joints.motions[chord.joint] if chord.driven else None
        if chord.kind == "gear":  # it holds speeds
            return np.zeros(6)
        if chord.kind in LINES:
            length = self.model.joints.arrays.parameter[chord.joint] + (0.0 if motion is None else motion(t))
            apart: Array = at.P[k][:, 0] * (float(np.linalg.norm(at.place[k] - at.across[k])) - length)
            return apart
        d, R = relative_pose(chord, at.x, at.R)
        own = coordinates(chord, d, R) if motion is None else np.array([motion(t)])
        there, turned = placed(chord, own)
        A = frames(chord, at.x, at.R)[0][1]
        turn = np.zeros(3) if chord.kind == "spherical" else A @ turn_of(R @ turned.T)
        return np.concatenate([turn, A @ (d - there)])

    def _rate_gap(self, at: Posture, k: int, t: float) -> Array:
        chord = self.hinges[k]
        relative = self._relative_velocity(at, k)
        if chord.driven:
            motion = self.model.joints.motions[chord.joint]
            assert motion is not None
            relative = relative - at.P[k][:, 0] * motion_rate(motion, t, 0.0, secant=False)
        return relative

    def _left(self, at: Posture, gaps: dict[int, Array]) -> Array:
        """Return these gaps of hinges (6,) along the directions that they hold, zero of others, (n_held, 6)."""
        d, D = np.zeros((len(self._held), 6)), self._directions(at)
        for g, k in enumerate(self._held):
            if k in gaps:
                d[g, : self._counts[g]] = D[k].T @ gaps[k]
        return d

    def _jump(self, at: Posture, d: Array) -> Array:
        """Return the change of the speeds by impulses of all joints that changes what they hold by `d` (n_held, 6)."""
        leaves = self._leaves(at, [[] for _ in self.limbs])
        bodies = Bodies(
            leaves.inertia,
            [np.zeros(limb.size) for limb in self.limbs],
            leaves.jacobian,
            [np.zeros(T.shape[0]) for T in leaves.jacobian],
        )
        assembly = self._assembly(tuple(0 for _ in self.limbs))
        D = self._directions(at).padded[self._held]
        if not assembly.assemble(bodies, Links(self._counts, D, d, np.zeros_like(d))):
            raise InputError(_SINGULAR)
        return self.rates(at, assembly.solve(), known=False)

    # --- dynamics ------------------------------------------------------------

    def assembled(
        self,
        at: Posture,
        force: Array,
        rows: list[list[tuple[int, Array, Array]]],
        drive: Array,
        soft: Array,
        *,
        ahead: float = 0.0,
    ) -> Assembly:
        """Assemble the mechanism in a posture.

        Parameters
        ----------
        force : (n_b, 6)
            Force at the mass centre, or at the point, and moment; weight included where bodies are rigid [N, N m].
        rows : (row of the model, point, direction (6,)) in the world of all rows that reach the root, of each limb
        drive : (n_u + number of chords,)
            Accelerations of prescribed coordinates.
        soft : (n_j,)
            Known forces along the joints' own coordinates [N, N m].
        ahead : float
            Seconds after which modes are where stiffness and damping act on them [s].
        """
        leaves = self._leaves(at, rows)
        for k, limb in enumerate(self.limbs):
            if ahead > 0.0 and limb.flexible is not None:
                body, rate = limb.flexible.body, at.modal_rate[limb.flexible.modes]
                leaves.inertia[k][6:, 6:] += ahead * (body.damping + ahead * body.stiffness)
                leaves.bias[k][6:] += ahead * body.stiffness @ rate
            leaves.bias[k][:] -= self.known_force(at, k, force)
        D, turning = self._directions(at).padded[self._held], at.turning[self._held]
        for g, k in enumerate(self._held):
            if self.hinges[k].driven:
                turning[g] += at.P[k] @ drive[self._drive(k)]
        d, applied = np.einsum("gij,gi->gj", D, turning), np.zeros((len(self._held), 6))
        for g, k in self._soft:
            applied[g] = at.P[k][:, 0] * self.hinges[k].sign * soft[self.hinges[k].joint]
        assembly = self._assembly(tuple(len(own) for own in rows))
        if not assembly.assemble(leaves, Links(self._counts, D, d, applied)):
            raise InputError(_SINGULAR)
        return assembly

    def accelerated(self, at: Posture, force: Array, drive: Array, soft: Array, *, ahead: float = 0.0) -> Solved:
        """Return accelerations and forces where nothing else acts, of rigid trees as articulated bodies.

        Arguments are those of :meth:`assembled`; with loops or modes this is its answer.
        """
        if self.bodies is None:
            none: list[list[tuple[int, Array, Array]]] = [[] for _ in self.limbs]
            return self.assembled(at, force, none, drive, soft, ahead=ahead).solve()
        n = len(self.limbs)
        turning, tau = at.turning, np.zeros((n, 3))
        if self.driven:
            turning = turning.copy()
            for hinge in self.driven:
                k = self.hinge_of[hinge.joint]
                turning[k] += at.P[k] @ drive[self._drive(k)]
        for _, k in self._soft:
            tau[k, 0] = self.limbs[k].sign * soft[self.limbs[k].joint]
        arrays = self.model.arrays
        x, wrench, rate = np.zeros((n, 6)), np.zeros((n, 6)), drive[: self.speed_count].copy()
        poses = (at.x, at.R, at.v, at.w, at.place, at.P.padded, turning, force, tau)
        if not self.bodies.solve(self.tables, arrays.mass, arrays.inertia, poses, x, wrench, rate):
            raise InputError(_SINGULAR)
        return Solved(x.reshape(-1), wrench[self._held], np.zeros(0), rate)

    def _leaves(self, at: Posture, rows: list[list[tuple[int, Array, Array]]]) -> Bodies:
        """Return all limbs with their handles, and after these the rows that reach the root; without loads."""
        n, m = len(self.limbs), self._grips.shape[1]
        Gamma, beta, T, fast = np.zeros((n, 6, 6)), np.zeros((n, 6)), np.zeros((m, 6, 6)), np.zeros((m, 6))
        arrays, found = self.model.arrays, (Gamma, beta, T, fast, np.zeros((2, 3, 3)))
        poses = at.x, at.R, at.w, arrays.mass, arrays.inertia, at.place, at.across
        arguments: tuple[Any, ...] = (self._rigid, self._grip_start, *self._grips, *poses, *found)
        fill_leaves(*arguments)
        inertia, bias, jacobian, drift = [], [], [], []
        for k, limb in enumerate(self.limbs):
            own = slice(self._grip_start[k], self._grip_start[k + 1])
            handles_T, handles_fast = T[own], fast[own]
            if limb.flexible is not None:
                more = [self._handle(at, limb, int(g), int(side)) for g, side in self._grips[:, own].T]
                handles_T = np.array([one for one, _ in more]).reshape(-1, 6, limb.size)
                handles_fast = np.array([one for _, one in more]).reshape(-1, 6)
                modal = limb.flexible.modes
                one, other = equations(
                    limb.flexible.body, at.R[limb.body], at.w[limb.body], at.modal[modal], at.modal_rate[modal]
                )
                inertia.append(one)
                bias.append(other)
            else:
                inertia.append(Gamma[k])
                bias.append(beta[k])
            jacobian.append(handles_T.reshape(-1, limb.size))
            drift.append(handles_fast.reshape(-1))
            if rows[k]:
                there = [self._response_at(at, limb, row, point) for row, point, _ in rows[k]]
                across = [direction for _, _, direction in rows[k]]
                jacobian[k] = np.vstack([jacobian[k], *(d @ one for d, (one, _) in zip(across, there, strict=True))])
                drift[k] = np.concatenate([drift[k], [d @ one for d, (_, one) in zip(across, there, strict=True)]])
        for h in np.flatnonzero(self._geared_grips):
            k = int(np.searchsorted(self._grip_start, h, side="right")) - 1
            own, S = (
                slice(6 * (h - self._grip_start[k]), 6 * (h - self._grip_start[k]) + 6),
                self._geared(at, int(self._grips[0, h])),
            )
            jacobian[k][own], drift[k][own] = S @ jacobian[k][own], S @ drift[k][own]
        return Bodies(inertia, bias, jacobian, drift)

    def _handle(self, at: Posture, limb: Limb, k: int, side: int) -> tuple[Array, Array]:
        """Return T and A^ of a limb where a hinge holds it."""
        hinge = self.hinges[k]
        row, point = (hinge.inboard, at.across[k]) if side == 0 else (hinge.row, at.place[k])
        return self._response_at(at, limb, row, point)

    def inertias(self, at: Posture) -> tuple[list[Array], list[Array]]:
        """Return the inertia of all limbs, and the inertial part of beta: without loads, stiffness and damping."""
        leaves = self._leaves(at, [[] for _ in self.limbs])
        return leaves.inertia, leaves.bias

    def _directions(self, at: Posture) -> Subspaces:
        """Return the directions that hinges hold."""
        D = np.zeros((len(self.hinges), 6, 6))
        fill_directions(at.P.padded, *self._hold, D, np.zeros((6, 6)))
        return Subspaces(D, self._hold[1])

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
        S, fast = shift(r), np.zeros(6)
        fast[3:] = cross(w, cross(w, r))
        if row not in at.points:
            return (S if limb.size == 6 else np.hstack([S, np.zeros((6, limb.size - 6))])), fast
        T, own = at.points[row]
        return S @ T, S @ own + fast

    def rates(self, at: Posture, solved: Solved, *, known: bool = True) -> Array:
        """Return the rates of the speeds from the accelerations of the bodies, (n_u,).

        With ``known=False`` the jumps of the speeds from those of the velocities.
        """
        if solved.rate is not None:
            return solved.rate
        acceleration = solved.acceleration
        out = np.zeros(self.speed_count)
        for k, limb in enumerate(self.limbs):
            out[limb.modes_u] = self.of_limb(acceleration, k)[6:]
            if limb.joint < 0:
                there = self._acceleration_at(at, acceleration, limb.row, at.place[k], known)
                out[limb.u] = np.concatenate([there[3:], there[:3]])
                continue
            if not at.P[k].size:
                continue
            outboard = self._acceleration_at(at, acceleration, limb.row, at.place[k], known)
            if limb.kind == "spherical":
                out[limb.u] = outboard[:3]
                continue
            relative = outboard - known * at.turning[k]
            relative -= self._acceleration_at(at, acceleration, limb.inboard, at.place[k], known)
            out[limb.u] = along(at.P[k], relative)
        return out

    def _acceleration_at(self, at: Posture, acceleration: Array, row: int, point: Array, known: bool) -> Array:
        if row not in self.row:
            return np.zeros(6)
        k = self.row[row]
        T, fast = self._response_at(at, self.limbs[k], row, point)
        return T @ self.of_limb(acceleration, k) + known * fast

    def reactions(self, at: Posture, wrench: Array, pushes: Array | None = None) -> Array:
        """Return force and moment on body b of each joint at its anchor, (n_j, 6) [N, N m].

        `pushes` (n_j,) are what acts along coordinates besides the wrenches.
        """
        out = np.zeros((self.model.joints.count, 6))
        for g, k in enumerate(self._held):
            limb, own = self.hinges[k], wrench[g]
            if pushes is not None and limb.moves:
                own = own + self.direction(at, limb.joint)[0] * pushes[limb.joint]
            moment, force = own[:3], own[3:]
            if limb.sign < 0.0:  # on body a, at the origin of B, which is its anchor; b's is that of A
                anchor = (np.zeros(3) if limb.inboard < 0 else at.x[limb.inboard]) + (
                    limb.anchor[0] if limb.inboard < 0 else at.R[limb.inboard] @ limb.anchor[0]
                )
                moment, force = -(moment + cross(at.place[k] - anchor, force)), -force
            out[limb.joint] = np.concatenate([force, moment])
        return out
