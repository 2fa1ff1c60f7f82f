"""Flexible bodies: the integrals of S5 spec 2.2 and the golden numbers of its manipulator, spec 8.2."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.dynamics.response import GROUND, Assembly, Bodies, Links, make_plan
from signorini.dynamics.response.flexible import (
    Flexible,
    Points,
    Section,
    Shapes,
    beam_points,
    elastic_force,
    equations,
    handles,
    make_beam,
    weight,
)

AXIAL, BENDING = [0.0, 0.0, 1.0], [0.0, 0.0, 1.5, -0.5]
SPATIAL = Shapes([AXIAL], [BENDING, [0.0, 0.0, 0.0, 1.0]], [BENDING])
BEAM = Section(0.7, 2e9, (3e-8, 5e-8), 4e-4, 2000.0)
GRAVITY = np.array([0.3, -9.81, 1.1])


def turned(r: np.random.Generator) -> Array:
    R: Array = np.linalg.qr(r.normal(size=(3, 3)))[0]
    return R if np.linalg.det(R) > 0.0 else -R


def tilde(x: Array) -> Array:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


# --- one body ----------------------------------------------------------------


def test_sums_over_points_are_the_shape_integrals() -> None:
    """Without foreshortening Gamma and beta are those of the invariant form of spec 2.2, N1 to N5 by finer sums."""
    r = np.random.default_rng(3)
    body = make_beam(BEAM, SPATIAL, masses=[(0.7, 0.4)], turning=np.zeros((3, 3)), foreshortening=False)
    nu = body.mode_count
    q, qd, w, R = 0.1 * r.normal(size=nu), r.normal(size=nu), r.normal(size=3), turned(r)
    xi, share = np.polynomial.legendre.leggauss(30)
    x = np.append(0.35 * (1.0 + xi), 0.7)
    dm = np.append(0.35 * BEAM.density * BEAM.A * share, 0.4)
    s, N1, m = x / 0.7, np.zeros((3, nu)), float(dm.sum())
    phi = np.zeros((x.size, 3, nu))
    phi[:, 0, 0], phi[:, 1, 1], phi[:, 1, 2] = s**2, 1.5 * s**2 - 0.5 * s**3, s**3
    phi[:, 2, 3] = phi[:, 1, 1]
    N2, N3 = np.zeros((3, nu)), np.zeros((nu, nu, 3))
    N4, N5, mff = np.zeros((nu, 3, 3)), np.zeros((nu, nu, 3, 3)), np.zeros((nu, nu))
    J, mc = np.zeros((3, 3)), np.zeros(3)
    for k, mass in enumerate(dm):
        r0, one = np.array([x[k], 0.0, 0.0]), phi[k]
        J, mc = J - mass * tilde(r0) @ tilde(r0), mc + mass * r0
        N1, N2, mff = N1 + mass * one, N2 + mass * tilde(r0) @ one, mff + mass * one.T @ one
        for i in range(nu):
            N4[i] -= mass * tilde(r0) @ tilde(one[:, i])
            for j in range(nu):
                N3[i, j] += mass * np.cross(one[:, i], one[:, j])
                N5[i, j] -= mass * tilde(one[:, i]) @ tilde(one[:, j])
    own, g = R.T @ w, R.T @ GRAVITY
    mc = mc + N1 @ q
    J = J + np.einsum("iab,i->ab", N4 + N4.transpose(0, 2, 1), q) + np.einsum("ijab,i,j->ab", N5, q, q)
    Gamma = np.zeros((6 + nu, 6 + nu))
    Gamma[:3, :3], Gamma[:3, 3:6], Gamma[3:6, :3], Gamma[3:6, 3:6] = J, tilde(mc), -tilde(mc), m * np.eye(3)
    Gamma[:3, 6:], Gamma[3:6, 6:] = N2 + np.einsum("jia,j->ai", N3, q), N1
    Gamma[6:, :6], Gamma[6:, 6:] = Gamma[:6, 6:].T, mff
    fast = np.einsum("jab,j->ab", N4, qd) + np.einsum("ijab,i,j->ab", N5, q, qd)
    angular = np.cross(own, J @ own) + 2.0 * fast @ own - np.cross(mc, g)
    linear = np.cross(own, np.cross(own, mc)) + 2.0 * np.cross(own, N1 @ qd) - m * g
    modal = [
        -own @ (N4[i] + np.einsum("jab,j->ab", N5[:, i], q)) @ own + 2.0 * own @ (qd @ N3[:, i]) - N1[:, i] @ g
        for i in range(nu)
    ]
    spin = np.eye(6 + nu)
    spin[:3, :3] = spin[3:6, 3:6] = R
    got, beta = equations(body, R, w, q, qd)
    beta = beta - weight(body, R, q, GRAVITY)
    np.testing.assert_allclose(got, spin @ Gamma @ spin.T, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(beta, spin @ np.concatenate([angular, linear, modal]), rtol=0.0, atol=1e-12)


def test_foreshortening_is_variational() -> None:
    """In free flight kinetic and elastic energy stay: x^T (Gamma x' + half the rate of Gamma) is minus q^T K qd."""
    r = np.random.default_rng(4)
    # Soft, so that terms of higher order vanish in differences.
    body = make_beam(BEAM._replace(E=2e4), SPATIAL, masses=[(0.7, 0.4)])
    nu = body.mode_count
    q, x, R = 0.05 * r.normal(size=nu), r.normal(size=6 + nu), turned(r)
    Gamma, beta = equations(body, R, x[:3], q, x[6:])
    rate = np.linalg.solve(Gamma, elastic_force(body, q, x[6:]) - beta)

    def kinetic(t: float) -> float:
        axis, angle = x[:3] / np.linalg.norm(x[:3]), t * float(np.linalg.norm(x[:3]))
        S = tilde(axis)
        turn = np.eye(3) + np.sin(angle) * S + (1.0 - np.cos(angle)) * S @ S
        now = x + t * rate
        return float(0.5 * now @ equations(body, turn @ R, now[:3], q + t * x[6:], now[6:])[0] @ now)

    power = -float(q @ body.stiffness @ x[6:])
    assert (kinetic(1e-5) - kinetic(-1e-5)) / 2e-5 == pytest.approx(power, rel=1e-7)


def test_a_body_without_modes_is_rigid() -> None:
    """Gamma and beta of a rod about its end: m l^2 / 3, and the pull of its spin m l w^2 / 2."""
    rod = make_beam(Section(2.0, 1.0, (0.0, 0.0), 0.01, 150.0), Shapes(), turning=np.diag([0.02, 0.0, 0.0]))
    Gamma, beta = equations(rod, np.eye(3), np.array([0.0, 0.0, 5.0]), np.zeros(0), np.zeros(0))
    np.testing.assert_allclose(np.diag(Gamma), [0.02, 4.0, 4.0, 3.0, 3.0, 3.0], rtol=1e-14)
    np.testing.assert_allclose(beta, [0.0, 0.0, 0.0, -75.0, 0.0, 0.0], atol=1e-13)


def test_handles_move_as_their_jacobian_says() -> None:
    """T is the derivative of place and turn of a point, and T' x that of its velocity at constant x, by differences."""
    r = np.random.default_rng(5)
    points = beam_points(BEAM, SPATIAL, np.array([0.7]))
    q, x, R = 0.05 * r.normal(size=4), r.normal(size=10), turned(r)

    def place(t: float) -> Array:
        axis, angle = x[:3] / np.linalg.norm(x[:3]), t * float(np.linalg.norm(x[:3]))
        S = tilde(axis)
        turn = (np.eye(3) + np.sin(angle) * S + (1.0 - np.cos(angle)) * S @ S) @ R
        now = q + t * x[6:]
        own = points.place[0] + points.Phi[0] @ now + 0.5 * np.einsum("aij,i,j->a", points.Chi[0], now, now)
        return np.asarray(t * x[3:6] + turn @ own)

    T, fast = handles(points, R, x[:3], q, x[6:])
    h = 1e-4
    np.testing.assert_allclose((T[0] @ x)[3:], (place(h) - place(-h)) / (2.0 * h), atol=1e-7)
    np.testing.assert_allclose(fast[0, 3:], (place(h) - 2.0 * place(0.0) + place(-h)) / h**2, atol=1e-6)
    np.testing.assert_allclose((T[0] @ x)[:3], x[:3] + R @ points.Psi[0] @ x[6:], atol=1e-15)


# --- the manipulator of S5, 5.2 -----------------------------------------------

LINKS = (Section(0.545, 7.3e10, (1.69e-8,) * 2, 9e-4, 2700.0), Section(0.675, 7.3e10, (3.33e-9,) * 2, 4e-4, 2700.0))
_CUBICS = ((0.0, (-1.0, 0.0, 0.0, 72.0)), (1 / 6, (0.0, -18.0, 108.0, -144.0)), (1 / 3, (-8.0, 54.0, -108.0, 72.0)))


def phi(t: float) -> tuple[float, float, float]:
    """Return the first angle of (27), its rate and its acceleration."""
    if t >= 0.5:
        return np.pi / 4, 0.0, 0.0
    a, b, c, d = [cubic for begin, cubic in _CUBICS if t >= begin][-1]
    value = (a + t * (b + t * (c + t * d)), b + t * (2.0 * c + 3.0 * t * d), 2.0 * c + 6.0 * t * d)
    return tuple(np.pi / 4 * one for one in value)  # type: ignore[return-value]


class Answer(NamedTuple):
    """What the assembly says of a state."""

    qdd: Array
    tip: Array
    """Place, (2,)."""
    rise: float
    """Velocity of the tip upwards."""
    W: float
    """Of the tip along y."""


class Manipulator:
    """Two driven links with point masses at elbow and tip, by divide and conquer."""

    def __init__(self, *, axial: bool, foreshortening: bool = True, motion: Callable[..., tuple[float, ...]] = phi):
        shapes = Shapes([AXIAL] if axial else [], [BENDING])
        self.bodies: list[Flexible] = [
            make_beam(section, shapes, masses=[(section.length, mass)], foreshortening=foreshortening)
            for section, mass in zip(LINKS, (1.0, 3.0), strict=True)
        ]
        self.ends: list[Points] = [
            beam_points(section, shapes, np.array([0.0, section.length]), foreshortening=foreshortening)
            for section in LINKS
        ]
        self.nu, self.motion = self.bodies[0].mode_count, motion
        self.gravity = np.array([0.0, -9.81, 0.0])
        held = np.array([6, 6])
        self.assembly = Assembly(make_plan([(GROUND, 0), (0, 1)], [0, 1]), np.full(2, 6 + self.nu), held)

    def answer(self, t: float, q: Array, qd: Array) -> Answer:
        nu, (angle, rate, acceleration) = self.nu, self.motion(t)
        d = np.zeros((2, 6))
        d[:, 2] = acceleration, -acceleration
        theta, spin, origin, speed = angle, rate, np.zeros(3), np.zeros(3)
        inertia, bias, jacobian, drift = [], [], [], []
        for k, body in enumerate(self.bodies):
            own, fast = q[k * nu : (k + 1) * nu], qd[k * nu : (k + 1) * nu]
            c, s = np.cos(theta), np.sin(theta)
            R, w = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([0.0, 0.0, spin])
            Gamma, beta = equations(body, R, w, own, fast)
            T, hat = handles(self.ends[k], R, w, own, fast)
            inertia.append(Gamma)
            bias.append(beta - weight(body, R, own, self.gravity) - elastic_force(body, own, fast))
            jacobian.append(np.vstack([T[0], T[1] if k == 0 else T[1][4:5]]))
            drift.append(np.concatenate([hat[0], hat[1] if k == 0 else hat[1][4:5]]))
            at_end = T[1] @ np.concatenate([w, speed, fast])
            points = self.ends[k]
            bent = points.Phi[1] @ own + 0.5 * np.einsum("aij,i,j->a", points.Chi[1], own, own)
            origin = origin + R @ (points.place[1] + bent)
            speed, slope = at_end[3:], float(points.Psi[1][2] @ own)
            theta, spin = theta + slope - angle, float(at_end[2]) - rate
        links = Links(np.array([6, 6]), np.tile(np.eye(6), (2, 1, 1)), d, np.zeros((2, 6)))
        assert self.assembly.assemble(Bodies(inertia, bias, jacobian, drift), links)
        x = self.assembly.solve().acceleration.reshape(2, -1)
        W = float(self.assembly.response(int(self.assembly.plan.root[0]))[0][0, 0])
        return Answer(x[:, 6:].reshape(-1), origin[:2], float(speed[1]), W)

    def advance(self, t: float, q: Array, qd: Array, h: float) -> tuple[Array, Array]:
        """Take a step of the classical method of order four."""

        def f(t: float, q: Array, qd: Array) -> tuple[Array, Array]:
            return qd, self.answer(t, q, qd).qdd

        k = [f(t, q, qd)]
        for share in (0.5, 0.5, 1.0):
            k.append(f(t + share * h, q + share * h * k[-1][0], qd + share * h * k[-1][1]))
        new = [h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]) for i in (0, 1)]
        return q + new[0], qd + new[1]

    def run(self, times: list[float], h: float) -> dict[float, tuple[Array, Array]]:
        """Integrate from rest, undeformed, in equal steps of at most `h` between these times."""
        t, q, qd, out = 0.0, np.zeros(2 * self.nu), np.zeros(2 * self.nu), {}
        for stop in times:
            n = int(np.ceil((stop - t) / h - 1e-9))
            step = (stop - t) / n
            for k in range(n):
                q, qd = self.advance(t + k * step, q, qd, step)
            t = stop
            out[stop] = (q, qd)
        return out


def test_stiffnesses_of_the_manipulator() -> None:
    """K_l = 4 E A / (3 L), K_t = 3 E I / L^3, the numbers of spec 8.2."""
    K = np.concatenate([np.diag(body.stiffness) for body in Manipulator(axial=True).bodies])
    np.testing.assert_allclose(K, [1.60733945e8, 22863.4262, 5.76790123e7, 2371.24829], rtol=5e-9)


@pytest.mark.parametrize(
    ("axial", "want", "digit"),
    [
        (True, [20.648, 106.09, 5195.9, 11233.0], [1e-3, 1e-2, 1e-1, 1.0]),
        (False, [20.648, 106.11], [1e-3, 1e-2]),
    ],
)
def test_natural_frequencies_of_the_locked_manipulator(axial: bool, want: list[float], digit: list[float]) -> None:
    """Spec 8.2, to half a unit of the last digit printed; small vibrations about the undeformed shape, no weight."""
    arm = Manipulator(axial=axial, motion=lambda t: (np.pi / 4, 0.0, 0.0))
    arm.gravity = np.zeros(3)
    n, e = 2 * arm.nu, 1e-7
    A = np.array([(arm.answer(0.0, e * one, 0.0 * one).qdd) / e for one in np.eye(n)]).T
    found = np.sort(np.sqrt(-np.linalg.eigvals(A).real))
    assert (np.abs(found - want) <= 0.5 * np.array(digit)).all()


def test_motion_of_the_manipulator_with_all_modes() -> None:
    """Table 8.2: bending to 1e-6, and so the tip to (1 + 1 + 1.5 L2 / L1) 1e-6, as the slope of link 1 turns link 2."""
    table = {
        0.1: (-0.0112106585, -0.0292662599, 1.07198265, -0.421299614),
        0.2: (-0.0261219831, -0.0810797909, 1.16613237, -0.334707860),
        0.3: (-0.00125844255, -0.0011725369, 1.18934014, 0.176689174),
        0.4: (0.0370484944, 0.119795500, 1.02734360, 0.576190189),
    }
    arm = Manipulator(axial=True)
    for t, (q, qd) in arm.run(list(table), 1e-4).items():
        np.testing.assert_allclose(q[[1, 3]], table[t][:2], rtol=0.0, atol=1e-6)
        np.testing.assert_allclose(arm.answer(t, q, qd).tip, table[t][2:], rtol=0.0, atol=3.9e-6)


def test_without_geometric_stiffness() -> None:
    """Spec 8.2: qt2(0.4) = 0.115622, 3.5 % less."""
    q, _ = Manipulator(axial=True, foreshortening=False).run([0.4], 1e-4)[0.4]
    assert q[3] == pytest.approx(0.115622, abs=1e-6)


def test_first_impact_of_the_manipulator() -> None:
    """Bending alone meets y = 0.5 at 0.360150508 s with 3.60316438 m/s; p = v / W is 11.8967549 N s."""
    arm, t = Manipulator(axial=False), 0.360150508
    at = arm.answer(t, *arm.run([t], 5e-4)[t])
    assert at.tip[1] == pytest.approx(0.5, abs=1e-7)
    assert at.rise == pytest.approx(3.60316438, rel=1e-6)
    assert at.rise / at.W == pytest.approx(11.8967549, rel=1e-6)
