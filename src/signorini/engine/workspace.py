"""The memory of a compiled step: its arrays, which are made once and grow with the number of contacts, and its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from signorini._arena import Arena
from signorini._arrays import Array, IntArray
from signorini.dynamics import gyroscopic_ways
from signorini.dynamics.bodies import WAYS
from signorini.dynamics.constants import MOST_LEGS
from signorini.dynamics.flight import FLIGHT_COLUMNS
from signorini.engine import arrays as ea
from signorini.engine.couple_tables import CoupleTables
from signorini.engine.cut import CUT_COLUMNS, EXTENT_COLUMNS
from signorini.engine.joints.arrays import REPORT_COLUMNS
from signorini.engine.joints.tables import JointTables
from signorini.engine.poisson_tables import PoissonTables
from signorini.geometry.tables import CAPACITY, MOST_CORNERS, family_of, scratch_for, tables_of
from signorini.model import Model
from signorini.model.thickness import thinnest_extents
from signorini.posing.constants import (
    CAPACITY_LEAST,
    CAPACITY_MORE,
    CAPACITY_MOST,
    FIRST_POOL,
    MANY_BODIES,
    SWEEP_LIMIT,
    WINDOW,
)
from signorini.posing.friction_law import has_couples
from signorini.posing.gap_law import pull_and_lift
from signorini.posing.passive_law import SHARE_COLUMNS
from signorini.solvers.island_table import ISLAND_ROWS, LINE, NODE_VECTORS, POOL, Y

_BY_CONTACT = {
    ea.OLD_SOFTNESS: (int(ea.SOFTNESS_COLUMNS),),
    ea.IMPULSE: (3,),
    ea.GUESS: (3,),
    ea.SEEN_VALUE: (10,),
    ea.HIT_ARMS: (9,),
    ea.B: (3,),
    ea.LOAD: (3,),
    ea.GAP: (),
    ea.SIZE: (),
    ea.WIDTH: (),
    ea.REBOUND: (),
    ea.VEERED: (),
    ea.SHIFT: (),
    ea.CORRECTED: (),
    ea.MAY_CLOSE: (),
    ea.MU: (),
    ea.RHO: (),
    ea.DIAGONAL: (3, 3),
    ea.LOCAL: (15,),
    ea.COMPLIANCE: (3,),
    ea.REFERENCE: (3,),
    ea.SOFTNESS: (int(ea.SOFTNESS_COLUMNS),),
    ea.P: (3,),
    ea.BEFORE: (3,),
    ea.U: (3,),
    ea.SLIP: (),
}
_NUMBERS_BY_CONTACT = {
    ea.POSITION: (),
    ea.OLD_FEATURE: (),
    ea.GUESS_FEATURE: (),
    ea.SEEN_INDEX: (4,),
    ea.HIT_INDEX: (4,),
    ea.ORDER: (),
    ea.MODE: (),
}


class Options(NamedTuple):
    """What a stepper asks of its compiled step."""

    gyroscopic: str
    """How the term is taken, one of :data:`~signorini.dynamics.bodies.WAYS`."""
    soft: bool
    """Whether islands that resist may be made compliant."""
    sleeps: bool = False
    """Whether islands may sleep."""
    theta: float = 1.0
    stiffness: float | None = None
    """Of contacts [N/m]."""
    restitution: str = "passive"
    """The law of restitution: ``"passive"``, ``"newton"`` or ``"poisson"``."""
    projection: bool = False
    """Whether bodies are moved onto their joints where steps end."""
    solver: Any = None
    """That is asked instead of the step's own."""


@dataclass(slots=True)
class Log:
    """What a run of several steps leaves behind, one row for each step."""

    q: Array
    v: Array
    check: Array
    """Columns as in :mod:`.arrays`."""
    balance: Array
    start: IntArray
    """First contact of each step."""
    value: Array
    """Contacts, impulses and velocities, (any, 16), and couples, (any, 19), where contacts may have some."""
    index: IntArray
    """Bodies, feature and mode, (any, 4)."""
    joints: Array
    """Coordinate, speed, effort and reaction of the joints, (steps, n_j, REPORT_COLUMNS)."""


def ample(needed: int) -> int:
    """Return for how many there is to be capacity where there are so many contacts or pairs."""
    return needed + int(max(min(CAPACITY_MORE * needed, CAPACITY_MOST), CAPACITY_LEAST * needed))


class Workspace:
    """The arrays of a compiled step of `h` seconds; kernels reach them by the table of `arena`."""

    def __init__(self, model: Model, h: float, tolerance: float, options: Options) -> None:
        self.model = model
        self.arena = Arena(int(ea.ARRAY_COUNT), kernels=int(ea.ROW_COUNT - ea.ARRAY_COUNT))
        self.joints = JointTables(model, h, options.theta, projects=options.projection) if model.joints.any else None
        """None if there are none."""
        functions = any(f.at is not None or callable(f.force) or callable(f.torque) for f in model.forces)
        driven = self.joints is not None and self.joints.driven
        driven |= self.joints is not None and (self.joints.projects or self.joints.functions)
        self.paused = functions or driven or any(motion is not None for motion in model.motions)
        """Whether there is something for Python to do where a step ends: loads or drives are functions."""
        self._tables = tables_of(model.shapes, model.hulls, model.materials, model.fixed_count)
        self.family = None if model.implicit else family_of(self._tables)
        """Which shapes meet; None if Python must find the contacts."""
        self.numbers = self.arena.put(ea.NUMBERS, np.zeros(int(ea.NUMBER_COUNT)))
        self.counts = self.arena.put(ea.COUNTS, np.zeros(int(ea.COUNT_COUNT), dtype=np.int64))
        self._set_numbers(h, tolerance, options)
        self._make_bodies(options.gyroscopic, sleep=options.sleeps)
        self.collisions = PoissonTables(self.arena) if options.restitution == "poisson" else None
        self.couples = CoupleTables(self.arena, model) if has_couples(model) else None
        if self.couples is None:
            for k in range(int(ea.COUPLE_AXES), int(ea.ARRAY_COUNT)):
                self.arena.put(k, np.zeros(0))
        self.reserve(16, first=True)
        self.reserve_to_detect(16, 16)
        self.log(0, keep_contacts=False)
        self.arena.check()

    def _set_numbers(self, h: float, tolerance: float, options: Options) -> None:
        """Set what stays the same in all steps."""
        model, g, theta, stiffness = self.model, self.model.arrays.gravity, options.theta, options.stiffness
        self.numbers[:7] = 0.0, h, tolerance, np.linalg.norm(g), *g
        pull, lift = (np.linalg.norm(g), 0.0) if theta == 1.0 else pull_and_lift(float(np.linalg.norm(g)), h, theta)
        spring = 0.0 if stiffness is None else 1.0 / (theta * h * h * stiffness)
        self.numbers[[ea.DRIFT, ea.PULL, ea.LIFT, ea.SPRING]] = theta * h, pull, lift, spring
        dim = 2 if model.planar else 3
        self.counts[[ea.FIXED, ea.DIM, ea.GYROSCOPIC]] = model.fixed_count, dim, WAYS[options.gyroscopic]
        self.counts[[ea.PAUSE, ea.LIMIT, ea.SOFT, ea.SLEEPS]] = self.paused, SWEEP_LIMIT, options.soft, options.sleeps
        self.counts[[ea.HAS_ROBUST, ea.FOLLOWS]] = 1, self.family is not None
        self.counts[ea.VEERS] = options.restitution != "poisson"
        self.counts[ea.PASSIVE] = options.restitution == "passive" and np.any(model.materials.restitution > 0.0)
        if self.joints is not None:
            self.counts[[ea.JOINED, ea.LAW_CAPACITY]] = 1, self.joints.law_capacity

    def _make_bodies(self, gyroscopic: str, *, sleep: bool) -> None:
        """Make the arrays whose size is that of the model."""
        model, arrays, put = self.model, self.model.arrays, self.arena.put
        n_b, fixed = model.body_count, model.fixed_count
        thin = thinnest_extents(model.shapes, model.hulls, n_b)
        self.numbers[ea.THINNEST] = thin.min(initial=np.inf)
        for k, constant in (
            (ea.MASS, arrays.mass),
            (ea.INERTIA, arrays.inertia),
            (ea.FREE, arrays.free),
            (ea.ROOT, _roots(model)),
            (ea.BOUND, arrays.bound),
            (ea.THIN, thin),
            (ea.WEIGHT, arrays.weight),
            (ea.FRICTION, model.materials.friction),
            (ea.RESTITUTION, model.materials.restitution),
        ):
            put(k, np.array(constant, dtype=np.float64))
        for k, columns in ((ea.Q, 7), (ea.Q_START, 7), (ea.Q_0, 7), (ea.FACTOR, 12)):
            put(k, np.zeros((n_b, columns)))
        for k in (ea.V, ea.V_0, ea.V_START, ea.V_SPUN, ea.V_FREE, ea.P_EXT):
            put(k, np.zeros((n_b, 6)))
        put(ea.DRIVE, np.zeros((max(fixed, 1), 6)))
        put(ea.FLOWN, np.zeros((n_b, FLIGHT_COLUMNS)))
        put(ea.VEER, np.zeros((n_b, 3)))
        put(ea.WAY, gyroscopic_ways(model, gyroscopic))
        put(ea.REACH, np.zeros(n_b))
        put(ea.PATH, np.zeros((n_b, 6)))
        put(ea.AIM, np.zeros((n_b, 6)))
        put(ea.MEETS, np.zeros((n_b, int(ea.MEETS_COLUMNS))))
        put(ea.PAIR_SHAPE, np.zeros((2, self._tables.shape.shape[1])))
        put(ea.PAIR_LABEL, np.zeros((2, self._tables.label.shape[1]), dtype=np.int64))
        put(ea.PAIR_Q, np.zeros((2, 7)))
        put(ea.PAIR_REACH, np.zeros(2))
        put(ea.PAIR_SPIN, np.zeros((2, 3)))
        put(ea.PAIR_LEGS, np.zeros(2, dtype=np.int64))
        put(ea.PAIR_TURN, np.zeros((2, int(MOST_LEGS), 7)))
        put(ea.MET_VALUE, np.zeros((0, 10)))
        put(ea.MET_INDEX, np.zeros((0, 4), dtype=np.int64))
        put(ea.REST, np.zeros((n_b if sleep else 0, 7)))
        put(ea.PLACE, np.zeros((n_b, int(ea.PLACE_COLUMNS)), dtype=np.int64))
        put(ea.ISLAND, np.zeros((n_b, int(ea.ISLAND_COLUMNS)), dtype=np.int64))
        put(ea.ASKED, np.zeros(n_b))
        put(ea.MEMORY, np.zeros((n_b, int(ea.SOFTNESS_COLUMNS))))
        put(ea.TRIAL, np.zeros((n_b, int(ea.TRIAL_COLUMNS))))
        put(ea.REBOUND_SHARES, np.zeros((n_b, int(SHARE_COLUMNS))))
        put(ea.CUT, np.zeros((n_b // MANY_BODIES, CUT_COLUMNS), dtype=np.int64))
        put(ea.EXTENT, np.zeros((n_b // MANY_BODIES, EXTENT_COLUMNS)))
        for k in range(int(ea.TEAM), int(ea.DISPLACING) + 1):  # there is one thread
            put(k, np.zeros((0, 4), dtype=np.int64))
        put(ea.JOINTS, np.zeros((1, 4), dtype=np.int64) if self.joints is None else self.joints.arena.table)
        put(ea.SMALL, np.zeros((2, WINDOW + 1, WINDOW + 1)))
        put(ea.ROBUST, np.zeros((ISLAND_ROWS, 4), dtype=np.int64))
        self.reserve_for_robust(FIRST_POOL)
        put(ea.CHECK, np.zeros(int(ea.CHECK_COUNT)))
        self.arena[ea.CHECK][[ea.DRIFT_JOINT, ea.DRIFT_ROW, ea.CONFLICT_JOINT, ea.CONFLICT_ROW]] = -1.0
        put(ea.BALANCE, np.zeros(int(ea.BALANCE_COUNT)))
        for k, table in zip((ea.SHAPE, ea.LABEL, ea.SOLID, ea.LINK, ea.PAIR), self._tables, strict=True):
            put(k, table)
        put(ea.PHASE, np.zeros((0, 4), dtype=np.int64))
        put(ea.COMPRESSION, np.zeros((0, 3)))

    def reserve(self, capacity: int, *, first: bool = False) -> None:
        """Let there be room for at least `capacity` contacts; what is known of the last step is kept."""
        if not first:  # more blocks may be needed for fewer contacts
            capacity = max(capacity, self.arena[ea.P].shape[0] - int(self.counts[ea.LAW_CAPACITY]))
        blocks, bodies = 4 * capacity, self.model.body_count
        if self.joints is not None:  # laws come after the contacts, each with a row of y of its own
            capacity += self.joints.law_capacity
            bodies += self.joints.law_capacity
            blocks = self.joints.block_capacity(capacity)
            self.joints.reserve(capacity)
        for table, kind in ((_BY_CONTACT, np.float64), (_NUMBERS_BY_CONTACT, np.int64)):
            for k, columns in table.items():
                if first:
                    self.arena.put(k, np.zeros((capacity, *columns), dtype=kind))
                else:
                    self.arena.grow(k, capacity)
        size = 6 * bodies + 3 * capacity
        self.arena.put(ea.START, np.zeros(capacity + 1, dtype=np.int64))
        self.arena.put(ea.BLOCK, np.zeros(blocks, dtype=np.int64))
        self.arena.put(ea.GATHER, np.zeros((blocks, 3, 3)))
        self.arena.put(ea.SOLVING, np.zeros(size))
        self.arena.put(ea.LOW, np.zeros((2 * bodies, 3)))
        scratch = self.arena.put(ea.SCRATCH, np.zeros((WINDOW + 1) * size + WINDOW * 6 * bodies))
        self.arena.put(ea.EXCERPT, scratch[-2 * (bodies + capacity) :].view(np.int64))
        if self.collisions is not None:
            self.collisions.reserve(capacity, bodies)
        if self.couples is not None:
            self.couples.reserve(capacity, blocks, bodies)

    def reserve_for_robust(self, numbers: int) -> None:
        """Give the robust solver memory for so many numbers."""
        pool, table = self.arena.put(ea.ROBUST_POOL, _at_a_line(numbers)), self.arena[ea.ROBUST]
        table[: int(Y) + NODE_VECTORS] = 0
        table[POOL, :2] = pool.ctypes.data, numbers

    def reserve_more(self, needed: int) -> None:
        """Make room for what a step could not store, see ``NEEDED``."""
        capacity = ample(abs(needed))
        pairs, contacts = int(self.arena[ea.CELLS][CAPACITY]), self.arena[ea.VALUE].shape[0]
        if needed == 0:
            for k in (ea.LOG_VALUE, ea.LOG_INDEX):
                self.arena.grow(k, 2 * (self.arena[k].shape[0] + int(self.counts[ea.CONTACTS])))
        elif needed > 0:
            self.reserve(capacity)
            for k in (ea.VALUE, ea.INDEX, ea.MET_VALUE, ea.MET_INDEX):
                self.arena.grow(k, capacity)
        elif -needed > pairs:
            self.reserve_to_detect(capacity, contacts)
        else:
            self.reserve_to_detect(pairs, capacity)

    def reserve_to_detect(self, pairs: int, contacts: int) -> None:
        """Make room for so many pairs of shapes and contacts."""
        scratch = scratch_for(self._tables, pairs, contacts)
        names = (ea.WORLD, ea.CELLS, ea.WORK, ea.MARK, ea.VALUE, ea.INDEX)
        for k, array in zip(names, scratch, strict=True):
            self.arena.put(k, array)
        most = int(scratch.cells[MOST_CORNERS]) + 64  # contacts of one pair
        self.arena.put(ea.PAIR_VALUE, np.zeros((most, 10)))
        self.arena.put(ea.PAIR_INDEX, np.zeros((most, 4), dtype=np.int64))

    def log(self, rows: int, *, keep_contacts: bool) -> None:
        """Make a log with room for so many steps, 0 for none."""
        n_b, put = self.model.body_count, self.arena.put
        contacts = rows * max(16, 2 * int(self.counts[ea.CONTACTS])) if keep_contacts else 0
        put(ea.LOG_Q, np.zeros((rows, n_b, 7)))
        put(ea.LOG_V, np.zeros((rows, n_b, 6)))
        put(ea.LOG_CHECK, np.zeros((rows, int(ea.CHECK_COUNT))))
        put(ea.LOG_BALANCE, np.zeros((rows, int(ea.BALANCE_COUNT))))
        put(ea.LOG_START, np.zeros(rows + 1, dtype=np.int64))
        put(ea.LOG_VALUE, np.zeros((contacts, 16 if self.couples is None else 19)))
        put(ea.LOG_INDEX, np.zeros((contacts, 4), dtype=np.int64))
        if self.joints is not None:
            self.joints.log(rows)
        self.counts[[ea.LOGGED, ea.KEEP]] = 0, keep_contacts

    def read_log(self) -> Log:
        """Return what was logged since the last reading."""
        rows = int(self.counts[ea.LOGGED])
        start = self.arena[ea.LOG_START][: rows + 1].copy()
        q, v, check, balance = (self.arena[k][:rows].copy() for k in (ea.LOG_Q, ea.LOG_V, ea.LOG_CHECK, ea.LOG_BALANCE))
        value, index = (self.arena[k][: start[-1]].copy() for k in (ea.LOG_VALUE, ea.LOG_INDEX))
        joints = np.zeros((rows, 0, int(REPORT_COLUMNS))) if self.joints is None else self.joints.read_log(rows)
        self.counts[ea.LOGGED] = 0
        return Log(q, v, check, balance, start, value, index, joints)


def _at_a_line(numbers: int) -> Array:
    """Return so many zeros that begin with a line of the cache."""
    memory = np.zeros(numbers + LINE)
    skip = -(memory.ctypes.data // memory.itemsize) % LINE
    return memory[skip : skip + numbers]


def _roots(model: Model) -> Array:
    """Return A with ``A A^T = I^-1`` on the axes about which each body may turn, in body axes, (n_b, 3, 3)."""
    roots = np.zeros((model.body_count, 3, 3))
    for b in range(model.fixed_count, model.body_count):
        turns = model.arrays.free[b, 3:] > 0.0
        I = model.arrays.inertia[b]
        if turns.all():
            roots[b] = np.linalg.cholesky(np.linalg.inv(I))
        else:  # planar: about z alone
            roots[b, 2, 2] = I[2, 2] ** -0.5
    return roots
