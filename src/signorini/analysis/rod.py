r"""The rod between two walls (S4, figure 1): the example in which every behaviour appears.

Contact 1 is the lower end on the floor y = 0, contact 2 the upper end under a wall through the origin in the direction
:math:`(\cos\alpha, \sin\alpha)`; coordinates :math:`q = (x, y, \theta)` of the middle and the direction of the rod.
With the signed friction :math:`u_i = \mu_i\, \mathrm{sgn}(\Gamma_i \dot q)`

.. math:: D = \Phi_q M^{-1} (\Phi_q + \hat\Phi_q)^T, \qquad \hat\Phi_{q,i} = -u_i \Gamma_i .

References
----------
.. [S4] Dupont & Yamajako (1997), eqs. (37)-(41); the compliant model is eq. (10) with (11).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked_number
from signorini.errors import InputError


@dataclass(frozen=True, slots=True)
class Rod:
    """Geometry and inertia; the defaults are those of figures 2 and 3."""

    alpha: float = np.pi / 4
    """Slope of the wall [rad]."""
    theta: float = np.pi / 2.3
    """Direction of the rod [rad]."""
    slenderness: float = 3.0
    """``m l^2 / J``: 3 for a uniform rod."""
    mass: float = 1.0
    """[kg]"""
    half_length: float = 1.0
    """[m]"""

    def __post_init__(self) -> None:
        checked_number(self.alpha, "rod: alpha")
        checked_number(self.theta, "rod: theta")
        for name in ("slenderness", "mass", "half_length"):
            checked_number(getattr(self, name), f"rod: {name}", above=0.0)

    @property
    def inertia(self) -> float:
        """Moment of inertia about the middle [kg m^2]."""
        return self.mass * self.half_length**2 / self.slenderness

    def gaps(self, q: Array) -> Array:
        """Return the distances of the two ends from their walls, (2,) [m] (S4, eq. 37)."""
        x, y, theta = q
        l, s, c = self.half_length, np.sin(self.alpha), np.cos(self.alpha)
        return np.array(
            [y - l * np.sin(theta), (x + l * np.cos(theta)) * s - (y + l * np.sin(theta)) * c], dtype=np.float64
        )

    def normals(self, theta: float | None = None) -> Array:
        r"""Return :math:`\Phi_q`, (2, 3) (S4, eq. 38)."""
        theta = self.theta if theta is None else theta
        l, alpha = self.half_length, self.alpha
        return np.array(
            [[0.0, 1.0, -l * np.cos(theta)], [np.sin(alpha), -np.cos(alpha), -l * np.cos(theta - alpha)]],
            dtype=np.float64,
        )

    def tangents(self, theta: float | None = None) -> Array:
        r"""Return the rows :math:`\Gamma_i`, (2, 3)."""
        theta = self.theta if theta is None else theta
        l, alpha = self.half_length, self.alpha
        return np.array(
            [[1.0, 0.0, l * np.sin(theta)], [np.cos(alpha), np.sin(alpha), -l * np.sin(theta - alpha)]],
            dtype=np.float64,
        )

    def inverse_inertia(self) -> Array:
        """Return the diagonal of the inverse inertia, (3,)."""
        return np.array([1.0 / self.mass, 1.0 / self.mass, 1.0 / self.inertia])

    def matrix(self, u_1: ArrayLike, u_2: ArrayLike) -> Array:
        """Return D for signed friction coefficients, (..., 2, 2) [1/kg]."""
        u = np.stack(np.broadcast_arrays(np.asarray(u_1, dtype=float), np.asarray(u_2, dtype=float)), axis=-1)
        normals = self.normals()
        weighted = normals * self.inverse_inertia()
        D: Array = weighted @ normals.T - (weighted @ self.tangents().T) * u[..., None, :]
        return D

    def sliding_velocity(self, turn: float) -> Array:
        """Return the velocity (xdot, ydot, thetadot) that keeps both contacts while turning at `turn` [rad/s], (3,)."""
        normals = self.normals()
        linear = np.linalg.solve(normals[:, :2], -normals[:, 2] * turn)
        return np.append(linear, turn)


@dataclass(frozen=True, slots=True)
class CompliantRun:
    """Contact forces of the rod on soft walls."""

    tau: Array
    """Stretched time ``t / sqrt(eps)``, (n,)."""
    force: Array
    """Normal forces, (n, 2) [N]."""
    gap: Array
    """(n, 2) [m]"""
    growth: float
    """Rate at which the disturbance grows (or decays) while it is small, in stretched time."""

    @property
    def deviation(self) -> float:
        """Largest distance of a force from the 1 N of the rigid model [N]."""
        return float(np.abs(self.force - 1.0).max())

    @property
    def loses_contact(self) -> bool:
        """Tell whether a contact opened."""
        return bool(self.gap.max() > 0.0)


def compliant_rod(
    rod: Rod,
    friction: tuple[float, float],
    damping: float,
    *,
    eps: float = 1e-6,
    turn: float = 0.2,
    duration: float = 60.0,
    disturbance: float = 1e-2,
    samples: int = 2401,
) -> CompliantRun:
    r"""Move the rod in full on soft walls, ``lambda = -(C Phidot + K Phi)`` where a wall is dented, never negative.

    The rod slides at both ends, turning at `turn` [rad/s], under constant loads for which the rigid model has the
    contact forces (1, 1) N at the start. ``C = c/sqrt(eps)``, ``K = k/eps`` with k = 1 N/m and c from `damping` =
    ``c^2/k``.

    Parameters
    ----------
    friction : pair of float
        Coefficients of the two contacts, not signed.
    damping : float
        ``c^2/k`` [kg].
    eps : float
        The small parameter: 0 would be rigid.
    turn : float
        [rad/s]
    duration : float
        In stretched time.
    disturbance : float
        Added to the first force at the start, so that growth can be seen [N].
    samples : int
        Number of times returned.

    References
    ----------
    .. [S4] eqs. (10)-(13).
    """
    from scipy.integrate import solve_ivp

    mu = np.array([checked_number(f, "friction", least=0.0) for f in friction])
    c = np.sqrt(checked_number(damping, "damping c^2/k", least=0.0))
    root = np.sqrt(checked_number(eps, "eps", above=0.0))
    if turn == 0.0:
        raise InputError("turn is 0, must not be: contacts that do not slide are outside the theory")
    m_inv = rod.inverse_inertia()
    velocity = rod.sliding_velocity(turn)
    load = balancing_load(rod, mu, velocity)
    # Chatter may stop or turn the slip, which is outside the theory; a sign rounded off far below the sliding speeds
    # lets the integrator pass, and equals 1 to rounding as long as the rod slides.
    smooth = 1e-3 * abs(turn) * rod.half_length

    def forces(q: Array, v: Array) -> Array:
        gap = rod.gaps(q)
        rate = rod.normals(q[2]) @ v
        return np.where(gap < 0.0, np.maximum(-(c / root * rate + gap / eps), 0.0), 0.0)

    def rates(tau: float, state: Array) -> Array:
        q, v = state[:3], state[3:]
        tangents = rod.tangents(q[2])
        pushed = rod.normals(q[2]) - (mu * np.tanh(tangents @ v / smooth))[:, None] * tangents
        rate: Array = root * np.concatenate([v, m_inv * (load + pushed.T @ forces(q, v))])
        return rate

    start = np.array([0.0, 0.0, rod.theta])
    dent = -eps * np.array([1.0 + disturbance, 1.0])
    start[:2] = np.linalg.solve(rod.normals()[:, :2], dent - rod.gaps(start))
    tau = np.linspace(0.0, duration, samples)
    # The force law has corners; short steps keep the integrator from stepping over them.
    run = solve_ivp(
        rates,
        (0.0, duration),
        np.concatenate([start, velocity]),
        method="DOP853",
        t_eval=tau,
        rtol=1e-10,
        atol=1e-14,
        max_step=0.25,
    )
    q, v = run.y[:3].T, run.y[3:].T
    force = np.array([forces(*pair) for pair in zip(q, v, strict=True)])
    return CompliantRun(tau, force, np.array([rod.gaps(row) for row in q]), _growth(tau, force))


def balancing_load(rod: Rod, friction: ArrayLike, velocity: Array) -> Array:
    """Return generalized loads for which the rigid rod, turning steadily, has the contact forces (1, 1) N, (3,)."""
    mu = np.asarray(friction, dtype=np.float64)
    normals, tangents = rod.normals(), rod.tangents()
    pushed = normals - (mu * np.sign(tangents @ velocity))[:, None] * tangents
    theta, alpha, l, turn = rod.theta, rod.alpha, rod.half_length, velocity[2]
    # The rate of the normals times the velocity: both ends move on circles about the middle.
    bias = l * turn**2 * np.array([np.sin(theta), np.sin(theta - alpha)])
    acceleration = np.append(np.linalg.solve(normals[:, :2], -bias), 0.0)
    load: Array = acceleration / rod.inverse_inertia() - pushed.T @ np.ones(2)
    return load


def _growth(tau: Array, force: Array) -> float:
    """Fit the exponential rate of the disturbance to the swings of the first force, while the law is still linear.

    A swing leads from one extreme to the next, so that a slow change of the mean does not count. Beyond 0.8 N contacts
    open; swings below 0.02 N are as small as that change.
    """
    large = np.flatnonzero(np.abs(force - 1.0).max(axis=1) >= 0.8)
    x = force[: int(large[0]) if large.size else tau.size, 0]
    step = np.diff(x)
    extremes = np.flatnonzero(step[1:] * step[:-1] < 0.0) + 1
    swing, middle = np.abs(np.diff(x[extremes])), 0.5 * (tau[extremes][1:] + tau[extremes][:-1])
    clear = swing > 0.02
    if clear.sum() < 3:
        return float("nan")
    return float(np.polyfit(middle[clear], np.log(swing[clear]), 1)[0])
