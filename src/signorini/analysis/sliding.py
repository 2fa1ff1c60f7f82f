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

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.analysis.matrix_classes import DEPENDENT
from signorini.model import Contacts


@dataclass(frozen=True)
class InverseInertia:
    """The operator ``M^-1`` on motions that keep the bilateral rows `held`."""

    M_inv: Array
    """Inverse inertia of the bodies taken together, (n_v, n_v); it need not be regular."""
    held: Array
    """Bilateral rows, (r, n_v); they may depend on each other."""

    @cached_property
    def _reaction(self) -> tuple[Array, Array]:
        """Return ``M^-1 H^T`` and the pseudo-inverse of ``H M^-1 H^T``."""
        answer = self.M_inv @ self.held.T
        S = self.held @ answer
        values, vectors = np.linalg.eigh(0.5 * (S + S.T))
        kept = values > DEPENDENT * values.max(initial=0.0)
        return answer, (vectors[:, kept] / values[kept]) @ vectors[:, kept].T

    @cached_property
    def dependent(self) -> bool:
        """True where the held rows depend on each other: their single forces are then not determined."""
        return bool(_rank(self.held @ self.M_inv @ self.held.T) < self.held.shape[0])

    def force(self, acceleration: Array) -> Array:
        """Return the generalized force that alone gives an acceleration to the bodies, no rows held, (n_v,)."""
        force: Array = np.linalg.pinv(self.M_inv, hermitian=True) @ acceleration
        return force

    def apply(self, force: Array, *, held_acceleration: Array | None = None) -> Array:
        """Return the accelerations under generalized forces, (..., n_v).

        `held_acceleration` (r,) is what the held rows must have, zero by default.
        """
        free = force @ self.M_inv
        if not self.held.size:
            return free
        answer, S_inv = self._reaction
        excess = free @ self.held.T - (0.0 if held_acceleration is None else held_acceleration)
        held: Array = free - excess @ S_inv @ answer.T
        return held

    def reaction(self, force: Array, held_acceleration: Array) -> Array:
        """Return the smallest forces of the held rows under a generalized force, (r,)."""
        _, S_inv = self._reaction
        out: Array = -S_inv @ (self.held @ (self.M_inv @ force) - held_acceleration)
        return out


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
    """
    n_v = 6 * bodies.size
    place = {int(b): 6 * k for k, b in enumerate(bodies)}

    def row(c: int, weights: Array) -> Array:
        """Combine the frame rows of contact c."""
        out = np.zeros(n_v)
        for body, J in ((int(contacts.body_a[c]), J_a), (int(contacts.body_b[c]), J_b)):
            if body in place:
                out[place[body] : place[body] + 6] += weights @ J[c]
        return out

    dim = J_a.shape[1]
    frame = np.eye(dim)
    normal = np.array([row(c, frame[0]) for c in slides]).reshape(-1, n_v)
    directions = [_force_direction(slip[c], float(friction[c])) for c in slides]
    push = np.array([row(c, d) for c, d in zip(slides, directions, strict=True)]).reshape(-1, n_v)
    held = np.array([row(c, frame[i]) for c in sticks for i in range(dim)]).reshape(-1, n_v)
    inverse = InverseInertia(M_inv, held)
    D, W = normal @ inverse.apply(push).T, normal @ inverse.apply(normal).T
    return SlidingMatrix(slides, sticks, bodies, normal, push, inverse, D, 0.5 * (W + W.T))


def group_inertia(M_inv: Array, bodies: IntArray) -> Array:
    """Return the inverse inertia of some bodies taken together, (n_b, 6, 6) -> (n_v, n_v).

    The only place through which a mechanism enters: with joints this is the inverse inertia projected on the motions
    that they allow, and bodies joined to each other are one group.
    """
    whole = np.zeros((6 * bodies.size, 6 * bodies.size))
    for k, b in enumerate(bodies):
        whole[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = M_inv[b]
    return whole


def _force_direction(slip: Array, mu: float) -> Array:
    """Return the contact force per unit of normal force in the frame (n, t, o)."""
    speed = float(np.linalg.norm(slip))
    # Without friction the direction of the slip, perhaps undefined, does not matter.
    return np.concatenate([[1.0], -mu * slip / speed if mu > 0.0 else np.zeros(slip.size)])


def _rank(W: Array) -> int:
    values = np.linalg.eigvalsh(W)
    return int(np.sum(values > DEPENDENT * values.max(initial=0.0)))


def groups(contacts: Contacts, kept: BoolArray, fixed_count: int) -> list[tuple[IntArray, IntArray]]:
    """Split the `kept` contacts into groups that share no moving body; return bodies and contacts of each."""
    # A hand-made union of sets: for the few contacts of most scenes a graph library costs more than all the algebra.
    parent: dict[int, int] = {}

    def root(body: int) -> int:
        while parent.setdefault(body, body) != body:
            body = parent[body]
        return body

    rows = np.flatnonzero(kept).tolist()
    pairs = [(int(contacts.body_a[c]), int(contacts.body_b[c])) for c in rows]
    for a, b in pairs:
        if a >= fixed_count:
            low, high = sorted((root(a), root(b)))
            parent[high] = low
    members: dict[int, list[int]] = {}
    for c, (_, b) in zip(rows, pairs, strict=True):  # the second body of a contact always moves
        members.setdefault(root(b), []).append(c)
    found = []
    for own in members.values():
        mine = np.array(own, dtype=np.int64)
        bodies = np.unique(np.concatenate([contacts.body_a[mine], contacts.body_b[mine]]))
        found.append((bodies[bodies >= fixed_count], mine))
    return found
