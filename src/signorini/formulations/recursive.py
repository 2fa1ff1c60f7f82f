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

from signorini._arrays import Array, BoolArray, IntArray, checked_choice, checked_tolerance, padded
from signorini.dynamics import (
    contact_wrenches,
    drive_velocity,
    elastic_energy,
    load_impulse,
    motion_energies,
    prescribed_pose,
    relative_velocity,
)
from signorini.dynamics.joints import rigid_rows
from signorini.dynamics.response.mechanism import Mechanism, Posture
from signorini.errors import InputError
from signorini.integrators import RK4, Integrator, SemiImplicitEuler
from signorini.math.rotation import tangent_frame
from signorini.model import Contacts, Model, State, refuse_layers
from signorini.posing.base import Balance, JointReport, Memory, StepResult
from signorini.posing.contact_checks import check_contacts
from signorini.posing.posed import PosedFriction
from signorini.posing.time_stepping import candidates, refuse
from signorini.problems import FrictionProblem
from signorini.problems.problem import accepted
from signorini.solvers import Lemke, Solution, Status, solve

_KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "spherical", "universal", "planar")
_SHARP = 1e-10
_JUMP = 1e-7  # of a coordinate in metres or radians, or a speed: more than rates by differences are wrong


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
    """Energy of modes [J]."""
    mechanism: Mechanism | None = field(default=None, compare=False, repr=False)
    """The trees of the model; made anew where a memory comes from a file."""
    kind: ClassVar[str] = "joint coordinates"

    def to_arrays(self) -> dict[str, Any]:
        """Return all fields by name but the trees."""
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

    It knows trees of rigid and flexible bodies under joints of the kinds fixed, revolute, prismatic, cylindrical,
    spherical, universal and planar, and floating bodies. Joints may have a prescribed motion, springs and dampers;
    these push as they stand at the start of a step, so that a stiffness k asks for ``h < 2 sqrt(m / k)``. Loops,
    distance joints, gears, springs between points, limits, friction and effort limits of joints are refused so far.

    Modes of flexible bodies are explicit too: their largest angular frequency w asks for ``h < 2 / w``, with
    :class:`~signorini.RK4` for ``h < 2.8 / w``.
    """

    cone: str = "exact"
    """``"exact"`` or ``"polygon"``. The error of a polygon in sliding does not vanish with the step: 64 directions
    leave about 1e-3 of the friction's direction."""
    directions: int = 64
    """Friction directions of the polygon, at least 3; in the plane there are always two."""
    integrator: Integrator = field(default_factory=SemiImplicitEuler)
    """:class:`~signorini.SemiImplicitEuler`, or :class:`~signorini.RK4` for steps in which no contact presses."""
    stiffness: str = "explicit"
    """How modes are taken: ``"explicit"`` is all that this version has."""
    solver: Any = None
    """Anything that solves the friction problem; None: the best known, Lemke for the polygon."""

    def __post_init__(self) -> None:
        checked_choice(self.cone, "Recursive: cone", "exact", "polygon")
        if not isinstance(self.directions, int | np.integer) or self.directions < 3:
            raise InputError(f"Recursive: directions is {self.directions!r}, must be an integer >= 3")
        if not isinstance(self.integrator, SemiImplicitEuler | RK4):
            raise InputError(f"Recursive: integrator is {self.integrator!r}, must be SemiImplicitEuler() or RK4()")

        if self.stiffness == "implicit":
            raise InputError("Recursive: stiffness is 'implicit', is not part of this version, must be 'explicit'")
        if self.stiffness != "explicit":
            raise InputError(f"Recursive: stiffness is {self.stiffness!r}, must be 'explicit'")

    # --- where a run begins --------------------------------------------------

    def init(self, model: Model, state: State) -> tuple[State, JointMemory]:
        refuse(model, "Recursive")
        refuse_layers(model, "Recursive")
        _refuse_joints(model)
        mechanism = Mechanism(model, "Recursive")
        q = mechanism.configuration(state)
        u = mechanism.speeds(state, q)
        _refuse_jumps(mechanism, state.t, q, u)
        none = np.zeros(0, dtype=np.int64)
        coordinate, stored = mechanism.joint_coordinates(q), mechanism.elastic(q)
        return state, JointMemory(q, u, none, np.zeros((0, 6)), coordinate, stored, mechanism=mechanism)

    def detect(self, model: Model, state: State, h: float) -> Contacts:
        return candidates(model, state, h, "explicit", joined_fly=False)

    # --- one step ------------------------------------------------------------

    def step(
        self, model: Model, state: State, contacts: Contacts, memory: JointMemory, h: float, *, tolerance: float
    ) -> StepResult:
        checked_tolerance(tolerance, "Recursive: tolerance")
        mechanism, q, u = _mechanism(model, memory), memory.configuration, memory.speed
        at = mechanism.posture(q, u, state)
        force = load_impulse(model, state, 1.0)
        soft, drive = mechanism.soft_forces(q, u), mechanism.drawn(state.t, q, u, h)
        space = _contact_space(model, mechanism, state, at, contacts, force, drive, soft[0] + soft[1], h)
        solution, problem = self._answer(space, contacts, memory, h, tolerance)
        p: Array = solution.z.reshape(space.b.shape)
        solved = space.assembly.solve(space.rows_of(p) / h)
        u_new = u + h * mechanism.rates(at, solved.acceleration)
        q_new = mechanism.moved(q, h * u_new)
        free = not np.any(p) and not isinstance(self.integrator, SemiImplicitEuler)
        effort, reaction = mechanism.efforts(at, solved.wrench), mechanism.reactions(at, solved.wrench)
        if free:
            q_new, u_new, power, effort, reaction = self._free(model, mechanism, state, q, u, h)
        after = _state(model, mechanism, q_new, u_new, state, h)
        coordinate, stored = mechanism.joint_coordinates(q_new), mechanism.elastic(q_new)
        wound = elastic_energy(model.joints, coordinate) - elastic_energy(model.joints, memory.coordinate)
        wound += stored - memory.stored
        velocity = (space.W @ p.reshape(-1)).reshape(p.shape) + space.b
        if free:
            balance = _free_balance(model, state, after, h * power, wound)
        else:
            pushed = mechanism.posture(q, u_new, state)
            balance = _balance(
                model, mechanism, state, after, at, pushed, solved.acceleration, force, space, contacts, p, velocity, h
            )
            modal = mechanism.modal_power(q, u, u_new)
            balance = _with_springs(balance, mechanism.joint_speeds(u_new), effort, soft, modal, wound, h)
        order = np.argsort(contacts.feature, kind="stable")
        impulse, velocity = padded(p, 3), padded(velocity, 3)
        posed = PosedFriction(problem, solution.z)
        return StepResult(
            state=after,
            memory=JointMemory(
                q_new,
                u_new,
                contacts.feature[order],
                padded(impulse, 6)[order],
                coordinate,
                stored,
                mechanism=mechanism,
            ),
            contacts=contacts,
            impulse=impulse,
            velocity=velocity,
            pose=lambda: posed,
            mode=check_contacts(problem, solution.z, impulse, velocity, tolerance)[0],
            solution=solution,
            balance=balance,
            joints=_report(
                model, mechanism, after, coordinate, u_new, h * reaction, h * effort, space.assembly.redundant
            ),
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
    ) -> tuple[Array, Array, Array, Array, Array]:
        """Take a step that no contact is part of by the integrator.

        Return the power of loads, of drives and of dampers too (3,), efforts (n_j,) and reactions (n_j, 6) of joints,
        means over the step by Simpson's rule from the stages of the integrator.
        """
        stages: list[tuple[Array, Array, Array]] = []

        def accelerated(t: float, q: Array, u: Array) -> Array:
            q, u, drive = mechanism.prescribed(t, q, u)
            at = mechanism.posture(q, u, state)
            loads = load_impulse(model, mechanism.state(at, t), 1.0)
            soft = mechanism.soft_forces(q, u)
            assembly = mechanism.assembled(at, loads, [[] for _ in mechanism.limbs], drive, soft[0] + soft[1])
            solved = assembly.solve()
            speed, effort = mechanism.joint_speeds(u), mechanism.efforts(at, solved.wrench)
            power = (
                np.sum((loads - model.arrays.weight) * np.hstack([at.v, at.w])),
                np.sum(((effort - soft[0] - soft[1]) * speed)[_driven(model)]),
                -np.sum(soft[1] * speed) - mechanism.modal_power(q, u, u)[1],
            )
            stages.append((np.array(power), effort, mechanism.reactions(at, solved.wrench)))
            return mechanism.rates(at, solved.acceleration)

        q_new, u_new = self.integrator.advance(accelerated, mechanism.moved, state.t, q, u, h)
        q_new, u_new, _ = mechanism.prescribed(state.t + h, q_new, u_new)
        power, effort, reaction = ((a + 2.0 * b + 2.0 * c + d) / 6.0 for a, b, c, d in zip(*stages, strict=True))
        return q_new, u_new, power, effort, reaction


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
            and np.isinf(joints.limits[i]).all()
            and np.isinf(joints.effort_limit[i])
        )
        if not plain:
            raise InputError(f"joint {name!r}: has friction, limits or an effort limit, must have none for Recursive")
        a = int(joints.arrays.body_a[i])
        if 0 <= a < model.fixed_count and model.motions[a] is not None:
            raise InputError(f"joint {name!r}: hangs from {model.names[a]!r}, which moves, must not for Recursive")
        b = int(joints.arrays.body_b[i])
        if b < model.fixed_count and model.motions[b] is not None:
            raise InputError(f"joint {name!r}: hangs from {model.names[b]!r}, which moves, must not for Recursive")
    if joints.equalities or joints.inequalities:
        name = (*joints.equalities, *joints.inequalities)[0].name
        raise InputError(f"{name}: must be a joint for Recursive, which knows no other constraints")


def _refuse_jumps(mechanism: Mechanism, t: float, q: Array, u: Array) -> None:
    """Refuse prescribed motions that do not begin where the bodies are, at the speeds that they have."""
    q_drive, u_drive, _ = mechanism.prescribed(t, q, u)
    for limb in mechanism.driven:
        name = mechanism.model.joints.names[limb.joint]
        for what, own, given in (("coordinate", q[limb.q], q_drive[limb.q]), ("speed", u[limb.u], u_drive[limb.u])):
            if abs(float(given[0] - own[0])) > _JUMP * max(1.0, abs(float(given[0]))):
                raise InputError(
                    f"joint {name!r}: motion begins with the {what} {limb.sign * float(given[0]):.6g}, must begin with "
                    f"{limb.sign * float(own[0]) + 0.0:.6g}, that of its bodies"
                )


def _driven(model: Model) -> BoolArray:
    """Tell which joints have a prescribed motion, (n_j,)."""
    return np.array([motion is not None for motion in model.joints.motions], dtype=bool)


def _mechanism(model: Model, memory: JointMemory) -> Mechanism:
    """Return the trees of a model, those that the memory holds if they are of this model."""
    kept = memory.mechanism
    return kept if kept is not None and kept.model is model else Mechanism(model, "Recursive")


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
    model: Model,
    mechanism: Mechanism,
    state: State,
    at: Posture,
    contacts: Contacts,
    force: Array,
    drive: Array,
    soft: Array,
    h: float,
) -> _Space:
    """Map contact impulses to velocities; both bodies feel them at one point, that of the moving one at a wall."""
    dim, n_c = 2 if model.planar else 3, contacts.contact_count
    share = np.where(contacts.body_a < model.fixed_count, 1.0, 0.5)[:, None]
    across = contacts.gap[:, None] * contacts.normal
    point_a, point_b = contacts.point_a + share * across, contacts.point_b - (1.0 - share) * across
    J_a, J_b = contact_wrenches(contacts, state.q, dim=dim, point_a=point_a, point_b=point_b)
    rows: list[list[tuple[int, Array, Array]]] = [[] for _ in mechanism.limbs]
    parts: list[list[tuple[int, float]]] = [[] for _ in mechanism.limbs]
    for c in range(n_c):
        n = contacts.normal[c]
        frame = [n, *(np.array(d) for d in tangent_frame(tuple(n)))][:dim]
        for body, point, sign in ((contacts.body_a[c], point_a[c], -1.0), (contacts.body_b[c], point_b[c], 1.0)):
            k = mechanism.row.get(int(body))
            if k is not None:
                rows[k] += [(int(body), point, d) for d in frame]
                parts[k] += [(dim * c + i, sign) for i in range(dim)]
    assembly = mechanism.assembled(at, force, rows, drive, soft)
    flat = [one for own in parts for one in own]
    B, first = np.zeros((len(flat), dim * n_c)), 0
    for i, row in enumerate(assembly.plan.contact):
        B[i, flat[row][0]] = flat[row][1]
    W, a0 = np.zeros((len(flat), len(flat))), np.zeros(len(flat))
    for root in assembly.plan.root:
        Z, b = assembly.response(int(root))
        W[first : first + b.size, first : first + b.size], a0[first : first + b.size] = Z, b
        first += b.size
    driven = relative_velocity(J_a, J_b, contacts, drive_velocity(model, state, h, secant=True))
    moving = state.v.copy()
    moving[: model.fixed_count] = 0.0
    b = relative_velocity(J_a, J_b, contacts, moving) + driven + h * (B.T @ a0).reshape(n_c, dim)
    return _Space(assembly, B.T @ W @ B, b, driven, model.materials.friction[contacts.material], (J_a, J_b), B)


# --- the end of a step -------------------------------------------------------


def _state(model: Model, mechanism: Mechanism, q: Array, u: Array, before: State, h: float) -> State:
    """Return the state of coordinates and speeds at the end of a step; walls stand where their motion says."""
    t = before.t + h
    at = mechanism.state(mechanism.posture(q, u, before), t)
    walls = slice(model.fixed_count)
    at.q[walls], at.v[walls] = prescribed_pose(model, t)
    return at


def _free_balance(model: Model, before: State, after: State, work: Array, wound: float) -> Balance:
    """Account for a step without contact: what loads, drives and dampers did (3,); the rest is the scheme's."""
    loads, drives, damped = (float(one) for one in work)
    lost = loads + drives - damped - wound - (_energy(model, after) - _energy(model, before))
    return Balance(loads, drives, 0.0, 0.0, 0.0, 0.0, damped, lost, wound)


def _with_springs(
    balance: Balance,
    speed: Array,
    effort: Array,
    soft: tuple[Array, Array],
    modal: tuple[float, float],
    wound: float,
    h: float,
) -> Balance:
    """Add what joints do along their coordinates, all at the new speeds (n_j,), and what modes do.

    A spring pushes as it is wound at the start of the step; what it stores beyond its work is the scheme's.
    """
    spring, damper = (h * float(np.sum(one * speed)) for one in soft)
    return balance._replace(
        drive_work=balance.drive_work + h * float(np.sum(effort * speed)) - spring - damper,
        damping=balance.damping - damper - h * modal[1],
        integration=balance.integration - spring - h * modal[0] - wound,
        elastic=balance.elastic + wound,
    )


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

    With v' the velocities of the new speeds at the old coordinates and ``Gamma a + beta = F + forces of joints``,
    ``T(v') - T(v) = v' . Gamma (v' - v) - 1/2 |v' - v|_Gamma^2``; forces of joints do no work on v', which is what this
    identity tests. What coordinates that move on change is the scheme's, as is the difference between v' and the
    velocities that the law of contacts was posed with.
    """
    arrays, fixed = model.arrays, model.fixed_count
    v_new = np.hstack([pushed.v, pushed.w])
    v_new[:fixed] = 0.0
    count = len(mechanism.limbs)
    lost, hit, turned, at_old = np.zeros(count), _hit(mechanism, contacts, p), 0.0, 0.0
    for k in range(count):
        Gamma, beta = mechanism.equations(at, k)
        V, V_new = mechanism.motion(at, k), mechanism.motion(pushed, k)
        jump = V_new - V
        lost[k] = 0.5 * float(jump @ Gamma @ jump)
        left = h * mechanism.of_limb(acceleration, k) - jump
        turned += float(V_new @ (Gamma @ left + h * beta))
        at_old += 0.5 * float(V_new @ Gamma @ V_new) - h * float(V_new @ mechanism.weight(at, k))
    there, start = _energy(model, after), float(_energies(model, before)[1])
    at_old += start
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


def _hit(mechanism: Mechanism, contacts: Contacts, p: Array) -> BoolArray:
    """Tell which limbs hang together with one that a contact presses, (n,)."""
    limbs, row = mechanism.limbs, mechanism.row
    hit = np.zeros(len(limbs), dtype=bool)
    for c in np.flatnonzero(np.any(p != 0.0, axis=1)):
        for body in (int(contacts.body_a[c]), int(contacts.body_b[c])):
            if body in row:
                hit[row[body]] = True
    joined = [(k, row[limb.inboard]) for k, limb in enumerate(limbs) if limb.inboard in row]
    for k, inboard in reversed(joined):
        hit[inboard] |= hit[k]
    for k, inboard in joined:
        hit[k] |= hit[inboard]
    return hit


def _energies(model: Model, state: State) -> tuple[Array, Array]:
    return motion_energies(model, state.q, state.v, state.modal_rate, state.modal)


def _energy(model: Model, state: State) -> float:
    kinetic, stored = _energies(model, state)
    return float(kinetic + stored)


def _report(
    model: Model,
    mechanism: Mechanism,
    after: State,
    coordinate: Array,
    u: Array,
    reaction: Array,
    effort: Array,
    redundant: int,
) -> JointReport | None:
    joints = model.joints
    if not joints.count:
        return None
    return JointReport(
        coordinate=coordinate,
        speed=mechanism.joint_speeds(u),
        effort=effort,
        reaction=reaction,
        drift=float(np.abs(rigid_rows(model, after, coordinate).psi).max(initial=0.0)),
        redundant=redundant,
        unmet=0.0,
    )
