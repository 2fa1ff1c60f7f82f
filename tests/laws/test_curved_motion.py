"""Curved bodies on a plane: they stand, lie, roll, tip and spin, and contact points move as the bodies do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.math.rotation import matrix, rotate

G = 9.81


def on_floor(shape: sg.Cylinder | sg.Ellipsoid | sg.Superellipsoid, friction: float = 0.5, **place: object) -> sg.Scene:
    """Return a body of 1 kg on a rough floor."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(shape, mass=1.0, name="body", **place)  # type: ignore[arg-type]
    scene.set_contact(friction=friction)
    return scene


def energy(scene: sg.Scene, trajectory: sg.Trajectory) -> Array:
    """Return kinetic and potential energy of the body over time, from its velocities and its height alone."""
    body = scene.bodies["body"]
    v, w = trajectory.linear_velocity("body"), trajectory.angular_velocity("body")
    e = trajectory.orientation("body")
    spin = [w_k @ R @ body.inertia @ R.T @ w_k for w_k, R in zip(w, _matrices(e), strict=True)]
    height = trajectory.position("body")[:, 2]
    return np.asarray(0.5 * (np.einsum("ki,ki->k", v, v) + spin) * body.mass + body.mass * G * height)


def _matrices(e: Array) -> list[Array]:
    return [np.array(matrix(np.ascontiguousarray(e_k))).reshape(3, 3) for e_k in e]


def nothing_from_nowhere(scene: sg.Scene, trajectory: sg.Trajectory) -> None:
    """Energy grows in no step by more than the certificate's work of gap correction; rounding is 1e-12 J."""
    E = energy(scene, trajectory)
    assert np.all(np.diff(E) <= trajectory.certificate.correction_work + 1e-12 * E[0])
    assert float(trajectory.certificate.residual.max()) < 1e-9


LYING = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])  # local z along -y


@pytest.mark.parametrize("lying", [False, True])
def test_cylinder_rests(lying: bool) -> None:
    """Standing on its end or lying on its side it stays where it is, with the weight on its contacts."""
    place: dict[str, Any] = (
        {"position": (0.3, 0.2, 0.4), "orientation": LYING} if lying else {"position": (0.3, 0.2, 0.6)}
    )
    scene = on_floor(sg.Cylinder(0.4, 1.2), **place)
    trajectory = sg.simulate(scene, duration=1.0, h=0.01, tolerance=1e-10)
    x = trajectory.position("body")
    np.testing.assert_allclose(x, np.tile(place["position"], (101, 1)), rtol=0.0, atol=1e-9)
    assert trajectory.contacts(99).normal_impulse.sum() == pytest.approx(G * 0.01, rel=1e-8)
    nothing_from_nowhere(scene, trajectory)


def test_cylinder_rolls_straight() -> None:
    """Without slip at the start nothing changes: speed, spin and direction are kept, whatever the friction."""
    r, speed = 0.4, 2.0
    scene = on_floor(
        sg.Cylinder(r, 1.2),
        position=(0, 0, r),
        orientation=LYING,
        velocity=(speed, 0, 0),
        angular_velocity=(0, speed / r, 0),
    )
    trajectory = sg.simulate(scene, duration=2.0, h=0.01, tolerance=1e-10)
    np.testing.assert_allclose(trajectory.position("body")[-1], [2.0 * speed, 0.0, r], rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(trajectory.linear_velocity("body")[-1], [speed, 0.0, 0.0], rtol=0.0, atol=1e-8)
    nothing_from_nowhere(scene, trajectory)


@pytest.mark.parametrize(("beyond", "upright"), [(-0.1, True), (0.1, False)])
def test_cylinder_tips_over_its_rim(beyond: float, upright: bool) -> None:
    """Tilted on its rim it falls back or over: the mass centre is above the rim at the angle atan(2 r/l)."""
    r, l = 0.3, 1.2
    tilt = np.arctan(2.0 * r / l) + beyond
    e = np.array([np.cos(0.5 * tilt), 0.0, np.sin(0.5 * tilt), 0.0])
    low = np.array(rotate(e, (r, 0.0, -0.5 * l)))
    scene = on_floor(sg.Cylinder(r, l), friction=0.8, position=(0.0, 0.0, -low[2]), orientation=e)
    trajectory = sg.simulate(scene, duration=2.5, h=0.005, tolerance=1e-10)
    axis = np.array(rotate(trajectory.orientation("body")[-1], (0.0, 0.0, 1.0)))
    assert abs(axis[2]) == pytest.approx(1.0 if upright else 0.0, abs=1e-3)
    assert trajectory.position("body")[-1, 2] == pytest.approx(0.5 * l if upright else r, abs=2e-3)
    nothing_from_nowhere(scene, trajectory)


def support_point(semi_axes: Array, p: float, x: Array, e: Array) -> Array:
    """Return the lowest point of a superellipsoid: where its normal points down."""
    R = np.array(matrix(np.ascontiguousarray(e))).reshape(3, 3)
    m = -R[2]
    u = np.abs(m * semi_axes) ** (1.0 / (p - 1.0))
    return np.asarray(x + R @ (semi_axes * np.sign(m) * u / float((u**p).sum()) ** (1.0 / p)))


ROUND: dict[str, tuple[sg.Ellipsoid | sg.Superellipsoid, float]] = {
    "ellipsoid": (sg.Ellipsoid((0.3, 0.2, 0.15)), 2.0),
    "superellipsoid": (sg.Superellipsoid((0.3, 0.2, 0.15), 3.0), 3.0),
}


@pytest.mark.parametrize("kind", ROUND)
def test_contact_point_moves_as_the_body_does(kind: str) -> None:
    """Spinning and rolling for 10 s, the contact point is the lowest point of the body's pose wherever it touches.

    Poses change by h times velocity and spin, and the lowest point is a continuous function of the pose: the contact
    point cannot jump. Where the body begins the step above the floor the point may be the one it will touch with, and
    in steps that were posed again about their ends it is about that of the end, and never beyond.
    Energy never grows by more than the work of gap correction.
    """
    shape, p = ROUND[kind]
    a = np.array(shape.semi_axes)
    scene = on_floor(
        shape, friction=0.3, position=(0.0, 0.0, 0.152), velocity=(0.4, 0.1, 0.0), angular_velocity=(1.0, 2.0, 12.0)
    )
    trajectory = sg.simulate(scene, duration=10.0, h=0.01, tolerance=1e-10)
    x, e = trajectory.position("body"), trajectory.orientation("body")
    points, worst, again = [], 0.0, 0
    for k in range(1000):
        table = trajectory.contacts(k)
        assert np.count_nonzero(table.normal_impulse) <= 1  # others are looked at only
        if len(table.gap):
            c = int(np.argmax(table.normal_impulse))
            lowest = support_point(a, p, x[k], e[k])
            if lowest[2] <= 1e-4 * 2.0 * a.min():  # which is what counts as touch
                error = max(abs(table.gap[c] - lowest[2]), float(np.abs(table.point[c, :2] - lowest[:2]).max()))
                if error > 1e-9:
                    end = x[k] + support_point(a, p, x[k + 1], e[k + 1]) - x[k + 1]
                    assert np.linalg.norm(table.point[c, :2] - end[:2]) < np.linalg.norm(end - lowest)
                    error, again = 0.0, again + 1
                worst = max(worst, error)
                points.append(lowest)
    assert len(points) > 300
    assert worst < 1e-9
    assert again < len(points) / 3
    nothing_from_nowhere(scene, trajectory)


def gripped(p: float, press: float) -> sg.Scene:
    """Return a superellipsoid of 0.2 kg, a little off the middle of two fingers that press it by forces."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_body(sg.Superellipsoid((0.03, 0.03, 0.03), p), mass=0.2, position=(0.0, 0.002, 0.001), name="body")
    for side in (-1, 1):
        finger, x = f"finger {side}", (0.04 * side, 0.0, 0.0)
        scene.add_body(sg.Box((0.02, 0.06, 0.06)), mass=0.1, position=x, name=finger)
        scene.add_joint("prismatic", None, finger, anchor=x, axis=(1, 0, 0))
        scene.add_force(finger, force=(-press * side, 0, 0))
    scene.set_contact(friction=0.5)
    return scene


@pytest.mark.parametrize(("p", "h"), [(4.0, 0.01), (6.0, 0.01), (8.0, 0.01), (8.0, 0.002), (10.0, 0.01), (20.0, 0.005)])
def test_a_grip_on_nearly_flat_caps_holds(p: float, h: float) -> None:
    """Two fingers of 3 N hold 2 x 0.5 x 3 N > 1.96 N: nothing moves, and the body does not turn between them."""
    trajectory = sg.simulate(gripped(p, 3.0), duration=10.0, h=h)
    assert np.abs(trajectory.position("body") - trajectory.position("body")[0]).max() < 1e-9
    assert np.abs(trajectory.orientation("body")[:, 1:]).max() < 1e-9
    assert trajectory.verdict == "trusted"


@pytest.mark.parametrize("p", [4.0, 8.0])
def test_caps_on_caps_and_a_box_on_them_stand(p: float) -> None:
    """Three superellipsoids on each other and a box on top stand for 5 s."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(3):
        scene.add_body(sg.Superellipsoid((0.3, 0.2, 0.1), p), mass=1.0, position=(0, 0, 0.1 + 0.2 * k), name=f"{k}")
    scene.add_body(sg.Box((0.4, 0.4, 0.1)), mass=1.0, position=(0, 0, 0.65), name="box")
    scene.set_contact(friction=0.5)
    trajectory = sg.simulate(scene, duration=5.0, h=0.01)
    for name in ("0", "1", "2", "box"):
        moved = trajectory.position(name) - trajectory.position(name)[0]
        assert np.abs(moved).max() < 1e-8
    assert trajectory.verdict == "trusted"


@pytest.mark.parametrize("p", [4.0, 8.0])
@pytest.mark.parametrize("h", [0.01, 0.002])
def test_a_tilted_superellipsoid_rocks_and_settles(p: float, h: float) -> None:
    """Let go at 0.3 rad it never gains energy, and ends no lower than on its cap."""
    angle, a = 0.3, np.full(3, 0.3)
    e = np.array([np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0])
    height = -float(support_point(a, p, np.zeros(3), e)[2])
    scene = on_floor(sg.Superellipsoid((0.3, 0.3, 0.3), p), 0.8, position=(0, 0, height), orientation=e)
    trajectory = sg.simulate(scene, duration=3.0, h=h)
    E = energy(scene, trajectory)
    assert E.max() <= E[0] * (1.0 + 1e-9)
    assert trajectory.position("body")[:, 2].min() > 0.3 * (1.0 - 1e-3)
