"""The audit of a file: every check in turn, and the name of everything that could not be checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini._grades import (
    BALANCE_WRONG,
    CONFLICT_WRONG,
    CORRECTION_REMARK,
    DRIFT_REMARK,
    DRIFT_WRONG,
    GAIN_REMARK,
    GROWING_REMARK,
    HIT_TURN_REMARK,
    MOMENTUM_REMARK,
    OVERLAP_REMARK,
    OVERLAP_WRONG,
    PULL_REMARK,
    TAKEN_REMARK,
    TAKEN_WRONG,
    TURNED_WRONG,
    UNSURE_REMARK,
    UNSURE_WRONG,
    Grade,
    growing,
)
from signorini.audit import newton, sound
from signorini.audit.energy import Energies, Pushes
from signorini.audit.findings import FACTOR, ROUNDING, Audit, Finding, Worst, judged
from signorini.audit.joint_laws import JointLaws
from signorini.audit.joints import joint_drifts
from signorini.audit.joints import misstated as joint_coordinates_misstated
from signorini.audit.law import Law
from signorini.audit.layers import LayerRows
from signorini.audit.record import Record, read_record, record_of
from signorini.audit.steps import Steps, blocks, materials_of
from signorini.dynamics.bodies import IMPLICIT, gyroscopic_ways
from signorini.model import Model
from signorini.model.thickness import thinnest_extents
from signorini.scene import Scene

_CONFESSED: tuple[tuple[str, str, float, float | None], ...] = (
    ("steps not solved, as told", "status", 0.0, None),
    ("pairs gone through, as told", "unfollowed", 0.0, None),
    ("joints at fault, as told", "joint_fault", 0.0, None),
    ("joints left open, as told", "joint_conflict", CONFLICT_WRONG, None),
    ("gave way too far, as told", "yielded", 0.0, None),
    ("angular momentum lost, as told", "lost_momentum", MOMENTUM_REMARK, np.inf),
    ("energy of even turns, as told", "turned_energy", GAIN_REMARK, TURNED_WRONG),
    ("turns of hits, as told", "hit_turn", HIT_TURN_REMARK, np.inf),
    ("motion left open, as told", "unsure", UNSURE_REMARK, UNSURE_WRONG),
    ("forces not unique, as told", "unique", 0.0, np.inf),
    ("forces not stable, as told", "stable", 0.0, np.inf),
)
"""What a run says against itself: what, column of its certificate, up to which it is trusted, and with remarks."""
_FAILED: dict[str, Callable[[Array], BoolArray]] = {
    "status": lambda column: ~np.isin(column, (0, 3)),  # solved, several solutions
    "unique": lambda column: column == 0,
    "stable": lambda column: column == 0,
}
"""Columns that are words: which of these are bad."""


def audit_file(path: str | os.PathLike[str], *, scene: Scene | None = None) -> Audit:
    """Repeat the certificate of a run from its file.

    `scene` need be given only if it contains Python functions, which no file can hold.

    Raises
    ------
    FileError
        If the file cannot be read, or is not the record of a run.
    """
    return audit_record(read_record(path, scene))


def audit_tree(tree: dict[str, Any], source: str = "record", *, scene: Scene | None = None) -> Audit:
    """Do what :func:`audit_file` does with the content of a file, laid out as :mod:`signorini.audit` says."""
    return audit_record(record_of(tree, source, scene))


def audit_record(record: Record) -> Audit:
    """Audit a run that has been read."""
    findings, unchecked = _soundness(record), list[str]()
    if record.model is None:
        unchecked.append(
            "momentum, contact law, overlaps, joints and energies: the scene is not in the file, since it holds Python "
            "functions; give it again to audit_file(..., scene=...)"
        )
    elif all(one.grade is Grade.TRUSTED for one in findings):
        findings += _Checks(record, record.model, unchecked).findings()
    else:
        unchecked.append("momentum, contact law, overlaps, joints and energies: the numbers above make no motion")
    return Audit(record.source, record.step_count, len(record.names), tuple(findings), tuple(unchecked))


def _soundness(record: Record) -> list[Finding]:
    """Check that the file holds numbers, times that go on, and turns."""
    broken, names = sound.not_finite(record)
    none, states = str, record.time
    return [
        judged("numbers not finite", broken, states, lambda k: names[k], bound=0.0),
        judged("length of steps", sound.uneven_times(record), states[1:], none, bound=ROUNDING),
        judged("length of quaternions", sound.long_quaternions(record), states, _names(record), bound=ROUNDING),
    ]


def _names(record: Record) -> Callable[[int], str]:
    return lambda b: repr(record.names[b])


class _Checks:
    """All checks that need the scene."""

    def __init__(self, record: Record, model: Model, unchecked: list[str]) -> None:
        self.record, self.model, self.unchecked = record, model, unchecked
        self.closing = np.zeros(0 if record.contacts is None else record.contacts.gap.size)
        """By how much the bodies of contacts may come closer in their step, (rows,) [m]."""
        self.pushes = Pushes(record.step_count, model.joints.count)
        self.energies = Energies(record, model)
        self.thin = thinnest_extents(model.shapes, model.hulls, model.body_count)

    def findings(self) -> list[Finding]:
        """Return everything, in the order in which people ask."""
        if self.record.modal_rate.size:
            self.unchecked.append("modal coordinates, except in energies: how they move is not recorded")
        return [*self._steps(), *self._layers(), *self._overlaps(), *self._joints(), *self._energies()]

    # --- step by step --------------------------------------------------------

    def _steps(self) -> list[Finding]:
        record, model = self.record, self.model
        watched = self._watched()
        known = self._plain_contacts()
        repeated = self._repeated(known)
        parts: dict[str, list[Worst]] = {}
        for steps in blocks(record, model):
            for what, worst in self._block(steps, watched, repeated, known).items():
                parts.setdefault(what, []).append(worst)
        found = {what: Worst.join(worst) for what, worst in parts.items()}
        time, law = record.time[1:], FACTOR * record.tolerance
        body, pair, joint = _names(record), self._row_pair, self._joint
        findings = []
        for what, names, bound, limit in (
            ("momentum", body, ROUNDING, None),
            ("balance of bodies asleep", body, OVERLAP_REMARK, OVERLAP_WRONG),
            ("places follow velocities", body, ROUNDING, None),
            ("overlaps parted by", pair, OVERLAP_REMARK, OVERLAP_WRONG),
            ("places of fixed bodies", body, ROUNDING, None),
            ("velocities of contacts", pair, ROUNDING, None),
            ("friction cone", pair, law, None),
            ("contact law", pair, law, None),
            ("laws of joints", joint, law, None),
        ):
            if what in found:
                findings.append(judged(what, found[what], time, names, bound=bound, limit=limit))
        return [*findings, *self._taken_from_the_record()]

    def _block(
        self, steps: Steps, watched: tuple[BoolArray, BoolArray], repeated: BoolArray | None, known: BoolArray
    ) -> dict[str, Worst]:
        """Return the worst of every check in some steps."""
        record, scheme = self.record, self.record.scheme
        out = {"places of fixed bodies": newton.misplaced(steps)}
        if record.contacts is None:
            return out
        contacts, asleep = steps.contacts, self._asleep(steps)
        self.closing[steps.rows] = newton.ways_to_close(steps)
        pushed, turns = (flag[steps.body] for flag in watched)
        coupled = ~known[contacts.material]
        turns[contacts.body_a[coupled]] = turns[contacts.body_b[coupled]] = False
        projected = self._joined()[steps.body] & self._moved_onto()[steps.first : steps.last][steps.step]
        turns &= ~projected
        slack = newton.slack_of_heaps(steps) * scheme.displaces_overlaps
        displaced = slack > 0.0
        out["momentum"] = newton.missed_momentum(steps, pushed & ~asleep, turns=turns, displaced=displaced)
        if asleep.any():
            found = newton.missed_momentum(steps, pushed & asleep, turns=turns, displaced=asleep)
            out["balance of bodies asleep"] = found
        if not scheme.told:
            return out
        moved = newton.displacements(steps)
        moved[projected] = 0.0
        out["places follow velocities"] = newton.strayed(steps, moved, slack, projected)
        if scheme.displaces_overlaps:
            out["overlaps parted by"] = newton.overlaps_displaced(steps, moved, self.thin)
        laws = self._joint_laws(steps)
        law = Law(steps, moved, None if laws is None else laws.size)
        self.pushes.note(steps, law, laws)
        out["friction cone"] = law.excess(~coupled)
        if record.contacts.velocity is not None:
            out["velocities of contacts"] = law.misstated(record.contacts.velocity[steps.rows])
        if repeated is not None:
            out |= self._laws(steps, law, laws, asleep, repeated[steps.first : steps.last], ~coupled)
        return out

    def _laws(
        self,
        steps: Steps,
        law: Law,
        laws: JointLaws | None,
        asleep: BoolArray,
        repeated: BoolArray,
        known: BoolArray,
    ) -> dict[str, Worst]:
        """Return how far contacts and joints are from their laws in the steps that can be `repeated` (S,).

        Cones are judged of the contacts that are `known` (n_c,).
        """
        onto = self._moved_onto()[steps.first : steps.last]
        quiet = asleep.reshape(steps.count, -1)[:, self.model.joints.arrays.body_b]
        excused = quiet | onto[:, None] | ~repeated[:, None]

        def measured() -> dict[str, Worst]:
            out = {"friction cone": law.excess(known), "contact law": law.residuals(repeated, self.record.tolerance)}
            return out if laws is None else out | {"laws of joints": laws.errors(excused, law.scale())}

        out = measured()
        doubtful = np.any([found.value > FACTOR * self.record.tolerance for found in out.values()], axis=0)
        if self.record.joints is None or not doubtful.any():
            return out
        law.weigh(doubtful)
        if laws is not None:
            laws.weigh(doubtful)
            law.beside = laws.size
        return measured()

    def _joint_laws(self, steps: Steps) -> JointLaws | None:
        """Return the laws along coordinates of joints, None if there are none or if they are not recorded."""
        known = self.record.joints is not None and not self.record.scheme.projection
        return JointLaws(steps) if known and self.model.joints.coordinates.joint.size else None

    def _moved_onto(self) -> BoolArray:
        """Tell in which steps bodies were moved onto their joints, (n,)."""
        told = self.record.column("certificate", "moved_onto")
        often = np.full(self.record.step_count, self.record.scheme.projection)
        return often if told is None else often | (told > 0)

    def _joined(self) -> BoolArray:
        """Tell which bodies have a joint, (n_b,)."""
        found: BoolArray = self.model.joints.tree.of_body >= 0
        return found

    def _watched(self) -> tuple[BoolArray, BoolArray]:
        """Return the bodies whose momentum, and whose angular momentum, can be checked, (n_b,); name the others."""
        model, scheme, n_b = self.model, self.record.scheme, self.model.body_count
        pushed, turns = np.ones(n_b, dtype=bool), np.ones(n_b, dtype=bool)
        if self.record.contacts is None:
            self.unchecked.append("momentum, places and contact law: contacts are not recorded")
            return np.zeros(n_b, dtype=bool), turns
        if not scheme.told:
            turns[:] = False
            self.unchecked.append(f"angular momentum, places and contact law: {self._unknown()}")
        bound = [b for one in (*model.joints.equalities, *model.joints.inequalities) for b in one.bodies]
        if bound:
            pushed[bound] = False
            self.unchecked.append(f"momentum of {self._listed(bound)}: impulses of constraints are not recorded")
        joined = self._joined()
        if joined.any() and self.record.joints is None:
            pushed[joined] = False
            self.unchecked.append("momentum of joined bodies: impulses of joints are not recorded")
        if joined.any() and scheme.projection:
            pushed[joined] = False
            self.unchecked.append("momentum and places of joined bodies: they are projected onto their joints")
        elif joined.any() and (often := int(np.count_nonzero(self._moved_onto()))):
            what = f"turning and places of joined bodies in {often} steps"
            self.unchecked.append(f"{what}: they were moved onto their joints")
        ways = gyroscopic_ways(model, scheme.gyroscopic, joined_fly=scheme.exact_rotation)
        spins = joined & (ways == IMPLICIT) & ~_alike(model)
        if scheme.theta < 1.0 and spins.any():
            turns &= ~spins
            self.unchecked.append("angular momentum of joined bodies: for theta < 1 their gyroscopic term is implicit")
        return pushed, turns

    def _unknown(self) -> str:
        """Return why steps are not repeated."""
        settings = self.record.tree.get("settings") or {}
        named = settings.get("scheme") or settings.get("formulation")
        name = next(iter(named), None) if isinstance(named, dict) else None
        return "the formulation is not recorded" if name is None else f"steps of {name!r} are not repeated"

    def _listed(self, bodies: list[int]) -> str:
        return ", ".join(repr(self.record.names[b]) for b in sorted(set(bodies)))

    def _asleep(self, steps: Steps) -> BoolArray:
        """Tell which bodies may be asleep: at rest to the last bit, in a step in which some body sleeps, (N,)."""
        count = self.record.column("certificate", "asleep")
        if not self.record.scheme.sleeping or count is None:
            return np.zeros(steps.body.size, dtype=bool)
        still = np.all(steps.v_end == 0.0, axis=1) & np.all(steps.q_end == steps.q_start, axis=1)
        found: BoolArray = still & (count[steps.first : steps.last] > 0)[steps.step]
        return found

    # --- the contact law -----------------------------------------------------

    def _plain_contacts(self) -> BoolArray:
        """Tell which materials have a friction that the record tells, (n_m,); pairs that never touch count as told."""
        materials = self.model.materials
        beyond = (materials.torsional > 0.0) | (materials.rolling > 0.0) | np.any(materials.ellipsoid > 0.0, axis=1)
        if self.record.contacts is not None and self.record.contacts.couple is not None:
            return np.ones(beyond.size, dtype=bool)
        if beyond.any() and self.record.contacts is not None:
            self.unchecked.append(
                "cone and moments of contacts with torsional, rolling or ellipsoidal friction: their couples are not "
                "recorded"
            )
        plain: BoolArray = ~beyond
        return plain

    def _repeated(self, known: BoolArray) -> BoolArray | None:
        """Return the steps whose contact law can be repeated, (n,); None if no step's can."""
        record, scheme, n = self.record, self.record.scheme, self.record.step_count
        if record.contacts is None or not scheme.told:
            return None
        steps = np.ones(n, dtype=bool)
        softened = record.column("certificate", "compliance")
        if softened is not None and scheme.stiffness is None:
            self._leave_out(steps, softened > 0.0, "contacts were made compliant")
        rows = np.repeat(np.arange(n), np.diff(record.contacts.start))
        material = materials_of(self.model, record.contacts.body_a, record.contacts.body_b)
        self._leave_out(steps, np.bincount(rows, ~known[material], minlength=n) > 0, "couples are not recorded")
        if scheme.restitution_law not in ("newton", "passive"):  # of which the second never rebounds more
            rebounds = (self.model.materials.restitution[material] > 0.0) & (record.contacts.impulse[:, 0] > 0.0)
            collides = np.bincount(rows, rebounds, minlength=n) > 0
            self._leave_out(steps, collides, f"contacts collide by the law of restitution {scheme.restitution_law!r}")
        return steps

    def _leave_out(self, steps: BoolArray, which: BoolArray, why: str) -> None:
        """Take steps out, and say so."""
        if which.any():
            self.unchecked.append(f"contact law in {int(which.sum())} steps, except by the residual as told: {why}")
        steps &= ~which

    def _taken_from_the_record(self) -> list[Finding]:
        """Return what the run says of itself, which no file lets one repeat."""
        record, time = self.record, self.record.time[1:]
        residual = record.column("certificate", "residual")
        findings = []
        if residual is not None:
            own = Worst(np.where(np.isnan(residual), np.inf, residual), np.full(residual.size, -1))
            findings.append(judged("residual as told", own, time, str, bound=record.tolerance))
        for what, word, bound, limit in _CONFESSED:
            column = record.column("certificate", word)
            if column is not None:
                value = _FAILED[word](column) if word in _FAILED else np.where(np.isnan(column), np.inf, column)
                if value.any():
                    own = Worst(value.astype(np.float64), np.full(value.size, -1))
                    findings.append(judged(what, own, time, str, bound=bound, limit=limit))
        gave, beside = record.column("certificate", "deflection"), record.column("certificate", "extent")
        soft = record.scheme.stiffness is not None or self.model.layers
        if gave is not None and beside is not None and gave.any() and not soft:
            share = np.divide(gave, beside, out=np.zeros_like(gave), where=beside > 0.0)
            own = Worst(share, np.full(share.size, -1))
            findings.append(judged("contacts gave way by", own, time, str, bound=OVERLAP_REMARK, limit=OVERLAP_WRONG))
        return findings

    def _row_pair(self, row: int) -> str:
        contacts = self.record.contacts
        assert contacts is not None
        return self._pair(int(contacts.body_a[row]), int(contacts.body_b[row]))

    def _joint(self, g: int) -> str:
        return repr(self.model.joints.names[g])

    def _pair(self, a: int, b: int) -> str:
        return f"{self.record.names[a]!r} / {self.record.names[b]!r}"

    # --- layers --------------------------------------------------------------

    def _layers(self) -> list[Finding]:
        """Check the laws of compliant layers, where the record tells what they did."""
        if not self.model.layers:
            return []
        columns, record = self.record.tree.get("layers"), self.record
        if not isinstance(columns, dict):
            self.unchecked.append("law of compliant layers: what they did is not recorded")
            return []
        rows = LayerRows(record, self.model, columns)
        before = rows.before()
        which = rows.state > 0
        again = record.column("certificate", "posed_again")
        divided = np.zeros_like(which) if again is None else (again > 0)[np.maximum(rows.state - 1, 0)] & which
        for out, why in (
            (before == -2, "bodies touch at several places"),
            (divided, "steps were done in parts"),
        ):
            if np.any(out & which):
                self.unchecked.append(f"law of {int(np.count_nonzero(out & which))} compliant layers: {why}")
                which = which & ~out
        options: Any = next(iter((record.tree.get("settings") or {}).get("scheme", {}).values()), {})
        energy = rows.stored(active=options.get("tangential", "active") == "active")
        law = rows.unlawful(which, before)
        findings = [
            judged("law of layers", law, record.time, lambda k: self._pair(*rows.pair(k)), bound=ROUNDING),
        ]
        if record.contacts is not None:
            impulses = rows.misstated(record.contacts)
            findings.append(judged("impulses of layers", impulses, record.time, str, bound=ROUNDING))
        told = record.column("balance", "elastic")
        if told is not None and told.size == record.step_count and not self.model.joints.stiffness.any():
            off, scale = np.abs(np.diff(energy) - told), self.energies.scale(energy)
            share = Worst(off / np.maximum(scale[1:], scale[:-1]), np.full(off.size, -1))
            findings.append(judged("energy of layers", share, record.time[1:], str, bound=ROUNDING))
        return findings

    # --- states --------------------------------------------------------------

    def _overlaps(self) -> list[Finding]:
        if self.model.layers:
            self.unchecked.append(
                "overlaps and gaps, except as told: bodies have compliant layers, which give way as the user wants"
            )
            return []
        n_b, time = self.model.body_count, self.record.time

        def pair(k: int) -> str:
            return self._pair(k // n_b, k % n_b)

        deep, wrong = sound.overlaps(self.record, self.model, self.closing)
        findings = [judged("overlap", deep, time, pair, bound=OVERLAP_REMARK, limit=OVERLAP_WRONG)]
        if self.record.contacts is not None:
            findings.append(judged("gaps of contacts", wrong, time[1:], pair, bound=OVERLAP_REMARK))
        return findings

    def _joints(self) -> list[Finding]:
        joints = self.model.joints
        if joints.equalities or joints.inequalities:
            self.unchecked.append("constraints that functions describe: they have no size to be judged by")
        if not joints.count:
            return []
        time, name = self.record.time, self._joint
        told, drift = joint_coordinates_misstated(self.record, self.model), joint_drifts(self.record, self.model)
        findings = [
            judged("joint drift", drift, time, name, bound=DRIFT_REMARK, limit=DRIFT_WRONG),
            judged("coordinates of joints", told, time, name, bound=ROUNDING),
        ]
        if growing(drift.value[1:], self.energies.moving(self.pushes)) is not None:
            findings.append(judged("joint drift that grows", drift, time, name, bound=GROWING_REMARK, limit=np.inf))
        return findings

    def _energies(self) -> list[Finding]:
        energies, time, joints = self.energies, self.record.time, self.model.joints
        findings = []
        joined = bool(self._joined().any())
        judges_joints = joints.count > 0 and not joints.equalities  # equations of the user may be made to work
        for what, found, bound, limit in (
            ("energies as told", energies.misstated(), ROUNDING, None),
            ("energy balance", energies.unbalanced(), BALANCE_WRONG, None),
            ("energy gained unexplained", energies.unexplained(self.pushes, joined), OVERLAP_REMARK, OVERLAP_WRONG),
            ("energy from parting overlaps", energies.corrected(), CORRECTION_REMARK, np.inf),
            ("energy gained in a step", energies.gained(self.pushes, joined), GAIN_REMARK, np.inf),
            ("energy from joints", energies.pulled(self.pushes) if judges_joints else None, PULL_REMARK, np.inf),
            (
                "energy lost in joints",
                energies.taken(self.pushes) if judges_joints else None,
                TAKEN_REMARK,
                TAKEN_WRONG,
            ),
        ):
            if found is not None:
                times = time if found.value.size == time.size else time[1:]
                findings.append(judged(what, found, times, str, bound=bound, limit=limit))
        if not {"energies as told", "energy balance", "energy gained unexplained"} <= {one.what for one in findings}:
            self.unchecked.append("energies: the file does not tell where they went")
        return findings


def _alike(model: Model) -> BoolArray:
    """Tell which bodies have three equal moments of inertia, (n_b,)."""
    inertia = model.arrays.inertia
    alike: BoolArray = np.all(inertia == inertia[:, :1, :1] * np.eye(3), axis=(1, 2))
    return alike
