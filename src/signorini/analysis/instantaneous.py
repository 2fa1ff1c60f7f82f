r"""The instantaneous model CP1 (S1, section 3.1) of bodies that share contacts, seen from its contacts.

Positions and velocities are given; forces and accelerations are sought. Every closed contact with zero normal velocity
has a normal force :math:`c_n`; a rolling one (no slip) also a friction force :math:`c_T`, a sliding one the known
friction :math:`-\mu c_n v_T/|v_T|`. With joints eliminated the accelerations of the contacts are ``a = W x + b`` and

.. math::
    0 \le c_n \perp a_n \ge 0, \qquad
    \mu c_n a_T + \lambda c_T = 0, \quad 0 \le \lambda \perp \mu^2 c_n^2 - |c_T|^2 \ge 0, \qquad
    c_f \in [-c_{max}, c_{max}],\ a_f \text{ against it},

the last for joints with dry friction that do not move. W is not symmetric where a contact slides: forces may then not
exist or not be unique (Painleve).

==============  ==========================  ============================================================
here            S1                          meaning
==============  ==========================  ============================================================
``x``           :math:`c_n, c_T, c_f`       forces: normal ones, friction of rolling contacts, of joints
``W``           :math:`J^T A_{11} \hat J`   accelerations per force, (n, n)
``b``           :math:`W^T a_0 + k`         accelerations without these forces, (n,)
``friction``    :math:`\mu`                 of the rolling contacts, (k,)
``limit``       :math:`{}^bc_{f,max}`       of the joints, (j,)
``slip_rate``   :math:`\lambda`             ``|a_T|`` of rolling contacts that begin to slip
==============  ==========================  ============================================================

References
----------
.. [S1] Trinkle (2003), Definition 3, eqs. (17)-(23). Eq. (23) lacks the acceleration in print; dry friction of a joint
   is posed as a bounded unknown, which is the same law.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.analysis.matrix_classes import DEPENDENT
from signorini.problems import LCP, MCP

PRESSES = 1e-9
"""Of the largest force: what is below does not press."""


@dataclass(frozen=True, slots=True)
class Instantaneous:
    """CP1 in units of its own, in which every row alone has unit mass and the largest load is 1.

    Unknowns: the m normal forces, then the friction of the k rolling contacts (`tangents` components each), then that
    of the j joints.
    """

    W: Array
    b: Array
    metric: Array
    """``x . metric x`` is how strongly forces move the bodies: 0 for forces that balance each other, (n, n)."""
    rolling: IntArray
    """Which of the m contacts roll, (k,)."""
    friction: Array
    limit: Array
    tangents: int
    """Tangent directions of a contact: 2 in space, 1 in the plane."""
    force_unit: Array
    """Turns x into forces [N], torques of joints [N m], (n,)."""

    @staticmethod
    def scaled(
        W: Array,
        b: Array,
        metric: Array,
        mobility: Array,
        *,
        rolling: IntArray,
        friction: Array,
        limit: Array,
        tangents: int,
    ) -> Instantaneous:
        """Pose the problem from data in SI units; `mobility` (n,) is what a unit force gives its own row."""
        m, k = mobility.size - tangents * rolling.size - limit.size, rolling.size
        d = np.where(mobility > DEPENDENT * mobility.max(initial=0.0), mobility, mobility.max(initial=0.0) or 1.0)
        # A cone stays a cone only if its rows share a unit.
        d[m : m + tangents * k] = np.repeat(d[rolling], tangents)
        root = np.sqrt(d)
        size = float(np.abs(b / root).max(initial=0.0)) or 1.0
        unit = size / root
        return Instantaneous(
            W / np.outer(root, root),
            b / (size * root),
            metric / np.outer(root, root),
            rolling,
            friction,
            limit / unit[unit.size - limit.size :],
            tangents,
            unit,
        )

    @property
    def size(self) -> int:
        """Number of unknown forces."""
        return int(self.b.size)

    @property
    def contact_count(self) -> int:
        """Number of contacts m."""
        return self.size - self.tangents * self.rolling.size - self.limit.size

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """Return the normal part (m,), the tangential one (k, tangents) and that of the joints (j,) of a vector."""
        m, k = self.contact_count, self.rolling.size
        return x[:m], x[m : m + self.tangents * k].reshape(k, self.tangents), x[m + self.tangents * k :]

    def acceleration(self, x: Array) -> Array:
        """Return ``a = W x + b``."""
        a: Array = self.W @ x + self.b
        return a

    def residual(self, x: Array) -> float:
        """Return how far `x` is from a solution with exact cones, relative to forces and loads."""
        if not np.isfinite(x).all():
            return float("inf")
        c_n, c_T, c_f = self.split(x)
        a_n, a_T, a_f = self.split(self.acceleration(x))
        target = c_T - a_T
        length, radius = np.linalg.norm(target, axis=1), self.friction * np.maximum(c_n[self.rolling], 0.0)
        nearest = target * np.minimum(1.0, radius / np.where(length > 0.0, length, 1.0))[:, None]
        off = np.concatenate(
            [np.minimum(c_n, a_n), (c_T - nearest).reshape(-1), c_f - np.clip(c_f - a_f, -self.limit, self.limit)]
        )
        size = max(float(np.abs(x).max(initial=0.0)), float(np.abs(self.b).max(initial=0.0)))
        return float(np.abs(off).max(initial=0.0)) / size if size > 0.0 else 0.0

    # --- the polygonal cone: an LCP ----------------------------------------

    def generators(self, directions: Array) -> Array:
        """Return the matrix of ``x = generators @ (c_n, beta)``; `directions` (n_d, tangents) of the polygon."""
        m, k, j, n_d = self.contact_count, self.rolling.size, self.limit.size, directions.shape[0]
        t = self.tangents
        G = np.zeros((self.size, m + n_d * k + 2 * j))
        G[:m, :m] = np.eye(m)
        for i in range(k):
            G[m + t * i : m + t * (i + 1), m + n_d * i : m + n_d * (i + 1)] = directions.T
        G[m + t * k :, m + n_d * k :] = np.kron(np.eye(j), [1.0, -1.0])
        return G

    def lcp(self, directions: Array) -> LCP:
        """Return the linearised model (S1, section 3.2), unknowns ``(c_n, beta, sigma)``."""
        m, k, j, n_d = self.contact_count, self.rolling.size, self.limit.size, directions.shape[0]
        G = self.generators(directions)
        n = G.shape[1]
        E = np.zeros((n, k + j))
        E[m : m + n_d * k, :k] = np.repeat(np.eye(k), n_d, axis=0)
        E[m + n_d * k :, k:] = np.repeat(np.eye(j), 2, axis=0)
        U = np.zeros((k + j, n))
        U[np.arange(k), self.rolling] = self.friction
        F = np.block([[G.T @ self.W @ G, E], [U - E.T, np.zeros((k + j, k + j))]])
        return LCP(F, np.concatenate([G.T @ self.b, np.zeros(k), self.limit]))

    # --- the exact cone: a nonlinear problem -------------------------------

    def mcp(self, x: Array) -> MCP:
        """Return the model with exact cones (22), unknowns ``(x, lambda)``, started at the forces `x`."""
        n, m, k, t = self.size, self.contact_count, self.rolling.size, self.tangents
        mu, roll = self.friction, self.rolling
        T = np.arange(m, m + t * k).reshape(k, t)  # rows of the tangents
        L = np.arange(n, n + k)  # rows of lambda

        def value(z: Array) -> Array:
            c_T, slip_rate = z[T], z[n:]
            F = np.concatenate([self.acceleration(z[:n]), np.zeros(k)])
            F[T] = (mu * z[roll])[:, None] * F[T] + slip_rate[:, None] * c_T
            F[L] = mu**2 * z[roll] ** 2 - np.sum(c_T**2, axis=1)
            return F

        def jacobian(z: Array) -> Array:
            J = np.zeros((n + k, n + k))
            J[:n, :n] = self.W
            a_T = self.split(self.acceleration(z[:n]))[1]
            for i in range(k):
                J[T[i]] *= mu[i] * z[roll[i]]
                J[T[i], roll[i]] += mu[i] * a_T[i]
                J[T[i], T[i]] += z[n + i]
                J[T[i], L[i]] = z[T[i]]
                J[L[i], roll[i]] = 2.0 * mu[i] ** 2 * z[roll[i]]
                J[L[i], T[i]] = -2.0 * z[T[i]]
            return J

        infinite = np.full(n, np.inf)
        lower = np.concatenate([np.zeros(m), -infinite[: t * k], -self.limit, np.zeros(k)])
        upper = np.concatenate([infinite[: m + t * k], self.limit, infinite[:k]])
        start = np.concatenate([x, np.linalg.norm(self.split(self.acceleration(x))[1], axis=1)])
        return MCP(value, jacobian, lower=lower, upper=upper, x0=start)

    def restricted(self, kept: BoolArray) -> tuple[Instantaneous, IntArray]:
        """Return the problem of some contacts only, the others without force, and the rows of x that it keeps."""
        t = self.tangents
        rolls = kept[self.rolling]
        rows = np.flatnonzero(np.concatenate([kept, np.repeat(rolls, t), np.ones(self.limit.size, dtype=bool)]))
        part = np.ix_(rows, rows)
        number = np.cumsum(kept) - 1
        return (
            replace(
                self,
                W=np.ascontiguousarray(self.W[part]),
                b=self.b[rows],
                metric=np.ascontiguousarray(self.metric[part]),
                rolling=number[self.rolling[rolls]],
                friction=self.friction[rolls],
                force_unit=self.force_unit[rows],
            ),
            rows,
        )

    def unique_by_small_friction(self) -> bool:
        r"""Tell whether friction is so small that exact cones allow one solution only; False decides nothing.

        For the difference d of two solutions monotonicity of the law leaves
        :math:`d^T W d \le \sum \mu_i |d_{n,i}| |(W d)_{T,i}|`. In the norm of W, if that is symmetric and regular, the
        right-hand side is at most :math:`\sum \mu_i \sqrt{(W^{-1})_{nn,i}\, \lambda_{max}(W_{TT,i})}`, which below 1
        leaves only d = 0.
        """
        asymmetry = np.abs(self.W - self.W.T).max(initial=0.0)
        values = np.linalg.eigvalsh(0.5 * (self.W + self.W.T))
        if asymmetry > 1e-12 * np.abs(self.W).max(initial=0.0) or values.min() <= DEPENDENT * values.max():
            return False
        normal = np.diag(np.linalg.inv(self.W))
        m, t = self.contact_count, self.tangents
        total = 0.0
        for i, (c, mu) in enumerate(zip(self.rolling, self.friction, strict=True)):
            block = self.W[m + t * i : m + t * (i + 1), m + t * i : m + t * (i + 1)]
            total += float(mu * np.sqrt(normal[c] * np.linalg.eigvalsh(block).max()))
        return total < 1.0

    # --- what forces mean --------------------------------------------------

    def pressing(self, x: Array) -> BoolArray:
        """Tell which contacts press, (m,)."""
        c_n = self.split(x)[0]
        presses: BoolArray = c_n > PRESSES * np.abs(x).max(initial=0.0)
        return presses

    def opening(self, x: Array) -> BoolArray:
        """Tell which contacts are about to open, (m,)."""
        opens: BoolArray = self.split(self.acceleration(x))[0] > 1e-8
        return opens

    def sticking(self, x: Array) -> BoolArray:
        """Tell which rolling contacts go on rolling: their friction is below its limit, or nothing moves, (k,)."""
        c_n, c_T, _ = self.split(x)
        a_T = self.split(self.acceleration(x))[1]
        strength = np.linalg.norm(c_T, axis=1)
        inside = strength < (1.0 - 1e-9) * self.friction * c_n[self.rolling]
        sticks: BoolArray = inside | (np.linalg.norm(a_T, axis=1) <= 1e-8)
        return sticks & self.pressing(x)[self.rolling]

    def same_motion(self, x: Array, y: Array) -> bool:
        """Tell whether two sets of forces move the bodies alike."""
        difference = x - y
        size = max(1.0, float(x @ self.metric @ x), float(y @ self.metric @ y))
        return bool(difference @ self.metric @ difference <= 1e-14 * size)

    def forces_determined(self, x: Array) -> bool:
        """Tell whether the forces of this motion are its only ones: none that could act balance each other."""
        columns, only_more = self._active(x)
        values, vectors = np.linalg.eigh(columns.T @ self.metric @ columns)
        idle = vectors[:, values <= DEPENDENT * values.max(initial=0.0)]
        if idle.shape[1] == 1 and only_more.any():
            # Contacts without load can only take some: a balance that asks them to pull is none.
            share = idle[only_more, 0]
            return bool(share.min() < -PRESSES and share.max() > PRESSES)
        return not idle.size

    def _active(self, x: Array) -> tuple[Array, BoolArray]:
        """Return the forces that may vary while every contact does what it does, as columns (n, r).

        Also which of them belong to closed contacts without load, whose force can only grow, (r,).
        """
        c_n, c_T, c_f = self.split(x)
        m, t = self.contact_count, self.tangents
        unit = np.eye(self.size)
        columns, only_more = [], []
        roll = {int(c): i for i, c in enumerate(self.rolling)}
        sticks, presses = self.sticking(x), self.pressing(x)
        for c in np.flatnonzero(~self.opening(x)):
            i = roll.get(int(c))
            normal = unit[c].copy()
            if presses[c] and i is not None and sticks[i]:
                columns += [normal, *unit[m + t * i : m + t * (i + 1)]]
                only_more += [False] * (1 + t)
                continue
            if presses[c] and i is not None:
                normal[m + t * i : m + t * (i + 1)] = c_T[i] / c_n[c]
            columns.append(normal)
            only_more.append(not presses[c])
        loose = np.flatnonzero(np.abs(c_f) < (1.0 - 1e-9) * self.limit)
        columns += [unit[self.size - c_f.size + i] for i in loose]
        only_more += [False] * loose.size
        return np.array(columns).reshape(len(columns), self.size).T, np.array(only_more, dtype=bool)
