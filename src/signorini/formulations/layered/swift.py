"""Geometrically implicit steps taken many at a time, see :mod:`.run`: its arrays, filled and read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import IntArray
from signorini._jit import address_of, announce_compilation, is_compiled
from signorini.dynamics import gyroscopic_ways
from signorini.formulations.layered.kernels import ACTIVE, FIXED, IMPLICIT_SPIN, PLANAR, Posed
from signorini.formulations.layered.memory import LayerMemory
from signorini.formulations.layered.newton import Newton, newton_memory
from signorini.formulations.layered.pairs import moving_pair
from signorini.formulations.layered.run import (
    AHEAD,
    DONE,
    GRAVITY,
    KEPT,
    NEW_PAIR,
    STORED,
    TIME,
    TOO_SMALL,
    WAS_AHEAD,
    WAS_KEPT,
    WHY,
    Keep,
    Scene,
    Track,
    run_steps,
)
from signorini.formulations.layered.step import Options, empty_contacts, fixed_tables, law_table, new_posed
from signorini.geometry.detect_kernels import KERNELS
from signorini.geometry.moving_kernels import PAIR_COLUMNS
from signorini.geometry.rows import FEATURE_BITS
from signorini.geometry.tables import family_of, scratch_for, tables_of
from signorini.model import Contacts, Model, State
from signorini.model.shapes import ShapeKind
from signorini.posing.constants import FIRST_SWIFT, MOST_DENSE


class Stand(NamedTuple):
    """Where a run stands, before a step: state, what is remembered, and the contacts ahead."""

    state: State
    memory: LayerMemory
    ahead: Contacts | None
    """None if they are still to be found."""


def is_swift(model: Model, options: Options) -> bool:
    """Tell whether steps of a scene may be taken in compiled code."""
    return (
        not options.level_set
        and not model.joints.any
        and not model.forces
        and all(motion is None for motion in model.motions)
        and not np.any(model.shapes.kind == ShapeKind.IMPLICIT)
        and int(np.count_nonzero(model.arrays.free[model.fixed_count :])) <= MOST_DENSE
    )


class Swift:
    """Takes steps of a scene."""

    def __init__(self, model: Model, h: float, options: Options) -> None:
        self._model, self._h, self._options = model, h, options
        self._tables = tables_of(model.shapes, model.hulls, model.materials, model.fixed_count, facets=False)
        self._bodies = fixed_tables(model)._replace(law=law_table(model, h))
        self._bodies.M[: model.fixed_count] = 0.0
        ways = gyroscopic_ways(model, "implicit" if options.implicit_spin else "explicit")
        arrays, materials = model.arrays, model.materials
        self._scene = Scene(
            arrays.inertia.copy(),
            arrays.weight.copy(),
            arrays.bound.copy(),
            ways,
            materials.friction.copy(),
            materials.ellipsoid.copy(),
            *self._tables,
        )
        self._key: IntArray = np.zeros(0, dtype=np.int64)
        self._pairs = np.zeros((0, PAIR_COLUMNS))
        self._reserve(FIRST_SWIFT)

    def _reserve(self, contacts: int) -> None:
        model, n_b = self._model, self._model.body_count
        scratch = scratch_for(self._tables, contacts, contacts)
        world, cells, work, mark, value, index = scratch
        reach, options = np.zeros(n_b), self._options
        kernel = KERNELS[family_of(self._tables)]
        if not is_compiled(run_steps):
            announce_compilation()
        find = address_of(kernel, *self._tables, self._bodies.q, reach, *scratch)
        self._posed: Posed = new_posed(self._bodies, empty_contacts(contacts), self._h)
        self._posed.counts[[FIXED, PLANAR, ACTIVE, IMPLICIT_SPIN]] = (
            model.fixed_count,
            model.planar,
            options.active,
            options.implicit_spin,
        )
        self._newton: Newton = newton_memory(MOST_DENSE, contacts)
        self._track = Track(
            self._scene,
            _keep(2 * contacts),
            _keep(2 * contacts),
            world,
            cells,
            work,
            mark,
            value,
            index,
            np.zeros((contacts, 10)),
            np.zeros((contacts, 4), dtype=np.int64),
            self._key,
            self._pairs,
            reach,
            np.zeros((n_b, 6)),
            np.zeros((n_b, 7)),
            np.zeros((n_b, 6)),
            np.zeros(contacts, dtype=np.int64),
            np.zeros(6, dtype=np.int64),
            np.zeros(4),
            model.shapes.kind.size,
            find,
        )
        self._track.number[GRAVITY] = float(np.linalg.norm(model.arrays.gravity))

    def run(self, state: State, memory: LayerMemory, ahead: Contacts, steps: int) -> tuple[int, Stand, Stand]:
        """Take so many steps, or fewer; return how many, where the last of them began, and where the run stands."""
        done, now = 0, Stand(state, memory, ahead)
        before = now
        while done < steps:
            self._load(now)
            taken = run_steps(self._posed, self._newton, self._track, steps - done)
            done += taken
            if taken:
                before, now = self._before(now), self._now(now)
            why = int(self._track.tally[WHY])
            if why == NEW_PAIR:
                self._meet(now)
            elif why == TOO_SMALL:
                self._reserve(2 * self._track.known.size)
                if taken:  # contacts ahead were not found
                    return done, before, now._replace(ahead=None)
            elif why != DONE:
                break
        return done, before, now

    def _load(self, at: Stand) -> None:
        ahead = at.ahead
        assert ahead is not None
        m, n = at.memory.feature.size, ahead.contact_count
        capacity = self._track.known.size
        if max(n, m) > capacity:
            self._reserve(2 * max(n, m))
        R, B = self._track, self._bodies
        B.q[:], B.v[:], B.walls[:] = at.state.q, at.state.v, at.state.q
        R.value[:n] = np.column_stack([ahead.point_a, ahead.point_b, ahead.normal, ahead.gap])
        R.tag[:n] = np.column_stack([ahead.body_a, ahead.body_b, ahead.feature, ahead.material])
        names = ("feature", "body", "deflection", "tangent", "impulse")
        for array, name in zip(R.keep, names, strict=True):
            array[:m] = getattr(at.memory, name)
        R.tally[[AHEAD, KEPT]] = n, m
        R.number[TIME], R.number[STORED] = at.state.t, at.memory.stored

    def _meet(self, at: Stand) -> None:
        """Learn the surfaces of the pairs of shapes ahead; those of features change and are not for kernels."""
        assert at.ahead is not None
        keys = at.ahead.feature >> (2 * FEATURE_BITS)
        for c, key in enumerate(keys):
            if key in self._key:
                continue
            columns: Any = (column[c : c + 1] for column in at.ahead)
            alone = Contacts(*columns)
            row = moving_pair(self._model, at.state, alone, 0, level_set=False).row
            place = int(np.searchsorted(self._key, key))
            self._key = np.insert(self._key, place, key)
            self._pairs = np.insert(self._pairs, place, np.zeros(PAIR_COLUMNS) if row is None else row, axis=0)
        self._track = self._track._replace(key=self._key, pairs=self._pairs)

    def _now(self, was: Stand) -> Stand:
        R, B = self._track, self._bodies
        state = State(t=float(R.number[TIME]), q=B.q.copy(), v=B.v.copy())
        n = int(R.tally[AHEAD])
        memory = _memory(R.keep, int(R.tally[KEPT]), was.memory, float(R.number[STORED]))
        return Stand(state, memory, Contacts.of_rows(R.value[:n], R.tag[:n]))

    def _before(self, was: Stand) -> Stand:
        R, n = self._track, int(self._track.tally[WAS_AHEAD])
        state = State(t=float(R.number[TIME]) - self._h, q=R.q_before.copy(), v=R.v_before.copy())
        memory = _memory(R.was, int(R.tally[WAS_KEPT]), was.memory, 0.0)
        return Stand(state, memory, Contacts.of_rows(R.was_value[:n], R.was_tag[:n]))


def _keep(n: int) -> Keep:
    name, body = np.zeros(n, dtype=np.int64), np.zeros((n, 2), dtype=np.int64)
    return Keep(name, body, np.zeros((n, 2, 3)), np.zeros((n, 2, 3)), np.zeros((n, 4)))


def _memory(keep: Keep, m: int, like: LayerMemory, stored: float) -> LayerMemory:
    return LayerMemory(
        feature=keep.name[:m].copy(),
        body=keep.body[:m].copy(),
        deflection=keep.deflection[:m].copy(),
        tangent=keep.tangent[:m].copy(),
        impulse=keep.impulse[:m].copy(),
        coordinate=like.coordinate,
        stored=stored,
    )
