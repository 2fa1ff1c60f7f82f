"""Contacts of geometrically implicit steps: every derivative against central differences."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.formulations.layered.contact import Answer, ImplicitContact, Placement, answer
from signorini.geometry.implicit_touch import Touch
from signorini.geometry.moving_touch import SurfacePair, rotation_of, skew
from signorini.math.rotation import turn_euler, turn_exact
from signorini.model import Layer, make_layer
from signorini.model.convex_sets import Superquadric, placed

H = 0.05
K = np.array([[5e3, 4e2, -1e2], [4e2, 3e3, 2e2], [-1e2, 2e2, 2e3]])
C = np.array([[9.0, 1.0, 0.0], [1.0, 4.0, 0.5], [0.0, 0.5, 3.0]])
PAIR = SurfacePair(
    placed(Superquadric(np.array([0.5, 0.3, 0.2]), 2.0), (0.02, 0.0, 0.01), (1, 0, 0, 0)),
    placed(Superquadric(np.array([0.3, 0.4, 0.25]), 3.0), (0.0, 0.03, 0.0), (1, 0, 0, 0)),
    0.2,
)


def layer(K: Array, C: Array, thickness: float = np.inf) -> Layer:
    return make_layer("layer", planar=False, stiffness=K, damping=C, max_deflection=thickness, law=None)


COUPLED, CORED = layer(K, C), layer(1.3 * K, C, 1e-2)
PLAIN, SOFT = layer(np.diag(np.diag(K)), C * np.eye(3)), layer(np.diag([4e3, 2e3, 2e3]), C * np.eye(3))


def pose(x: tuple[float, float, float], turn: tuple[float, float, float]) -> Array:
    return np.array([*x, *turn_exact((1.0, 0.0, 0.0, 0.0), turn, 1.0)])


def moved(q: Array, v: Array, *, fixed: bool = False) -> Placement:
    if fixed:
        return Placement(q, v, np.eye(3), 0.0, np.zeros((3, 3)))
    e = turn_euler(tuple(q[3:]), tuple(v[3:]), H)
    there, half = np.array([*(q[:3] + H * v[:3]), *e]), 0.5 * H * v[3:]
    turns = H / (1.0 + half @ half) * (np.eye(3) + skew(half))
    return Placement(there, v, rotation_of(there) @ rotation_of(q).T, H, turns)


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("active", [False, True])
@pytest.mark.parametrize(
    ("layers", "level_set"),
    [
        ((None, None), False),
        ((COUPLED, None), False),
        ((None, CORED), False),
        ((COUPLED, CORED), False),
        ((COUPLED, None), True),
        ((PLAIN, SOFT), True),
    ],
)
def test_derivatives(layers: tuple[Layer | None, Layer | None], level_set: bool, active: bool, fixed: bool) -> None:
    """Gap, slip, force and moments by both velocities and the impulses; a fixed body has none."""
    q_a, q_b = pose((0.1, -0.2, 0.0), (0.2, -0.1, 0.1)), pose((0.2, 0.25, 0.4), (0.7, 0.2, -0.5))
    none = np.zeros(0)
    found = PAIR.facing(q_a, q_b, (0.0, 0.0), Touch(0.0, np.zeros(3), np.zeros(3), np.zeros(3), none, none))
    assert found is not None
    contact = ImplicitContact(
        a=0,
        b=1,
        pair=PAIR,
        near=found.touch,
        gap=0.0,
        mu=0.5,
        axes=np.ones(3),
        layers=layers,
        before=(np.array([2e-3, 1e-3, -1e-3]), np.array([1e-3, -1e-3, 2e-3])),
        tangents=(np.array([1.0, 0.2, 0.0]), np.array([0.3, 1.0, 0.2])),
    )
    z = np.concatenate([np.random.default_rng(3).normal(size=12), [20.0, 3.0, -4.0, 0.5]])
    if fixed:
        z[:6] = 0.0

    def at(z: Array) -> Answer:
        a, b = moved(q_a, z[:6], fixed=fixed), moved(q_b, z[6:12])
        one = answer(contact, a, b, z[12:], H, found.touch, active=active, level_set=level_set)
        assert one is not None
        return one

    one = at(z)
    for i in range(6 if fixed else 0, 16):
        e = np.zeros(16)
        e[i] = 1e-6 * max(1.0, abs(z[i]))
        ahead, back = at(z + e), at(z - e)
        for name in ("gap", "slip", "force"):
            rate = (getattr(ahead, name) - getattr(back, name)) / (2.0 * e[i])
            np.testing.assert_allclose(getattr(one, f"d_{name}")[..., i], rate, rtol=1e-6, atol=1e-7, err_msg=name)
        for k in (0, 1):
            rate = (ahead.torque[k] - back.torque[k]) / (2.0 * e[i])
            np.testing.assert_allclose(one.d_torque[k][:, i], rate, rtol=1e-6, atol=1e-7, err_msg=f"torque {k}")
