r"""The matrix D of the sliding contacts of a scene (S4, eq. 9), in the plane and in space.

.. math:: D = \Phi_q M^{-1} (\Phi_q + \hat\Phi_q)^T, \qquad
          \hat\Phi_{q,i} = -\mu_i \frac{u_{T,i}^T}{|u_{T,i}|}\, \Gamma_i

with the slip velocity :math:`u_{T,i}` of contact i and its tangent rows :math:`\Gamma_i`. The rest of the mechanism
enters through the operator :math:`M^{-1}` alone: bilateral rows (contacts that stick; joints) are eliminated there.

==============  ==========================  =======================================================
here            S4                          meaning
==============  ==========================  =======================================================
``normal``      :math:`\Phi_q`              normal rows of the sliding contacts, (m, n_v)
``push``        :math:`\Phi_q + \hat\Phi_q`  generalized force per unit of normal force, (m, n_v)
``W``           :math:`D` at mu = 0         (m, m) [1/kg]
``held``        (none: our extension)       rows of bilateral constraints, (r, n_v)
==============  ==========================  =======================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.analysis.matrix_classes import DEPENDENT
from signorini.analysis.mechanism import JointRows
from signorini.model import Contacts


@dataclass(frozen=True)
class InverseInertia:
    """The operator ``M^-1`` on motions that keep the bilateral rows `held`."""

    M_inv: Array
    """Inverse inertia of the bodies taken together, (n_v, n_v); it need not be regular."""
    held: Array
    """Bilateral rows, (r, n_v); they may depend on each other."""

    @cached_property
    def _reaction(self) -> tuple[Array, Array, Array]:
        """Return ``M^-1 H^T``, an inverse of ``H M^-1 H^T`` on its range, and orthonormal forces that balance."""
        answer = self.M_inv @ self.held.T
        S, scale = _scaled(self.held @ answer)
        values, vectors = np.linalg.eigh(S)
        kept = values > DEPENDENT * values.max(initial=0.0)
        V = scale[:, None] * vectors
        return answer, (V[:, kept] / values[kept]) @ V[:, kept].T, np.linalg.qr(V[:, ~kept])[0]

    @cached_property
    def dependent(self) -> bool:
        """True where the held rows depend on each other: their single forces are then not determined."""
        return bool(_rank(self.held @ self.M_inv @ self.held.T) < self.held.shape[0])

    def force(self, acceleration: Array) -> Array:
        """Return the generalized force that alone gives an acceleration to the bodies, no rows held, (n_v,)."""
        inverse, scale = _scaled(self.M_inv)
        force: Array = scale * (np.linalg.pinv(inverse, hermitian=True) @ (scale * acceleration))
        return force

    def apply(self, force: Array, *, held_acceleration: Array | None = None) -> Array:
        """Return the accelerations under generalized forces, (..., n_v).

        `held_acceleration` (r,) is what the held rows must have, zero by default.
        """
        free = force @ self.M_inv
        if not self.held.size:
            return free
        answer, S_inv, _ = self._reaction
        excess = free @ self.held.T - (0.0 if held_acceleration is None else held_acceleration)
        held: Array = free - excess @ S_inv @ answer.T
        return held

    def reaction(self, force: Array, held_acceleration: Array) -> Array:
        """Return the smallest forces of the held rows under a generalized force, (r,)."""
        _, S_inv, idle = self._reaction
        out: Array = -S_inv @ (self.held @ (self.M_inv @ force) - held_acceleration)
        return out - idle @ (idle.T @ out)


@dataclass(frozen=True)
class SlidingMatrix:
    """D of one group of contacts that share bodies, and what it was made from."""

    contacts: IntArray
    """Rows of the table of contacts, (m,)."""
    held_contacts: IntArray
    """Contacts that stick and are held as bilateral rows."""
    bodies: IntArray
    """Moving bodies of the group, whose velocities are stacked."""
    normal: Array
    push: Array
    inverse: InverseInertia
    D: Array
    """(m, m) [1/kg]"""
    W: Array
    """D without friction: symmetric, (m, m) [1/kg]."""
    joint_bias: Array
    """Rates of the joint rows at constant body velocities; these are the first of the held rows."""
    joint_load: Array
    """Known generalized force of the joints, (n_v,)."""

    def with_friction(self, factor: float) -> Array:
        """Return D with all friction coefficients multiplied by `factor`; D is linear in it."""
        return self.W + factor * (self.D - self.W)

    @cached_property
    def rank(self) -> int:
        """Number of independent normals."""
        return _rank(self.W)

    @cached_property
    def push_rank(self) -> int:
        """Number of independent generalized forces, friction included."""
        P = self.push @ self.inverse.apply(self.push).T
        return _rank(0.5 * (P + P.T))

    def on_independent_normals(self, rows: IntArray, D: Array | None = None) -> Array:
        """Return D (or another one) of some contacts on the penetrations that bodies can make, (r, r).

        Where normals depend on each other D is singular, but penetrations of equally stiff contacts stay in the range
        of the normals, which D maps into itself; the boundary layer lives there.
        """
        D, W = (self.D if D is None else D)[np.ix_(rows, rows)], self.W[np.ix_(rows, rows)]
        values, U = np.linalg.eigh(W)
        kept = values > DEPENDENT * values.max(initial=0.0)
        return D if kept.all() else U[:, kept].T @ D @ U[:, kept]


def sliding_matrix(
    contacts: Contacts,
    J_a: Array,
    J_b: Array,
    slip: Array,
    friction: Array,
    M_inv: Array,
    *,
    slides: IntArray,
    sticks: IntArray,
    bodies: IntArray,
    joints: JointRows | None = None,
) -> SlidingMatrix:
    """Assemble D of the contacts `slides` of one group.

    Parameters
    ----------
    contacts : Contacts
    J_a, J_b : (n_c, dim, 6) array
        Contact wrenches in the frames (n, t, o), see :func:`signorini.dynamics.contact_wrenches`.
    slip : (n_c, dim - 1) array
        Tangential velocity of each contact [m/s].
    friction : (n_c,) array
    M_inv : (n_v, n_v) array
        Inverse inertia of the group, see :func:`group_inertia`.
    slides, sticks : int array
        Rows of the sliding contacts and of those held as bilateral rows.
    bodies : int array
        Moving bodies of the group.
    joints : JointRows, optional
        Rows of the joints of the group; all that does not move is held.
    """
    sliding = frame_rows(contacts, J_a, J_b, slides, bodies)
    normal = sliding[:, 0]
    push = pushes(sliding, slip[slides], friction[slides])
    held = frame_rows(contacts, J_a, J_b, sticks, bodies).reshape(-1, normal.shape[1])
    bias, load = np.zeros(0), np.zeros(normal.shape[1])
    if joints is not None:
        rows, bias = joints.fast()
        held, load = np.concatenate([rows, held]), joints.load
    inverse = InverseInertia(M_inv, held)
    D, W = normal @ inverse.apply(push).T, normal @ inverse.apply(normal).T
    return SlidingMatrix(slides, sticks, bodies, normal, push, inverse, D, 0.5 * (W + W.T), bias, load)


def group_inertia(M_inv: Array, bodies: IntArray) -> Array:
    """Return the inverse inertia of some bodies taken together, (n_b, 6, 6) -> (n_v, n_v).

    Joints are not in it: their rows are held by :class:`InverseInertia`, and bodies joined to each other are one group.
    """
    whole = np.zeros((6 * bodies.size, 6 * bodies.size))
    for k, b in enumerate(bodies):
        whole[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = M_inv[b]
    return whole


def frame_rows(contacts: Contacts, J_a: Array, J_b: Array, chosen: IntArray, bodies: IntArray) -> Array:
    """Return the rows of some contacts in the stacked velocities of `bodies`, (m, dim, n_v)."""
    place = {int(b): 6 * k for k, b in enumerate(bodies)}
    rows = np.zeros((chosen.size, J_a.shape[1], 6 * bodies.size))
    for row, c in zip(rows, chosen, strict=True):
        for body, J in ((int(contacts.body_a[c]), J_a), (int(contacts.body_b[c]), J_b)):
            if body in place:
                row[:, place[body] : place[body] + 6] += J[c]
    return rows


def pushes(rows: Array, slip: Array, friction: Array) -> Array:
    """Return the generalized force of sliding contacts per unit of normal force, (m, dim, n_v) -> (m, n_v)."""
    speed = np.linalg.norm(slip, axis=1)
    # Without friction the direction of the slip, perhaps undefined, does not matter.
    share = np.where(friction > 0.0, -friction / np.where(friction > 0.0, speed, 1.0), 0.0)
    push: Array = rows[:, 0] + np.einsum("ct,ctv->cv", share[:, None] * slip, rows[:, 1:])
    return push


def _scaled(S: Array) -> tuple[Array, Array]:
    """Return a symmetric matrix with unit diagonal, and the factors: rows of heavy and light bodies count alike."""
    d = np.diagonal(S)
    scale = 1.0 / np.sqrt(np.where(d > 0.0, d, 1.0))
    return 0.5 * scale[:, None] * (S + S.T) * scale, scale


def _rank(W: Array) -> int:
    values = np.linalg.eigvalsh(_scaled(W)[0])
    return int(np.sum(values > DEPENDENT * values.max(initial=0.0)))


def groups(
    contacts: Contacts, kept: BoolArray, fixed_count: int, links: Sequence[tuple[int, ...]] = ()
) -> list[tuple[IntArray, IntArray]]:
    """Split the `kept` contacts into groups that share no moving body; return bodies and contacts of each.

    Bodies of one of the `links` hang together too; those without any contact follow at the end.
    """
    # A hand-made union of sets: for the few contacts of most scenes a graph library costs more than all the algebra.
    parent: dict[int, int] = {}

    def root(body: int) -> int:
        while parent.setdefault(body, body) != body:
            body = parent[body]
        return body

    def join(a: int, b: int) -> None:
        low, high = sorted((root(a), root(b)))
        parent[high] = low

    rows = np.flatnonzero(kept).tolist()
    pairs = [(int(contacts.body_a[c]), int(contacts.body_b[c])) for c in rows]
    for a, b in pairs:
        join(b if a < fixed_count else a, b)  # the second body of a contact always moves
    for link in links:
        for body in link:
            join(link[0], body)
    members: dict[int, list[int]] = {}
    for c, (_, b) in zip(rows, pairs, strict=True):
        members.setdefault(root(b), []).append(c)
    bodies: dict[int, list[int]] = {top: [] for top in members}
    for body in sorted(parent):
        bodies.setdefault(root(body), []).append(body)
    return [
        (np.array(own, dtype=np.int64), np.array(members.get(top, []), dtype=np.int64)) for top, own in bodies.items()
    ]
