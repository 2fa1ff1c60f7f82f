r"""Geometrically implicit time stepping for bodies with compliant layers around rigid cores (S3).

Poses, points and normals of contacts are those of the end of the step, and found together with the velocities: a mixed
nonlinear complementarity problem (:mod:`~signorini.formulations.layered.step`). A layer gives way by Kelvin's and
Voigt's law until its core is reached, which is rigid (:mod:`~signorini.model.layers`). Without layers it is the fully
implicit rigid scheme with the exact cone (S1, footnote 4).

=================  ==============================  =====================================================
here               S3                              meaning
=================  ==============================  =====================================================
``stiffness``      :math:`K`                       of a layer, order (n, t, o), (3, 3) [N/m]
``damping``        :math:`C`                       (3, 3) [N s/m]
``max_deflection`` :math:`\delta_n^o`              thickness of a layer [m]
``deflection``     :math:`\delta_n, \delta_t, \delta_o`  state of a layer, (3,) [m]
``core``           :math:`p_{nr}`                  impulse of the rigid core [N s]
=================  ==============================  =====================================================

Departures from the print, with reasons in the specification of the paper's example: springs and dampers carry
:math:`p_{ns}` and not all of :math:`p_n`; gaps are signed, so that rows are smooth where contacts live; the gap
complementary to :math:`p_n` is that between deflected surfaces; friction opposes the slip against the deflected surface
(``tangential="active"``), while the print leaves tangential deflections without influence (``"passive"``).

References
----------
.. [S3] Chakraborty, Berard, Akella & Trinkle (2007), *An implicit time-stepping method for quasi-rigid multibody
   systems with intermittent contact*, eqs. (1)-(15).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray, checked_choice, checked_tolerance
from signorini.dynamics import joint_coordinates
from signorini.errors import InputError
from signorini.formulations.layered.contact import ImplicitContact
from signorini.formulations.layered.energy import carried, layer_balance, layer_work, stored_in
from signorini.formulations.layered.joints import implicit_report, refuse_joints
from signorini.formulations.layered.memory import Kept, LayerMemory
from signorini.formulations.layered.pairs import moving_pair
from signorini.formulations.layered.posed import posed_layers
from signorini.formulations.layered.step import ImplicitStep, Options, Outcome
from signorini.formulations.layered.swift import Swift, is_swift
from signorini.geometry import detect
from signorini.math.rotation import tangent_frame
from signorini.model import Contacts, Layer, Model, State, refuse_flexible
from signorini.posing.base import Balance, StepResult
from signorini.posing.constants import BAND, GRAZING, IMPLICIT_ACCEPTED, IMPLICIT_SHARP, MOST_SUBSTEPS
from signorini.posing.posed import Phases, Posed
from signorini.posing.time_stepping import candidates
from signorini.solvers import NaturalNewton, Solution, Status, solve


@dataclass(frozen=True, slots=True, kw_only=True)
class QuasiRigid:
    """Contact implicit in its geometry, compliant layers with a rigid core, ellipsoidal friction."""

    tangential: str = "active"
    """``"active"``: friction opposes the slip against the deflected surface, so that layers are springs along it too;
    ``"passive"``: against the body, as printed: tangential deflections follow from the forces, without influence."""
    deflection: str = "euclidean"
    """How surfaces yield: ``"euclidean"``, along the normal; ``"level_set"``, to the level set of the shape's function
    that lies so deep below the surface, as in the paper. They differ at second order."""
    gyroscopic: str = "implicit"
    """``"implicit"``: the term at the new spin, never raises the energy; ``"explicit"``: as in the paper."""
    solver: Any = None
    """Anything that solves a :class:`~signorini.MixedNCP`; None: :class:`~signorini.NaturalNewton`."""

    def __post_init__(self) -> None:
        checked_choice(self.tangential, "QuasiRigid: tangential", "active", "passive")
        checked_choice(self.deflection, "QuasiRigid: deflection", "euclidean", "level_set")
        checked_choice(self.gyroscopic, "QuasiRigid: gyroscopic", "implicit", "explicit")

    # --- where a run begins --------------------------------------------------

    def init(self, model: Model, state: State) -> tuple[State, LayerMemory]:
        self._refuse(model)
        count = model.joints.count
        coordinate = joint_coordinates(model.joints, state.q, np.zeros(count)) if count else np.zeros(0)
        touching = detect(model, state, np.zeros(model.body_count), facets=False)
        rows: dict[int, tuple[tuple[int, int], Kept]] = {}
        for c in range(touching.contact_count):
            a, b, depth = int(touching.body_a[c]), int(touching.body_b[c]), -float(touching.gap[c])
            layers = _layers(model, a, b)
            thickness = sum(layer.max_deflection for layer in layers if layer is not None)
            smaller = float(np.min(model.arrays.bound[[a, b]][[a >= model.fixed_count, True]]))
            if depth > thickness + BAND * smaller:
                raise InputError(
                    f"{model.names[a]!r} and {model.names[b]!r} overlap by {depth:g} m at the start, must by at most "
                    f"{thickness:g} m, the thickness of their layers"
                )
            if depth > 0.0 and thickness > 0.0:
                deflection = np.zeros((2, 3))
                deflection[:, 0] = _shared(layers, min(depth, thickness))
                t = np.array(tangent_frame(tuple(touching.normal[c]))[0])
                rows[int(touching.feature[c])] = (a, b), Kept(deflection, np.stack([t, t]), np.zeros(4))
        stored = sum(self._stored(model, *row) for row in rows.values())
        return state, LayerMemory.of(rows, coordinate, stored)

    def _refuse(self, model: Model) -> None:
        refuse_flexible(model, "QuasiRigid")
        for word in ("torsional", "rolling", "restitution"):
            values = getattr(model.materials, word)
            if np.any(values > 0.0):
                raise InputError(
                    f"contact: {word} is {values.max():g}, must be 0 for QuasiRigid, which has ellipsoids and layers"
                )
        refuse_joints(model)
        coupled = [name for name, layer in zip(model.names, model.layers, strict=False) if layer and layer.is_skew]
        if coupled and self.tangential == "passive":
            raise InputError(
                f"QuasiRigid: tangential is 'passive', must be 'active' for the layer of {coupled[0]!r}, in which "
                "normal and tangential deflections are coupled"
            )
        if len(coupled) > 1 and self.deflection == "level_set":
            raise InputError(
                f"QuasiRigid: deflection is 'level_set', must be 'euclidean' for the layers of {coupled[0]!r} and "
                f"{coupled[1]!r}, in which normal and tangential deflections are coupled"
            )

    def _stored(self, model: Model, bodies: tuple[int, int], kept: Kept) -> float:
        return sum(
            stored_in(layer, kept.deflection[k], active=self.tangential == "active")
            for k, layer in enumerate(_layers(model, *bodies))
            if layer is not None
        )

    @property
    def _options(self) -> Options:
        return Options(
            active=self.tangential == "active",
            level_set=self.deflection == "level_set",
            implicit_spin=self.gyroscopic == "implicit",
        )

    def swift(self, model: Model, h: float) -> Swift | None:
        """Return what takes steps of a scene many at a time, None if there is no such thing for it."""
        return Swift(model, h, self._options) if self.solver is None and is_swift(model, self._options) else None

    def detect(self, model: Model, state: State, h: float) -> Contacts:
        return candidates(model, state, h, self.gyroscopic, facets=False)

    # --- one step ------------------------------------------------------------

    def step(
        self, model: Model, state: State, contacts: Contacts, memory: LayerMemory, h: float, *, tolerance: float
    ) -> StepResult:
        checked_tolerance(tolerance, "QuasiRigid: tolerance")
        return self._tried(model, state, contacts, memory, h, MOST_SUBSTEPS)

    def _tried(
        self, model: Model, state: State, contacts: Contacts, memory: LayerMemory, h: float, halvings: int
    ) -> StepResult:
        """Do a step from every start, then in halves."""
        whole = self._whole(model, state, contacts, memory, h)
        if whole.solution.success or halvings == 0:
            return whole
        first = self._tried(model, state, contacts, memory, 0.5 * h, halvings - 1)
        if not first.solution.success:
            return whole
        ahead = self.detect(model, first.state, 0.5 * h)
        second = self._tried(model, first.state, ahead, first.memory, 0.5 * h, halvings - 1)
        return joined(first, second) if second.solution.success else whole

    def _whole(self, model: Model, state: State, contacts: Contacts, memory: LayerMemory, h: float) -> StepResult:
        kept = memory.rows()
        posed = [self._posed(model, state, contacts, c, kept) for c in range(contacts.contact_count)]
        step = ImplicitStep(model, state, posed, memory.coordinate, h, self._options)
        step, solution = self._solved(step, [kept.get(int(name)) for name in contacts.feature], memory.coordinate)
        outcome = step.at(solution.z)
        if outcome is None:  # surfaces that face each other nowhere: nothing can be said of contacts
            alone = self._whole(model, state, Contacts.none(), memory, h)
            return replace(alone, solution=replace(solution, z=alone.solution.z))
        degenerate = bool(solution.info.get("degenerate")) or any(one.facing.degenerate for one in outcome.answers)
        solution = replace(solution, info={**solution.info, "degenerate": degenerate})
        return self._result(step, outcome, solution, contacts, memory)

    def _posed(
        self,
        model: Model,
        state: State,
        contacts: Contacts,
        c: int,
        kept: dict[int, tuple[tuple[int, int], Kept]],
    ) -> ImplicitContact:
        """Return a candidate as the step poses it."""
        a, b, n = int(contacts.body_a[c]), int(contacts.body_b[c]), contacts.normal[c]
        pair = moving_pair(model, state, contacts, c, level_set=self.deflection == "level_set")
        near = pair.start(state.q[a], state.q[b], n, contacts.point_a[c], contacts.point_b[c])
        layers, before, t = _layers(model, a, b), np.zeros((2, 3)), np.array(tangent_frame(tuple(n))[0])
        tangents = np.stack([t, t])
        known = kept.get(int(contacts.feature[c]))
        if known is not None and layers != (None, None):
            before, tangents = known[1].deflection, known[1].tangent
        gap = float(contacts.gap[c]) + float(before[:, 0].sum())
        if self.deflection == "level_set" and before[:, 0].any():
            facing = pair.facing(state.q[a], state.q[b], (float(before[0, 0]), float(before[1, 0])), near)
            gap = gap if facing is None else facing.gap
        material, e = int(contacts.material[c]), model.materials.ellipsoid
        axes = e[material] if np.any(e[material] > 0.0) else np.array([1.0, 1.0, 0.0])
        mu = float(model.materials.friction[material])
        return ImplicitContact(
            a, b, pair, near, gap, mu, axes, layers, (before[0], before[1]), (tangents[0], tangents[1])
        )

    def _solved(
        self, plain: ImplicitStep, kept: list[tuple[tuple[int, int], Kept] | None], coordinate: Array
    ) -> tuple[ImplicitStep, Solution]:
        """Solve from one start after another, with points of flat surfaces as unknowns, then with all eliminated.

        Return the problem that was solved, and how.
        """
        best: tuple[ImplicitStep, Solution] | None = None
        iterations, seconds = 0, 0.0
        for (v, p, r), way in product(_starts(plain, kept), ("bent", "eliminated")):
            step, bent = plain, plain.flat & (p[:, 0] > 0.0)
            if way == "bent":
                if not bent.any():
                    continue
                step = ImplicitStep(
                    plain.model, plain.state, plain.contacts, coordinate, plain.h, plain.options, bent=bent
                )
            start = step.pack(v, p, r)
            found = step.solve(start, IMPLICIT_SHARP) if self.solver is None else None
            if found is None:
                solver = self.solver or NaturalNewton()
                found = solve(step.problem(start), solver, tolerance=IMPLICIT_SHARP, start=start)
            iterations, seconds = iterations + found.iterations, seconds + found.seconds
            if np.isfinite(found.residual) and (best is None or found.residual < best[1].residual):
                best = step, found
            if found.success:
                break
        if best is None:  # surfaces face each other nowhere: stay
            n_c = len(plain.contacts)
            z = plain.pack(plain.state.v, np.zeros((n_c, 4)), np.zeros(plain.model.joints.joint_row_count))
            best = plain, Solution(z, Status.STALLED, float("inf"), iterations)
        step, solution = best
        status = Status.SOLVED if solution.residual <= IMPLICIT_ACCEPTED else solution.status
        return step, replace(solution, status=status, iterations=iterations, seconds=seconds)

    def _result(
        self, step: ImplicitStep, at: Outcome, solution: Solution, contacts: Contacts, memory: LayerMemory
    ) -> StepResult:
        model, h = step.model, step.h
        q, v = np.array([body.q for body in at.placements]), at.v.copy()
        state = replace(step.state, t=step.state.t + h, q=q, v=v)
        rows: dict[int, tuple[tuple[int, int], Kept]] = {}
        for c, (contact, one) in enumerate(zip(step.contacts, at.answers, strict=True)):
            row = Kept(np.stack(one.deflection), np.stack(one.own), at.p[c])
            rows[int(contacts.feature[c])] = (contact.a, contact.b), row
        free = np.zeros(3)
        for name, (bodies, row) in memory.rows().items():
            if name not in rows:
                after, work = self._relaxed(model, bodies, row, [at.placements[b].turn for b in bodies], h)
                rows[name] = bodies, after
                free += work
        joints = model.joints
        coordinate = joint_coordinates(joints, q, memory.coordinate) if joints.count else memory.coordinate
        stored = sum(self._stored(model, *row) for row in rows.values() if not row[1].relaxed)
        there, impulse, velocity, couple = _read(contacts, at)
        posed, remembered = posed_layers(step, at), LayerMemory.of(rows, coordinate, stored)
        return StepResult(
            state=state,
            memory=remembered,
            contacts=there,
            impulse=impulse,
            velocity=velocity,
            pose=lambda: posed,
            mode=posed.contact_law(impulse, velocity, IMPLICIT_SHARP).mode,
            solution=solution,
            balance=layer_balance(step, at, (float(free[0]), float(free[1]), float(free[2]))),
            joints=implicit_report(model, at.rows, at.r, q, v, coordinate) if joints.count else None,
            couple=couple if np.any(model.materials.ellipsoid > 0.0) else None,
            gaps=partial(_gaps, model, state, remembered, self.deflection == "level_set") if model.layers else None,
            layers=_layer_rows(remembered, contacts, step, at) if model.layers else None,
            layered=_layered(step, at) if model.layers else None,
        )

    def _relaxed(
        self, model: Model, bodies: tuple[int, int], kept: Kept, turns: list[Array], h: float
    ) -> tuple[Kept, Array]:
        """Let layers relax that nothing can touch; their frames turn with their bodies."""
        deflection, tangent, work = kept.deflection.copy(), kept.tangent.copy(), np.zeros(3)
        for k, layer in enumerate(_layers(model, *bodies)):
            tangent[k] = turns[k] @ tangent[k]
            if layer is not None:
                deflection[k] = layer.respond(np.zeros(3), kept.deflection[k], h).deflection
                active = self.tangential == "active"
                work += layer_work(layer, kept.deflection[k], deflection[k], np.zeros(3), h, active=active)
        return Kept(deflection, tangent, np.zeros(4)), work


def _layers(model: Model, a: int, b: int) -> tuple[Layer | None, Layer | None]:
    return (model.layers[a], model.layers[b]) if model.layers else (None, None)


def _shared(layers: tuple[Layer | None, Layer | None], depth: float) -> list[float]:
    """Return by how much both layers are compressed that are `depth` together, in balance [m]."""
    most = [0.0 if layer is None else layer.max_deflection for layer in layers]
    if layers[0] is None or layers[1] is None:
        return [min(depth, limit) for limit in most]
    low, high = 0.0, 1.0

    def compressions(force: float) -> list[float]:
        return [min(limit, layer.compression(force)) for layer, limit in zip(layers, most, strict=True) if layer]

    while sum(compressions(high)) < depth:
        high *= 2.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if sum(compressions(middle)) < depth else (low, middle)
    first = min(compressions(high)[0], depth)
    return [first, depth - first]


def _starts(
    step: ImplicitStep, kept: list[tuple[tuple[int, int], Kept] | None]
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield velocities and impulses: as the last step went on, free, weights on contacts, stopped at cores, grazing."""
    model, state, n_c = step.model, step.state, len(step.contacts)
    none, r = np.zeros((n_c, 4)), np.zeros(model.joints.joint_row_count)
    v_free = state.v.copy()
    for b in range(model.fixed_count, model.body_count):
        v_free[b] += np.linalg.solve(step.M[b], (step.p_ext + step.spin)[b]) * model.arrays.free[b]
    pressed = [c for c in range(n_c) if (row := kept[c]) is not None and row[1].pressed]
    if pressed:
        v, p = v_free.copy(), none.copy()
        for c in pressed:
            row = kept[c]
            assert row is not None
            p[c] = row[1].impulse
            for b in (step.contacts[c].a, step.contacts[c].b):
                v[b] = state.v[b]
        yield v, p, r
    yield v_free, none, r
    weight, stop = none.copy(), none.copy()
    for c, contact in enumerate(step.contacts):
        moving = [b for b in (contact.a, contact.b) if b >= model.fixed_count]
        weight[c, 0] = min(float(np.linalg.norm(step.p_ext[b, :3])) for b in moving)
        coming = float(contact.near.normal @ (v_free[contact.b, :3] - v_free[contact.a, :3]))
        stop[c, 0] = max(0.0, -coming) * min(float(model.arrays.mass[b]) for b in moving)
    yield state.v, weight, r
    yield 0.0 * state.v, stop, r
    yield v_free, GRAZING * weight, r


def _read(contacts: Contacts, at: Outcome) -> tuple[Contacts, Array, Array, Array]:
    """Return the contacts where the step ends, impulses, velocities and couples in the frames of their interfaces."""
    n_c = contacts.contact_count
    impulse, velocity, couple = np.zeros((n_c, 3)), np.zeros((n_c, 3)), np.zeros((n_c, 3))
    points, normals, gaps = np.zeros((2, n_c, 3)), np.zeros((n_c, 3)), np.zeros(n_c)
    for c, one in enumerate(at.answers):
        n, (t, o) = one.facing.normal, one.frame[:2]
        points[0, c], points[1, c], normals[c], gaps[c] = one.facing.point_a, one.facing.point_b, n, one.gap
        axes = np.array(tangent_frame(tuple(n)))
        impulse[c] = [at.p[c, 0], *(axes @ (at.p[c, 1] * t + at.p[c, 2] * o))]
        velocity[c] = [one.velocity[0], *(axes @ (one.slip[0] * t + one.slip[1] * o))]
        couple[c, 0] = at.p[c, 3]
    there = contacts._replace(point_a=points[0], point_b=points[1], normal=normals, gap=gaps)
    return there, impulse, velocity, couple


def _gaps(model: Model, state: State, memory: LayerMemory, level_set: bool, contacts: Contacts) -> Array:
    """Return the smaller of the gaps between deflected surfaces and between cores, (n_c,) [m].

    Cores lie as deep as layers are thick: no layer that keeps its law is deflected further.
    """
    kept, gaps = memory.rows(), contacts.gap.copy()
    for c, name in enumerate(contacts.feature):
        a, b = int(contacts.body_a[c]), int(contacts.body_b[c])
        row = kept.get(int(name))
        if row is None:
            continue
        most = [0.0 if layer is None else layer.max_deflection for layer in _layers(model, a, b)]
        depth = float(min(row[1].deflection[0, 0], most[0])), float(min(row[1].deflection[1, 0], most[1]))
        facing = None
        if level_set and depth != (0.0, 0.0):
            pair = moving_pair(model, state, contacts, c, level_set=True)
            q_a, q_b = state.q[a], state.q[b]
            near = pair.start(q_a, q_b, contacts.normal[c], contacts.point_a[c], contacts.point_b[c])
            facing = pair.facing(q_a, q_b, depth, near)
        gaps[c] = gaps[c] + sum(depth) if facing is None else facing.gap
    return gaps


def _layer_rows(memory: LayerMemory, contacts: Contacts, step: ImplicitStep, at: Outcome) -> dict[str, Any]:
    """Return what layers did in a step, and those that relax, as a LayerLog has them."""
    rows = memory.layer_rows()
    place = {int(name): k for k, name in enumerate(memory.feature)}
    for c, name in enumerate(contacts.feature):
        k = place.get(int(name))
        if k is not None:
            one = at.answers[c]
            for side in (0, 1):
                if step.contacts[c].layers[side] is not None:
                    core = one.core[side]
                    rows["core"][k, side] = core
                    rows["spring"][k, side] = carried(one.turned, at.p[c], core, side, step.contacts[c].carrier)
            rows["couple"][k] = at.p[c, 3]
    return rows


def _layered(step: ImplicitStep, at: Outcome) -> dict[str, Array]:
    """Return deflections of contacts in the frames of their interfaces, and impulses of cores."""
    n_c = len(step.contacts)
    deflection, core = np.zeros((n_c, 3)), np.zeros(n_c)
    for c, one in enumerate(at.answers):
        (t, o), (cosine, sine) = one.frame[:2], one.turned
        first, second = one.deflection
        if step.contacts[c].carrier == 0:  # the second layer's frame may be turned against the first's
            second = np.array([second[0], cosine * second[1] - sine * second[2], sine * second[1] + cosine * second[2]])
        whole, axes = first + second, np.array(tangent_frame(tuple(one.facing.normal)))
        deflection[c] = [whole[0], *(axes @ (whole[1] * t + whole[2] * o))]
        core[c] = max(one.core)
    return {"deflection": deflection, "core_impulse": core}


def joined(first: StepResult, second: StepResult) -> StepResult:
    """Return two halves of a step as one: impulses add up, contacts are those of the end, every law must hold."""
    impulse, layered, layers = second.impulse.copy(), dict(second.layered or {}), dict(second.layers or {})
    for c, k in _same(first.contacts.feature, second.contacts.feature):
        impulse[k] += first.impulse[c]
    if first.layered is not None and first.layers is not None:
        layered["core_impulse"] = layered["core_impulse"].copy()
        for c, k in _same(first.contacts.feature, second.contacts.feature):
            layered["core_impulse"][k] += first.layered["core_impulse"][c]
        for word in ("spring", "core", "couple"):
            layers[word] = layers[word].copy()
            for c, k in _same(first.memory.feature, second.memory.feature):
                layers[word][k] += first.layers[word][c]
    phases: list[Posed] = [first.posed, second.posed]
    return replace(
        second,
        impulse=impulse,
        layered=layered or None,
        layers=layers or None,
        posed_again=first.posed_again + second.posed_again + 1,
        pose=lambda: Phases(tuple(phases)),
        balance=Balance(*(x + y for x, y in zip(first.balance, second.balance, strict=True))),
        solution=replace(second.solution, iterations=first.solution.iterations + second.solution.iterations),
    )


def _same(first: IntArray, second: IntArray) -> list[tuple[int, int]]:
    """Return the places of what has the same name in both."""
    row = {int(name): k for k, name in enumerate(second)}
    return [(c, row[int(name)]) for c, name in enumerate(first) if int(name) in row]
