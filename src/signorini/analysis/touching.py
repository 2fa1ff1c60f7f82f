"""The contacts of a state that touch: what each of them does, and the matrix D of those that slide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray, checked_number
from signorini._words import Word
from signorini.analysis.acceleration import free_acceleration
from signorini.analysis.mechanism import Mechanism, mechanism
from signorini.analysis.sliding import SlidingMatrix, group_inertia, groups, sliding_matrix
from signorini.dynamics import contact_wrenches, inverse_inertia, prescribed_pose, relative_velocity
from signorini.geometry import detect
from signorini.model import Contacts, Model, State

_TOUCHES = 1e-4  # of a body's size: digits that people type, and what time stepping leaves open
_STILL = 1e-6  # of the speeds in the scene: slower contacts stick
_LEAVES = 1e-3  # of the speeds in the scene: faster normal motion means leaving or hitting
_NOTHING = 1e-9  # of the largest impulse of a step
_GROUP_LIMIT = 200  # contacts or bodies in one group beyond which dense algebra would slow a simulation down


class ContactMode(Word):
    """What a touching contact does."""

    SLIDING = 0
    STICKING = 1
    LEAVING = 2
    CLOSING = 3


@dataclass(frozen=True, slots=True)
class Touching:
    """Closed contacts as bodies see them."""

    contacts: Contacts
    mode: IntArray
    """:class:`ContactMode`, (n_c,)."""
    velocity: Array
    """In the contact frames (n, t, o), in the plane (n, t), (n_c, dim) [m/s]."""
    friction: Array
    """(n_c,)"""
    J_a: Array
    J_b: Array
    M_inv: Array
    """Of every body, (n_b, 6, 6)."""

    @property
    def dim(self) -> int:
        """Rows per contact."""
        return int(self.J_a.shape[1])

    def count(self, mode: ContactMode) -> int:
        """Return how many contacts do that."""
        return int(np.sum(self.mode == mode))


def touching(model: Model, state: State, reach: Array, *, still: float | None = None) -> Touching:
    """Find the closed contacts of a state; gaps up to the sum of the bodies' `reach` count, (n_b,) [m].

    Contacts slower than `still` [m/s] stick, by default those slower than 1e-6 of the speeds in the scene.
    """
    contacts = detect(model, state, reach)
    J_a, J_b, M_inv = _bodies_view(model, state, contacts)
    velocity = relative_velocity(J_a, J_b, contacts, state.v)
    # A speed against which others are small: the fastest contact, or that of a body driven over its own size.
    size = float(body_sizes(model).max(initial=0.0))
    load = np.abs(free_acceleration(model, state))
    driven = np.sqrt(size * float(load[:, :3].max(initial=0.0) + size * load[:, 3:].max(initial=0.0)))
    scale = max(float(np.abs(velocity).max(initial=0.0)), float(driven))
    friction = model.materials.friction[contacts.material]
    limit = _STILL * scale if still is None else checked_number(still, "still", least=0.0)
    mode = np.where(_slides(velocity, friction, limit), ContactMode.SLIDING, ContactMode.STICKING)
    mode = np.where(velocity[:, 0] > _LEAVES * scale, ContactMode.LEAVING, mode)
    mode = np.where(velocity[:, 0] < -_LEAVES * scale, ContactMode.CLOSING, mode).astype(np.int64)
    return Touching(contacts, mode, velocity, friction, J_a, J_b, M_inv)


def pressing(model: Model, state: State, contacts: Contacts, impulse: Array, velocity: Array) -> Touching:
    """Take the contacts of a time step that press, sliding as they do at its end; arrays (n_c, 3) in the frames."""
    p_n = impulse[:, 0]
    presses = p_n > _NOTHING * p_n.max(initial=0.0)
    chosen = Contacts(*(np.ascontiguousarray(column[presses]) for column in contacts))
    J_a, J_b, M_inv = _bodies_view(model, state, chosen)
    u = np.ascontiguousarray(velocity[presses, : J_a.shape[1]])
    # At rest all velocities are rounding; the speed that the impulses take away shows it.
    taken = _normal_mobility(chosen, J_a, J_b, M_inv) * p_n[presses]
    scale = max(float(np.abs(velocity).max(initial=0.0)), float(taken.max(initial=0.0)))
    friction = model.materials.friction[chosen.material]
    slides = _slides(u, friction, _STILL * scale)
    mode = np.where(slides, ContactMode.SLIDING, ContactMode.STICKING).astype(np.int64)
    return Touching(chosen, mode, u, friction, J_a, J_b, M_inv)


def matrices(
    model: Model, found: Touching, joints: Mechanism, too_large: list[int] | None = None
) -> list[SlidingMatrix]:
    """Return D of every group in which a contact slides; sizes of groups too large for it go to `too_large`."""
    kept: BoolArray = (found.mode == ContactMode.SLIDING) | (found.mode == ContactMode.STICKING)
    made = []
    for bodies, rows in groups(found.contacts, kept, model.fixed_count, joints.links(model.fixed_count)):
        slides = rows[found.mode[rows] == ContactMode.SLIDING]
        if not slides.size:
            continue
        if max(rows.size, bodies.size) > _GROUP_LIMIT:
            if too_large is not None:
                too_large.append(int(rows.size))
            continue
        made.append(
            sliding_matrix(
                found.contacts,
                found.J_a,
                found.J_b,
                found.velocity[:, 1:],
                found.friction,
                group_inertia(found.M_inv, bodies),
                slides=slides,
                sticks=rows[found.mode[rows] == ContactMode.STICKING],
                bodies=bodies,
                joints=joints.of(bodies) if model.joints.any else None,
            )
        )
    return made


def sliding_matrices(
    model: Model, state: State | None = None, *, touch: float | None = None
) -> tuple[SlidingMatrix, ...]:
    """Return the matrix D of every group of sliding contacts of a state, the initial one by default.

    Gaps up to `touch` [m] count as closed, by default 1e-4 of the size of the bodies. Contacts that stick are held as
    bilateral rows, an extension of the paper; joints are eliminated.
    """
    state = with_prescribed(model, model.initial_state if state is None else state)
    found = touching(model, state, closed_reach(model, touch))
    return tuple(matrices(model, found, joints_of(model, state)))


def joints_of(model: Model, state: State, *, biased: bool = False) -> Mechanism:
    """Return the joints of a state; see :func:`~signorini.analysis.mechanism.mechanism`."""
    if not model.joints.any:
        return Mechanism.none(model.body_count)
    size = float(body_sizes(model).max(initial=0.0))
    load = float(np.abs(free_acceleration(model, state)[:, :3]).max(initial=0.0))
    return mechanism(model, state, size, load, biased=biased)


def with_prescribed(model: Model, state: State) -> State:
    """Return the state with fixed bodies where, and as fast as, their motions say."""
    state = state.copy()
    q, v = prescribed_pose(model, state.t)
    state.q[: model.fixed_count], state.v[: model.fixed_count] = q, v
    return state


def body_sizes(model: Model) -> Array:
    """Return the radius of every moving body about its mass centre, 0 for fixed ones, (n_b,) [m]."""
    size = np.zeros(model.body_count)
    bounded = np.isfinite(model.shapes.bound)
    np.maximum.at(size, model.shapes.body[bounded], model.shapes.bound[bounded])
    size[: model.fixed_count] = 0.0
    return size


def closed_reach(model: Model, touch: float | None) -> Array:
    """Return how far each body may be from another and still touch it, (n_b,) [m]."""
    if touch is None:
        return _TOUCHES * body_sizes(model)
    return np.full(model.body_count, 0.5 * checked_number(touch, "touch", least=0.0))


def _bodies_view(model: Model, state: State, contacts: Contacts) -> tuple[Array, Array, Array]:
    dim = 2 if model.planar else 3
    J_a, J_b = contact_wrenches(contacts, state.q, dim=dim, point_a=contacts.point_a, point_b=contacts.point_b)
    return J_a, J_b, inverse_inertia(model.arrays, state.q)


def _normal_mobility(contacts: Contacts, J_a: Array, J_b: Array, M_inv: Array) -> Array:
    """Return the normal velocity that a unit normal impulse gives each contact, (n_c,) [1/kg]."""
    n_a, n_b = J_a[:, 0], J_b[:, 0]
    of_a, of_b = (
        np.einsum("ci,cij,cj->c", n, M_inv[body], n) for n, body in ((n_a, contacts.body_a), (n_b, contacts.body_b))
    )
    mobility: Array = of_a + of_b
    return mobility


def _slides(velocity: Array, friction: Array, still: float) -> BoolArray:
    """Tell which contacts slide, faster than `still` [m/s]; without friction none can stick, whatever its slip."""
    slides: BoolArray = (np.linalg.norm(velocity[:, 1:], axis=1) > still) | (friction == 0.0)
    return slides
