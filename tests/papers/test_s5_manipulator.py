"""The flexible manipulator of S5, 5.2: the golden numbers of spec 8.2."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.dynamics.response import GROUND, Assembly, Bodies, Links, make_plan
from signorini.dynamics.response.flexible import elastic_force, equations, handles, weight
from signorini.model import Flexible, Points, Section, Shapes, beam_points, make_beam

AXIAL, BENDING = [0.0, 0.0, 1.0], [0.0, 0.0, 1.5, -0.5]
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
