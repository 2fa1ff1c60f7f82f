"""The certificate: what can be checked of a step without believing the solver."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini._grades import given_for_good
from signorini.dynamics import motion_energies, stored_energy
from signorini.dynamics.joint_faults import row_joint
from signorini.engine.uncertain_motion import uncertain_motion
from signorini.formulations import CHECKS, ContactLaw, StepResult
from signorini.model import Contacts, Model, State
from signorini.model.thickness import thinnest_extents
from signorini.posing.contact_checks import SLIP, STICK
from signorini.simulation.verdict import grade, judge
from signorini.solvers import Status
from signorini.solvers.solution import SUCCESS

if TYPE_CHECKING:
    from signorini.analysis import Validity  # loaded only by those who ask for the test

NOT_TESTED = -1
_JOINT_COLUMNS = ("drift_joint", "conflict_joint", "drift_row", "conflict_row", "joint_fault")


@dataclass(frozen=True, slots=True)
class StepCertificate:
    """One row of the :class:`Certificate`."""

    residual: float
    min_gap: float
    cone_violation: float
    dissipation_angle: float
    joint_drift: float
    joint_conflict: float
    redundant_rows: int
    energy_error: float
    correction_work: float
    compliance: float
    deflection: float
    extent: float
    yielded: int
    indeterminate: int
    asleep: int
    status: Status
    iterations: int
    solve_time: float
    overlap: float
    overlap_extent: float
    overlap_a: int
    overlap_b: int
    energy_scale: float
    energy_gain: float
    unfollowed: int
    posed_again: int
    unique: int = NOT_TESTED
    stable: int = NOT_TESTED
    critical_damping: float = float("nan")
    drift_joint: int = -1
    conflict_joint: int = -1
    drift_row: int = -1
    conflict_row: int = -1
    joint_fault: int = 0
    joint_apart: float = 0.0
    joint_work: float = 0.0
    energy_moving: float = float("nan")
    moved_onto: int = 0
    lost_momentum: float = 0.0
    turned_energy: float = 0.0
    unsure: float = 0.0
    unsure_body: int = -1
    hit_turn: float = 0.0
    hit_body: int = -1
    layered: int = 0

    @property
    def verdict(self) -> str:
        """Whether the step can be trusted, see :attr:`Certificate.verdict`."""
        return Certificate.of([self]).verdict

    @staticmethod
    def from_row(row: Iterable[float]) -> StepCertificate:
        """Return the certificate that :meth:`row` turned into numbers."""
        values: dict[str, Any] = {
            key: int(x) if key in _WHOLE else float(x) for key, x in zip(COLUMNS, row, strict=True)
        }
        return StepCertificate(**values | {"status": Status(values["status"])})

    def row(self) -> Array:
        """Return the fields as numbers, (len(COLUMNS),)."""
        return np.array([getattr(self, key) for key in COLUMNS], dtype=float)


COLUMNS = tuple(field.name for field in fields(StepCertificate))
_UNTESTED = {"unique": NOT_TESTED, "stable": NOT_TESTED, "critical_damping": float("nan")}
_CHECKED_AT = np.array([COLUMNS.index(key) for key in CHECKS])

_WHOLE = (
    *("redundant_rows", "yielded", "indeterminate", "asleep", "status", "iterations", "unique", "stable"),
    *("overlap_a", "overlap_b", "unfollowed", "posed_again", "moved_onto", "unsure_body", "hit_body", "layered"),
    *_JOINT_COLUMNS,
)
_LATER = {
    **{"overlap": np.nan, "overlap_extent": np.nan, "overlap_a": -1, "overlap_b": -1},
    **{"energy_scale": np.nan, "energy_gain": np.nan, "unfollowed": 0, "posed_again": 0},
    **{"drift_joint": -1, "conflict_joint": -1, "drift_row": -1, "conflict_row": -1, "joint_fault": 0},
    **{"joint_apart": 0.0, "joint_work": 0.0, "energy_moving": np.nan, "moved_onto": 0, "lost_momentum": 0.0},
    "turned_energy": 0.0,
    **{"unsure": 0.0, "unsure_body": -1, "hit_turn": 0.0, "hit_body": -1, "layered": 0},
}
"""Columns that older files do not have, and what they hold then."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Checks of every step, arrays over the steps."""

    residual: Array
    """The posed problem's own residual at the impulses applied, scale free."""
    min_gap: Array
    """Smallest signed distance at the end of the step, inf if nothing is near [m]."""
    cone_violation: Array
    """``max(|p_T| - mu p_n, 0) / max p_n``"""
    dissipation_angle: Array
    """Largest angle between slip and minus friction over the slipping contacts [rad]."""
    joint_drift: Array
    """Largest joint residual [m, rad]."""
    joint_conflict: Array
    """How far joints that contradict each other are from holding [m/s, rad/s]."""
    redundant_rows: IntArray
    """Number of joint equations that follow from the others."""
    energy_error: Array
    """How far the energy balance of the step is from closing, relative to the energies at play."""
    correction_work: Array
    """Energy given to overlapping bodies to part them [J]."""
    compliance: Array
    """Largest normal compliance of the law posed [m/(N s^2)]; 0 is rigid."""
    deflection: Array
    """Overlap that this compliance allowed in the step, where it is largest relative to the bodies [m]."""
    extent: Array
    """Least width of the two bodies there, 0 where nothing gave way [m]."""
    yielded: IntArray
    """Whether a contact that was made compliant gave way by more than it may: a thousandth of that width at rest, a
    fiftieth in motion."""
    indeterminate: IntArray
    """Components of contact impulses that the motion does not determine, at least; at rest the smallest are taken."""
    asleep: IntArray
    """Number of bodies that sleep; residual, cone and angle are those of the others."""
    status: IntArray
    """:class:`~signorini.Status` of the solver."""
    iterations: IntArray
    solve_time: Array
    """[s]"""
    unfollowed: IntArray
    """Number of pairs of bodies that go through each other on the ways of the step: it was posed again as often as it
    may be, and they still did. 0 in files of versions that did not say."""
    posed_again: IntArray
    """How often the step was posed again; its contacts are those of where bodies meet or end then."""
    unique: IntArray
    """Whether the rigid contact forces are unique: :class:`~signorini.analysis.Answer`, -1 if not tested."""
    stable: IntArray
    """Whether they are stable: :class:`~signorini.analysis.Answer`, -1 if not tested."""
    critical_damping: Array
    """Smallest contact damping ``c^2/k`` at which they are stable, nan if not tested [kg]."""
    overlap: Array
    """Overlap at the start or the end of the step, where it is largest relative to the bodies [m]; of contacts with a
    stiffness only what goes beyond the deflection of their springs."""
    overlap_extent: Array
    """Least width of the two bodies there, inf where none overlap [m]."""
    overlap_a: IntArray
    """Number of the first of them, -1 where none overlap."""
    overlap_b: IntArray
    energy_scale: Array
    """Energies at play, to which `energy_error` is relative [J]."""
    energy_gain: Array
    """Energy that contacts gave though they should only take, alone or in a collision with joints, relative to that of
    the motion; 0 under a compliance."""
    drift_joint: IntArray
    """Joint that is farthest apart beside the bodies that it joins, -1 for none; constraints are counted on."""
    conflict_joint: IntArray
    """Joint that contradicts others the most, -1 for none."""
    drift_row: IntArray
    """Row of the first, see :func:`~signorini.dynamics.joint_faults.row_words`."""
    conflict_row: IntArray
    """Row of the second."""
    joint_fault: IntArray
    """0: joints hold; 1: they are torn apart; 2: they contradict each other; 3: they drive a body
    against what nothing can move, see :mod:`~signorini.dynamics.joint_faults`."""
    joint_apart: Array
    """Drift beside the size of the joint, where that is largest."""
    joint_work: Array
    """Energy that joints and scheme give to moving bodies, which have the velocities of the middle of a step [J]."""
    energy_moving: Array
    """Energy of the motion: kinetic, or what the impulses of contacts would give to bodies at rest [J]."""
    moved_onto: IntArray
    """Whether bodies were moved onto their joints at the end of the step, since they turned so far in it that the
    linear rows left these apart."""
    lost_momentum: Array
    """Angular momentum that two moving bodies lose by their contacts, of what they have about their mass centre: where
    bodies meet swiftly it is not kept, see :ref:`meetings`. 0 in files of versions that did not say."""
    turned_energy: Array
    """Energy that bodies gained or lost since they turned evenly, and not as they fly, of that of the motion: what goes
    through others on its flights, see :ref:`meetings`. 0 in files of versions that did not say."""
    unsure: Array
    """Velocity that errors of contacts leave open to a body that no friction holds, of its own, where that is most; see
    :mod:`~signorini.engine.uncertain_motion`. 0 in files of versions that did not say."""
    unsure_body: IntArray
    """Which body that is, -1 for none."""
    hit_turn: Array
    """Largest turn of a body that goes into closing contacts [rad]; a step has one push for all of it. 0 in files of
    versions that did not say."""
    hit_body: IntArray
    """Which body that is, -1 for none."""
    layered: IntArray
    """Whether compliance and deflection are those of the layers that bodies of the scene have, 0 or 1."""

    @property
    def verdict(self) -> str:
        """``"trusted"``, ``"trusted with remarks"`` or ``"not trusted"``; the report says why."""
        return grade(judge(self))

    @staticmethod
    def from_dict(columns: dict[str, Any]) -> Certificate:
        """Return the certificate of a file, also of one written before all of today's columns were kept."""
        n = len(columns["residual"])
        return Certificate(**{**{key: np.full(n, value) for key, value in _LATER.items()}, **columns})

    @staticmethod
    def from_rows(rows: Array) -> Certificate:
        """Return the certificate of steps whose numbers are `rows`, in the order of ``COLUMNS``, (n, any)."""
        return Certificate(
            **{key: rows[:, k].astype(np.int64 if key in _WHOLE else float) for k, key in enumerate(COLUMNS)}
        )

    @staticmethod
    def of(steps: list[StepCertificate]) -> Certificate:
        """Stack the rows of single steps."""
        return Certificate.from_rows(np.array([step.row() for step in steps]).reshape(-1, len(COLUMNS)))

    def to_dict(self) -> dict[str, Any]:
        """Return the columns by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def rows(self) -> list[StepCertificate]:
        """Return the rows of single steps, the inverse of :meth:`of`."""
        columns = self.to_dict()
        return [StepCertificate.from_row(row) for row in zip(*(columns[key] for key in COLUMNS), strict=True)]

    def failed(self) -> BoolArray:
        """Return which steps were not solved to their tolerance."""
        failed: BoolArray = ~np.isin(self.status, SUCCESS)
        return failed


def certify(model: Model, before: State, result: StepResult, after: Contacts, tolerance: float) -> StepCertificate:
    """Check one step from what it posed, the impulses applied and the states before and after.

    `after` are the contacts detected at the new state.
    """
    solution, posed = result.solution, result.posed
    if result.gaps is not None:
        after = after._replace(gap=result.gaps(after))
    residual, status, pushed = posed.residual(), solution.status, posed.pushed()
    if solution.success and not (residual <= tolerance and posed.credible(tolerance)):
        status = Status.STALLED  # whatever the solver says of itself
    if result.joints is not None and result.joints.fault:
        status = Status.NO_SOLUTION  # joints that cannot all hold
    law = posed.contact_law(result.impulse, result.velocity, tolerance)
    gave = law.compliance * result.impulse[:, 0] * (result.state.t - before.t)
    if result.layered is not None:
        gave = np.where(law.compliance > 0.0, result.layered["deflection"][:, 0], 0.0)
    deflection, extent = _deflection(model, result, gave)
    energy_error, energy_scale = _energy_error(model, before, result, pushed)
    moving = _moving(model, before, result, pushed)
    if not np.isfinite(energy_error) or not np.isfinite(residual):
        status, energy_error = Status.STALLED, np.inf  # whatever the solver says: the state is not finite
    return StepCertificate(
        residual=residual,
        min_gap=float(after.gap.min(initial=np.inf)),
        cone_violation=law.cone_violation,
        dissipation_angle=law.dissipation_angle,
        joint_conflict=0.0 if result.joints is None else result.joints.unmet,
        joint_drift=0.0 if result.joints is None else result.joints.drift,
        redundant_rows=0 if result.joints is None else result.joints.redundant,
        energy_error=energy_error,
        correction_work=result.balance.correction_work,
        compliance=float(law.compliance.max(initial=0.0)),
        deflection=deflection,
        extent=extent,
        yielded=0,
        indeterminate=_indeterminate(model, result),
        asleep=0,
        status=status,
        iterations=solution.iterations,
        solve_time=solution.seconds,
        **_overlap(model, result, after, 0.0 if result.layered is not None else deflection),
        energy_scale=energy_scale,
        energy_gain=0.0 if law.compliance.any() else _gain(model, result, pushed, moving),
        energy_moving=moving,
        unfollowed=result.unfollowed,
        posed_again=result.posed_again,
        lost_momentum=result.lost_momentum,
        turned_energy=result.turned_energy / moving if moving > 0.0 else 0.0,
        **_unsure(model, before, result, law),
        **_faults(model, before, result),
        layered=int(bool(model.layers)),
    )


def checked_rows(model: Model, checks: Array, seconds: float) -> Array:
    """Return what was checked of steps, (n, len(CHECKS)), as :meth:`Certificate.from_rows` takes it."""
    rows = np.empty((checks.shape[0], len(COLUMNS)))
    rows[:, _CHECKED_AT] = checks
    rows[:, COLUMNS.index("solve_time")] = seconds
    rows[:, COLUMNS.index("layered")] = bool(model.layers)
    for key, value in _UNTESTED.items():
        rows[:, COLUMNS.index(key)] = value
    return rows


def from_checks(model: Model, checks: Array, seconds: float) -> StepCertificate:
    """Return the certificate of one step that was checked, (len(CHECKS),)."""
    return StepCertificate.from_row(checked_rows(model, checks[None], seconds)[0])


def tested(validity: Validity) -> dict[str, Any]:
    """Return what a test of the rigid model found, as columns of the certificate."""
    return {
        "unique": int(validity.unique),
        "stable": int(validity.stable),
        "critical_damping": validity.critical_damping,
    }


def _faults(model: Model, before: State, result: StepResult) -> dict[str, Any]:
    """Return which joints are the farthest from holding."""
    joints = result.joints
    if joints is None:
        return {}
    return {
        "drift_joint": row_joint(model, joints.drift_row),
        "conflict_joint": row_joint(model, joints.conflict_row),
        "drift_row": joints.drift_row,
        "conflict_row": joints.conflict_row,
        "joint_fault": joints.fault,
        "joint_apart": joints.apart,
        "moved_onto": int(joints.moved_onto),
        # Equations of the user may be made to work.
        "joint_work": 0.0 if model.joints.equalities else _pulled(model, result),
    }


def _pulled(model: Model, result: StepResult) -> float:
    """Return what joints gave for good [J]."""
    terms = (_made(result), result.balance.impact, _swing(result), _rebound(model, result))
    return float(given_for_good(*(np.array(x) for x in terms)))


def _swing(result: StepResult) -> float:
    """Return what energies in the middle of steps have less than at their ends [J]."""
    return 0.0 if result.joints is None else result.joints.swing


def _made(result: StepResult) -> float:
    """Return what joints and scheme gave [J], with energies in the middle of steps.

    There they have ``(theta - 1/2) h F . v`` more, F being weight and springs.
    """
    return result.balance.joint_work - result.balance.integration + _swing(result)


def _indeterminate(model: Model, result: StepResult) -> int:
    """Return how many rows of impulses are active beyond the freedoms of the bodies that contacts touch."""
    dim, freedoms = (2, 3) if model.planar else (3, 6)
    rows = dim * int(np.sum(result.mode == STICK)) + int(np.sum(result.mode == SLIP))
    touched = np.union1d(result.contacts.body_a, result.contacts.body_b)
    return max(0, rows - freedoms * int(np.sum(touched >= model.fixed_count)))


def _extent(model: Model, state: State) -> float:
    """Return how large the scene is [m]."""
    return float(np.ptp(state.q[model.fixed_count :, :3], axis=0).max() + model.arrays.bound.max())


def _deflection(model: Model, result: StepResult, deflection: Array) -> tuple[float, float]:
    """Return the deflection that is largest beside the least width of both bodies, and that width [m]."""
    if not deflection.any():
        return 0.0, 0.0
    thin, contacts = thinnest_extents(model.shapes, model.hulls, model.body_count), result.contacts
    width = np.minimum(thin[contacts.body_a], thin[contacts.body_b])
    k = int(np.argmax(deflection / width))
    return float(deflection[k]), float(width[k])


def _overlap(model: Model, result: StepResult, after: Contacts, deflection: float) -> dict[str, Any]:
    """Return the overlap at the start or the end of the step that is largest beside the least width of both bodies."""
    thin = thinnest_extents(model.shapes, model.hulls, model.body_count)
    a, b = (
        np.concatenate([getattr(contacts, side) for contacts in (result.contacts, after)])
        for side in ("body_a", "body_b")
    )
    # A compliance here is that of springs, which give way as the user wants.
    depth = -deflection - np.concatenate([result.contacts.gap, after.gap])
    width = np.minimum(thin[a], thin[b])
    if not np.any(depth > 0.0):
        return {"overlap": 0.0, "overlap_extent": np.inf, "overlap_a": -1, "overlap_b": -1}
    k = int(np.argmax(depth / width))
    return {"overlap": depth[k], "overlap_extent": width[k], "overlap_a": int(a[k]), "overlap_b": int(b[k])}


def _unsure(model: Model, before: State, result: StepResult, law: ContactLaw) -> dict[str, Any]:
    """Return which body errors of contacts may push aside the most, and how far; and which turns the most in a hit."""
    contacts = result.contacts
    part, body, turn, turning = uncertain_motion(
        np.column_stack([contacts.point_a, contacts.point_b, contacts.normal, contacts.gap]),
        np.column_stack([contacts.body_a, contacts.body_b]),
        np.ascontiguousarray(result.impulse),
        law.normal_velocity,
        law.friction,
        model.fixed_count,
        before.q,
        before.v,
        model.arrays.mass,
        thinnest_extents(model.shapes, model.hulls, model.body_count),
        float(np.linalg.norm(model.arrays.gravity)),
        result.state.t - before.t,
        np.zeros(model.body_count),
        np.zeros(model.body_count),
    )
    return {"unsure": float(part), "unsure_body": int(body), "hit_turn": float(turn), "hit_body": int(turning)}


def _energies(model: Model, state: State) -> tuple[float, float]:
    """Return kinetic and potential energy [J]."""
    kinetic, potential = motion_energies(model, state.q, state.v, state.modal_rate, state.modal)
    return float(kinetic), float(potential)


def _moving(model: Model, before: State, result: StepResult, pushed: float) -> float:
    """Return the energy of the motion [J]; `pushed` is what the impulses give to bodies at rest."""
    return max(*(_energies(model, state)[0] for state in (before, result.state)), abs(pushed))


def _gain(model: Model, result: StepResult, pushed: float, moving: float) -> float:
    """Return the energy that contacts gave to the bodies, alone or in a collision with joints, of the motion's.

    To bodies which had felt all loads they gave ``p . (u + b) / 2`` with ``u = W p + b``, and ``p . W p / 2`` is
    `pushed`; what lifts bodies from overlaps is left out.
    """
    given = float(np.sum(result.impulse * result.velocity)) - pushed - result.balance.correction_work
    if result.joints is not None and not model.joints.equalities:
        # Joints that have drifted give to contacts, or take, what these seem to take or give.
        given = min(_made(result) - result.balance.friction - result.balance.impact, _rebound(model, result))
    return given / moving if given > 0.0 else 0.0


def _rebound(model: Model, result: StepResult) -> float:
    """Return the work of contacts that rebound [J]."""
    bounces = model.materials.restitution[result.contacts.material] > 0.0
    return float(np.sum(np.maximum(0.0, result.impulse[:, 0] * result.velocity[:, 0])[bounces]))


def _energy_error(model: Model, before: State, result: StepResult, pushed: float) -> tuple[float, float]:
    """Return how far kinetic and potential energy are from what the balance of the step says, and those at play."""
    arrays, after, balance = model.arrays, result.state, result.balance
    (T_0, V_0), (T_1, V_1) = (_energies(model, state) for state in (before, after))
    gained = balance.load_work + balance.drive_work + balance.correction_work + balance.joint_work
    lost = balance.friction + balance.impact + balance.damping + balance.integration + balance.elastic
    # The weight of the scene times its extent keeps the scale from vanishing in scenes at rest.
    weight = float(arrays.mass.sum() * np.linalg.norm(arrays.gravity) * _extent(model, after))
    stored = stored_energy(model, result.memory)
    at_play = max(T_0, T_1, weight, abs(pushed), stored, stored - balance.elastic)
    scale = max(at_play, abs(V_0), abs(V_1), *(abs(term) for term in balance))  # rounding depends on the height
    gap = abs((T_1 - T_0) + (V_1 - V_0) - (gained - lost))
    return (gap / scale if scale > 0.0 or not np.isfinite(gap) else 0.0), at_play
