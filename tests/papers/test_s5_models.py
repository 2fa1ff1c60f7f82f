"""Root W and a0 of both examples of S5 against models written down for them alone (spec 11, check 2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.dynamics import load_impulse
from signorini.dynamics.response.mechanism import Mechanism
from signorini.dynamics.response.posture import Posture
from signorini.model import Model, State
from signorini.reproduce import s5, s5_manipulator
from signorini.scene import compile_scene


def moving(scene: Any, seed: int) -> tuple[Model, Mechanism, State, Posture]:
    """Return a scene somewhere else than at its start, in motion."""
    model = compile_scene(scene)
    mechanism, r = Mechanism(model), np.random.default_rng(seed)
    q = mechanism.configuration(model.initial_state)
    q = mechanism.moved(q, 0.1 * r.normal(size=mechanism.speed_count))
    at = mechanism.posture(q, r.normal(size=mechanism.speed_count), model.initial_state)
    return model, mechanism, mechanism.state(at, 0.0), at


def root(
    model: Model, mechanism: Mechanism, state: State, at: Posture, rows: list[Any], drive: Array
) -> tuple[Array, Array]:
    assembly = mechanism.assembled(at, load_impulse(model, state, 1.0), rows, drive, np.zeros(model.joints.count))
    return assembly.response(int(assembly.plan.root[0]))


def tilde(x: Array) -> Array:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


@pytest.mark.parametrize("seed", range(5))
def test_double_pendulum(seed: int) -> None:
    """Newton and Euler for both mass centres, three equations for the elbow, all eliminated at once."""
    model, mechanism, state, at = moving(s5.sliding(), seed)
    rows: list[Any] = [[] for _ in mechanism.limbs]
    a, b = (model.names.index(name) for name in "AB")
    k = mechanism.row[a]
    # The body's origin P1 is half its length above the mass centre, the elbow as far below.
    R = [at.R[a], at.R[b]]
    tip, elbow, top = R[0] @ [0, 0, 0.5], R[0] @ [0, 0, -0.5], R[1] @ [0, 0, 0.5]
    rows[k] = [(a, at.x[a] + tip, np.concatenate([np.zeros(3), d])) for d in np.eye(3)]
    W, a0 = root(model, mechanism, state, at, rows, np.zeros(mechanism.speed_count))
    M, f = np.zeros((12, 12)), np.zeros(12)
    for i, body in enumerate((a, b)):
        J, w = R[i] @ np.diag([1.0, 2.0, 3.0]) @ R[i].T, at.w[body]
        M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3], M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = np.eye(3), J
        f[6 * i + 2], f[6 * i + 3 : 6 * i + 6] = -9.81, -np.cross(w, J @ w)
    G = np.hstack([np.eye(3), -tilde(elbow), -np.eye(3), tilde(top)])
    fast = tilde(at.w[a]) @ tilde(at.w[a]) @ elbow - tilde(at.w[b]) @ tilde(at.w[b]) @ top
    K = np.block([[M, -G.T], [G, np.zeros((3, 3))]])
    T = np.hstack([np.eye(3), -tilde(tip), np.zeros((3, 6))])
    unit = np.linalg.solve(K, np.vstack([T.T, np.zeros((3, 3))]))[:12]
    free = np.linalg.solve(K, np.concatenate([f, -fast]))[:12]
    np.testing.assert_allclose(W, T @ unit, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(a0, T @ free + tilde(at.w[a]) @ tilde(at.w[a]) @ tip, rtol=0.0, atol=1e-10)


class Jet:
    """A number with its first and second derivative in time; derivatives may be complex, for those by coordinates."""

    def __init__(self, *parts: Any) -> None:
        self.parts = (*parts, *([0.0] * (3 - len(parts))))

    def __add__(self, other: Any) -> Jet:
        return Jet(*(a + b for a, b in zip(self.parts, jet(other).parts, strict=True)))

    def __mul__(self, other: Any) -> Jet:
        (a, b, c), (x, y, z) = self.parts, jet(other).parts
        return Jet(a * x, a * y + b * x, a * z + 2.0 * b * y + c * x)

    __radd__, __rmul__ = __add__, __mul__


def jet(x: Any) -> Jet:
    return x if isinstance(x, Jet) else Jet(x)


def turned(angle: Jet) -> tuple[Jet, Jet]:
    """Return cosine and sine."""
    a, b, c = angle.parts
    C, S = np.cos(a), np.sin(a)
    return Jet(C, -S * b, -S * c - C * b * b), Jet(S, C * b, C * c - S * b * b)


def places(eta: list[Jet], phi: Jet) -> tuple[list[tuple[float, Jet, Jet]], Jet]:
    """Return masses with their places on both links, and the height of the tip: spec 8.2 written down."""
    xi, share = np.polynomial.legendre.leggauss(12)
    x, y, theta = jet(0.0), jet(0.0), phi
    out: list[tuple[float, Jet, Jet]] = []
    for k, (L, (_, A), payload) in enumerate(zip(s5_manipulator.LENGTHS, SECTIONS, (1.0, 3.0), strict=True)):
        ql, qt = eta[2 * k], eta[2 * k + 1]
        C, S = turned(theta)
        line = [(2700.0 * A * L * 0.5 * w, 0.5 + 0.5 * s) for s, w in zip(xi, share, strict=True)]
        for m, s in [*line, (payload, 1.0)]:
            H = (3.0 * s**3 - 2.25 * s**4 + 0.45 * s**5) / L
            along = L * s + s * s * ql + (-0.5 * H) * qt * qt
            across = (1.5 * s * s - 0.5 * s**3) * qt
            out.append((m, x + C * along + (-1.0) * (S * across), y + S * along + C * across))
        x, y = out[-1][1], out[-1][2]
        theta = theta + (1.5 / L) * qt + (-1.0) * phi
    return out, y


SECTIONS = ((1.69e-8, 9e-4), (3.33e-9, 4e-4))
E_MODULUS = 7.3e10


@pytest.mark.parametrize("seed", range(5))
def test_manipulator(seed: int) -> None:
    """Four modal coordinates: masses by complex steps, what speeds do by derivatives along the motion."""
    r = np.random.default_rng(seed)
    scale = np.array([1e-6, 0.03, 1e-6, 0.1])
    q, qd = scale * r.normal(size=4), 30.0 * scale * r.normal(size=4)
    angle, rate, acceleration = 0.3, 2.0, -5.0
    model = compile_scene(s5_manipulator.manipulator(axial=True, wall=True))
    mechanism = Mechanism(model)
    coordinates, speeds = np.zeros(mechanism.coordinate_count), np.zeros(mechanism.speed_count)
    drive, sign = np.zeros(mechanism.speed_count), 1.0
    for limb, own in zip(mechanism.limbs, (slice(0, 2), slice(2, 4)), strict=True):
        coordinates[limb.modes_q], speeds[limb.modes_u] = q[own], qd[own]
        start = np.pi / 4  # a joint counts from its initial pose
        coordinates[limb.q], speeds[limb.u] = sign * (angle + start), sign * rate
        drive[limb.u] = sign * acceleration
        sign = -1.0
    at = mechanism.posture(coordinates, speeds, model.initial_state)
    state, tip = mechanism.state(at, 0.0), model.names.index("link 2.end")
    rows: list[Any] = [[], [(tip, at.x[tip], np.array([0.0, 0, 0, 0, 1, 0]))]]
    W, a0 = root(model, mechanism, state, at, rows, drive)

    def first(j: int) -> tuple[Array, Array, float]:
        """Return the derivatives of all places, and of the height of the tip, by coordinate j."""
        bent, end = places([jet(x + 1e-30j * (i == j)) for i, x in enumerate(q)], jet(angle))
        xs, ys = (
            np.array([one.parts[0] for one in column]).imag / 1e-30 for column in list(zip(*bent, strict=True))[1:]
        )
        return xs, ys, float(np.imag(end.parts[0]) / 1e-30)

    partial = [first(j) for j in range(4)]
    Dx, Dy, t = (np.array([one[k] for one in partial]) for k in range(3))
    moved, tip_height = places([Jet(x, v) for x, v in zip(q, qd, strict=True)], Jet(angle, rate, acceleration))
    m = np.array([one[0] for one in moved])
    ax, ay = (np.array([one.parts[2] for one in column]) for column in list(zip(*moved, strict=True))[1:])
    K = np.diag(
        [
            value
            for L, (I, A) in zip(s5_manipulator.LENGTHS, SECTIONS, strict=True)
            for value in (4.0 * E_MODULUS * A / (3.0 * L), 3.0 * E_MODULUS * I / L**3)
        ]
    )
    M = Dx @ np.diag(m) @ Dx.T + Dy @ np.diag(m) @ Dy.T
    f = -K @ q - Dx @ (m * ax) - Dy @ (m * (ay + 9.81))
    inverse = np.linalg.inv(M)
    assert at.x[tip, 1] == pytest.approx(float(np.real(tip_height.parts[0])), abs=1e-12)
    assert W[0, 0] == pytest.approx(float(t @ inverse @ t), rel=1e-10)
    want = float(t @ inverse @ f + tip_height.parts[2])
    size = float(np.abs(t) @ np.abs(inverse @ (K @ q)))  # the stretch alone accelerates the tip by this much
    assert a0[0] == pytest.approx(want, abs=1e-10 * max(size, abs(want)))
