r"""Springs, limits, dry friction and motors of joints, from the reactions of a record.

What they do along the coordinate of their joint is one number of its reaction: the other rows of the joint cannot push
that way. Each is a graph that falls with the speed w of the coordinate,

- spring and damper: as in :mod:`signorini.dynamics.joint_springs`, or the theta-method;
- limit: nothing while :math:`w + \psi/h > 0`, any push back at zero or beyond, where the drift of the joint is judged;
- friction: :math:`\pm h\,c_{max}` against w, anything between at rest;
- motor: the same about the speed at which it pursues its motion, which may be any between that of the motion and
  the one that makes good all of its lag: how fast it can stop is for the engine to know;

and so is their sum. A step is judged by the distance of speed and push from that graph, speeds counted as the impulses
:math:`\rho\, dw` that change them. So nothing need be recorded of each law apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.audit.findings import ROUNDING, Worst
from signorini.audit.steps import Steps
from signorini.dynamics import joint_rows, motion_rate
from signorini.dynamics.constants import STIFF
from signorini.dynamics.joint_rows import Rows
from signorini.dynamics.joint_springs import midpoint_shares
from signorini.dynamics.joints import pushing
from signorini.dynamics.limits import limit_margin, pursued
from signorini.math.rotation import rotated
from signorini.model import WORLD, JointArrays, RowKind, RowTable


class Graph(NamedTuple):
    """Laws along coordinates, (..., n_laws): pushes `up` at lower and `down` at higher speeds."""

    first: Array
    """The least speed at which a law may push down."""
    last: Array
    """The largest speed at which it may push up."""
    up: Array
    down: Array

    def distance(self, speed: Array, push: Array, rho: Array) -> Array:
        """Return how far speeds and pushes (...,) are from the sum of the laws [N s, N m s].

        The nearest point is one of the same speed, or one where a law turns.
        """
        turning = np.concatenate([speed[..., None], self.first, self.last], axis=-1)
        least = np.full_like(speed, np.inf)
        for k in range(turning.shape[-1]):
            w = turning[..., k]
            with np.errstate(invalid="ignore"):
                high = np.sum(np.where(w[..., None] <= self.last, self.up, self.down), axis=-1)
                low = np.sum(np.where(w[..., None] >= self.first, self.down, self.up), axis=-1)
                away = rho * np.abs(w - speed) + np.maximum(0.0, np.maximum(push - high, low - push))
            least = np.where(away < least, away, least)
        return least


class JointLaws:
    """The laws along the coordinates of joints in some steps; all arrays (S, n_g) by steps and coordinates."""

    def __init__(self, steps: Steps) -> None:
        self.steps, joints, scheme = steps, steps.model.joints, steps.record.scheme
        assert steps.record.joints is not None
        self.joint = joints.coordinates.joint
        """(n_g,)"""
        self.driven = np.zeros(joints.count, dtype=bool)
        """By a motion without limit of effort, or held at a distance, (n_j,)."""
        held = (joints.rows.kind == RowKind.DISTANCE) & (joints.spring == 0)
        self.driven[joints.rows.joint[(joints.drive == 1) | held]] = True
        rows = self.rows = self._rows(joints.coordinates)
        v = np.where(steps.moving[:, None], steps.v_new, 0.0)
        rate = self._by_step(rows.velocity(steps.drive))
        self.speed = self._by_step(rows.velocity(v)) + rate
        before = self._by_step(rows.velocity(np.where(steps.moving[:, None], steps.v_start, 0.0))) + rate
        mobility = self._by_step(rows.mobility(np.where(steps.moving[:, None, None], steps.free.M_inv, 0.0)))
        self.rho = np.divide(1.0, mobility, out=np.zeros_like(mobility), where=mobility > 0.0)
        """Of free bodies: joints make them heavier."""
        self.at = self._by_step(rows.psi)
        """Coordinates where the steps act."""
        self.push, self.push_size, self.reaction = self._pushes(rows)
        span, theta, g = steps.h, scheme.theta, self.joint
        self.share = np.ones_like(mobility)
        """Of the midpoint rule in springs, or of theta's, which is all."""
        ahead, behind = theta * self.share, (1.0 - theta) * (span - steps.drift) * self.share
        if theta == 1.0:
            self.share = midpoint_shares(self._steepness(mobility))
            ahead, behind = 1.0 - 0.75 * self.share, 0.25 * span * self.share
        stretch = self.at - joints.rest[g] - behind * before
        firmness = ahead * steps.drift * joints.stiffness[g] + joints.damping[g]
        self.damper = -span * joints.damping[g] * self.speed
        self.spring = -span * (firmness * self.speed + joints.stiffness[g] * stretch)
        self.graph = self._graph()
        self.near = self._near(np.sqrt(mobility), np.maximum(np.abs(before), np.abs(self.speed)))
        """Which laws are limits that count, (S, n_g, 4)."""
        self.size = self._sizes()
        """By which the solver measures errors of steps, (S,) [N s, N m s]."""

    def _sizes(self) -> Array:
        """Return the impulses at play: pushes, their bounds, and what would bring speeds to where laws turn."""
        graph, speed = self.graph, self.speed[:, :, None]
        rubs = (graph.up != graph.down) & np.isfinite(graph.up - graph.down)
        bounded = np.where(rubs, graph.up, 0.0)
        counts = rubs | self.near
        away = np.where(counts, np.maximum(0.0, np.maximum(graph.first - speed, speed - graph.last)), 0.0)
        whole = np.square(self.push)[:, :, None] + np.square(bounded) + np.square(self.rho[:, :, None] * away)
        size: Array = np.sqrt(np.sum(whole.max(axis=2) * self._acts(), axis=1))
        return size

    def _steepness(self, mobility: Array) -> Array:
        """Return how stiff springs are beside the step, if free bodies have these mobilities, (S, n_g).

        Joints make them heavier, and are asked where that matters.
        """
        k = self.steps.h**2 * self.steps.model.joints.stiffness[self.joint]
        z: Array = k * mobility
        for s in np.flatnonzero((z > STIFF).any(axis=1)).tolist():
            joined = pushing(self.steps.model, *self.steps.acting(s)).mobility(self._own(s)).diagonal()
            z[s] = np.where(z[s] > STIFF, k * joined, z[s])
        return z

    def _own(self, s: int) -> Rows:
        """Return the rows of the coordinates in step `s`."""
        n_g, rows, n_b = self.joint.size, self.rows, self.steps.body_count
        term = slice(2 * s * n_g, 2 * (s + 1) * n_g)
        body = np.where(rows.body[term] >= 0, rows.body[term] - s * n_b, -1)
        return Rows(2 * np.arange(n_g + 1), body, rows.J[term], np.zeros(n_g), np.zeros(n_g))

    def _near(self, agility: Array, speed: Array) -> BoolArray:
        """Tell which laws are limits that count in their step, (S, n_g, 4).

        See :mod:`signorini.dynamics.limits`; the energy at hand is that of the start or, with loads, of free bodies.
        """
        steps, joints = self.steps, self.steps.model.joints
        energy = np.zeros(steps.count)
        for v in (steps.v_start, steps.free.v):
            twice = np.einsum("bi,bij,bj->b", v, steps.free.M, v) * steps.moving
            energy = np.maximum(energy, np.bincount(steps.step, twice, minlength=steps.count))
        effort = np.where(pursued(self.steps.model.joints), joints.effort_limit[self.joint], 0.0)
        impetus = np.sqrt(energy) + steps.drift * (agility @ effort)
        driven = np.bincount(steps.step, np.any(steps.drive != 0.0, axis=1), minlength=steps.count) > 0
        impetus = np.where(driven, np.inf, impetus)[:, None] + np.zeros_like(agility)
        margin = limit_margin(speed, agility, impetus, steps.drift)
        near = np.zeros((*agility.shape, 4), dtype=bool)
        near[:, :, 1] = self.at - joints.limits[self.joint, 0] <= margin
        near[:, :, 2] = joints.limits[self.joint, 1] - self.at <= margin
        return near

    def weigh(self, which: BoolArray) -> None:
        """Measure some steps (S,) by the mobilities of joined bodies, as the solver does, not of free ones.

        To find these takes longer than all the rest, and few steps are in doubt without.
        """
        for s in np.flatnonzero(which).tolist():
            mobility = self.steps.joined(s).mobility(self._own(s)).diagonal()
            self.rho[s] = np.divide(1.0, mobility, out=self.rho[s].copy(), where=mobility > 0.0)
        self.size = np.where(which, self._sizes(), self.size)

    def _acts(self) -> BoolArray:
        """Tell which coordinates are subject to laws that are posed with the contacts, (n_g,)."""
        joints, g = self.steps.model.joints, self.joint
        rubs = (joints.friction[g] > 0.0) | (joints.load_friction[g, 0] > 0.0)
        acts: BoolArray = rubs | np.isfinite(joints.limits[g]).any(axis=1) | pursued(self.steps.model.joints)
        return acts

    def _rows(self, table: RowTable) -> Rows:
        """Return rows of the joints of all steps, where these act, as those of one scene."""
        steps, arrays, n_j = self.steps, self.steps.model.joints.arrays, self.steps.model.joints.count
        step = np.arange(steps.count)

        def bodies(one: Any) -> Any:
            return np.where(one == WORLD, WORLD, one + (step * steps.body_count)[:, None]).reshape(-1)

        def often(one: Any) -> Any:
            return np.concatenate([one] * steps.count)

        all_arrays = JointArrays(bodies(arrays.body_a), bodies(arrays.body_b), *(often(x) for x in arrays[2:]))
        joint = (table.joint + (step * n_j)[:, None]).reshape(-1)
        all_rows = RowTable(joint, *(often(column) for column in table[1:]))
        near = steps.record.joints.coordinate[steps.first : steps.last].reshape(-1)  # type: ignore[union-attr]
        return joint_rows(all_arrays, all_rows, steps.free.q, np.ascontiguousarray(near))

    def _by_step(self, values: Array) -> Array:
        return values.reshape(self.steps.count, -1, *values.shape[1:])

    def _wrenches(self, rows: Rows, joint: Any) -> Array:
        """Return what unit impulses of rows do at the anchors of bodies b, (S, rows, 6)."""
        arrays, q = self.steps.model.joints.arrays, self.steps.free.q.reshape(self.steps.count, -1, 7)
        J = self._by_step(rows.J[1::2]).copy()
        for k, g in enumerate(joint):
            arm = rotated(np.ascontiguousarray(q[:, arrays.body_b[g], 3:]), arrays.anchor_b[g])
            J[:, k, 3:] -= np.cross(arm, J[:, k, :3])
        return J

    def _pushes(self, rows: Rows) -> tuple[Array, Array, Array]:
        """Return the pushes along coordinates, the sizes of their terms, and forces and moments of the other rows."""
        steps, joints = self.steps, self.steps.model.joints
        own = np.flatnonzero((joints.drive == 0) & (joints.spring == 0))
        table = RowTable(*(column[own] for column in joints.rows))
        others, along = self._wrenches(self._rows(table), table.joint), self._wrenches(rows, self.joint)
        reaction = steps.reaction
        push, size = np.zeros((steps.count, self.joint.size)), np.zeros((steps.count, self.joint.size))
        held = np.zeros((steps.count, self.joint.size, 2))
        for k, g in enumerate(self.joint):
            mine = np.flatnonzero(table.joint == g)
            A = np.concatenate([others[:, mine], along[:, k : k + 1]], axis=1)
            inverse = np.linalg.pinv(A @ A.transpose(0, 2, 1), hermitian=True) @ A
            impulse = np.einsum("sij,sj->si", inverse, reaction[:, g])
            push[:, k] = impulse[:, -1]
            size[:, k] = np.sum(np.abs(inverse[:, -1] * reaction[:, g]), axis=1)
            for l, kind in enumerate((RowKind.SLIDE, RowKind.ALIGN)):
                held[:, k, l] = np.linalg.norm(impulse[:, :-1][:, table.kind[mine] == kind], axis=1)
        return push, size, held

    def _graph(self) -> Graph:
        """Return the laws of all coordinates."""
        steps, joints, g, h = self.steps, self.steps.model.joints, self.joint, self.steps.drift
        force, moment = self.reaction[:, :, 0], self.reaction[:, :, 1]
        coefficient, radius = joints.load_friction[g].T
        turns = np.array([joints.kinds[k] == "revolute" for k in g], dtype=bool)
        lever = np.where(radius > 0.0, radius, 1.0)
        limit = steps.h * joints.friction[g] + coefficient * np.where(turns, radius * force, force + moment / lever)
        effort = np.where(pursued(joints), steps.h * joints.effort_limit[g], 0.0) + np.zeros_like(limit)
        none, endless = np.zeros_like(limit), np.full_like(limit, np.inf)
        low, high = ((joints.limits[g, k] - self.at) / h for k in range(2))
        slow, fast = self._aims()
        laws = (
            (none, none, limit, -limit),
            (-endless, low, endless, none),
            (high, endless, none, -endless),
            (slow, fast, effort, -effort),
        )
        return Graph(*(np.stack(parts, axis=2) for parts in zip(*laws, strict=True)))

    def _aims(self) -> tuple[Array, Array]:
        """Return the least and the largest speed at which motors may pursue their motions."""
        steps, record, joints = self.steps, self.steps.record, self.steps.model.joints
        slow, fast = np.zeros_like(self.speed), np.zeros_like(self.speed)
        for k in np.flatnonzero(pursued(self.steps.model.joints)):
            motion = joints.motions[self.joint[k]]
            assert motion is not None
            for s in range(steps.count):
                t = float(record.time[steps.first + s]) + (1.0 - record.scheme.theta) * steps.h
                rate = motion_rate(motion, t, steps.drift, secant=record.scheme.secant)
                lag = (motion(t) - self.at[s, k]) / steps.drift
                slow[s, k], fast[s, k] = rate + min(lag, 0.0), rate + max(lag, 0.0)
        return slow, fast

    def swing(self, change: Array) -> Array:
        """Return the pushes along joints, and of prescribed bodies, times the changes of their speeds, (S,) [J].

        `change` (N, 6) are those of moving bodies in the step. What is more than friction and motors can push is that
        of a limit, where bodies stop. What springs store is known from places and velocities.
        """
        steps, bound = self.steps, np.sum(np.where(np.isfinite(self.graph.up), self.graph.up, 0.0), axis=2)
        beside = self.push - self.spring
        pushed = self.damper + np.where(self.driven[self.joint], beside, np.clip(beside, -bound, bound))
        out: Array = np.sum(pushed * self._by_step(self.rows.velocity(change)), axis=1)
        # Twice what the mean speed in the step is more than that at its start.
        more = np.where(steps.moving[:, None], 0.0, 2.0 * (steps.drive - steps.v_start))
        out -= np.bincount(steps.step, np.sum(steps.pull * more, axis=1), minlength=steps.count)
        along = self.push - self.share * (self.spring - self.damper)
        out += np.sum(along * self._by_step(self.rows.velocity(more)), axis=1)
        return out

    def errors(self, excused: BoolArray, scale: Array) -> Worst:
        """Return how far the laws of every step are from being met, of its `scale` (S,); by joints.

        Joints that a motion without limit of effort drives push as they must; those `excused` (S, n_j) were pushed
        by more than the laws.
        """
        error = self.graph.distance(self.speed, self.push - self.spring, self.rho)
        # Speeds and pushes are sums, known to the rounding of their terms.
        error -= ROUNDING * (self.push_size + np.abs(self.spring) + self.rho * self._speeds())
        error = np.where(self.driven[self.joint] | excused[:, self.joint], 0.0, np.maximum(0.0, error))
        error = np.where(np.isnan(error), np.inf, error)
        size = np.maximum(scale, self.size)
        # Where no law pushes, errors are those of the reactions, with their arms, from which pushes are told.
        reactions = self.steps.pull_size.max(axis=1, initial=0.0).reshape(self.steps.count, -1).max(axis=1, initial=0.0)
        size = np.where(size > 0.0, size, reactions)[:, None]
        share = np.divide(error, size, out=np.where(error > 0.0, np.inf, 0.0), where=size > 0.0)
        step = np.repeat(np.arange(self.steps.count), self.joint.size)
        return Worst.of(share.reshape(-1), step, np.tile(self.joint, self.steps.count), self.steps.count)

    def _speeds(self) -> Array:
        """Return the sizes of the speeds that those of coordinates are differences of, (S, n_g)."""
        steps, arrays = self.steps, self.steps.model.joints.arrays
        v = np.where(steps.moving[:, None], steps.v_new, steps.drive).reshape(steps.count, -1, 6)
        long = np.linalg.norm(v[:, :, :3], axis=2) + np.linalg.norm(v[:, :, 3:], axis=2)
        a, b = arrays.body_a[self.joint], arrays.body_b[self.joint]
        size: Array = np.where(a == WORLD, 0.0, long[:, a]) + long[:, b]
        return size
