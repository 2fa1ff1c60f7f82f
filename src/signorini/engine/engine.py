"""The compiled step of :class:`~signorini.MoreauJean`: what Python does where kernels cannot.

All arrays are made once and grow with the number of contacts; kernels reach them by one table of addresses. Loads and
motions that are functions are evaluated between the stages, rows of joints that are functions wherever kernels evaluate
rows (:mod:`~signorini.engine.joints.functions`). A step that the sweeps do not solve is posed again as a
:class:`~signorini.FrictionProblem` and goes to the robust methods. If the user named a solver every island goes to that
one, at the same place.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics import drive_velocity, load_impulse, prescribed_pose
from signorini.engine import arrays as ea
from signorini.engine.joints.functions import JointFunctions
from signorini.engine.joints.tables import JointTables
from signorini.engine.named_solver import NamedSolver
from signorini.engine.reading import compiled_status, found, logged_contacts, logged_joints
from signorini.engine.robust import solve_robustly
from signorini.engine.run import run, run_from_look, run_to_look
from signorini.engine.stages import needed_stages, stage_address
from signorini.engine.theta import run_ahead, run_from_act, run_to_act
from signorini.engine.warming import finish_warming, warm_up
from signorini.engine.workspace import Options, Workspace
from signorini.geometry import detect
from signorini.geometry.tables import Family
from signorini.math.cones import LEVERAGE, ROUNDING
from signorini.model import Contacts, Model, State
from signorini.model.shapes import ShapeKind
from signorini.posing.base import Balance, FreeMotion, Memory, StepResult
from signorini.posing.constants import HURRY, MANY_BODIES, SOME_BODIES, WINDOW
from signorini.posing.friction_law import friction_law
from signorini.posing.joint_blocks import blocked
from signorini.posing.joint_space import RowLaws
from signorini.posing.midpoint import Midpoint, midpoint
from signorini.posing.passive_law import ASKED_SHARE, ROUND, SETTLED
from signorini.posing.posed import Phases, PosedFriction
from signorini.posing.stepper import Steps
from signorini.posing.time_stepping import (
    ContactSpace,
    contact_space,
    explained,
    joined_free_motion,
    pose_and_solve,
)
from signorini.problems import FrictionProblem
from signorini.problems.problem import accepted
from signorini.solvers import Solution, Status
from signorini.solvers.island_kernels import connect_couples, connect_island
from signorini.solvers.island_table import NEWTON


class Engine:
    """A scene that is advanced in compiled code."""

    def __init__(self, model: Model, h: float, tolerance: float, options: Options) -> None:
        self.model = model
        self.h, self.theta, self._gyroscopic = h, options.theta, options.gyroscopic
        self._workspace = Workspace(model, h, tolerance, options)
        self.arena, self.joints, self.family = self._workspace.arena, self._workspace.joints, self._workspace.family
        self._numbers, self._counts = self._workspace.numbers, self._workspace.counts
        self._couples, self._collisions = self._workspace.couples, self._workspace.collisions
        self._run: Callable[[IntArray, int], int] | None = None
        if self.family is not None:
            self._run = run if self.theta == 1.0 else run_ahead
        self._functions = None
        if self.joints is not None and self.joints.functions:
            self._functions = JointFunctions(model, self.arena, self.joints.arena)
            self._run = None if self._run is None else self._functions.watched(self._run)
        self._plain = self.joints is None and self._couples is None and self._collisions is None
        by_load = np.any(model.joints.load_friction > 0.0)  # which Python poses
        self._named = NamedSolver(options.solver, tolerance) if by_load or options.solver is not None else None
        self._connected = False
        self.velocity: Array = self.arena[ea.V]
        self.seconds = 0.0

    @property
    def rests(self) -> bool:
        """Whether bodies may rest on faces, where impulses are many and the robust solver finds the one to take."""
        kinds = self.model.shapes.kind[self.model.shapes.body >= self.model.fixed_count]
        return bool(np.any(kinds != ShapeKind.SPHERE))

    def prepare(self, threads: int) -> None:
        """Compile what is missing, and let so many threads share the work."""
        if self.family is not None:
            warm_up(self.family, joined=self.joints is not None, rests=self.rests)
        if threads > 1:
            self.hire(threads)

    def hire(self, threads: int) -> None:
        """Let so many threads share the work, this one included; results do not depend on it.

        Steps with joints, couples, collisions of two phases or a solver of the user are taken by one thread.
        """
        if self._run is None or not self._plain or self._named is not None:
            return
        from signorini.engine.threads import hire_team, run_together

        if not self._connected:
            self._connect_all()
        self._run = run_together(self._run, hire_team(self.arena, threads, WINDOW), self._counts)

    def log(self, rows: int, *, keep_contacts: bool) -> None:
        """Make a log with room for so many steps, 0 for none."""
        self._workspace.log(rows, keep_contacts=keep_contacts)
        self._logged_from, self._keep_contacts = float(self._numbers[ea.TIME]), keep_contacts
        if rows > 0:
            self._connect(ea.WRITE_LOG)

    def read_log(self) -> Steps:
        """Return what was logged since the last reading."""
        log = self._workspace.read_log()
        n, kept = log.check.shape[0], self._keep_contacts
        # Added up one by one, as the state does.
        time = np.cumsum(np.concatenate([[self._logged_from], np.full(n, self.h)]))
        self._logged_from = float(time[-1])
        return Steps(
            time=time[1:],
            q=log.q,
            v=log.v,
            modal=np.zeros((n, 0)),
            modal_rate=np.zeros((n, 0)),
            balance=log.balance,
            checks=found(log.check),
            seconds=self.seconds,
            joints=logged_joints(log.joints),
            contacts=logged_contacts(log.value, log.index) if kept else None,
            counts=np.diff(log.start) if kept else np.zeros(0, dtype=np.int64),
            memory=self.memory,
        )

    # --- state -------------------------------------------------------------------

    @property
    def contact_count(self) -> int:
        """Number of contacts ahead."""
        return int(self._counts[ea.CONTACTS])

    @property
    def state(self) -> State:
        """A copy of the state."""
        return State(t=float(self._numbers[ea.TIME]), q=self.arena[ea.Q].copy(), v=self.arena[ea.V].copy())

    @property
    def memory(self) -> Memory:
        """A copy of what is remembered besides the state."""
        old = int(self._counts[ea.OLD])
        impulse = np.zeros((old, 6))
        impulse[:, :3] = self.arena[ea.IMPULSE][:old]
        if self._couples is not None:
            impulse[:, 3:] = self.arena[ea.COUPLE_OLD][:old]
        softness = self.arena[ea.OLD_SOFTNESS][:old].copy()
        stored, rest, feature = float(self._numbers[ea.STORED]), self.arena[ea.REST].copy(), self.arena[ea.OLD_FEATURE]
        hits = slice(int(self._counts[ea.HITS]))
        arms, hit_index = self.arena[ea.HIT_ARMS][hits].copy(), self.arena[ea.HIT_INDEX][hits].copy()
        memory = Memory(feature[:old].copy(), impulse, np.zeros(0), softness, stored, rest, arms, hit_index)
        if self.joints is None:
            return memory
        return self.joints.renamed(memory)._replace(coordinate=self.joints.coordinate)

    def restore(self, state: State, memory: Memory) -> None:
        """Continue from `state`."""
        if self.joints is not None:
            self.joints.restore(memory.coordinate)
            memory = self.joints.renamed(memory)
        self._numbers[ea.TIME] = state.t
        self.arena[ea.Q][:], self.arena[ea.V][:] = state.q, state.v
        old, hits = memory.feature.size, memory.hits.shape[0]
        if max(old, hits) > self.arena[ea.OLD_FEATURE].shape[0]:
            self._workspace.reserve(max(old, hits))
        self.arena[ea.OLD_FEATURE][:old] = memory.feature
        self.arena[ea.IMPULSE][:old] = memory.impulse[:, :3]
        if self._couples is not None:
            self.arena[ea.COUPLE_OLD][:old] = memory.impulse[:, 3:]
        self.arena[ea.OLD_SOFTNESS][:old] = memory.softness if memory.softness.size else 0.0
        if not self._counts[ea.SOFT]:  # the memory may be that of a run with other options
            self.arena[ea.OLD_SOFTNESS][:old, [ea.ALPHA, ea.ENTRY_ALPHA]] = 0.0
        self._numbers[ea.STORED] = memory.stored
        self.arena[ea.REST][:] = memory.rest if memory.rest.size and self._counts[ea.SLEEPS] else 0.0
        self.arena[ea.HIT_ARMS][:hits], self.arena[ea.HIT_INDEX][:hits] = memory.hits, memory.hit_index
        self._counts[[ea.OLD, ea.HITS]] = old, hits
        self._counts[[ea.STAGE, ea.TEMPERED]] = ea.BEGIN, 0
        self._load(self.model)
        self._go_on(0)

    def load(self, model: Model) -> None:
        """Look ahead anew with the loads of `model`, for the coming step alone."""
        self._counts[[ea.STAGE, ea.PAUSE]] = ea.BEGIN, 1
        self._load(model)
        self._go_on(0)

    # --- steps -------------------------------------------------------------------

    def run(self, steps: int) -> int:
        """Advance by so many steps, or until one fails or the log is full; return how many were done."""
        if self._run is not None:  # nothing more in most cases: each word here costs a part of a small scene's step
            done = self._run(self.arena.table, steps)
            if done == steps or self._counts[ea.STAGE] == ea.READY:
                return done
            return self._go_on(steps, done)
        return self._go_on(steps)

    def timed_run(self, steps: int) -> int:
        """Do and return as :meth:`run`, and keep the time that each step took on average in `seconds`.

        Of a solver that the user named it is the time that it took itself.
        """
        began = time.perf_counter()
        done = self.run(steps)
        seconds = time.perf_counter() - began if self._named is None else self._named.waited()
        self.seconds = seconds / max(done, 1)
        return done

    def _connect(self, *rows: int) -> None:
        """Put the addresses of kernels into the table."""
        family = Family.SIMPLE if self.family is None else self.family
        for k in rows:
            self.arena.connect(k, stage_address(k, family))

    def _connect_all(self) -> None:
        """Put in those that every step needs, when first used: another process may compile them before."""
        family, joined = Family.SIMPLE if self.family is None else self.family, self.joints is not None
        self._connect(*(k for k in needed_stages(joined) if k != ea.FIND or self.family is not None))
        if self.theta < 1.0:
            self._connect(ea.RUN_AHEAD, *((ea.DRIFT_JOINTS, ea.AIM_JOINTS) if joined else ()))
        if self.joints is not None and self.joints.loops:
            self._connect(ea.FIND_SPARE)
        if self._couples is not None:
            self._couples.connect(lambda k: stage_address(k, family))
        if self._named is not None:
            self.arena.connect(ea.SOLVE, stage_address(ea.AWAIT, family))
        if self._collisions is not None:  # whose phases are solved as steps are
            self._collisions.connect(lambda k: stage_address(k, family))
            if joined or self._couples is not None:
                self._connect(ea.AWAIT)
        if self._counts[ea.PASSIVE]:
            self._connect(ea.TEMPER)
        if self._counts[ea.SLEEPS]:
            self._connect(ea.NOTE_REST)
        if self._plain and self.model.body_count >= MANY_BODIES:
            self._connect(ea.CUT_ISLANDS)
        if self.model.body_count >= SOME_BODIES:
            self._connect(ea.TAKE_EXCERPT)
        self._connected = True

    def _go_on(self, steps: int, done: int | None = None) -> int:
        """Run, or go on from where a run stopped with so many `done`, and do what kernels cannot; return how many are.

        What a step begun again has done is thrown away, so it begins again only once there is room.
        """
        if not self._connected:
            self._connect_all()
        counts, table, stopped = self._counts, self.arena.table, done is not None
        done = 0 if done is None else done
        while True:
            if not stopped:
                done += self._run(table, steps - done) if self._run is not None else self._run_by_python(steps - done)
            stopped = False
            stage = counts[ea.STAGE]
            if stage == ea.READY:
                return done
            if stage == ea.UNSOLVED:
                self._rescue()
            elif stage == ea.MOVED:
                if self.joints is not None and self.joints.projects:
                    self._project(self.joints)
                self._load(self.model)
                counts[[ea.STAGE, ea.PAUSE]] = ea.LOADED, self._workspace.paused
            elif stage == ea.DRIFTED:
                self._load(self._loaded, (1.0 - self.theta) * self.h)
                counts[ea.STAGE] = ea.AIMED
            elif stage in (ea.ACTING, ea.AWAY) and table[ea.MEET, 0] == 0:
                self._connect(ea.MEET, ea.CHECK_WAYS)
            elif stage == ea.GONE:
                self._connect(ea.LOOK if table[ea.LOOK, 0] == 0 else ea.MEND)
            else:
                self._workspace.reserve_more(int(counts[ea.NEEDED]))

    def _run_by_python(self, steps: int) -> int:
        """Do as compiled runs do, where users' functions describe shapes; return how many steps were done."""
        counts, table = self._counts, self.arena.table
        counts[ea.DONE] = 0
        while self.theta == 1.0 or run_to_act(table, steps):
            if counts[ea.STAGE] == ea.AIMED and not run_from_act(table, self._look()):
                break
            if not run_to_look(table, steps) or not run_from_look(table, self._look()):
                break
        if self._functions is not None:
            self._functions.raise_error()
        return int(counts[ea.DONE])

    def _look(self) -> int:
        """Find the contacts where bodies are; return how many."""
        contacts = detect(self.model, self._now(), self.arena[ea.REACH])
        n_c = contacts.contact_count
        if n_c > self.arena[ea.VALUE].shape[0]:
            self._workspace.reserve_to_detect(0, n_c)
        value, index = self.arena[ea.VALUE], self.arena[ea.INDEX]
        value[:n_c, :3], value[:n_c, 3:6] = contacts.point_a, contacts.point_b
        value[:n_c, 6:9], value[:n_c, 9] = contacts.normal, contacts.gap
        for k, column in enumerate((contacts.body_a, contacts.body_b, contacts.feature, contacts.material)):
            index[:n_c, k] = column
        return n_c

    def _now(self) -> State:
        """Return the present state without copying it."""
        return State(t=float(self._numbers[ea.TIME]), q=self.arena[ea.Q], v=self.arena[ea.V])

    def _project(self, joints: JointTables) -> None:
        """Move bodies onto their joints, where the step has taken them."""
        fixed, q, v, now = self.model.fixed_count, self.arena[ea.Q], self.arena[ea.V], self._now()
        moved = State(t=now.t, q=q.copy(), v=v.copy())
        moved.q[:fixed], moved.v[:fixed] = prescribed_pose(self.model, now.t)
        before = State(t=now.t - self.theta * self.h, q=self.arena[ea.Q_0], v=self.arena[ea.V_0])
        end, gained = joints.project(before, moved)
        q[fixed:], v[fixed:] = end.q[fixed:], end.v[fixed:]
        self._numbers[ea.ENERGY_CHANGE] += gained

    def _load(self, model: Model, ahead: float = 0.0) -> None:
        """Set loads and prescribed motions of the coming step, for bodies that have drifted so many seconds ahead."""
        self._loaded = model
        fixed, q, v, state = model.fixed_count, self.arena[ea.Q], self.arena[ea.V], self._now()
        state = State(t=state.t + ahead, q=q, v=v)
        if any(motion is not None for motion in model.motions):
            q[:fixed], v[:fixed] = prescribed_pose(model, state.t)
            drive = drive_velocity(model, state, self.h - ahead, secant=True)
            self.arena[ea.DRIVE][:fixed] = drive[:fixed]
        self.arena[ea.P_EXT][:] = load_impulse(model, state, self.h)
        if self.joints is not None and self.joints.driven:
            self.joints.load(state.t)

    def _rescue(self) -> None:
        """Have the step solved by the solver named, else by the robust methods of Python.

        Or begin it again once the compiled robust solver is ready.
        """
        if self._counts[ea.SHORT]:
            table = self.arena[ea.ROBUST]
            if self._couples is not None and self.arena.table[ea.RESCUE_COUPLES, 0] == 0:
                self._connect(ea.RESCUE_COUPLES)
                connect_couples(table)
            elif self._couples is None and self.arena.table[ea.RESCUE, 0] == 0:
                finish_warming()
                self._connect(ea.RESCUE)
                connect_island(table, resisting=False)
            elif table[NEWTON, 0] == 0:
                connect_island(table, resisting=True)
            else:
                self._workspace.reserve_for_robust(2 * self.arena[ea.ROBUST_POOL].size)
            self._counts[ea.SHORT] = 0
            self._begin_again()
            return
        awake = self._awake()
        if not np.isfinite(self._law(awake)[1]).all():  # a motion that has exploded, no mistake of the user's
            raise ArithmeticError("the problem of the step is not finite")
        place, p, tolerance = self.arena[ea.POSITION][awake], self.arena[ea.P], float(self._numbers[ea.TOLERANCE])
        v = self.arena[ea.V if self.theta == 1.0 else ea.V_START]
        began = State(t=float(self._numbers[ea.TIME]), q=self.arena[ea.Q_START], v=v)
        coordinate = self._coordinate_at_start
        contacts, named = self._seen(self._contacts(awake)), self._named
        if named is not None:
            named.begin()
        if self._collisions is not None and self._counts[ea.COLLIDES]:
            there, free = self._midpoint(self._loaded, began, coordinate)
            space, answer = self._space(self._loaded, there, free, contacts), None if named is None else named.answer
            solution, impulse = self._collisions.rescue(self._loaded, there, space, place, tolerance, answer)
            if self._couples is None:
                p[place, : impulse.shape[1]] = impulse
            else:
                self._couples.put(friction_law(self.model, contacts), place, impulse)
            self._rescued_by(solution)
            return
        if named is not None:
            self._ask(named, began, coordinate)
            return
        if self._couples is not None:
            law = friction_law(self.model, contacts)
            problem = self._problem(self._loaded, began, coordinate, contacts, self._law(awake))
            if self.joints is None or not blocked(problem, tolerance).size:  # solvers would try for long
                self._rescued_by(self._couples.rescue(problem, law, place, tolerance))
            else:
                self._go_on_after(0)
            return
        iterations = 0
        for rows, asked, moves in self._resisting():
            place, contacts = self.arena[ea.POSITION][rows], self._seen(self._contacts(rows))
            problem = self._problem(self._loaded, began, coordinate, contacts, self._law(rows))
            if self.joints is not None and blocked(problem, tolerance).size:  # solvers would try for long
                break
            start = problem.flat(p[place])
            # Beside impulses of great leverage rounding may exceed what the tolerance leaves of the load.
            beyond = LEVERAGE * tolerance * problem.scale(0.0 * start) < ROUNDING * problem.scale(start)
            limit = HURRY if self._may_rebound_less or beyond or (moves and self._counts[ea.SOFT]) else None
            solution = solve_robustly(problem, asked, start, limit=limit)
            solved = solution.success or accepted(problem, solution.z, solution.residual, tolerance)
            resists = not solved and self._counts[ea.SOFT] and not self._counts[ea.SOFTEN]
            if resists and not self._may_rebound_less:
                self._counts[ea.SOFTEN] = 1
                self._begin_again()
                return
            p[place] = problem.spatial(solution.z)
            iterations = max(iterations, solution.iterations)
        self._go_on_after(iterations)

    def _begin_again(self) -> None:
        """Go back to the start of the step."""
        self.arena[ea.Q][:] = self.arena[ea.Q_START]
        if self.theta < 1.0:
            self.arena[ea.V][:] = self.arena[ea.V_START]
            if self.joints is not None:
                self.joints.go_back()
        self._counts[ea.STAGE] = ea.READY

    @property
    def _coordinate_at_start(self) -> Array:
        """Coordinates of the joints at the start of the step that is being solved."""
        if self.joints is None:
            return np.zeros(0)
        return self.joints.coordinate if self.theta == 1.0 else self.joints.coordinate_before

    @property
    def _may_rebound_less(self) -> bool:
        """Whether an island may be solved with less of its rebound, before it is made compliant."""
        shares = self.arena[ea.REBOUND_SHARES][: self._counts[ea.ISLANDS]]
        searched = (shares[:, ROUND] != SETTLED) & (shares[:, ASKED_SHARE] > 0.0)
        return bool(self._counts[ea.REBOUNDS] and np.any(searched))

    def _ask(self, named: NamedSolver, began: State, coordinate: Array) -> None:
        """Have every island of a step that began like this solved by the solver that the user named."""
        model, islands, iterations = self._loaded, self.arena[ea.ISLAND], 0
        there, free = self._midpoint(model, began, coordinate)
        for rows, which in self._groups():
            contacts = self._seen(self._contacts(rows))
            space = self._space(model, there, free, contacts)
            problem, solution = self._asked(named, space, rows)
            islands[which, ea.MET] = solution.success
            named.note(explained(model, space, problem, solution))
            iterations = max(iterations, solution.iterations)
        self.arena[ea.CHECK][ea.ENDED] = named.status
        self._go_on_after(iterations)

    def _asked(self, named: NamedSolver, space: ContactSpace, rows: IntArray) -> tuple[FrictionProblem, Solution]:
        """Have contacts and laws of joints solved whose map is `space`, and put their impulses in."""
        place, tolerance, law = self.arena[ea.POSITION][rows], float(self._numbers[ea.TOLERANCE]), self._law(rows)
        pose, p, dim = partial(self._pose, self._loaded, space, law[0]), self.arena[ea.P], int(self._counts[ea.DIM])
        friction, b = friction_law(self.model, space.contacts), space.b.copy()
        b[:, :dim] += law[1][:, :dim]
        start = p[place, :dim] if self._couples is None else self._couples.guess(friction, place)
        outcome = pose_and_solve(space, b, pose, named.answer, np.ascontiguousarray(start).reshape(-1), tolerance)
        if self._couples is None:
            p[place] = outcome.problem.spatial(outcome.solution.z)
        else:
            self._couples.put(friction, place, outcome.solution.z)
        if space.joints is not None and space.joints.laws.by_load.any():
            self._limit_by_load(space.joints.laws, outcome.problem, place)
        return outcome.problem, outcome.solution

    def _limit_by_load(self, laws: RowLaws, problem: FrictionProblem, place: IntArray) -> None:
        """Let the step know how friction by load was posed; `place` are the rows of the problem, laws at its end."""
        row = place.size - laws.count + np.flatnonzero(laws.by_load)
        a, k = self.arena[ea.DIAGONAL][place[row], 0, 0], place[row]
        self.arena[ea.B][k, 0] = -a * laws.bound[laws.by_load]
        self.arena[ea.LOAD][k, 0] = a * problem.load[row, 0] / problem.blocks[row, 0, 0]
        if self._couples is not None:
            self.arena[ea.COUPLE_LOAD][k, 0] = self.arena[ea.COUPLE_UNIT][k, 0] * self.arena[ea.LOAD][k, 0]

    def _groups(self) -> list[tuple[IntArray, IntArray | slice]]:
        """Return contacts, with laws of joints, that are solved together, and the islands which these are.

        All of the step at once with joints, whose laws Python poses together.
        """
        count = int(self._counts[ea.ISLANDS])
        if self.joints is not None:
            return [(self._awake(), slice(count))]
        islands, order = self.arena[ea.ISLAND], self.arena[ea.ORDER]
        spans = [(int(islands[i, ea.FIRST_CONTACT]), int(islands[i, ea.N_CONTACTS])) for i in range(count)]
        return [(np.sort(order[first : first + n]), slice(i, i + 1)) for i, (first, n) in enumerate(spans)]

    def _rescued_by(self, solution: Solution) -> None:
        """Go on with the impulses of a step that was solved as a whole."""
        if self._named is not None:
            self._named.note(solution)
            self.arena[ea.CHECK][ea.ENDED] = self._named.status
        self._go_on_after(solution.iterations)

    def _go_on_after(self, iterations: int) -> None:
        """Go on with the impulses that were found in so many iterations."""
        self._counts[ea.SWEEPS] += iterations
        self._counts[[ea.STAGE, ea.RESCUED]] = ea.SOLVED, 1

    def _awake(self) -> IntArray:
        """Return the contacts of the step that do not sleep, then the laws of joints, which are numbered on."""
        awake: IntArray = np.sort(self.arena[ea.ORDER][: self._counts[ea.ACTIVE]])
        return awake

    def _resisting(self) -> list[tuple[IntArray, float, bool]]:
        """Return the contacts of each island that the sweeps did not solve, the tolerance asked of it, if it moves.

        What rests is worth any effort; what moves is made compliant for a step where few iterations do not do. All of
        the step at once with joints, whose laws Python poses together, or if the sum of the parts did not hold.
        """
        islands, order = self.arena[ea.ISLAND][: self._counts[ea.ISLANDS]], self.arena[ea.ORDER]
        asked, hard = self.arena[ea.ASKED][: len(islands)], islands[:, ea.MET] == 0
        if self.joints is not None or not hard.any():
            moves = bool(np.any(islands[:, ea.RESTS] == 0))
            return [(self._awake(), float(asked.min(initial=self._numbers[ea.TOLERANCE])), moves)]
        firsts, counts = islands[hard, ea.FIRST_CONTACT], islands[hard, ea.N_CONTACTS]
        rows = [np.sort(order[first : first + n]) for first, n in zip(firsts, counts, strict=True)]
        return list(zip(rows, asked[hard].tolist(), (islands[hard, ea.RESTS] == 0).tolist(), strict=True))

    def _contacts(self, rows: IntArray) -> IntArray:
        """Return those of `rows` that are contacts."""
        contacts: IntArray = rows[rows < self._counts[ea.SEEN]]
        return contacts

    def _law(self, rows: IntArray) -> tuple[Array, Array]:
        """Return the compliances of contacts, and what they and the gaps add to the velocities; copies, (n_c, 3)."""
        place = self.arena[ea.POSITION][rows]
        return self.arena[ea.COMPLIANCE][place], self.arena[ea.LOAD][place] - self.arena[ea.B][place]

    # --- reading -----------------------------------------------------------------

    @property
    def check(self) -> Array:
        """What the last step found when it checked itself; columns as in :mod:`.arrays`."""
        check: Array = self.arena[ea.CHECK]
        return check

    @property
    def checks(self) -> Array:
        """The same by the columns of the certificate, (len(CHECKS),)."""
        return found(self.check)

    @property
    def solved(self) -> bool:
        """Whether the last step met its tolerance."""
        return bool(self.arena[ea.CHECK][ea.SUCCESS] == 1.0)

    @property
    def before(self) -> State:
        """A copy of the state before the last step."""
        v = self.arena[ea.V_0 if self.theta == 1.0 else ea.V_START]
        return State(t=float(self._numbers[ea.TIME]) - self.h, q=self.arena[ea.Q_START].copy(), v=v.copy())

    def _seen(self, rows: IntArray | slice) -> Contacts:
        """Return contacts of the step."""
        return Contacts.of_rows(self.arena[ea.SEEN_VALUE][rows], self.arena[ea.SEEN_INDEX][rows])

    def ahead(self) -> Contacts:
        """Return the contacts of the coming step."""
        return Contacts.of_rows(*(self.arena[k][: self.contact_count] for k in (ea.VALUE, ea.INDEX)))

    def _midpoint(self, model: Model, state: State, coordinate: Array) -> tuple[Midpoint, FreeMotion]:
        """Return where a step that began at `state` acts, and its free motion, by functions of Python.

        `coordinate` are those of the joints then.
        """
        memory = Memory.none()._replace(coordinate=coordinate)
        there = midpoint(model, state, memory, self.h, self._gyroscopic, self.theta)
        return there, joined_free_motion(model, there, self._gyroscopic)

    def _space(self, model: Model, there: Midpoint, free: FreeMotion, contacts: Contacts) -> ContactSpace:
        """Return the map of impulses of a step, by the same functions."""
        law = friction_law(model, contacts)
        return contact_space(
            model, there, free, contacts, secant=True, common_point=True, couples=law.couples, idle=law.idle
        )

    def _pose(self, model: Model, space: ContactSpace, compliance: Array, b: Array) -> FrictionProblem:
        """Pose a problem on this map, with compliances (n, 3) and velocities b."""
        dim, words = int(self._counts[ea.DIM]), friction_law(model, space.contacts).words(space.mu.size)
        softness = np.ascontiguousarray(compliance[:, :dim]) if compliance.any() else 0.0
        return FrictionProblem(space.W, b, space.mu, dim=dim, compliance=softness, **words)

    def _posed(self, model: Model, space: ContactSpace, law: tuple[Array, Array]) -> FrictionProblem:
        """Pose a problem on this map; `law` is what :meth:`_law` said of its contacts and laws of joints."""
        dim, (compliance, shift), b = int(self._counts[ea.DIM]), law, space.b.copy()
        b[:, :dim] += shift[:, :dim]
        return self._pose(model, space, compliance, b.reshape(-1))

    def _problem(
        self, model: Model, state: State, coordinate: Array, contacts: Contacts, law: tuple[Array, Array]
    ) -> FrictionProblem:
        """Pose the problem of a step that began at `state`, with the joints at `coordinate`."""
        return self._posed(model, self._space(model, *self._midpoint(model, state, coordinate), contacts), law)

    def result(self, model: Model) -> StepResult:
        """Return the last step in full; `model` is that of the step, with its loads."""
        before, n_c, awake = self.before, int(self._counts[ea.SEEN]), self._awake()
        contacts, posed, law = self._seen(slice(n_c)), self._seen(self._contacts(awake)), self._law(awake)
        coordinate = np.zeros(0) if self.joints is None else self.joints.coordinate_before
        check, dim = self.arena[ea.CHECK], int(self._counts[ea.DIM])
        impulse, velocity = self.arena[ea.IMPULSE][:n_c].copy(), self.arena[ea.U][self.arena[ea.POSITION][:n_c]]
        z = np.ascontiguousarray(self.arena[ea.IMPULSE][awake, :dim])
        if self._couples is not None:
            z = self._couples.impulses(friction_law(model, posed), awake)
        solution = Solution(
            z=z.reshape(-1),
            status=Status(int(compiled_status(check))),
            residual=float(check[ea.RESIDUAL]),
            iterations=int(check[ea.EFFORT]),
            seconds=self.seconds,
            solver="sweeps",
        )
        if self._named is not None:
            solution = self._told_by(self._named, solution)
        elif model.joints.inequalities and not solution.success:
            space = self._space(model, *self._midpoint(model, before, coordinate), posed)
            solution = explained(model, space, self._posed(model, space, law), solution)
        step = StepResult(
            state=self.state,
            memory=self.memory,
            contacts=contacts,
            impulse=impulse,
            velocity=velocity,
            pose=lambda: PosedFriction(self._problem(model, before, coordinate, posed, law), solution.z),
            mode=self.arena[ea.MODE][:n_c].copy(),
            solution=solution,
            balance=Balance(*self.arena[ea.BALANCE].tolist()),
            joints=None if self.joints is None else self.joints.report(check),
            couple=None if self._couples is None else self.arena[ea.COUPLE_OLD][:n_c].copy(),
            unfollowed=int(check[ea.UNFOLLOWED]),
            lost_momentum=float(check[ea.LOST_MOMENTUM]),
            turned_energy=float(check[ea.TURNED_ENERGY] * check[ea.ENERGY_MOVING]),
            posed_again=int(check[ea.POSED_AGAIN]),
        )
        if self._collisions is None or not self._counts[ea.COLLIDES]:
            return step
        place, tolerance = self.arena[ea.POSITION][awake], float(self._numbers[ea.TOLERANCE])
        there, free = self._midpoint(model, before, coordinate)
        space = self._space(model, there, free, posed)
        both = self._collisions.solutions(model, there, space, place, tolerance)
        phases = PosedFriction(both.first, both.compression.z), PosedFriction(both.second, both.z)
        return replace(step, solution=replace(solution, z=both.z), pose=lambda: Phases(phases))

    def _told_by(self, named: NamedSolver, solution: Solution) -> Solution:
        """Return the solution of a step with what the solver named says of it, which is not asked without contacts."""
        if self._counts[ea.ISLANDS] == 0:
            named.begin()
        return replace(solution, seconds=named.seconds, solver=named.name, info=dict(named.info))
