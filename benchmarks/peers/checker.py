r"""How well a step of any engine obeys Coulomb's law, from positions and velocities alone.

From the state before a step follow our contacts (:func:`signorini.geometry.detect`), the wrenches J, the masses M and
the velocity :math:`v_{free}` that gravity alone would give; from the velocity :math:`v^+` after the step the relative
velocities :math:`u = J v^+`. Coulomb's law asks for impulses p with

.. math:: M (v^+ - v_{free}) = J^T p, \qquad K^* \ni \hat u \perp p \in K, \qquad \hat u = u + (\sigma + \mu |u_T|)\,n.

Engines differ in what a gap :math:`\Psi` adds to the normal velocity, so the shift is chosen in their favour: a contact
open at the start may be posed at any time, :math:`\sigma \ge 0`; one that overlaps may part as fast as ends the overlap
in this step, :math:`\Psi/h \le \sigma \le 0`. Then :math:`s = \hat u - u` is known, and the impulses that explain the
step best solve the convex problem :math:`\min_{p \in K} \tfrac12 p^T W p + (b + s)^T p` with ``W`` and ``b`` of the
friction problem ``u = W p + b``: its velocities are unique, and they are those of the step exactly if the step obeys
the law. The residual is

.. math:: \bigl(\|p - P_K(p - \rho \hat u)\| + \|\rho (W p + b - u)\|\bigr) / \max(\|p\|, \|\rho (u - b)\|),

what the law misses at p plus what p misses of the step, compared to the impulses and to what they did: zero for an
exact step, about 1 for a step that ignores the contacts. Any p gives an upper bound, so where an engine tells its
impulses, the smaller of both values counts. Free motion, shift and residual are those of :mod:`signorini.audit`, which
judges whole runs by the impulses that they tell.

For engines with compliant contact it tells how far the step is from rigid contact with Coulomb friction, which is not
what they solve; creep, slip without full friction, friction beyond the cone, a normal force where bodies part (convex
relaxations while slipping) and unfinished iterations all count. Depth is not part of it: a body that rests deep in
another obeys the law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from benchmarks.peers.engine import Impulses
from benchmarks.peers.ours import build
from benchmarks.peers.scenes import Motion, PeerScene
from benchmarks.peers.search import exact_impulses, near_impulses

from signorini._arrays import Array
from signorini.audit.law import explained, gap_bounds, shifted
from signorini.audit.steps import FreeMotion, after_impulses, free_motion
from signorini.dynamics import contact_wrenches, kinetic_energy, relative_velocity
from signorini.dynamics.flight import veer_bodies
from signorini.geometry import detect
from signorini.model import Contacts, State
from signorini.problems import Delassus, FrictionProblem
from signorini.scene import compile_scene

_REACH_FACTOR = 1.25  # of what a body travels in a step
_REACH_FRACTION = 0.01  # of the body's size
MOST_EXACT = 1500  # contacts; the exact search takes minutes beyond
ITERATIONS = 500  # of the other search, to a residual of about 1e-3 above the least
ITERATIONS_FROM_TOLD = 100  # from impulses that engines tell


@dataclass(frozen=True)
class Depth:
    """Overlaps of one configuration [m]."""

    largest: float
    median: float
    """Over all contacts that touch."""
    touching: int


class Checker:
    """Judges states of one scene."""

    def __init__(self, scene: PeerScene) -> None:
        self.scene = scene
        self.model = compile_scene(build(scene))
        self.first = self.model.fixed_count

    def state(self, motion: Motion) -> State:
        """Return `motion` as a state of our model."""
        out = self.model.initial_state.copy()
        out.q[self.first :, :3] = motion.position
        out.q[self.first :, 3:] = motion.quaternion / np.linalg.norm(motion.quaternion, axis=1)[:, None]
        out.v[self.first :] = motion.velocity
        return out

    def depth(self, motion: Motion) -> Depth:
        """Measure overlaps; a contact touches if its gap is at most a ten-thousandth of the body."""
        near = np.full(self.model.body_count, 0.5e-4 * self.scene.size)
        depth = -detect(self.model, self.state(motion), near).gap
        if depth.size == 0:
            return Depth(0.0, 0.0, 0)
        return Depth(max(0.0, float(depth.max())), float(np.median(np.maximum(depth, 0.0))), depth.size)

    def energy(self, motion: Motion) -> float:
        """Return kinetic and potential energy [J]."""
        arrays, state = self.model.arrays, self.state(motion)
        height = np.einsum("bi,bi->b", arrays.weight[:, :3], state.q[:, :3])
        return float(kinetic_energy(arrays, state.q, state.v).sum() - height.sum())

    def residual(
        self, before: Motion, after: Motion, told: Impulses | None = None, *, gyroscopic: str = "implicit"
    ) -> float:
        """Return how far the step from `before` to `after` is from Coulomb's law.

        `told` are the impulses of the step as the engine tells them, `gyroscopic` how it turns bodies: as the options
        of our own formulations name it. The spin of a body that flew is taken as it was before.
        """
        h, state = self.scene.h, self.state(before)
        free = free_motion(self.model, state.q[None], state.v[None], h, gyroscopic=gyroscopic)
        v_free, M_inv, end = free.v, free.M_inv, self.state(after)
        v = after_impulses(self.model.arrays, free.ways, M_inv, end.q, end.v)
        contacts = self._candidates(state, v_free, v)
        if contacts.contact_count == 0:
            return 0.0
        middle = 0.5 * (contacts.point_a + contacts.point_b)
        at = np.where((contacts.body_a < self.first)[:, None], contacts.point_b, middle)
        J_a, J_b = contact_wrenches(contacts, state.q, dim=3, point_a=at, point_b=at)
        b = relative_velocity(J_a, J_b, contacts, v_free)
        u = relative_velocity(J_a, J_b, contacts, v)
        mu = self.model.materials.friction[contacts.material]
        W = Delassus(contacts.body_a, contacts.body_b, J_a, J_b, M_inv)
        problem = FrictionProblem(W, b.reshape(-1), mu)
        least, most = gap_bounds(contacts.gap, h)
        closed = relative_velocity(J_a, J_b, contacts, state.v)[:, 0]
        veered = relative_velocity(J_a, J_b, contacts, self._veer(state, free, h))[:, 0]
        least = np.maximum(least + veered, np.minimum(np.minimum(least, 0.0), closed))
        normal = shifted(u[:, 0], least, np.where(most > 0.0, np.inf, np.maximum(0.0, veered)))
        shift = normal - u[:, 0] + mu * np.linalg.norm(u[:, 1:], axis=1)
        p = np.zeros_like(u) if told is None else assigned(told, contacts, J_b)
        found = [explained(problem, p, u, normal)]
        if contacts.contact_count <= MOST_EXACT:
            p = exact_impulses(problem, shift)
        else:
            p = near_impulses(problem, shift, p, ITERATIONS if told is None else ITERATIONS_FROM_TOLD)
        found.append(explained(problem, p, u, normal))
        return min(found)

    def _veer(self, state: State, free: FreeMotion, h: float) -> Array:
        """Return by how much the mean velocities of bodies that fly differ from their first ones, (n_b, 6)."""
        out, veer = np.zeros_like(state.v), np.zeros((state.v.shape[0], 3))
        veer_bodies(free.ways, self.model.arrays.inertia, free.q, free.v, h, veer)
        out[:, 3:] = veer
        return out

    def _candidates(self, state: State, v_free: Array, v: Array) -> Contacts:
        """Return the contacts that may have closed in the step."""
        bound = self.model.arrays.bound
        speed = [np.linalg.norm(x[:, :3], axis=1) + bound * np.linalg.norm(x[:, 3:], axis=1) for x in (v_free, v)]
        reach = _REACH_FACTOR * self.scene.h * np.maximum(*speed) + _REACH_FRACTION * bound
        reach[: self.first] = 0.0
        return detect(self.model, state, reach)


def assigned(told: Impulses, contacts: Contacts, J_b: Array) -> Array:
    """Return impulses told at an engine's points as impulses (n_c, 3) at our nearest contacts of the same pair."""
    p = np.zeros((contacts.contact_count, 3))
    ours: dict[tuple[int, int], list[int]] = {}
    for c, pair in enumerate(zip(contacts.body_a.tolist(), contacts.body_b.tolist(), strict=True)):
        ours.setdefault(pair, []).append(c)
    frames = J_b[:, :3, :3]
    for i, pair in enumerate(zip(told.first.tolist(), told.second.tolist(), strict=True)):
        if pair in ours:
            near = np.array(ours[pair])
            c = near[np.linalg.norm(contacts.point_b[near] - told.point[i], axis=1).argmin()]
            p[c] += frames[c] @ told.impulse[i]
    return p
