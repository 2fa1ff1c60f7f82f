"""Contacts that happen, for the law by Python: :mod:`~signorini.engine.meet` with few arrays of its own."""

from __future__ import annotations

import threading
import weakref

import numpy as np

from signorini._arena import Arena
from signorini._arrays import Array, BoolArray, IntArray
from signorini._jit import kernel, real_blocks, real_rows, reals, wholes
from signorini.dynamics.constants import MOST_LEGS
from signorini.dynamics.flight import FLIGHT_COLUMNS, fly_bodies
from signorini.dynamics.motion import move_bodies
from signorini.engine import arrays as ea
from signorini.engine.bodies import moves
from signorini.engine.contacts import count_doubts
from signorini.engine.hits import finish_hits
from signorini.engine.meet import FREE_WAYS, POSE_AGAIN, follow, meet_step
from signorini.engine.mend import look_at_end
from signorini.engine.stages import stage_address
from signorini.geometry.tables import MOST_CORNERS, family_of, scratch_for, tables_of
from signorini.model import Contacts, Model
from signorini.model.thickness import thinnest_extents
from signorini.posing.base import Memory
from signorini.posing.constants import MEETING, SWIFT, TOO_CLOSE

FIRST_WAYS = 64  # contacts for which there is room at first
_BODIES = {
    ea.Q: 7,
    ea.Q_0: 7,
    ea.V: 6,
    ea.V_FREE: 6,
    ea.PATH: 6,
    ea.AIM: 6,
    ea.MEETS: int(ea.MEETS_COLUMNS),
    ea.DRIVE: 6,
    ea.FLOWN: FLIGHT_COLUMNS,
    ea.VEER: 3,
}


@kernel
def _meet(t: IntArray) -> bool:
    """Pose contacts that may mislead where their pairs meet, and hits to be finished; False if there is no room."""
    return (count_doubts(t) == 0 or meet_step(t)) and finish_hits(t)


@kernel
def _look_at_end(t: IntArray) -> int:
    """Look whether bodies end too close to each other, all of them where the step acts before and after."""
    q, q_0, counts, drift = (
        real_rows(t, ea.Q),
        real_rows(t, ea.Q_0),
        wholes(t, ea.COUNTS),
        reals(t, ea.NUMBERS)[ea.DRIFT],
    )
    q_0[:] = q
    move_bodies(q, real_rows(t, ea.V), drift, True, real_rows(t, ea.FLOWN), counts[ea.FIXED])
    outcome = look_at_end(t, False)
    q[:] = q_0
    return outcome


@kernel
def _follow(t: IntArray) -> int:
    """Follow all ways, if some body goes far or may meet something later."""
    ways, inertia, drift = wholes(t, ea.WAY), real_blocks(t, ea.INERTIA), reals(t, ea.NUMBERS)[ea.DRIFT]
    fly_bodies(ways, inertia, real_rows(t, ea.Q), real_rows(t, ea.V), drift, real_rows(t, ea.FLOWN))
    counts = wholes(t, ea.COUNTS)
    if counts[ea.LATER] > 0 or moves(t, SWIFT):
        outcome = follow(t)
        if outcome != FREE_WAYS:
            return outcome
    return _look_at_end(t) if counts[ea.STIRRED] == 1 and moves(t, TOO_CLOSE) else FREE_WAYS


class Ways:
    """The ways of the bodies of a scene in a step of `drift` seconds at velocities that do not change."""

    def __init__(self, model: Model) -> None:
        self._tables = tables_of(model.shapes, model.hulls, model.materials, model.fixed_count)
        self._arena = Arena(int(ea.ARRAY_COUNT), kernels=int(ea.ROW_COUNT - ea.ARRAY_COUNT))
        put, thin = self._arena.put, thinnest_extents(model.shapes, model.hulls, model.body_count)
        self._numbers = put(ea.NUMBERS, np.zeros(int(ea.NUMBER_COUNT)))
        self._counts = put(ea.COUNTS, np.zeros(int(ea.COUNT_COUNT), dtype=np.int64))
        self._numbers[ea.LIFT] = 1.0  # overlaps recede, and are not displaced
        self._numbers[ea.THINNEST], self._counts[[ea.FIXED, ea.FOLLOWS]] = (
            thin.min(initial=np.inf),
            (model.fixed_count, 1),
        )
        self._check = put(ea.CHECK, np.zeros(int(ea.CHECK_COUNT)))
        put(ea.THIN, thin)
        put(ea.BOUND, model.arrays.bound.copy())
        put(ea.RESTITUTION, model.materials.restitution.copy())
        put(ea.INERTIA, model.arrays.inertia.copy())
        put(ea.WAY, np.zeros(model.body_count, dtype=np.int64))
        put(ea.REACH, np.zeros(model.body_count))
        put(ea.PLACE, np.zeros((model.body_count, int(ea.PLACE_COLUMNS)), dtype=np.int64))
        for k, columns in _BODIES.items():
            put(k, np.zeros((model.body_count, columns)))
        for k, table in zip((ea.SHAPE, ea.LABEL, ea.SOLID, ea.LINK, ea.PAIR), self._tables, strict=True):
            put(k, table)
        put(ea.PAIR_SHAPE, np.zeros((2, self._tables.shape.shape[1])))
        put(ea.PAIR_LABEL, np.zeros((2, self._tables.label.shape[1]), dtype=np.int64))
        put(ea.PAIR_Q, np.zeros((2, 7)))
        put(ea.PAIR_REACH, np.zeros(2))
        put(ea.PAIR_SPIN, np.zeros((2, 3)))
        put(ea.PAIR_LEGS, np.zeros(2, dtype=np.int64))
        put(ea.PAIR_TURN, np.zeros((2, int(MOST_LEGS), 7)))
        self._reserve(FIRST_WAYS)
        self._arena.connect(int(ea.FIND), stage_address(int(ea.FIND), family_of(self._tables)))

    def _reserve(self, contacts: int) -> None:
        scratch = scratch_for(self._tables, contacts, contacts)
        for k, array in zip((ea.WORLD, ea.CELLS, ea.WORK, ea.MARK, ea.VALUE, ea.INDEX), scratch, strict=True):
            self._arena.put(k, array)
        most = int(scratch.cells[MOST_CORNERS]) + FIRST_WAYS
        for k, rows in ((ea.PAIR_VALUE, most), (ea.MET_VALUE, contacts), (ea.SEEN_VALUE, contacts)):
            self._arena.put(k, np.zeros((rows, 10)))
        for k, rows in ((ea.PAIR_INDEX, most), (ea.MET_INDEX, contacts), (ea.SEEN_INDEX, contacts)):
            self._arena.put(k, np.zeros((rows, 4), dtype=np.int64))
        self._arena.put(ea.P, np.zeros((contacts, 3)))

    def begin(
        self,
        q: Array,
        v: Array,
        v_free: Array,
        ways: IntArray,
        drive: Array,
        drift: float,
        *,
        mends: bool,
        veers: bool = True,
    ) -> None:
        """Begin a step.

        Parameters
        ----------
        q, v, v_free : (n_b, 7), (n_b, 6), (n_b, 6)
            Poses, velocities, and velocities without contact impulses.
        ways : (n_b,)
            How bodies take the gyroscopic term: which of them fly.
        drive : (n_b, 6)
            Velocities of the fixed bodies.
        drift : float
            For how long bodies move at their new velocities [s].
        mends : bool
            Whether bodies that end too close to others count as meetings.
        veers : bool
            Whether the law knows how flights veer.
        """
        self._arena[ea.Q][:], self._arena[ea.DRIVE][:] = q, drive
        self._arena[ea.V][:], self._arena[ea.V_FREE][:] = v, v_free
        self._arena[ea.WAY][:], self._arena[ea.VEER][:] = ways, 0.0
        self._counts[ea.VEERS] = veers
        self._counts[[ea.ROUNDS, ea.LATER, ea.MENDED, ea.STIRRED]] = 0, 0, 0, mends
        self._check[ea.UNFOLLOWED] = 0.0
        self._arena[ea.MEETS][:, ea.NO_REBOUND] = 0.0
        speed = np.linalg.norm(drive[:, :3], axis=1) + self._arena[ea.BOUND] * np.linalg.norm(drive[:, 3:], axis=1)
        self._arena[ea.REACH][:] = drift * speed
        self._numbers[ea.DRIFT] = drift

    def _rows(self, value: int, index: int, contacts: Contacts) -> None:
        """Write contacts into two arrays."""
        rows, numbers = self._arena[value], self._arena[index]
        n_c = contacts.contact_count
        rows[:n_c, :3], rows[:n_c, 3:6] = contacts.point_a, contacts.point_b
        rows[:n_c, 6:9], rows[:n_c, 9] = contacts.normal, contacts.gap
        for k, column in enumerate((contacts.body_a, contacts.body_b, contacts.feature, contacts.material)):
            numbers[:n_c, k] = column

    def _contacts(self) -> Contacts:
        n_c = int(self._counts[ea.CONTACTS])
        return Contacts.of_rows(self._arena[ea.VALUE][:n_c], self._arena[ea.INDEX][:n_c])

    def _note_overlaps(self, *several: Contacts) -> None:
        """Note the overlap that is deepest beside the width of its bodies."""
        thin = self._arena[ea.THIN]
        shares = [-some.gap / np.minimum(thin[some.body_a], thin[some.body_b]) for some in several]
        self._numbers[[ea.DEEPEST, ea.DEEPEST_EXTENT]] = np.concatenate(shares).max(initial=0.0), 1.0

    def foreseen(self, contacts: Contacts, start: Contacts, memory: Memory) -> Contacts:
        """Return the contacts of the step as they are to be posed; `contacts` are all that may close.

        `start` are those at its start, which is elsewhere than where it acts if theta < 1. Hits that the last step left
        unfinished are remembered.
        """
        while True:
            if contacts.contact_count > self._arena[ea.VALUE].shape[0]:
                self._reserve(2 * contacts.contact_count)
            self._rows(ea.VALUE, ea.INDEX, contacts)
            self._counts[ea.CONTACTS] = contacts.contact_count
            self._note_overlaps(contacts, start)
            self._arena.put(ea.HIT_ARMS, memory.hits.copy())
            self._arena.put(ea.HIT_INDEX, memory.hit_index.copy())
            self._counts[ea.HITS] = memory.hits.shape[0]
            if _meet(self._arena.table):
                return self._contacts()
            self._reserve(2 * int(self._counts[ea.NEEDED]))

    def unfinished(self, contacts: Contacts, stopped: Array, u: Array) -> dict[str, Array]:
        """Return the hits left unfinished, as memory, by the normal velocities that the step stopped and left."""
        thin, drift, n_f = self._arena[ea.THIN], float(self._numbers[ea.DRIFT]), int(self._counts[ea.FIXED])
        a, b, q = contacts.body_a, contacts.body_b, self._arena[ea.Q]
        left = drift * np.minimum(stopped, -u) > MEETING * np.minimum(thin[a], thin[b])
        share = np.where(a < n_f, 1.0, 0.5)[:, None] * contacts.gap[:, None] * contacts.normal
        arm_a = contacts.point_a + share - q[a, :3]
        arm_b = contacts.point_b - (contacts.gap[:, None] * contacts.normal - share) - q[b, :3]
        index = np.column_stack([a, b, contacts.feature, contacts.material])
        return {"hits": np.hstack([arm_a, arm_b, contacts.normal])[left], "hit_index": index[left]}

    @property
    def posed_again(self) -> int:
        """How often the step was posed again so far."""
        return int(self._counts[ea.ROUNDS] + self._counts[ea.MENDED])

    def rebounds(self, contacts: Contacts) -> BoolArray:
        """Return which contacts may rebound in this step, (n_c,)."""
        dead = self._arena[ea.MEETS][:, ea.NO_REBOUND] == 1.0
        may: BoolArray = ~(dead[contacts.body_a] | dead[contacts.body_b])
        return may

    @property
    def veer(self) -> Array:
        """By how much the mean spins of flights differ from those that they begin with, (n_b, 3)."""
        veer: Array = self._arena[ea.VEER].copy()
        return veer

    @property
    def ways(self) -> IntArray:
        """How bodies take the gyroscopic term in this step, (n_b,)."""
        ways: IntArray = self._arena[ea.WAY].copy()
        return ways

    @property
    def unfollowed(self) -> int:
        """Number of pairs that go through each other on the ways found last."""
        return int(self._check[ea.UNFOLLOWED])

    def missed(self, v: Array, contacts: Contacts) -> Contacts | None:
        """Return the contacts of the step with those that were missing when `v` was found, None if there are none."""
        self._arena[ea.V][:] = v
        place = self._arena[ea.PLACE]
        place[:, ea.Y_ROW] = -1
        place[contacts.body_a, ea.Y_ROW] = place[contacts.body_b, ea.Y_ROW] = 0
        while True:
            if contacts.contact_count > self._arena[ea.SEEN_VALUE].shape[0]:
                self._reserve(2 * contacts.contact_count)
            self._rows(ea.SEEN_VALUE, ea.SEEN_INDEX, contacts)
            self._counts[ea.SEEN], rounds = contacts.contact_count, self._counts[[ea.ROUNDS, ea.MENDED]].copy()
            outcome = _follow(self._arena.table)
            if outcome == FREE_WAYS:
                return None
            if outcome == POSE_AGAIN:
                return self._contacts()
            self._counts[[ea.ROUNDS, ea.MENDED]] = rounds
            self._reserve(2 * abs(int(self._counts[ea.NEEDED])))


class _Known(threading.local):
    """Ways of this thread by the identity of the scene's arrays, for as long as these live."""

    def __init__(self) -> None:
        self.ways: dict[int, tuple[weakref.ref[IntArray], Ways]] = {}


_known = _Known()


def ways_of(model: Model) -> Ways | None:
    """Return the ways of the bodies of `model`, None if functions describe some of its shapes."""
    if model.implicit:
        return None
    ways, kind = _known.ways, model.shapes.kind
    entry = ways.get(id(kind))
    if entry is None or entry[0]() is not kind:
        key = id(kind)
        entry = ways[key] = (weakref.ref(kind, lambda _: ways.pop(key, None)), Ways(model))
    return entry[1]
