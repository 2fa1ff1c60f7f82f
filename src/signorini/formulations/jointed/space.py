"""The map from impulses of contacts and joint laws to their velocities, at the root of the assembly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics import contact_wrenches, drive_velocity, joint_rows, relative_velocity
from signorini.dynamics.limits import limit_margin
from signorini.dynamics.response.assembly import Assembly, Solved
from signorini.dynamics.response.mechanism import Mechanism
from signorini.dynamics.response.posture import Posture
from signorini.math.rotation import tangent_frame
from signorini.model import Contacts, Model, State
from signorini.posing.joint_blocks import law_blocks, law_impulses
from signorini.posing.joint_space import LawKind, RowLaws, laws_at, restrain_motors


@dataclass(frozen=True, slots=True)
class Start:
    """Where a step begins."""

    state: State
    at: Posture
    coordinate: Array
    """Of joints that have one of their own, (n_j,) [m, rad]."""
    speed: Array
    """(n_j,)"""
    force: Array
    """All loads on rows, (n_b, 6) [N, N m]."""


@dataclass(frozen=True, slots=True)
class Space:
    """The map ``u = W p + b`` of the contacts and the laws of a step, in blocks, and how it was made."""

    assembly: Assembly | None
    """None where nothing reaches the root."""
    alone: Solved
    """Accelerations and forces without impulses."""
    redundant: int
    """Number of rows of joints that depend on others."""
    W: Array
    """(n dim, n dim)"""
    b: Array
    """Velocity without impulses, of laws with their gaps, (n, dim) [m/s]."""
    mu: Array
    """(n,)"""
    drive: Array
    """The part of `b` that prescribed bodies contribute to contacts, (n_c, dim) [m/s]."""
    J: tuple[Array, Array]
    """Wrenches of contacts by body, (n_c, dim, 6) each."""
    laws: RowLaws
    bare: Array
    """Speeds of the scalar rows of all laws without impulses and gaps, (n_l,)."""
    mobility: Array
    """Of the scalar rows, ``dim`` for each contact and one for each law, (m, m)."""
    share: Array
    """Rows of the roots from scalar rows, (rows, m): -1, 0 or 1."""
    h: float

    @property
    def contact_count(self) -> int:
        """Number of contacts."""
        return int(self.drive.shape[0])

    def split(self, p: Array) -> tuple[Array, Array]:
        """Return the impulses of contacts (n_c, dim), and of laws (n_l,), from blocks (n, dim)."""
        n_c = self.contact_count
        return p[:n_c], law_impulses(self.laws, p[n_c:], 0.0)

    def solve(self, p: Array) -> Solved:
        """Return accelerations and forces of all bodies under impulses `p` (n, dim)."""
        if self.assembly is None or not p.any():
            return self.alone
        contacts, laws = self.split(p)
        return self.assembly.solve(self.share @ np.concatenate([contacts.reshape(-1), laws]) / self.h)

    def velocity(self, p: Array) -> Array:
        """Return the velocities of contacts, (n_c, dim)."""
        u: Array = (self.W @ p.reshape(-1)).reshape(self.b.shape) + self.b
        return u[: self.contact_count]

    def law_speed(self, p: Array) -> Array:
        """Return the speeds of the laws, of coordinates alone, (n_l,)."""
        contacts, laws = self.split(p)
        first = contacts.size
        out: Array = self.bare + self.mobility[first:] @ np.concatenate([contacts.reshape(-1), laws])
        return out

    def bounded(self, model: Model, reaction: Array) -> Space:
        """Return the same with friction by load as reactions on bodies b say, (n_j, 6) [N, N m]."""
        bound = self.laws.bound.copy()
        for k in np.flatnonzero(self.laws.by_load):
            g = int(self.laws.joint[k])
            coefficient, radius = model.joints.load_friction[g]
            force, moment = (float(np.linalg.norm(reaction[g, part])) for part in (slice(3), slice(3, 6)))
            turns = model.joints.kinds[g] == "revolute"
            bound[k] = self.h * coefficient * (radius * force if turns else force + moment / radius)
        b = self.b.copy()
        rubs = self.contact_count + np.flatnonzero(self.laws.by_load)
        a = self.W.diagonal()[b.shape[1] * rubs]
        b[rubs, 0] = -a * bound[self.laws.by_load]
        return replace(self, b=b, laws=replace(self.laws, bound=bound))


def make_space(
    model: Model,
    mechanism: Mechanism,
    start: Start,
    contacts: Contacts,
    drive: Array,
    soft: Array,
    h: float,
    *,
    ahead: float,
) -> Space:
    """Map impulses to velocities; both bodies feel a contact's at one point, that of the moving one at a wall."""
    state, at = start.state, start.at
    dim, n_c = 2 if model.planar else 3, contacts.contact_count
    half = np.where(contacts.body_a < model.fixed_count, 1.0, 0.5)[:, None]
    gap = contacts.gap[:, None] * contacts.normal
    point_a, point_b = contacts.point_a + half * gap, contacts.point_b - (1.0 - half) * gap
    J = contact_wrenches(contacts, state.q, dim=dim, point_a=point_a, point_b=point_b)
    laws = _laws(model, state, start.coordinate, h)
    rows: list[list[tuple[int, Array, Array]]] = [[] for _ in mechanism.limbs]
    parts: list[list[tuple[int, float]]] = [[] for _ in mechanism.limbs]

    def add(body: int, point: Array, directions: list[Array], first: int, sign: float) -> None:
        k = mechanism.row.get(body)
        if k is not None:
            rows[k] += [(body, point, d) for d in directions]
            parts[k] += [(first + i, sign) for i in range(len(directions))]

    for c in range(n_c):
        n = contacts.normal[c]
        frame = [np.concatenate([np.zeros(3), d]) for d in (n, *tangent_frame(tuple(n)))][:dim]
        add(int(contacts.body_a[c]), point_a[c], frame, dim * c, -1.0)
        add(int(contacts.body_b[c]), point_b[c], frame, dim * c, 1.0)
    side, bias = _sides(laws), np.zeros(laws.count)
    for i, g in enumerate(laws.joint):
        k = mechanism.hinge_of[int(g)]
        axis, turning = mechanism.direction(at, int(g))
        bias[i] = -side[i] * turning
        add(mechanism.hinges[k].inboard, at.across[k], [side[i] * axis], dim * n_c + i, -1.0)
        add(mechanism.hinges[k].row, at.place[k], [side[i] * axis], dim * n_c + i, 1.0)
    flat = [one for own in parts for one in own]
    share, W, a0 = np.zeros((len(flat), dim * n_c + laws.count)), np.zeros((len(flat), len(flat))), np.zeros(len(flat))
    assembly = None
    if not flat and mechanism.is_rigid_tree:
        alone, redundant = mechanism.accelerated(at, start.force, drive, soft), 0
    else:
        assembly, first = mechanism.assembled(at, start.force, rows, drive, soft, ahead=ahead), 0
        for i, row in enumerate(assembly.plan.contact):
            share[i, flat[row][0]] = flat[row][1]
        for root in assembly.plan.root:
            Z, b = assembly.response(int(root))
            W[first : first + b.size, first : first + b.size], a0[first : first + b.size] = Z, b
            first += b.size
        alone, redundant = assembly.solve(), assembly.redundant
    mobility, gained = share.T @ W @ share, h * (share.T @ a0)
    moving = state.v.copy()
    moving[: model.fixed_count] = 0.0
    driven = relative_velocity(*J, contacts, drive_velocity(model, state, h, secant=True))
    free = relative_velocity(*J, contacts, moving) + driven + gained[: dim * n_c].reshape(n_c, dim)
    bare = side * start.speed[laws.joint] + gained[dim * n_c :] + h * bias
    motor = np.flatnonzero(laws.kind == LawKind.MOTOR)
    restrain_motors(laws, motor, mobility.diagonal()[dim * n_c + motor], h, h)
    speed = np.concatenate([free.reshape(-1), bare + laws.rows.rate + laws.rows.psi / h])
    blocks, b, mu = law_blocks(laws, mobility, speed, dim, 0.0)
    mu = np.concatenate([model.materials.friction[contacts.material], mu])
    return Space(assembly, alone, redundant, blocks, b, mu, driven, J, laws, bare, mobility, share, h)


def _laws(model: Model, state: State, coordinate: Array, h: float) -> RowLaws:
    """Collect limits, friction and motors of joints at a state."""
    joints = model.joints
    measured = joint_rows(joints.arrays, joints.coordinates, state.q, coordinate)
    moving = state.v.copy()
    moving[: model.fixed_count] = 0.0
    anything = np.full(measured.row_count, np.inf)
    margin = limit_margin(measured.velocity(moving), anything, np.inf, h)
    return laws_at(model, state, measured, margin, coordinate, h, secant=True)


def _sides(laws: RowLaws) -> Array:
    """Return the direction of each law along the coordinate: -1 of upper limits, else 1."""
    return np.where((laws.kind == LawKind.LIMIT) & ((-1 - laws.feature) % 4 == 1), -1.0, 1.0)


def law_efforts(space: Space, p_laws: Array, joint_count: int) -> Array:
    """Return the impulses of all laws along the coordinates of their joints, (n_j,) [N s, N m s]."""
    out = np.zeros(joint_count)
    np.add.at(out, space.laws.joint, _sides(space.laws) * p_laws)
    return out


def pressed_joints(space: Space, p_laws: Array) -> IntArray:
    """Return the joints that press against a limit."""
    laws = space.laws
    joints: IntArray = laws.joint[(laws.kind == LawKind.LIMIT) & (p_laws != 0.0)]
    return joints
