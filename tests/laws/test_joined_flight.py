"""Bodies that joints hold keep what they have: energy, and, where nothing else holds them, momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import signorini as sg
from signorini._arrays import Array
from signorini._grades import Grade
from signorini.audit import audit_tree
from signorini.model import Model
from signorini.scene.compile import compile_scene
from tests.by_python.step import ByPython

BOTH = pytest.mark.parametrize("formulation", [sg.MoreauJean(), ByPython(solver=sg.NSGS())], ids=["fast", "python"])


def run(scene: sg.Scene, duration: float, h: float, formulation: Any = None) -> sg.Trajectory:
    formulation = sg.MoreauJean() if formulation is None else formulation
    return sg.simulate(scene, duration=duration, h=h, formulation=formulation, progress=False)


def momentum(model: Model, trajectory: sg.Trajectory) -> Array:
    """Return the angular momentum of the scene about the origin, (n+1, 3)."""
    q, v = trajectory.q, trajectory.v
    L = np.cross(q[:, :, :3], model.arrays.mass[:, None] * v[:, :, :3])
    for b in range(model.fixed_count, model.body_count):
        R = Rotation.from_quat(q[:, b, [4, 5, 6, 3]]).as_matrix()
        L[:, b] += np.einsum("lij,jk,lmk,lm->li", R, model.arrays.inertia[b], R, v[:, b, 3:])
    total: Array = L.sum(axis=1)
    return total


def pair(kind: str, **words: Any) -> sg.Scene:
    """Return two boxes in free flight that a joint holds together, and that obey it."""
    scene, spin = sg.Scene(gravity=(0, 0, 0)), np.array([3.0, 2.0, 1.0])
    scene.add_body(sg.Box((0.2, 0.4, 0.6)), mass=1.0, position=(0, 0, 0), angular_velocity=spin, name="one")
    speed: dict[str, Any] = {"velocity": np.cross(spin, (0.4, 0, 0)), "angular_velocity": spin}
    scene.add_body(sg.Box((0.6, 0.1, 0.2)), mass=0.7, position=(0.4, 0, 0), **speed, name="other")
    scene.add_joint(kind, "one", "other", anchor=(0.1, 0, 0), **words)
    return scene


@BOTH
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("spherical", {}),
        ("fixed", {}),
        ("revolute", {"axis": (0, 0, 1)}),
        ("universal", {"axis": ((0, 0, 1), (0, 1, 0))}),
    ],
)
def test_joined_bodies_that_fly_keep_momentum_and_energy(kind: str, words: dict[str, Any], formulation: Any) -> None:
    scene, swings = pair(kind, **words), []
    duration = 2.0 if formulation.solver is None else 0.3
    for h in (0.01, 0.005):
        trajectory = run(scene, duration, h, formulation)
        L = momentum(compile_scene(scene), trajectory)
        assert np.abs(L - L[0]).max() < 1e-12 * np.linalg.norm(L[0]) * trajectory.step_count
        swings.append(float(np.ptp(trajectory.kinetic) / trajectory.kinetic[0]))
        assert trajectory.certificate.joint_drift.max() < 1e-9
        assert trajectory.verdict == "trusted"
    assert swings[0] < 2e-3
    assert swings[0] > 3.0 * swings[1]  # the second order


@pytest.mark.parametrize("turn", [0.05, 0.3])
@pytest.mark.parametrize("arm", [0.0, 0.2])
def test_an_unbalanced_rotor_keeps_its_speed(turn: float, arm: float) -> None:
    """A plate that is tilted on its axle, and beside it; the bearing answers, and takes nothing."""
    scene, w = sg.Scene(gravity=(0, 0, 0)), turn / 0.01
    tilt = (np.cos(0.2), np.sin(0.2), 0, 0)
    moving: dict[str, Any] = {"velocity": (0, w * arm, 0), "angular_velocity": (0, 0, w)}
    scene.add_body(sg.Box((0.2, 0.4, 0.1)), mass=1.0, position=(arm, 0, 0), orientation=tilt, **moving, name="rotor")
    scene.add_joint("revolute", None, "rotor", anchor=(0, 0, 0), axis=(0, 0, 1), name="axle")
    trajectory = run(scene, 10.0, 0.01)
    np.testing.assert_allclose(trajectory.kinetic, trajectory.kinetic[0], rtol=1e-7)
    np.testing.assert_allclose(trajectory.joint("axle").speed, w, rtol=1e-7)
    assert trajectory.verdict == "trusted"


def top(spin: float) -> sg.Scene:
    """Return a disc on an axle that is held at one point beside it, and turns fast."""
    scene = sg.Scene()
    along_x = (np.cos(np.pi / 4), 0, np.sin(np.pi / 4), 0)
    scene.add_body(
        sg.Cylinder(radius=0.1, length=0.04),
        mass=1.0,
        position=(0.15, 0, 0),
        orientation=along_x,
        angular_velocity=(spin, 0, 0),
        name="top",
    )
    scene.add_joint("spherical", None, "top", anchor=(0, 0, 0))
    return scene


def exact_top(spin: float, time: float) -> Array:
    """Return where the mass centre of the top is, by Euler's equations about the point that is held, (3,)."""
    along, across = 0.5 * 0.1**2, (3 * 0.1**2 + 0.04**2) / 12 + 0.15**2  # moments of inertia

    def rate(_: float, y: Array) -> Array:
        e, L = y[:3], y[3:]
        omega = L / across + (1 / along - 1 / across) * (e @ L) * e
        return np.concatenate([np.cross(omega, e), np.cross(0.15 * e, (0, 0, -9.81))])

    start = np.concatenate([(1, 0, 0), (along * spin, 0, 0)])
    end = solve_ivp(rate, (0.0, time), start, "DOP853", rtol=1e-11, atol=1e-12)
    place: Array = 0.15 * end.y[:3, -1]
    return place


def test_a_top_goes_round() -> None:
    """It nods and goes round as by Euler's equations, and does not fall; weight acts to the first order in h."""
    errors = [float(np.linalg.norm(run(top(60.0), 1.0, h).position("top")[-1] - exact_top(60.0, 1.0)))
              for h in (0.004, 0.002, 0.001)]  # fmt: skip
    assert errors[0] < 0.03 * 0.15
    assert errors[0] > 1.8 * errors[1] > 1.8**2 * errors[2]


def test_a_double_pendulum_keeps_its_energy() -> None:
    """Rods that fall from the side and whip, for ten seconds; energies in the middle of steps."""
    scene = sg.Scene()
    for k in range(2):
        scene.add_body(sg.Box((0.2, 0.04, 0.06)), mass=0.2, position=(0.1 + 0.2 * k, 0, 0), name=f"rod{k}")
        scene.add_joint("spherical", f"rod{k - 1}" if k else None, f"rod{k}", anchor=(0.2 * k, 0, 0))
    trajectory = run(scene, 10.0, 0.002)
    fall = 0.5 * 0.002 * np.einsum("lb->l", 0.2 * 9.81 * trajectory.v[:, :, 2])
    energy = trajectory.kinetic + trajectory.potential - fall
    assert np.ptp(energy) < 5e-3 * trajectory.kinetic.max()
    assert abs(energy[-1] - energy[0]) < 1e-3 * trajectory.kinetic.max()


@pytest.mark.parametrize(("h", "told"), [(0.01, True), (0.002, False)])
def test_what_joints_take_is_told(h: float, told: bool) -> None:
    """Where hinges rub the linear rows are kept, and a double pendulum loses energy by the scheme at long steps."""
    scene = sg.Scene()
    for k in range(2):
        scene.add_body(sg.Box((0.2, 0.04, 0.06)), mass=0.2, position=(0.1 + 0.2 * k, 0, 0), name=f"rod{k}")
        hinge: dict[str, Any] = {"anchor": (0.2 * k, 0, 0), "axis": (0, 1, 0), "friction": 1e-6}
        scene.add_joint("revolute", f"rod{k - 1}" if k else None, f"rod{k}", **hinge)
    trajectory = run(scene, 5.0, h)
    assert any(line.startswith("energy lost in joints") for line in trajectory.remarks()) is told
    found = audit_tree(trajectory.tree(), scene=scene).of("energy lost in joints")
    assert (found.grade is not Grade.TRUSTED) is told


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_what_stops_and_contacts_take_is_no_loss_by_joints(restitution: float) -> None:
    """A box with a lid is thrown; the lid meets both of its stops, and both the floor, with friction."""
    scene, spin = sg.Scene(), np.array([3.0, 5.0, 1.0])
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for name, height, thick, mass in (("box", 0.0, 0.2, 3.0), ("lid", 0.11, 0.02, 0.5)):
        v = np.array([1.0, 0.0, 2.0]) + np.cross(spin, (0, 0, height))
        words: dict[str, Any] = {"position": (0, 0, 1.0 + height), "velocity": v, "angular_velocity": spin}
        scene.add_body(sg.Box((0.4, 0.3, thick)), mass=mass, name=name, **words)
    scene.add_joint("revolute", "box", "lid", anchor=(-0.2, 0, 1.1), axis=(0, -1, 0), limits=(0, 2.5))
    scene.set_contact(friction=0.4, restitution=restitution)
    trajectory = sg.simulate(scene, duration=1.5, h=0.002, progress=False)
    assert trajectory.energy().impact[-1] + trajectory.energy().friction[-1] > 0.1 * trajectory.kinetic.max()
    lost = -np.minimum(trajectory.certificate.joint_work, 0.0).sum()
    assert lost < 0.01 * trajectory.certificate.energy_scale.max()
    found = audit_tree(trajectory.tree(), scene=scene).of("energy lost in joints")
    assert found.worst < 0.01
