"""The instantaneous model of a scene (S1, section 2): accelerations and forces at a state, without any time step.

Bodies that touch, or are joined, form groups; each group is a problem of its own (:mod:`.instantaneous`). The model may
have no solution, or several: that is a property of rigid bodies with friction, not of the method, and is said as such.
"""

from __future__ import annotations

from itertools import islice, product

import numpy as np

from signorini._arrays import Array, BoolArray, checked_number, checked_tolerance, padded
from signorini.analysis.acceleration import free_acceleration, velocity_rate
from signorini.analysis.answer import Answer
from signorini.analysis.forces import Accelerations, ForceMode, Forces
from signorini.analysis.instantaneous_groups import Group, group_problem
from signorini.analysis.instantaneous_solutions import Found, find_solutions
from signorini.analysis.mechanism import Mechanism
from signorini.analysis.sliding import group_inertia, groups
from signorini.analysis.touching import (
    ContactMode,
    Touching,
    body_sizes,
    closed_reach,
    joints_of,
    touching,
    with_prescribed,
)
from signorini.dynamics import prescribed_pose, relative_velocity
from signorini.errors import InputError
from signorini.model import Model, State, refuse_flexible, refuse_layers
from signorini.scene import Scene, compile_scene
from signorini.solvers import Status

_LISTED = 64  # solutions of all groups together that are written out
_MOST_ROWS = 600  # velocities of one group beyond which dense algebra would take too long
_CONSISTENT = 1e-8
_SPACING = 1e-4  # seconds, for the accelerations of prescribed bodies


def accelerations(
    scene: Scene | Model,
    state: State | None = None,
    *,
    cone: str = "exact",
    directions: int = 8,
    rotation: float = 0.0,
    touch: float | None = None,
    still: float | None = None,
    tolerance: float = 1e-10,
) -> Accelerations:
    """Solve the instantaneous model: accelerations and contact forces at given positions and velocities.

    Parameters
    ----------
    scene : Scene or Model
    state : State, optional
        Default the initial state.
    cone : str
        ``"exact"``: Coulomb's disc (S1 eq. 22); ``"polygon"``: the linearised model, an LCP. In the plane they agree.
    directions : int
        Of the polygon in space, at least 3. The exact cone is solved starting from it.
    rotation : float
        Angle from the contact's tangent t to the first direction [rad].
    touch : float, optional
        Gap up to which a contact counts as closed [m]; default 1e-4 of the size of the bodies.
    still : float, optional
        Slip up to which a contact counts as rolling [m/s]; default 1e-6 of the speeds in the scene.
    tolerance : float
        Residual, free of scale, that counts as solved.

    Returns
    -------
    Accelerations
        Its ``status`` is ``no solution`` only where that is proven, and ``several solutions`` comes with all of them
        (for few contacts).

    Examples
    --------
    >>> import signorini as sg
    >>> scene = sg.Scene(planar=True)
    >>> floor = scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    >>> disc = scene.add_body(sg.Disc(1.0), mass=2.0, position=(0, 1), velocity=(3, 0), name="disc")
    >>> scene.set_contact(friction=0.5)
    >>> print(sg.accelerations(scene))
    t = 0 s: solved, the motion is the only one (residual 0.0e+00).
      disc: a = (-4.905, 0, 0) m/s^2, alpha = (0, 0, -9.81) rad/s^2
      contact 0: floor / disc at (0, 0, 0) m, slip, force (19.62, -9.81, 0) N
    """
    model = scene if isinstance(scene, Model) else compile_scene(scene)
    polygon = _polygon(model, cone, directions, rotation)
    tolerance = checked_tolerance(tolerance, "accelerations: tolerance")
    _refuse(model)
    state = with_prescribed(model, model.initial_state if state is None else state)
    reach = closed_reach(model, touch)
    found = touching(model, state, reach, still=still)
    size = float(body_sizes(model).max(initial=0.0))
    rate, known = velocity_rate(model, state, found.contacts, dim=found.dim, size=size, reach=reach)
    free = free_acceleration(model, state)

    joints = joints_of(model, state, biased=True)
    posed, notes, complete = _posed(model, found, free, rate, known, joints)
    answers = [
        find_solutions(group.problem, polygon=polygon, exact=cone == "exact", tolerance=tolerance) for group in posed
    ]
    impact = found.count(ContactMode.CLOSING) + joints.closing > 0
    status = Status.NOT_APPLICABLE if impact else _status(answers, complete)
    count = int(np.prod([len(answer.forces) for answer in answers])) if complete else 0
    if status is Status.NOT_APPLICABLE:
        count = 0
    if any(answer.continuum for answer in answers):
        notes.append("infinitely many motions lie between those listed: how contacts share the load decides the motion")
    chosen = islice(product(*(answer.forces for answer in answers)), min(count, _LISTED))
    contacts = found.contacts
    return Accelerations(
        status=status,
        time=state.t,
        bodies=tuple((model.names[a], model.names[b]) for a, b in zip(contacts.body_a, contacts.body_b, strict=True)),
        point=contacts.point_b,
        normal=contacts.normal,
        before=found.mode,
        friction=found.friction,
        solutions=tuple(_forces(model, state, found, free, rate, joints, posed, parts) for parts in chosen),
        solution_count=count,
        unique=_worst([answer.unique for answer in answers]) if complete else Answer.UNDECIDED,
        residual=max((answer.residual for answer in answers), default=0.0),
        notes=tuple(notes),
    )


def _posed(
    model: Model, found: Touching, free: Array, rate: Array, known: BoolArray, joints: Mechanism
) -> tuple[list[Group], list[str], bool]:
    """Pose the problem of every group; say what was left out, and whether anything was."""
    kept: BoolArray = (found.mode == ContactMode.SLIDING) | (found.mode == ContactMode.STICKING)
    posed, notes = [], list(joints.notes)
    complete = True
    for bodies, contacts in groups(found.contacts, kept, model.fixed_count, joints.links(model.fixed_count)):
        if not known[contacts].all():
            notes.append("the curvature of a contact is not known here, so its acceleration is not")
            complete = False
            continue
        if 6 * bodies.size > _MOST_ROWS:
            notes.append(f"{bodies.size} bodies that hang together are too many for this model")
            complete = False
            continue
        group = group_problem(
            found,
            bodies,
            contacts,
            group_inertia(found.M_inv, bodies),
            free[bodies].reshape(-1),
            rate,
            joints.of(bodies),
        )
        posed.append(group)
        if group.inconsistency() > _CONSISTENT:
            notes.append(f"joints {', '.join(dict.fromkeys(group.joints.held_names))} contradict each other")
    closing = found.count(ContactMode.CLOSING)
    if closing:
        notes.append(f"{closing} of {found.mode.size} contacts close with a speed: an impact comes first")
    return posed, notes, complete


def _status(answers: list[Found], complete: bool) -> Status:
    """Return the status of all groups together: one without a solution leaves the whole without."""
    words = {answer.status for answer in answers}
    for word in (Status.NO_SOLUTION, Status.STALLED, Status.TIME_LIMIT, Status.UNDECIDED):
        if word in words:
            return word
    if not complete:
        return Status.UNDECIDED
    return Status.SEVERAL_SOLUTIONS if Status.SEVERAL_SOLUTIONS in words else Status.SOLVED


def _worst(answers: list[Answer]) -> Answer:
    return next((word for word in (Answer.NO, Answer.UNDECIDED) if word in answers), Answer.YES)


def _forces(
    model: Model,
    state: State,
    found: Touching,
    free: Array,
    rate: Array,
    joints: Mechanism,
    posed: list[Group],
    parts: tuple[Array, ...],
) -> Forces:
    """Put the solutions of all groups together."""
    n_c, dim = found.contacts.contact_count, found.dim
    acceleration = free + np.einsum("bij,bj->bi", found.M_inv, joints.load)
    force, slip_rate = np.zeros((n_c, dim)), np.full(n_c, np.nan)
    mode = [ForceMode.SEPARATING] * n_c
    joint_force: dict[str, Array] = {}
    friction = dict(joints.known)
    for group, x in zip(posed, parts, strict=True):
        acceleration[group.bodies] = group.acceleration(x)
        force[group.contacts] = group.contact_forces(x, found)
        joint_force |= group.joint_forces(x)
        friction |= group.joint_friction(x)
        for c, word in zip(group.contacts, group.modes(x), strict=True):
            mode[c] = word
    of_contact = relative_velocity(found.J_a, found.J_b, found.contacts, acceleration) + rate
    # Without a friction force nothing can be said of lambda: its equations then hold whatever it is.
    rolls = (found.mode == ContactMode.STICKING) & np.isin(mode, (ForceMode.STICK, ForceMode.SLIP))
    slip_rate[rolls] = np.linalg.norm(of_contact[rolls, 1:], axis=1)
    acceleration[: model.fixed_count] = _prescribed(model, state)
    return Forces(
        names=model.names,
        acceleration=acceleration,
        force=padded(force, 3),
        world_force=np.einsum("ci,cik->ck", force, found.J_b[:, :, :3]),
        contact_acceleration=padded(of_contact, 3),
        slip_rate=slip_rate,
        mode=tuple(mode),
        joint_force=joint_force,
        joint_friction=friction,
        forces_unique=all(group.forces_determined(x) for group, x in zip(posed, parts, strict=True)),
    )


def _prescribed(model: Model, state: State) -> Array:
    """Return the accelerations of bodies that move as prescribed, (fixed_count, 6)."""
    if all(motion is None for motion in model.motions):
        return np.zeros((model.fixed_count, 6))
    before, after = (prescribed_pose(model, state.t + side * _SPACING)[1] for side in (-1.0, 1.0))
    rate: Array = (after - before) / (2.0 * _SPACING)
    return rate


def _polygon(model: Model, cone: str, directions: int, rotation: float) -> Array:
    """Return the directions of the polygonal cone in tangent coordinates, (n_d, dim - 1)."""
    if cone not in ("exact", "polygon"):
        raise InputError(f"accelerations: cone is {cone!r}, must be 'exact' or 'polygon'")
    if not isinstance(directions, int | np.integer) or directions < 3:
        raise InputError(f"accelerations: directions is {directions!r}, must be an integer >= 3")
    rotation = checked_number(rotation, "accelerations: rotation")
    if model.planar:
        return np.array([[1.0], [-1.0]])
    angle = rotation + 2.0 * np.pi * np.arange(directions) / directions
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _refuse(model: Model) -> None:
    """Raise `InputError` for laws that the model does not know."""
    refuse_layers(model, "the instantaneous model")
    refuse_flexible(model, "the instantaneous model")
    laws = model.materials
    for word, values in (("torsional", laws.torsional), ("rolling", laws.rolling), ("ellipsoid", laws.ellipsoid)):
        if np.any(values > 0.0):
            raise InputError(f"contact: {word} is {values.max():g}, must be 0 for the instantaneous model")
    for name, (coefficient, _) in zip(model.joints.names, model.joints.load_friction, strict=True):
        if coefficient > 0.0:
            raise InputError(f"joint {name!r}: friction follows the load, must be constant for the instantaneous model")
