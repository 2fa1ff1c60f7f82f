r"""Coulomb's and Signorini's law from velocities and impulses, whoever computed them.

For a contact with the relative velocity u at the end of the step, :math:`K = \{|p_T| \le \mu p_n\}`,

.. math:: K^* \ni \hat u \perp p \in K, \qquad \hat u = u + (\sigma + \mu |u_T|)\,n .

What a gap :math:`\Psi` adds to the normal velocity differs between engines, and so does what they do to overlaps. So
:math:`\sigma` is chosen in favour of the step, between bounds: an open contact may be posed to touch at the end of the
step or before, :math:`0 \le \sigma \le \Psi/h`; one that overlaps may part as fast as ends the overlap in this step,
:math:`\Psi/h \le \sigma \le 0`; one with restitution e that was closing may part at e times that speed; and while some
contact rebounds, others may be driven together as fast as they were parting. Bodies that fly on after the impulses add
what that does to the normal velocity in the mean of the step, but part no faster for it than they came.

The residual of a step is that of the friction problem,
:math:`\|p - P_K(p - \rho \hat u)\| / \max(\|p\|, \|\rho b\|)`, with :math:`\rho = 1/W_{nn}` and b the velocities
without the impulses.
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini._jit import kernel
from signorini.audit.findings import ROUNDING, Worst
from signorini.audit.steps import Steps
from signorini.dynamics.constants import HELD_MOBILITY
from signorini.dynamics.joint_rows import Rows
from signorini.math.cones import CREDIBLE, natural_norms, natural_square, polygon_support, project_polygon
from signorini.math.product_cones import product_square
from signorini.model import Materials
from signorini.problems import FrictionProblem


def shifted(normal: Array, least: Array, most: Array) -> Array:
    """Return ``u_n + sigma``, (n_c,) [m/s], with the sigma between the bounds that suits the step best."""
    out: Array = normal + np.clip(-normal, least, most)
    return out


def gap_bounds(gap: Array, h: float) -> tuple[Array, Array]:
    """Return the bounds of sigma that a gap alone sets, (n_c,) [m/s]."""
    return np.minimum(gap, 0.0) / h, np.maximum(gap, 0.0) / h


def explained(problem: FrictionProblem, p: Array, u: Array, normal: Array) -> float:
    r"""Return how far impulses `p` (n_c, 3) are from explaining the velocities `u` of a step by the law.

    .. math:: \bigl(\|p - P_K(p - \rho \hat u)\| + \|\rho (W p + b - u)\|\bigr) / \max(\|p\|, \|\rho (u - b)\|)

    `normal` (n_c,) are the shifted normal velocities.
    """
    seen = u.copy()
    seen[:, 0] = normal
    error, size, done = natural_norms(np.ascontiguousarray(p), seen, u - problem.load, problem.mu, problem.rho)
    missed = problem.velocity(p.reshape(-1)).reshape(-1, 3) - u
    rounding = ROUNDING * float(np.linalg.norm(problem.rho[:, None] * problem.load))  # nothing touches: all is rounding
    scale = max(size, done, rounding)
    return float((error + np.linalg.norm(problem.rho[:, None] * missed)) / scale) if scale > 0.0 else 0.0


class Law:
    """The law at the contacts of some steps; `moved` (N, 6) is by how much overlaps were parted before they acted.

    `beside` (S,) are impulses of laws of joints, which are solved together with those of contacts, and to their scale.
    """

    def __init__(self, steps: Steps, moved: Array, beside: Array | None = None) -> None:
        self.steps, self.beside = steps, beside
        contacts, scheme, materials = steps.contacts, steps.record.scheme, steps.model.materials
        table = steps.record.contacts
        own = None if table is None or table.mu is None else table.mu[steps.rows]
        self.mu = np.ascontiguousarray(materials.friction[contacts.material] if own is None else own)
        self.e = materials.restitution[contacts.material]
        still = steps.v_new.copy()
        still[~steps.moving] = 0.0
        drive = steps.relative(steps.drive)
        self.u = steps.relative(still) + drive
        W_p = steps.relative(np.einsum("bij,bj->bi", steps.free.M_inv, steps.push))
        start = steps.free.v_before.copy()
        start[~steps.moving] = 0.0
        self.before = steps.relative(start)[:, 0] + drive[:, 0]
        self.gap = contacts.gap + steps.relative(moved)[:, 0]
        self.rho = self._rho()
        self.cone = Cones(materials, contacts.material, self.mu) if _beyond(materials) else None
        """Those of contacts with couples; None if no contact can have one."""
        self.turning = steps.turning(still) + steps.turning(steps.drive)
        self.least, self.most = self._bounds()
        self.normal = shifted(self.u[:, 0], self.least, self.most)
        if scheme.stiffness is not None:
            give = steps.p[:, 0] / (steps.drift * steps.h * scheme.stiffness)
            self.normal = self.u[:, 0] + contacts.gap / steps.drift + give
        self.load = self.u - W_p
        self.load[:, 0] += np.maximum(self.gap, 0.0) / steps.drift

    def _rho(self) -> Array:
        """Return ``1/W_nn`` of bodies without joints, (n_c,) [kg]."""
        steps, W = self.steps, np.zeros(self.mu.size)
        for J, body in ((steps.J_a, steps.contacts.body_a), (steps.J_b, steps.contacts.body_b)):
            W += np.einsum("ci,cij,cj->c", J[:, 0], steps.free.M_inv[body], J[:, 0])
        return np.divide(1.0, W, out=np.zeros_like(W), where=W > 0.0)

    def weigh(self, which: BoolArray) -> None:
        """Measure the contacts of some steps (S,) by the mobilities of joined bodies, as the solver does.

        See :meth:`signorini.audit.joint_laws.JointLaws.weigh`.
        """
        steps = self.steps
        for s in np.flatnonzero(which):
            c = np.flatnonzero(steps.contact_step == s)
            if not c.size:
                continue
            ends = np.stack([steps.contacts.body_a[c], steps.contacts.body_b[c]], axis=1) - s * steps.body_count
            body = np.repeat(ends, 3, axis=0).reshape(-1)
            J = np.stack([steps.J_a[c], steps.J_b[c]], axis=2).reshape(-1, 6)
            none = np.zeros(3 * c.size)
            W = steps.joined(int(s)).mobility(Rows(2 * np.arange(none.size + 1), body, J, none, none.copy()))
            normal = W.diagonal()[::3]
            self.rho[c] = np.divide(1.0, normal, out=self.rho[c].copy(), where=normal > 0.0)
            self.load[c] = self.u[c] - (W @ steps.p[c].reshape(-1)).reshape(-1, 3)
            self.load[c, 0] += np.maximum(self.gap[c], 0.0) / steps.drift

    def _bounds(self) -> tuple[Array, Array]:
        scheme, drift, step = self.steps.record.scheme, self.steps.drift, self.steps.contact_step
        least, most = gap_bounds(self.gap, drift)
        least, most = (
            np.maximum(x + veered, np.minimum(np.minimum(x, 0.0), self.before))
            for x, veered in zip((least, most), self.steps.veered(), strict=True)
        )
        if scheme.polygon is not None:
            return self.gap / drift, self.gap / drift
        rebound = (self.e > 0.0) & (self.before < 0.0)
        # By the passive law they part at that speed or less: a part of the rebound is left out where it would gain.
        least = np.where(rebound, np.minimum(least, self.e * self.before), least)
        most = np.where(rebound, np.maximum(most, 0.0), most)
        some = np.zeros(self.steps.count, dtype=bool)
        some[step[rebound & (self.steps.p[:, 0] > 0.0)]] = True
        return least, np.where(some[step], np.maximum(most, self.before), most)

    def scale(self) -> Array:
        """Return the impulse by which the errors of every step are measured, (S,) [N s]."""
        step, count = self.steps.contact_step, self.steps.count
        vectors = (self.steps.p, self.rho[:, None] * self.load)
        if self.cone is not None:
            vectors = (self.cone.impulses(self.steps.p, self.steps.couple), vectors[1])
        sizes = [np.sqrt(np.bincount(step, np.sum(x**2, axis=1), minlength=count)) for x in vectors]
        largest: Array = np.maximum(*sizes)
        return largest if self.beside is None else np.hypot(largest, self.beside)

    def excess(self, known: BoolArray) -> Worst:
        """Return by how much impulses of contacts that are `known` leave their cones, of the scale of their step."""
        p, step, scale = self.steps.p, self.steps.contact_step, self.scale()
        beyond = np.maximum(np.linalg.norm(p[:, 1:], axis=1) - self.mu * p[:, 0], -p[:, 0])
        if self.cone is not None:
            beyond = self.cone.excess(p, self.steps.couple)
        beyond = np.where(self.steps.contacts.material < 0, np.linalg.norm(p, axis=1), beyond)  # must not touch
        value = np.where(known, np.maximum(_share(beyond, scale[step]), 0.0), 0.0)
        return Worst.of(value, step, self._rows, self.steps.count)

    @property
    def _rows(self) -> IntArray:
        """Rows of the record, (n_c,)."""
        return np.arange(self.steps.rows.start, self.steps.rows.stop)

    def misstated(self, told: Array) -> Worst:
        """Return by which part relative velocities that the record has `told` (n_c, 3) differ from those of bodies."""
        off = np.maximum(0.0, np.abs(told - self.u) - self._held())
        return Worst.of(
            _share(np.linalg.norm(off, axis=1), self._speeds()), self.steps.contact_step, self._rows, self.steps.count
        )

    def _held(self) -> Array:
        """Return how far velocities of contacts may be from those of bodies that joints hold, (n_c, 3) [m/s].

        Where joints leave less than `HELD` of its mobility to a row, it counts as one along which nothing moves.
        """
        steps, mobility = self.steps, np.zeros_like(self.u)
        joined = (steps.model.joints.tree.of_body >= 0)[steps.body]
        for J, body in ((steps.J_a, steps.contacts.body_a), (steps.J_b, steps.contacts.body_b)):
            own = np.einsum("cij,cjk,cik->ci", J, steps.free.M_inv[body], J)
            mobility += np.where(joined[body][:, None], own, 0.0)
        pushed = np.where(steps.moving[:, None], steps.v_new - steps.free.v, 0.0)
        energy = np.einsum("bi,bij,bj->b", pushed, steps.free.M, pushed)
        twice = np.bincount(steps.step, energy, minlength=steps.count)
        return np.sqrt(HELD_MOBILITY * mobility * twice[steps.contact_step][:, None])

    def _speeds(self) -> Array:
        """Return the sizes of the velocities that the relative ones are differences of, (n_c,) [m/s]."""
        steps, size = self.steps, np.zeros(self.mu.size)
        for J, body in ((steps.J_a, steps.contacts.body_a), (steps.J_b, steps.contacts.body_b)):
            arm = np.linalg.norm(J[:, 0, 3:], axis=1) + np.linalg.norm(J[:, 1, 3:], axis=1)
            for v in (steps.v_new, steps.free.v, steps.drive):
                size += np.linalg.norm(v[body, :3], axis=1) + arm * np.linalg.norm(v[body, 3:], axis=1)
        return size

    def residuals(self, repeated: BoolArray, tolerance: float) -> Worst:
        """Return the residual of every step that can be `repeated` (S,), and the row of the contact that errs most.

        A contact that is off by a thousandth of the largest velocity of the step, or a thousand times the tolerance if
        that is more, makes the residual of the step as much larger: a light body beside heavy ones is not to be missed.
        """
        steps, count, step = self.steps, self.steps.count, self.steps.contact_step
        seen = self.u.copy()
        seen[:, 0] = self.normal
        directions, rotation = steps.record.scheme.polygon or (0, 0.0)
        error = np.zeros(self.mu.size)
        if error.size and self.cone is not None:
            error = self.cone.errors(steps.p, steps.couple, seen, self.turning, self.rho)
        elif error.size:
            natural_errors(steps.p, seen, self.mu, self.rho, 0 if steps.model.planar else directions, rotation, error)
        # What moves together presses by rounding alone: relative velocities are known to that of the bodies' own.
        error = np.maximum(0.0, error - ROUNDING * self.rho * self._speeds())
        value = _share(np.sqrt(np.bincount(step, error**2, minlength=count)), self.scale())
        fastest = np.zeros(count)
        np.maximum.at(fastest, step, np.abs(self.load).max(axis=1, initial=0.0))
        allowed = max(CREDIBLE, 1e3 * tolerance) * fastest[step] * self.rho
        value = np.maximum(value, tolerance * Worst.of(_share(error, allowed), step, self._rows, count).value)
        value = np.where(np.isnan(value), np.inf, value)
        return Worst(np.where(repeated, value, 0.0), Worst.of(error, step, self._rows, count).who)


def _beyond(materials: Materials) -> bool:
    """Tell whether some contact may have a couple, or friction of another shape than a disc."""
    return any(np.any(values > 0.0) for values in (materials.torsional, materials.rolling, materials.ellipsoid))


class Cones:
    """Cones of contacts with couples, in scaled components (n, t, o, tau, rho_t, rho_o).

    See :mod:`signorini.problems.friction_extension`.
    """

    def __init__(self, materials: Materials, material: IntArray, mu: Array) -> None:
        n_c, rolling, e = mu.size, materials.rolling[material], materials.ellipsoid[material]
        torsional = materials.torsional[material]
        self.bent: BoolArray = np.any(e > 0.0, axis=1)
        """Whether tangential force and torsion are bounded together, (n_c,)."""
        self.scale = np.ones((n_c, 6))
        """Half axes: impulses by these are bounded by balls, (n_c, 6)."""
        self.scale[:, 1:4] = np.where(self.bent[:, None], e, 1.0)
        self.scale[:, 3] = np.where(self.bent, e[:, 2], torsional)
        self.scale[:, 4:] = rolling[:, None]
        self.limits = np.stack([mu, (torsional > 0.0) & ~self.bent, rolling > 0.0], axis=1).astype(np.float64)
        """Of tangential force (with torsion where bent), torsion and rolling, (n_c, 3)."""
        self.scale[self.scale == 0.0] = 1.0  # of couples that may not act

    def impulses(self, p: Array, couple: Array) -> Array:
        """Return the scaled components of impulses, (n_c, 6) [N s]."""
        x: Array = np.hstack([p, couple]) / self.scale
        return x

    def excess(self, p: Array, couple: Array) -> Array:
        """Return by how much impulses leave their cones, (n_c,) [N s]."""
        x = self.impulses(p, couple)
        tangential = np.linalg.norm(x[:, 1:3], axis=1)
        first = np.where(self.bent, np.hypot(tangential, x[:, 3]), tangential)
        groups = np.stack([first, np.where(self.bent, 0.0, np.abs(x[:, 3])), np.linalg.norm(x[:, 4:], axis=1)], axis=1)
        beyond: Array = np.maximum((groups - self.limits * x[:, :1]).max(axis=1, initial=0.0), -x[:, 0])
        return beyond

    def errors(self, p: Array, couple: Array, u: Array, turning: Array, rho: Array) -> Array:
        """Return the norms of the natural maps, (n_c,) [N s], for velocities `u` and `turning` (n_c, 3)."""
        out = np.zeros(rho.size)
        x, seen = self.impulses(p, couple), np.hstack([u, turning]) * self.scale
        product_errors(x, seen, self.limits, self.bent.astype(np.int64), rho, out)
        return out


@kernel
def product_errors(x: Array, u: Array, limits: Array, bent: IntArray, rho: Array, out: Array) -> None:
    """Write the norm of the natural map of every contact with couples."""
    z, bounds = np.empty((1, 6)), np.empty((1, 3))
    apart, together = np.array([1, 3, 4, 6]), np.array([1, 4, 4, 6])
    for c in range(rho.shape[0]):
        for k in range(3):
            bounds[0, k] = limits[c, k]
        out[c] = math.sqrt(product_square(x, u, c, bounds, together if bent[c] == 1 else apart, rho[c], z))


def _share(part: Array, whole: Array) -> Array:
    """Return ``part / whole``, 0 for nothing of nothing."""
    return np.divide(part, whole, out=np.where(part > 0.0, np.inf, 0.0), where=whole > 0.0)


@kernel
def natural_errors(p: Array, u: Array, mu: Array, rho: Array, directions: int, rotation: float, out: Array) -> None:
    """Write the norm of the natural map of every contact; `directions` 0: the exact cone, else a polygon."""
    for c in range(mu.shape[0]):
        if directions == 0:
            square = natural_square(p[c, 0], p[c, 1], p[c, 2], u[c, 0], u[c, 1], u[c, 2], mu[c], rho[c])
        else:
            z0 = p[c, 0] - rho[c] * (u[c, 0] + mu[c] * polygon_support(u[c, 1], u[c, 2], directions, rotation))
            z1, z2 = p[c, 1] - rho[c] * u[c, 1], p[c, 2] - rho[c] * u[c, 2]
            z0, z1, z2 = project_polygon(z0, z1, z2, mu[c], directions, rotation)
            square = (p[c, 0] - z0) ** 2 + (p[c, 1] - z1) ** 2 + (p[c, 2] - z2) ** 2
        out[c] = math.sqrt(square)
