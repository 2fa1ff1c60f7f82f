r"""Mechanisms in joint coordinates by divide and conquer, with contact (S5, sections 2 and 3).

Accelerations are affine in the contact forces, and the assembly of :mod:`signorini.dynamics.response` gives the map at
its root: ``a = W lam + a_0`` for the normal and the tangents of every contact. With impulses ``p = h lam``,

.. math::
    v^{+} = v + h a_0 + W p - v_{obs}, \qquad
    0 \le p_n \perp v_n^{+} + g / h \ge 0, \qquad \text{friction as the cone says},

which is S5 eq. (23) with its gap row divided by h; then ``u+ = u + h du(p)`` by one pass back to the bodies, and the
coordinates move at the new speeds. Poses follow from the coordinates: joints do not drift. Limits, dry friction and
motors of limited effort are further rows of the same problem, as :mod:`signorini.posing.joint_space` has them.

Chords, the joints that close loops, hold accelerations; what coordinates and speeds leave open at the end of a step is
closed by the least change in kinetic energy, and the energy of that is ``joint_work``. Where joints hold more than
their loops need, their forces are the smallest.

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

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import Array, checked_choice, checked_tolerance, padded
from signorini.dynamics import elastic_energy, load_impulse, motion_rate, prescribed_pose
from signorini.dynamics.constants import ASKED, CONFLICT_NOTED, TORN
from signorini.dynamics.joint_faults import BLOCKED, CONTRADICTED, DRIFTED, HELD
from signorini.dynamics.response.mechanism import Mechanism
from signorini.dynamics.response.posture import Posture
from signorini.errors import InputError
from signorini.formulations.jointed.balance import Outcome, contact_balance, free_balance, motion_energy
from signorini.formulations.jointed.memory import JointMemory
from signorini.formulations.jointed.space import Space, Start, law_efforts, make_space
from signorini.integrators import RK4, Integrator, SemiImplicitEuler
from signorini.model import Contacts, Model, State, refuse_layers
from signorini.posing.base import JointReport, StepResult
from signorini.posing.contact_checks import check_contacts
from signorini.posing.joint_blocks import blocked, blocked_row
from signorini.posing.joint_report import drift_of
from signorini.posing.posed import PosedFriction
from signorini.posing.time_stepping import candidates, refuse
from signorini.problems import FrictionProblem
from signorini.problems.problem import accepted
from signorini.solvers import Lemke, Solution, Status, solve

_SHARP = 1e-10
_JUMP = 1e-7  # of a coordinate in metres or radians, or a speed: more than rates by differences are wrong
_AGREED = 1e-12  # of friction by load, between the reactions that it is taken from and those that it leads to
_MOST_REPETITIONS = 50  # each leaves at most the coefficient times what the one before left


class _Free(NamedTuple):
    """A step of the integrator, without contact."""

    q: Array
    u: Array
    work: Array
    """Of loads, of drives and of dampers, (3,) [J]."""
    effort: Array
    """Means over the step by Simpson's rule from the stages, (n_j,) [N, N m]."""
    reaction: Array
    """(n_j, 6) [N, N m]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recursive:
    """Joint coordinates, divide and conquer, contact at the root of the assembly; perfectly inelastic.

    It knows rigid and flexible bodies in trees and loops under joints of all kinds, with limits, friction, springs,
    dampers, drives and motors. Springs push as they stand at the start of a step, so that a stiffness k asks for
    ``h < 2 sqrt(m / k)``. Refused are constraints by functions, and joints that hang from what a motion carries.
    """

    cone: str = "exact"
    """``"exact"`` or ``"polygon"``. The error of a polygon in sliding does not vanish with the step: 64 directions
    leave about 1e-3 of the friction's direction."""
    directions: int = 64
    """Friction directions of the polygon, at least 3; in the plane there are always two."""
    integrator: Integrator = field(default_factory=SemiImplicitEuler)
    """:class:`~signorini.SemiImplicitEuler`, or :class:`~signorini.RK4` for steps in which no contact presses, nor a
    limit, friction or motor of a joint."""
    stiffness: str = "explicit"
    """How stiffness and damping of modes act: ``"explicit"``, as modes stand at the start of a step, so that their
    largest angular frequency w asks for ``h < 2 / w``, with RK4 for ``h < 2.8 / w``; or ``"implicit"``, as they stand
    at its end, which is stable for any w and damps what is fast. RK4 always takes them explicitly."""
    solver: Any = None
    """Anything that solves the friction problem; None: the best known, Lemke for the polygon."""

    def __post_init__(self) -> None:
        checked_choice(self.cone, "Recursive: cone", "exact", "polygon")
        checked_choice(self.stiffness, "Recursive: stiffness", "explicit", "implicit")
        if not isinstance(self.directions, int | np.integer) or self.directions < 3:
            raise InputError(f"Recursive: directions is {self.directions!r}, must be an integer >= 3")
        if not isinstance(self.integrator, SemiImplicitEuler | RK4):
            raise InputError(f"Recursive: integrator is {self.integrator!r}, must be SemiImplicitEuler() or RK4()")

    # --- where a run begins --------------------------------------------------

    def init(self, model: Model, state: State) -> tuple[State, JointMemory]:
        refuse(model, "Recursive")
        refuse_layers(model, "Recursive")
        _refuse_joints(model)
        mechanism = Mechanism(model)
        q = mechanism.configuration(state)
        u = mechanism.speeds(state, q)
        at = mechanism.posture(q, u, state)
        coordinate, speed = mechanism.measured(at, q, u, np.zeros(model.joints.count))
        _refuse_jumps(mechanism, state.t, coordinate, speed)
        none = np.zeros(0, dtype=np.int64)
        return state, JointMemory(q, u, none, np.zeros((0, 6)), coordinate, mechanism.elastic(q), mechanism=mechanism)

    def detect(self, model: Model, state: State, h: float) -> Contacts:
        return candidates(model, state, h, "explicit", joined_fly=False)

    # --- one step ------------------------------------------------------------

    def step(
        self, model: Model, state: State, contacts: Contacts, memory: JointMemory, h: float, *, tolerance: float
    ) -> StepResult:
        checked_tolerance(tolerance, "Recursive: tolerance")
        mechanism, q, u = _mechanism(model, memory), memory.configuration, memory.speed
        at = mechanism.posture(q, u, state)
        coordinate, speed = mechanism.measured(at, q, u, memory.coordinate)
        start = Start(state, at, coordinate, speed, load_impulse(model, state, 1.0))
        soft, drive = mechanism.soft_forces(coordinate, speed), mechanism.drawn(state.t, coordinate, speed, h)
        ahead = h if self.stiffness == "implicit" else 0.0
        space = make_space(model, mechanism, start, contacts, drive, soft[0] + soft[1], h, ahead=ahead)
        space, problem, solution = self._answer(model, mechanism, start, space, contacts, memory, tolerance)
        z: Array = solution.z.reshape(space.b.shape)
        p, p_laws = space.split(z)
        solved = space.solve(z)
        u_new = u + h * mechanism.rates(at, solved)
        q_new = mechanism.moved(q, h * u_new)
        pushes = law_efforts(space, p_laws, model.joints.count) / h
        effort, reaction = mechanism.efforts(at, solved.wrench), mechanism.reactions(at, solved.wrench, pushes)
        redundant = space.redundant
        free = None
        if not np.any(z) and not isinstance(self.integrator, SemiImplicitEuler):
            free = self._free(model, mechanism, start, memory, h)
            q_new, u_new, effort, reaction = free.q, free.u, free.effort, free.reaction
        end, moved = _end(model, mechanism, q_new, u_new, state, h)
        now, now_speed = mechanism.measured(end, q_new, u_new, coordinate + h * speed)
        stored = elastic_energy(model.joints, memory.coordinate) + memory.stored
        wound = elastic_energy(model.joints, now) + mechanism.elastic(q_new) - stored
        if free is not None:
            balance = free_balance(model, state, moved, free.work, wound)
        else:
            pushed = mechanism.posture(q, u_new, state)
            modes = (q_new, u_new) if ahead else (q, u)
            velocity, law_speed = space.velocity(z), space.law_speed(z)
            pushed_speed = mechanism.measured(pushed, q, u_new, coordinate)[1]
            modal = mechanism.modal_power(*modes, u_new)
            outcome = Outcome(
                space, contacts, p, p_laws, velocity, law_speed, solved, pushed, pushed_speed, effort, soft, modal
            )
            balance = contact_balance(model, mechanism, start, moved, outcome, wound, h)
        after = moved
        if mechanism.chords:
            q_new, u_new = mechanism.closed(q_new, u_new, moved, moved.t)
            end, after = _end(model, mechanism, q_new, u_new, state, h)
            now, now_speed = mechanism.measured(end, q_new, u_new, now)
            closed = elastic_energy(model.joints, now) + mechanism.elastic(q_new) - stored
            shifted = motion_energy(model, after) - motion_energy(model, moved) + closed - wound
            balance = balance._replace(joint_work=balance.joint_work + shifted, elastic=closed)
        feature = np.concatenate([contacts.feature, space.laws.feature])
        order = np.argsort(feature, kind="stable")
        impulse, posed = padded(p, 3), PosedFriction(problem, solution.z)
        velocity = padded(space.velocity(z), 3)
        return StepResult(
            state=after,
            memory=JointMemory(
                q_new,
                u_new,
                feature[order],
                padded(z, 6)[order],
                now,
                mechanism.elastic(q_new),
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
                model,
                mechanism,
                after,
                JointReport(
                    coordinate=now,
                    speed=now_speed,
                    effort=h * (effort + pushes),
                    reaction=h * reaction,
                    drift=0.0,
                    redundant=redundant,
                    unmet=0.0,
                ),
                mechanism.unmet(end, after.t),
                _against(model, space, contacts, problem, tolerance),
                h,
            ),
        )

    def _answer(
        self,
        model: Model,
        mechanism: Mechanism,
        start: Start,
        space: Space,
        contacts: Contacts,
        memory: JointMemory,
        tolerance: float,
    ) -> tuple[Space, FrictionProblem, Solution]:
        """Pose the friction problem of a step, and have it solved.

        Friction of joints that follows a reaction is taken from that of the solution until both agree.
        """
        guess = memory.recall(np.concatenate([contacts.feature, space.laws.feature]))[:, : space.b.shape[1]]
        z: Array = guess.reshape(-1)
        if not space.laws.by_load.any():
            problem, solution = self._solved(space, contacts, z, tolerance)
            return space, problem, solution
        for _ in range(_MOST_REPETITIONS):
            wrench = mechanism.held_wrench(start.at, space.solve(z.reshape(space.b.shape)).wrench)
            before = space.laws.bound
            space = space.bounded(model, mechanism.reactions(start.at, wrench))
            problem, solution = self._solved(space, contacts, z, tolerance)
            z = solution.z
            if np.abs(space.laws.bound - before).max() <= _AGREED * np.abs(space.laws.bound).max():
                break
        return space, problem, solution

    def _solved(
        self, space: Space, contacts: Contacts, start: Array, tolerance: float
    ) -> tuple[FrictionProblem, Solution]:
        b, h = space.b.copy(), space.h
        b[: contacts.contact_count, 0] += contacts.gap / h
        words: dict[str, Any] = {"cone": "polygon", "directions": self.directions} if self.cone == "polygon" else {}
        problem = FrictionProblem(space.W, b.reshape(-1), space.mu, dim=b.shape[1], **words)
        if not b.size:
            return problem, Solution(z=np.zeros(0), status=Status.SOLVED, residual=0.0, iterations=0)
        if blocked(problem, tolerance).size:  # solvers would try for long
            none = np.zeros(b.size)
            return problem, Solution(z=none, status=Status.NO_SOLUTION, residual=problem.residual(none), iterations=0)
        solver = self.solver or (Lemke() if self.cone == "polygon" else None)
        solution = solve(problem, solver, tolerance=min(tolerance, _SHARP), start=start)
        if not solution.success and accepted(problem, solution.z, problem.residual(solution.z), tolerance):
            solution = replace(solution, status=Status.SOLVED)
        return problem, solution

    def _free(self, model: Model, mechanism: Mechanism, start: Start, memory: JointMemory, h: float) -> _Free:
        """Take a step that no contact is part of by the integrator."""
        stages: list[tuple[Array, Array, Array]] = []
        state, ideal = start.state, np.array([hinge.joint for hinge in mechanism.driven], dtype=np.int64)

        def accelerated(t: float, q: Array, u: Array) -> Array:
            q, u, drive = mechanism.prescribed(t, q, u)
            at = mechanism.posture(q, u, state)
            loads = load_impulse(model, mechanism.state(at, t), 1.0)
            coordinate, speed = mechanism.measured(at, q, u, start.coordinate)
            soft = mechanism.soft_forces(coordinate, speed)
            solved = mechanism.accelerated(at, loads, drive, soft[0] + soft[1])
            effort = mechanism.efforts(at, solved.wrench)
            power = (
                np.sum((loads - model.arrays.weight) * np.hstack([at.v, at.w])),
                np.sum(((effort - soft[0] - soft[1]) * speed)[ideal]),
                -np.sum(soft[1] * speed) - mechanism.modal_power(q, u, u)[1],
            )
            stages.append((np.array(power), effort, mechanism.reactions(at, solved.wrench)))
            return mechanism.rates(at, solved)

        q, u = self.integrator.advance(accelerated, mechanism.moved, state.t, memory.configuration, memory.speed, h)
        q, u, _ = mechanism.prescribed(state.t + h, q, u)
        power, effort, reaction = ((a + 2.0 * b + 2.0 * c + d) / 6.0 for a, b, c, d in zip(*stages, strict=True))
        return _Free(q, u, h * power, effort, reaction)


# --- what is not known yet ---------------------------------------------------


def _refuse_joints(model: Model) -> None:
    joints = model.joints
    for i, name in enumerate(joints.names):
        for body in (int(joints.arrays.body_a[i]), int(joints.arrays.body_b[i])):
            if 0 <= body < model.fixed_count and model.motions[body] is not None:
                raise InputError(
                    f"joint {name!r}: hangs from {model.names[body]!r}, which moves, must not for Recursive"
                )
    if joints.equalities or joints.inequalities:
        name = (*joints.equalities, *joints.inequalities)[0].name
        raise InputError(f"{name}: must be a joint for Recursive, which knows no other constraints")


def _refuse_jumps(mechanism: Mechanism, t: float, coordinate: Array, speed: Array) -> None:
    """Refuse prescribed motions that do not begin where the bodies are, at the speeds that they have."""
    for hinge in mechanism.driven:
        g = hinge.joint
        name, motion = mechanism.model.joints.names[g], mechanism.model.joints.motions[g]
        assert motion is not None
        rate = motion_rate(motion, t, 0.0, secant=False)
        for what, own, given in (("coordinate", coordinate[g], motion(t)), ("speed", speed[g], rate)):
            if abs(given - own) > _JUMP * max(1.0, abs(given)):
                begun = round(float(own), 7) + 0.0  # rounding is no part of the message
                raise InputError(
                    f"joint {name!r}: motion begins with the {what} {given:.6g}, must begin with {begun:.6g}, "
                    "that of its bodies"
                )


def _mechanism(model: Model, memory: JointMemory) -> Mechanism:
    """Return the trees of a model, those that the memory holds if they are of this model."""
    kept = memory.mechanism
    return kept if kept is not None and kept.model is model else Mechanism(model)


# --- the end of a step -------------------------------------------------------


def _end(model: Model, mechanism: Mechanism, q: Array, u: Array, before: State, h: float) -> tuple[Posture, State]:
    """Return posture and state of coordinates and speeds at the end of a step; walls stand where their motion says."""
    t = before.t + h
    at = mechanism.posture(q, u, before)
    state = mechanism.state(at, t)
    walls = slice(model.fixed_count)
    state.q[walls], state.v[walls] = prescribed_pose(model, t)
    return at, state


def _against(model: Model, space: Space, contacts: Contacts, problem: FrictionProblem, tolerance: float) -> int:
    """Return the row of a joint that drives a body against what no impulse can move, -1 if none does."""
    if not problem.contact_count:
        return -1
    against = blocked(problem, tolerance)
    return blocked_row(model, space.laws, contacts, int(against[0])) if against.size else -1


def _report(
    model: Model, mechanism: Mechanism, after: State, report: JointReport, unmet: Array, against: int, h: float
) -> JointReport | None:
    """Judge whether joints hold: those of trees do, chords close or do not."""
    joints = model.joints
    if not joints.count:
        return None
    drift, apart, drift_row = drift_of(model, after, report.coordinate, limits=True, drives=True)
    fault, row, worst = DRIFTED if apart > TORN else HELD, -1, int(np.argmax(unmet))
    left = h * float(unmet[worst])
    if left > CONFLICT_NOTED:
        row = int(np.argmax(joints.rows.joint == worst))
        fault = CONTRADICTED if left > ASKED else fault
    if against >= 0:
        row, fault = against, BLOCKED
    return replace(
        report,
        drift=drift,
        apart=apart,
        drift_row=drift_row,
        unmet=float(unmet[worst]),
        conflict_row=row,
        fault=fault,
    )
