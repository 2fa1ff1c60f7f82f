r"""Mechanisms in joint coordinates by divide and conquer, with contact (S5, sections 2 and 3).

Accelerations are affine in the contact forces, and the assembly of :mod:`signorini.dynamics.response` gives the map at
its root: ``a = W lam + a_0`` for the normal and the tangents of every contact. With impulses ``p = h lam``,

.. math::
    v^{+} = v + h a_0 + W p - v_{obs}, \qquad
    0 \le p_n \perp v_n^{+} + g / h \ge 0, \qquad \text{friction as the cone says},

which is S5 eq. (23) with its gap row divided by h; then ``u+ = u + h du(p)`` by one pass back to the bodies, and the
coordinates move at the new speeds. Poses follow from the coordinates: joints do not drift.

=============  =================================  ==============================================
here           S5                                 meaning
=============  =================================  ==============================================
``q``, ``u``   :math:`q, u`                       joint coordinates and speeds
``W``, ``a0``  last rows of (9) at the root       contact directions' response, free acceleration
``p``          :math:`h \lambda`                  impulses, (n_c, dim) [N s]
=============  =================================  ==============================================

Momentum: velocities of bodies follow from joint speeds at the old coordinates, poses from new ones, so that the linear
momentum of a mechanism in flight is kept to the first order only; :class:`~signorini.MoreauJean` keeps it to rounding.

References
----------
.. [S5] Bhalerao & Anderson (2010), *Modeling intermittent contact for flexible multibody systems*, eqs. (1)-(23).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray, checked_tolerance, padded
from signorini.dynamics import (
    contact_wrenches,
    drive_velocity,
    kinetic_energy,
    load_impulse,
    motion_energies,
    potential_energy,
    prescribed_pose,
    relative_velocity,
)
from signorini.dynamics.joints import rigid_rows
from signorini.dynamics.response.mechanism import Mechanism, Posture
from signorini.errors import InputError
from signorini.formulations.base import Balance, JointReport, Memory, StepResult
from signorini.formulations.contact_checks import check_contacts
from signorini.formulations.posed import PosedFriction
from signorini.formulations.time_stepping import candidates, refuse
from signorini.integrators import RK4, Integrator, SemiImplicitEuler
from signorini.math.rotation import tangent_frame
from signorini.model import Contacts, Model, State, refuse_layers
from signorini.problems import FrictionProblem
from signorini.problems.problem import accepted
from signorini.solvers import Lemke, Solution, Status, solve

_KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "spherical", "universal", "planar")
_SHARP = 1e-10


@dataclass(frozen=True, slots=True)
class JointMemory:
    """Joint coordinates and speeds, and the last impulses by feature."""

    configuration: Array
    """Coordinates of all joints and floating bodies, see :mod:`signorini.dynamics.response.mechanism`, (n_q,)."""
    speed: Array
    """(n_u,)"""
    feature: IntArray
    """Names of contacts, sorted, (m,)."""
    impulse: Array
    """(m, 6) [N s]"""
    coordinate: Array
    """Of joints that have one of their own, (n_j,) [m, rad]."""
    stored: float = 0.0
    """Nothing is stored elsewhere [J]."""
    kind: ClassVar[str] = "joint coordinates"

    def to_arrays(self) -> dict[str, Any]:
        """Return all fields by name."""
        names = ("configuration", "speed", "feature", "impulse", "coordinate", "stored")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> JointMemory:
        """Return the memory of these fields."""
        return cls(**arrays)

    def recall(self, feature: IntArray) -> Array:
        """Return the remembered impulse of every feature, zero for new ones, (n, 6)."""
        return Memory(self.feature, self.impulse, self.coordinate).recall(feature)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recursive:
    """Joint coordinates, divide and conquer, contact at the root of the assembly; perfectly inelastic.

    It knows trees of rigid bodies under joints of the kinds fixed, revolute, prismatic, cylindrical, spherical,
    universal and planar, and floating bodies. Loops, distance joints, gears, springs, and motion, limits, friction,
    spring or damping of joints are refused so far.
    """

    cone: str = "exact"
    """``"exact"`` or ``"polygon"``. The error of a polygon in sliding does not vanish with the step: 64 directions
    leave about 1e-3 of the friction's direction."""
    directions: int = 64
    """Friction directions of the polygon, at least 3; in the plane there are always two."""
    integrator: Integrator = field(default_factory=SemiImplicitEuler)
    """:class:`~signorini.SemiImplicitEuler`, or :class:`~signorini.RK4` for steps in which no contact presses."""
    solver: Any = None
    """Anything that solves the friction problem; None: the best known, Lemke for the polygon."""

    def __post_init__(self) -> None:
        if self.cone not in ("exact", "polygon"):
            raise InputError(f"Recursive: cone is {self.cone!r}, must be 'exact' or 'polygon'")
        if not isinstance(self.directions, int | np.integer) or self.directions < 3:
            raise InputError(f"Recursive: directions is {self.directions!r}, must be an integer >= 3")
        if not isinstance(self.integrator, SemiImplicitEuler | RK4):
            raise InputError(f"Recursive: integrator is {self.integrator!r}, must be SemiImplicitEuler() or RK4()")

    # --- where a run begins --------------------------------------------------

    def init(self, model: Model, state: State) -> tuple[State, JointMemory]:
        refuse(model, "Recursive")
        refuse_layers(model, "Recursive")
        _refuse_joints(model)
        mechanism = _mechanism(model)
        q = mechanism.configuration(state)
        u = mechanism.speeds(state, q)
        none = np.zeros(0, dtype=np.int64)
        return state, JointMemory(q, u, none, np.zeros((0, 6)), mechanism.joint_coordinates(q))

    def detect(self, model: Model, state: State, h: float) -> Contacts:
        return candidates(model, state, h, "explicit", joined_fly=False)

    # --- one step ------------------------------------------------------------

    def step(
        self, model: Model, state: State, contacts: Contacts, memory: JointMemory, h: float, *, tolerance: float
    ) -> StepResult:
        checked_tolerance(tolerance, "Recursive: tolerance")
        mechanism, q, u = _mechanism(model), memory.configuration, memory.speed
        at = mechanism.posture(q, u, state)
        force = load_impulse(model, state, 1.0)
        space = _contact_space(model, mechanism, state, at, contacts, force, h)
        solution, problem = self._answer(space, contacts, memory, h, tolerance)
        p: Array = solution.z.reshape(space.b.shape)
        solved = space.assembly.solve(space.rows_of(p) / h)
        u_new = u + h * mechanism.rates(at, solved.acceleration)
        q_new = mechanism.moved(q, h * u_new)
        free = not np.any(p) and not isinstance(self.integrator, SemiImplicitEuler)
        if free:
            q_new, u_new = self._free(model, mechanism, state, q, u, h)
        after = _state(model, mechanism, q_new, u_new, state, h)
        velocity = (space.W @ p.reshape(-1)).reshape(p.shape) + space.b
        if free:
            balance = _free_balance(model, state, after, force, h)
        else:
            pushed = mechanism.posture(q, u_new, state)
            balance = _balance(
                model, mechanism, state, after, at, pushed, solved.acceleration, force, space, contacts, p, velocity, h
            )
        coordinate = mechanism.joint_coordinates(q_new)
        order = np.argsort(contacts.feature, kind="stable")
        impulse, velocity = padded(p, 3), padded(velocity, 3)
        posed = PosedFriction(problem, solution.z)
        return StepResult(
            state=after,
            memory=JointMemory(q_new, u_new, contacts.feature[order], padded(impulse, 6)[order], coordinate),
            contacts=contacts,
            impulse=impulse,
            velocity=velocity,
            pose=lambda: posed,
            mode=check_contacts(problem, solution.z, impulse, velocity, tolerance)[0],
            solution=solution,
            balance=balance,
            joints=_report(model, mechanism, at, after, coordinate, u_new, solved.wrench, space.assembly.redundant, h),
        )

    def _answer(
        self, space: _Space, contacts: Contacts, memory: JointMemory, h: float, tolerance: float
    ) -> tuple[Solution, FrictionProblem]:
        """Pose the friction problem of a step, and have it solved."""
        b = space.b.copy()
        b[:, 0] += contacts.gap / h
        words: dict[str, Any] = {"cone": "polygon", "directions": self.directions} if self.cone == "polygon" else {}
        problem = FrictionProblem(space.W, b.reshape(-1), space.mu, dim=b.shape[1], **words)
        if not contacts.contact_count:
            return Solution(z=np.zeros(0), status=Status.SOLVED, residual=0.0, iterations=0), problem
        start = memory.recall(contacts.feature)[:, : b.shape[1]].reshape(-1)
        solver = self.solver or (Lemke() if self.cone == "polygon" else None)
        solution = solve(problem, solver, tolerance=min(tolerance, _SHARP), start=start)
        if not solution.success and accepted(problem, solution.z, problem.residual(solution.z), tolerance):
            solution = Solution(
                z=solution.z,
                status=Status.SOLVED,
                residual=solution.residual,
                iterations=solution.iterations,
                seconds=solution.seconds,
            )
        return solution, problem

    def _free(
        self, model: Model, mechanism: Mechanism, state: State, q: Array, u: Array, h: float
    ) -> tuple[Array, Array]:
        """Take a step that no contact is part of by the integrator."""

        def accelerated(t: float, q: Array, u: Array) -> Array:
            at = mechanism.posture(q, u, state)
            loads = load_impulse(model, mechanism.state(at, state, t), 1.0)
            solved = mechanism.assembled(at, loads, [[] for _ in mechanism.limbs]).solve()
            return mechanism.rates(at, solved.acceleration)

        return self.integrator.advance(accelerated, mechanism.moved, state.t, q, u, h)


# --- what is not known yet ---------------------------------------------------


def _refuse_joints(model: Model) -> None:
    joints = model.joints
    for i, name in enumerate(joints.names):
        if joints.kinds[i] not in _KINDS:
            raise InputError(
                f"joint {name!r}: is a {joints.kinds[i]}, must be one of {', '.join(_KINDS)} for Recursive"
            )
        plain = (
            not joints.friction[i]
            and not joints.load_friction[i].any()
            and joints.motions[i] is None
            and np.isinf(joints.limits[i]).all()
            and not joints.stiffness[i]
            and not joints.damping[i]
        )
        if not plain:
            raise InputError(
                f"joint {name!r}: has friction, motion, limits, spring or damping, must have none for Recursive"
            )
        a = int(joints.arrays.body_a[i])
        if 0 <= a < model.fixed_count and model.motions[a] is not None:
            raise InputError(f"joint {name!r}: hangs from {model.names[a]!r}, which moves, must not for Recursive")
        b = int(joints.arrays.body_b[i])
        if b < model.fixed_count and model.motions[b] is not None:
            raise InputError(f"joint {name!r}: hangs from {model.names[b]!r}, which moves, must not for Recursive")
    if joints.equalities or joints.inequalities:
        name = (*joints.equalities, *joints.inequalities)[0].name
        raise InputError(f"{name}: must be a joint for Recursive, which knows no other constraints")


_known: dict[int, tuple[Model, Mechanism]] = {}


def _mechanism(model: Model) -> Mechanism:
    """Return the trees of a model, made once."""
    found = _known.get(id(model))
    if found is None or found[0] is not model:
        if len(_known) > 8:
            _known.clear()
        found = _known[id(model)] = (model, Mechanism(model, "Recursive"))
    return found[1]


# --- contacts ----------------------------------------------------------------


class _Space(NamedTuple):
    """The map ``u = W p + b`` of the contacts of a step, and how it was made."""

    assembly: Any
    W: Array
    """(n_c dim, n_c dim)"""
    b: Array
    """Relative velocity without contact impulses, (n_c, dim) [m/s]."""
    drive: Array
    """The part of `b` that prescribed motions contribute, (n_c, dim) [m/s]."""
    mu: Array
    J: tuple[Array, Array]
    """Wrenches by body, (n_c, dim, 6) each."""
    share: Array
    """Rows of the roots from components of contacts, (rows, n_c dim): -1, 0 or 1."""

    def rows_of(self, p: Array) -> Array:
        """Return the forces of the rows of the roots."""
        return self.share @ p.reshape(-1)


def _contact_space(
    model: Model, mechanism: Mechanism, state: State, at: Posture, contacts: Contacts, force: Array, h: float
) -> _Space:
    """Map contact impulses to velocities; both bodies feel them at one point, that of the moving one at a wall."""
    dim, n_c = 2 if model.planar else 3, contacts.contact_count
    share = np.where(contacts.body_a < model.fixed_count, 1.0, 0.5)[:, None]
    across = contacts.gap[:, None] * contacts.normal
    point_a, point_b = contacts.point_a + share * across, contacts.point_b - (1.0 - share) * across
    J_a, J_b = contact_wrenches(contacts, state.q, dim=dim, point_a=point_a, point_b=point_b)
    rows: list[list[tuple[Array, Array]]] = [[] for _ in mechanism.limbs]
    parts: list[list[tuple[int, float]]] = [[] for _ in mechanism.limbs]
    for c in range(n_c):
        n = contacts.normal[c]
        frame = [n, *(np.array(d) for d in tangent_frame(tuple(n)))][:dim]
        for body, point, sign in ((contacts.body_a[c], point_a[c], -1.0), (contacts.body_b[c], point_b[c], 1.0)):
            k = mechanism.row.get(int(body))
            if k is not None:
                rows[k] += [(point, d) for d in frame]
                parts[k] += [(dim * c + i, sign) for i in range(dim)]
    assembly = mechanism.assembled(at, force, rows)
    flat = [one for own in parts for one in own]
    B, first = np.zeros((len(flat), dim * n_c)), 0
    for i, row in enumerate(assembly.plan.contact):
        B[i, flat[row][0]] = flat[row][1]
    W, a0 = np.zeros((len(flat), len(flat))), np.zeros(len(flat))
    for root in assembly.plan.root:
        Z, b = assembly.response(int(root))
        W[first : first + b.size, first : first + b.size], a0[first : first + b.size] = Z, b
        first += b.size
    drive = relative_velocity(J_a, J_b, contacts, drive_velocity(model, state, h, secant=True))
    moving = state.v.copy()
    moving[: model.fixed_count] = 0.0
    b = relative_velocity(J_a, J_b, contacts, moving) + drive + h * (B.T @ a0).reshape(n_c, dim)
    return _Space(assembly, B.T @ W @ B, b, drive, model.materials.friction[contacts.material], (J_a, J_b), B)


# --- the end of a step -------------------------------------------------------


def _state(model: Model, mechanism: Mechanism, q: Array, u: Array, before: State, h: float) -> State:
    """Return the state of coordinates and speeds at the end of a step; walls stand where their motion says."""
    t = before.t + h
    at = mechanism.state(mechanism.posture(q, u, before), before, t)
    walls = slice(model.fixed_count)
    at.q[walls], at.v[walls] = prescribed_pose(model, t)
    return at


def _free_balance(model: Model, before: State, after: State, force: Array, h: float) -> Balance:
    """Account for a step without contact: what loads did, by the mean of the velocities; the rest is the scheme's."""
    user = force - model.arrays.weight
    work = 0.5 * h * float(np.sum(user * (before.v + after.v)))
    lost = work - (_energy(model, after) - _energy(model, before))
    return Balance(work, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, lost, 0.0)


def _balance(
    model: Model,
    mechanism: Mechanism,
    before: State,
    after: State,
    at: Posture,
    pushed: Posture,
    acceleration: Array,
    force: Array,
    space: _Space,
    contacts: Contacts,
    p: Array,
    velocity: Array,
    h: float,
) -> Balance:
    """Account for the energy of a step from the equations of every single body.

    With v' the velocities of the new speeds at the old coordinates and ``M a + gyroscopic = F + forces of joints``,
    ``T(v') - T(v) = v' . M (v' - v) - 1/2 |v' - v|_M^2``; forces of joints do no work on v', which is what this
    identity tests. What coordinates that move on change is the scheme's, as is the difference between v' and the
    velocities that the law of contacts was posed with.
    """
    arrays, fixed = model.arrays, model.fixed_count
    v = np.hstack([at.v, at.w])
    v_new = np.hstack([pushed.v, pushed.w])
    v[:fixed] = v_new[:fixed] = 0.0
    jump = v_new - v
    lost = kinetic_energy(arrays, before.q, jump)
    hit = _hit(model, mechanism, contacts, p)
    turned = 0.0
    for k, limb in enumerate(mechanism.limbs):
        b = limb.body
        I = at.R[b] @ arrays.inertia[b] @ at.R[b].T
        a = np.concatenate([acceleration[6 * k + 3 : 6 * k + 6], acceleration[6 * k : 6 * k + 3]])
        left = h * a - jump[b]
        turned += arrays.mass[b] * float(v_new[b, :3] @ left[:3])
        turned += float(v_new[b, 3:] @ (I @ left[3:] + h * np.cross(at.w[b], I @ at.w[b])))
    there, start = _energy(model, after), float(potential_energy(model, before.q).sum())
    at_old = float(kinetic_energy(arrays, before.q, v_new).sum()) + start - h * float(np.sum(arrays.weight * v_new))
    own = relative_velocity(*space.J, contacts, v_new) + space.drive
    slack = float(np.sum(p * (own - velocity)))
    correction = float(np.sum(p[:, 0] * np.maximum(0.0, -contacts.gap / h)))
    return Balance(
        load_work=h * float(np.sum((force - arrays.weight)[fixed:] * v_new[fixed:])),
        drive_work=-float(np.sum(p * space.drive)),
        correction_work=correction,
        joint_work=0.0,
        friction=-float(np.sum(p[:, 1:] * velocity[:, 1:])),
        impact=float(np.sum(lost[hit])) + correction - float(np.sum(p[:, 0] * velocity[:, 0])),
        damping=0.0,
        integration=float(np.sum(lost[~hit])) + turned - (there - at_old) - slack,
        elastic=0.0,
    )


def _hit(model: Model, mechanism: Mechanism, contacts: Contacts, p: Array) -> BoolArray:
    """Tell which bodies hang together with one that a contact presses, (n_b,)."""
    hit = np.zeros(model.body_count, dtype=bool)
    active = np.any(p != 0.0, axis=1)
    hit[contacts.body_a[active]] = hit[contacts.body_b[active]] = True
    hit[: model.fixed_count] = False
    joined = [(limb.body, limb.inboard) for limb in mechanism.limbs if limb.inboard >= model.fixed_count]
    for body, inboard in reversed(joined):
        hit[inboard] |= hit[body]
    for body, inboard in joined:
        hit[body] |= hit[inboard]
    return hit


def _energy(model: Model, state: State) -> float:
    kinetic, stored = motion_energies(model, state.q, state.v, state.modal_rate)
    return float(kinetic + stored)


def _report(
    model: Model,
    mechanism: Mechanism,
    at: Posture,
    after: State,
    coordinate: Array,
    u: Array,
    wrench: Array,
    redundant: int,
    h: float,
) -> JointReport | None:
    joints = model.joints
    if not joints.count:
        return None
    return JointReport(
        coordinate=coordinate,
        speed=mechanism.joint_speeds(u),
        effort=np.zeros(joints.count),
        reaction=h * mechanism.reactions(at, wrench),
        drift=float(np.abs(rigid_rows(model, after, coordinate).psi).max(initial=0.0)),
        redundant=redundant,
        unmet=0.0,
    )
