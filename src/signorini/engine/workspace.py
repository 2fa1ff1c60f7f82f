"""The memory of a compiled step: its arrays, which are made once and grow with the number of contacts, and its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from signorini._arena import Arena
from signorini._arrays import Array, IntArray
from signorini.dynamics import gyroscopic_ways
from signorini.dynamics.bodies import WAYS
from signorini.dynamics.constants import MOST_PARTS
from signorini.dynamics.flight import FLIGHT_COLUMNS
from signorini.engine import arrays as at
from signorini.engine.couple_tables import CoupleTables
from signorini.engine.cut import CUT_COLUMNS, EXTENT_COLUMNS
from signorini.engine.joints.arrays import REPORT_COLUMNS
from signorini.engine.joints.tables import JointTables
from signorini.engine.poisson_tables import PoissonTables
from signorini.geometry.tables import MOST_CORNERS, ROOM, family_of, scratch_for, tables_of
from signorini.model import Model
from signorini.model.thickness import thinnest_extents
from signorini.posing.constants import (
    FIRST_POOL,
    MANY_BODIES,
    MANY_ROOM,
    MORE_ROOM,
    ROOM_PART,
    SWEEP_LIMIT,
    WINDOW,
)
from signorini.posing.friction_law import has_couples
from signorini.posing.gap_law import pull_and_lift
from signorini.posing.passive_law import PART_COLUMNS
from signorini.solvers.island_table import ISLAND_ROWS, LINE, NODE_VECTORS, POOL, Y

_BY_CONTACT = {
    at.OLD_SOFTNESS: (int(at.SOFTNESS_COLUMNS),),
    at.IMPULSE: (3,),
    at.GUESS: (3,),
    at.SEEN_VALUE: (10,),
    at.HIT_ARMS: (9,),
    at.B: (3,),
    at.LOAD: (3,),
    at.GAP: (),
    at.SIZE: (),
    at.WIDTH: (),
    at.REBOUND: (),
    at.VEERED: (),
    at.SHIFT: (),
    at.CORRECTED: (),
    at.SPACE: (),
    at.MU: (),
    at.RHO: (),
    at.DIAGONAL: (3, 3),
    at.LOCAL: (15,),
    at.COMPLIANCE: (3,),
    at.REFERENCE: (3,),
    at.SOFTNESS: (int(at.SOFTNESS_COLUMNS),),
    at.P: (3,),
    at.U: (3,),
    at.SLIP: (),
}
_NUMBERS_BY_CONTACT = {
    at.POSITION: (),
    at.OLD_FEATURE: (),
    at.GUESS_FEATURE: (),
    at.SEEN_INDEX: (4,),
    at.HIT_INDEX: (4,),
    at.ORDER: (),
    at.MODE: (),
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
    """Return how much room is made for so many contacts or pairs."""
    return needed + int(max(min(MORE_ROOM * needed, MANY_ROOM), ROOM_PART * needed))


class Workspace:
    """The arrays of a compiled step of `h` seconds; kernels reach them by the table of `arena`."""

    def __init__(self, model: Model, h: float, tolerance: float, options: Options) -> None:
        self.model = model
        self.arena = Arena(int(at.ARRAY_COUNT), kernels=int(at.ROW_COUNT - at.ARRAY_COUNT))
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
        self.numbers = self.arena.put(at.NUMBERS, np.zeros(int(at.NUMBER_COUNT)))
        self.counts = self.arena.put(at.COUNTS, np.zeros(int(at.COUNT_COUNT), dtype=np.int64))
        self._set_numbers(h, tolerance, options)
        self._make_bodies(options.gyroscopic, sleep=options.sleeps)
        self.collisions = PoissonTables(self.arena) if options.restitution == "poisson" else None
        self.couples = CoupleTables(self.arena, model) if has_couples(model) else None
        if self.couples is None:
            for k in range(int(at.COUPLE_AXES), int(at.ARRAY_COUNT)):
                self.arena.put(k, np.zeros(0))
        self.make_room(16, first=True)
        self.make_room_for_detection(16, 16)
        self.log(0, keep_contacts=False)
        self.arena.check()

    def _set_numbers(self, h: float, tolerance: float, options: Options) -> None:
        """Set what stays the same in all steps."""
        model, g, theta, stiffness = self.model, self.model.arrays.gravity, options.theta, options.stiffness
        self.numbers[:7] = 0.0, h, tolerance, np.linalg.norm(g), *g
        pull, lift = (np.linalg.norm(g), 0.0) if theta == 1.0 else pull_and_lift(float(np.linalg.norm(g)), h, theta)
        spring = 0.0 if stiffness is None else 1.0 / (theta * h * h * stiffness)
        self.numbers[[at.DRIFT, at.PULL, at.LIFT, at.SPRING]] = theta * h, pull, lift, spring
        dim = 2 if model.planar else 3
        self.counts[[at.FIXED, at.DIM, at.GYROSCOPIC]] = model.fixed_count, dim, WAYS[options.gyroscopic]
        self.counts[[at.PAUSE, at.LIMIT, at.SOFT, at.SLEEPS]] = self.paused, SWEEP_LIMIT, options.soft, options.sleeps
        self.counts[[at.HAS_ROBUST, at.FOLLOWS]] = 1, self.family is not None
        self.counts[at.VEERS] = options.restitution != "poisson"
        self.counts[at.PASSIVE] = options.restitution == "passive" and np.any(model.materials.restitution > 0.0)
        if self.joints is not None:
            self.counts[[at.JOINED, at.LAW_ROOM]] = 1, self.joints.law_room

    def _make_bodies(self, gyroscopic: str, *, sleep: bool) -> None:
        """Make the arrays whose size is that of the model."""
        model, arrays, put = self.model, self.model.arrays, self.arena.put
        n_b, fixed = model.body_count, model.fixed_count
        thin = thinnest_extents(model.shapes, model.hulls, n_b)
        self.numbers[at.THINNEST] = thin.min(initial=np.inf)
        for k, constant in (
            (at.MASS, arrays.mass),
            (at.INERTIA, arrays.inertia),
            (at.FREE, arrays.free),
            (at.ROOT, _roots(model)),
            (at.BOUND, arrays.bound),
            (at.THIN, thin),
            (at.WEIGHT, arrays.weight),
            (at.FRICTION, model.materials.friction),
            (at.RESTITUTION, model.materials.restitution),
        ):
            put(k, np.array(constant, dtype=np.float64))
        for k, columns in ((at.Q, 7), (at.Q_START, 7), (at.Q_0, 7), (at.FACTOR, 12)):
            put(k, np.zeros((n_b, columns)))
        for k in (at.V, at.V_0, at.V_START, at.V_SPUN, at.V_FREE, at.P_EXT):
            put(k, np.zeros((n_b, 6)))
        put(at.DRIVE, np.zeros((max(fixed, 1), 6)))
        put(at.FLOWN, np.zeros((n_b, FLIGHT_COLUMNS)))
        put(at.VEER, np.zeros((n_b, 3)))
        put(at.WAY, gyroscopic_ways(model, gyroscopic))
        put(at.REACH, np.zeros(n_b))
        put(at.PATH, np.zeros((n_b, 6)))
        put(at.AIM, np.zeros((n_b, 6)))
        put(at.MEETS, np.zeros((n_b, int(at.MEETS_COLUMNS))))
        put(at.PAIR_SHAPE, np.zeros((2, self._tables.shape.shape[1])))
        put(at.PAIR_LABEL, np.zeros((2, self._tables.label.shape[1]), dtype=np.int64))
        put(at.PAIR_Q, np.zeros((2, 7)))
        put(at.PAIR_REACH, np.zeros(2))
        put(at.PAIR_SPIN, np.zeros((2, 3)))
        put(at.PAIR_PARTS, np.zeros(2, dtype=np.int64))
        put(at.PAIR_TURN, np.zeros((2, int(MOST_PARTS), 7)))
        put(at.MET_VALUE, np.zeros((0, 10)))
        put(at.MET_INDEX, np.zeros((0, 4), dtype=np.int64))
        put(at.REST, np.zeros((n_b if sleep else 0, 7)))
        put(at.PLACE, np.zeros((n_b, int(at.PLACE_COLUMNS)), dtype=np.int64))
        put(at.ISLAND, np.zeros((n_b, int(at.ISLAND_COLUMNS)), dtype=np.int64))
        put(at.ASKED, np.zeros(n_b))
        put(at.REBOUND_SHARES, np.zeros((n_b, int(PART_COLUMNS))))
        put(at.CUT, np.zeros((n_b // MANY_BODIES, CUT_COLUMNS), dtype=np.int64))
        put(at.EXTENT, np.zeros((n_b // MANY_BODIES, EXTENT_COLUMNS)))
        for k in range(int(at.TEAM), int(at.SEPARATING) + 1):  # there is one thread
            put(k, np.zeros((0, 4), dtype=np.int64))
        put(at.JOINTS, np.zeros((1, 4), dtype=np.int64) if self.joints is None else self.joints.arena.table)
        put(at.SMALL, np.zeros((2, WINDOW + 1, WINDOW + 1)))
        put(at.ROBUST, np.zeros((ISLAND_ROWS, 4), dtype=np.int64))
        self.make_room_for_robust(FIRST_POOL)
        put(at.CHECK, np.zeros(int(at.CHECK_COUNT)))
        self.arena[at.CHECK][[at.DRIFT_JOINT, at.DRIFT_ROW, at.CONFLICT_JOINT, at.CONFLICT_ROW]] = -1.0
        put(at.BALANCE, np.zeros(int(at.BALANCE_COUNT)))
        for k, table in zip((at.SHAPE, at.LABEL, at.SOLID, at.LINK, at.PAIR), self._tables, strict=True):
            put(k, table)
        put(at.PHASE, np.zeros((0, 4), dtype=np.int64))
        put(at.COMPRESSION, np.zeros((0, 3)))

    def make_room(self, capacity: int, *, first: bool = False) -> None:
        """Make room for at least `capacity` contacts; what is known of the last step is kept."""
        if not first:  # more blocks may be needed for fewer contacts
            capacity = max(capacity, self.arena[at.P].shape[0] - int(self.counts[at.LAW_ROOM]))
        blocks, bodies = 4 * capacity, self.model.body_count
        if self.joints is not None:  # laws come after the contacts, each with a row of y of its own
            capacity += self.joints.law_room
            bodies += self.joints.law_room
            blocks = self.joints.block_room(capacity)
            self.joints.make_room(capacity)
        for table, kind in ((_BY_CONTACT, np.float64), (_NUMBERS_BY_CONTACT, np.int64)):
            for k, columns in table.items():
                if first:
                    self.arena.put(k, np.zeros((capacity, *columns), dtype=kind))
                else:
                    self.arena.grow(k, capacity)
        size = 6 * bodies + 3 * capacity
        self.arena.put(at.START, np.zeros(capacity + 1, dtype=np.int64))
        self.arena.put(at.BLOCK, np.zeros(blocks, dtype=np.int64))
        self.arena.put(at.GATHER, np.zeros((blocks, 3, 3)))
        self.arena.put(at.SOLVING, np.zeros(size))
        self.arena.put(at.LOW, np.zeros((2 * bodies, 3)))
        scratch = self.arena.put(at.SCRATCH, np.zeros((WINDOW + 1) * size + WINDOW * 6 * bodies))
        self.arena.put(at.PART, scratch[-2 * (bodies + capacity) :].view(np.int64))
        if self.collisions is not None:
            self.collisions.make_room(capacity, bodies)
        if self.couples is not None:
            self.couples.make_room(capacity, blocks, bodies)

    def make_room_for_robust(self, numbers: int) -> None:
        """Give the robust solver room for so many numbers."""
        pool, table = self.arena.put(at.ROBUST_POOL, _at_a_line(numbers)), self.arena[at.ROBUST]
        table[: int(Y) + NODE_VECTORS] = 0
        table[POOL, :2] = pool.ctypes.data, numbers

    def make_more_room(self, needed: int) -> None:
        """Make room for what a step could not store, see ``NEEDED``."""
        room = ample(abs(needed))
        pairs, contacts = int(self.arena[at.CELLS][ROOM]), self.arena[at.VALUE].shape[0]
        if needed == 0:
            for k in (at.LOG_VALUE, at.LOG_INDEX):
                self.arena.grow(k, 2 * (self.arena[k].shape[0] + int(self.counts[at.CONTACTS])))
        elif needed > 0:
            self.make_room(room)
            for k in (at.VALUE, at.INDEX, at.MET_VALUE, at.MET_INDEX):
                self.arena.grow(k, room)
        elif -needed > pairs:
            self.make_room_for_detection(room, contacts)
        else:
            self.make_room_for_detection(pairs, room)

    def make_room_for_detection(self, pairs: int, contacts: int) -> None:
        """Make room for so many pairs of shapes and contacts."""
        scratch = scratch_for(self._tables, pairs, contacts)
        names = (at.WORLD, at.CELLS, at.WORK, at.MARK, at.VALUE, at.INDEX)
        for k, array in zip(names, scratch, strict=True):
            self.arena.put(k, array)
        most = int(scratch.cells[MOST_CORNERS]) + 64  # contacts of one pair
        self.arena.put(at.PAIR_VALUE, np.zeros((most, 10)))
        self.arena.put(at.PAIR_INDEX, np.zeros((most, 4), dtype=np.int64))

    def log(self, rows: int, *, keep_contacts: bool) -> None:
        """Make a log with room for so many steps, 0 for none."""
        n_b, put = self.model.body_count, self.arena.put
        contacts = rows * max(16, 2 * int(self.counts[at.CONTACTS])) if keep_contacts else 0
        put(at.LOG_Q, np.zeros((rows, n_b, 7)))
        put(at.LOG_V, np.zeros((rows, n_b, 6)))
        put(at.LOG_CHECK, np.zeros((rows, int(at.CHECK_COUNT))))
        put(at.LOG_BALANCE, np.zeros((rows, int(at.BALANCE_COUNT))))
        put(at.LOG_START, np.zeros(rows + 1, dtype=np.int64))
        put(at.LOG_VALUE, np.zeros((contacts, 16 if self.couples is None else 19)))
        put(at.LOG_INDEX, np.zeros((contacts, 4), dtype=np.int64))
        if self.joints is not None:
            self.joints.log(rows)
        self.counts[[at.LOGGED, at.KEEP]] = 0, keep_contacts

    def read_log(self) -> Log:
        """Return what was logged since the last reading."""
        rows = int(self.counts[at.LOGGED])
        start = self.arena[at.LOG_START][: rows + 1].copy()
        q, v, check, balance = (self.arena[k][:rows].copy() for k in (at.LOG_Q, at.LOG_V, at.LOG_CHECK, at.LOG_BALANCE))
        value, index = (self.arena[k][: start[-1]].copy() for k in (at.LOG_VALUE, at.LOG_INDEX))
        joints = np.zeros((rows, 0, int(REPORT_COLUMNS))) if self.joints is None else self.joints.read_log(rows)
        self.counts[at.LOGGED] = 0
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
