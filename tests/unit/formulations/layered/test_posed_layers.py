"""The friction problem that a layered step poses where it ends: velocities are measured, its solution is the step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.solvers import solve

H = 1e-3
SOFT: dict[str, Any] = {"stiffness": [8e3, 5e3, 4e3], "damping": [60.0, 50.0, 40.0]}
COUPLED: dict[str, Any] = {
    "stiffness": [[8e3, 1e3, -5e2], [1e3, 5e3, 7e2], [-5e2, 7e2, 4e3]],
    "damping": [[60.0, 5.0, 0.0], [5.0, 50.0, 4.0], [0.0, 4.0, 40.0]],
}


def egg(**contact: Any) -> sg.Scene:
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(), name="floor")
    made.add_body(
        sg.Ellipsoid((0.2, 0.15, 0.1)),
        mass=1.0,
        position=(0, 0, 0.145),
        orientation=(0.8, 0.4, 0.2, 0.4),
        velocity=(0.3, 0, -2),
        angular_velocity=(1, 2, 3),
        name="egg",
    )
    made.set_contact(**{"friction": 0.4, **contact})
    return made


def floor_layer(**more: Any) -> sg.Scene:
    made = egg()
    made.set_layer("floor", **SOFT, **more)
    return made


def both(**contact: Any) -> sg.Scene:
    made = egg(**contact)
    made.set_layer("floor", **SOFT, max_deflection=0.004)
    made.set_layer("egg", **COUPLED, max_deflection=0.003)
    return made


def hertz() -> sg.Scene:
    made = egg()
    made.set_layer("floor", law=sg.HuntCrossley(1e5, 1.5, 1e3), max_deflection=0.01)
    return made


def disc() -> sg.Scene:
    made = sg.Scene(planar=True)
    made.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    made.add_body(sg.Disc(0.1), mass=1.0, position=(0, 0.11), velocity=(0.5, -1.0), name="disc")
    made.set_contact(friction=0.3)
    made.set_layer("floor", stiffness=[4e3, 2e3], damping=10.0, max_deflection=0.008)
    return made


def pendulum() -> sg.Scene:
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(normal=(-1, 0, 0), offset=-0.11), name="wall")
    made.add_body(
        sg.Sphere(0.1), mass=1, position=(0, 0, -1), velocity=(1.5, 0, 0), angular_velocity=(0, -1.5, 0), name="bob"
    )
    made.add_joint("spherical", None, "bob", anchor=(0, 0, 0))
    made.set_contact(friction=0.2)
    made.set_layer("wall", stiffness=1e4, damping=10.0, max_deflection=0.01)
    return made


SCENES: dict[str, Any] = {
    "spring": floor_layer,
    "core": lambda: floor_layer(max_deflection=0.005),
    "both": both,
    "ellipsoid": lambda: both(ellipsoid=(1.0, 0.6, 0.05)),
    "hertz": hertz,
    "disc": disc,
    "pendulum": pendulum,
}


def pressed_steps(made: sg.Scene, formulation: sg.QuasiRigid, steps: int = 40) -> Any:
    """Yield the state and the layers before, and the reports, of steps in which something presses."""
    simulator = sg.Simulator(made, h=H, formulation=formulation)
    for _ in range(steps):
        before = simulator.memory
        report = simulator.step()
        if len(report.contacts) and report.contacts.normal_impulse.max() > 1e-9:
            yield simulator, before, report


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("tangential", ["active", "passive"])
def test_the_step_solves_the_problem(name: str, tangential: str) -> None:
    """Solved from nothing by a solver of friction problems, it gives the impulses of the step, on springs and cores."""
    if tangential == "passive" and name in ("both", "ellipsoid"):
        pytest.skip("layers that couple are active")
    cores = count = 0
    for _, _, report in pressed_steps(SCENES[name](), sg.QuasiRigid(tangential=tangential)):
        posed = report.result.posed
        count += 1
        cores += bool(report.contacts.core_impulse.max() > 0.0)
        assert posed.residual() < 1e-10
        assert posed.credible(1e-8)
        # Of Hertz's law the slope at the solution counts; along its rod the bob may be pressed either way.
        if name != "hertz" and (name, tangential) != ("pendulum", "passive"):
            again = solve(posed.problem, tolerance=1e-11)
            assert again.success
            np.testing.assert_allclose(again.z, posed.z, atol=1e-7 * np.abs(posed.z).max())
        wrong = posed.z.copy()
        wrong[0] *= 1.01
        assert posed.problem.residual(wrong) > 1e-5
    assert count > 3
    assert (cores > 0) == (name != "spring")


@pytest.mark.parametrize("tangential", ["active", "passive"])
def test_velocities_are_measured(tangential: str) -> None:
    """``u_n`` is the gap between deflected surfaces over h, ``u_T`` the slip of the new state against the layer."""
    seen = 0
    for simulator, before, report in pressed_steps(SCENES["core"](), sg.QuasiRigid(tangential=tangential)):
        x, (w, v) = report.result.state.q[1, :3], (report.result.state.v[1, 3:], report.result.state.v[1, :3])
        A = _turned(report.result.state.q[1]) @ np.diag([0.04, 0.0225, 0.01]) @ _turned(report.result.state.q[1]).T
        low = x - A[:, 2] / np.sqrt(A[2, 2])
        memory = simulator.memory
        d, t = memory.deflection[0, 0], memory.tangent[0, 0]
        point = low.copy()
        point[2] = -d[0]
        axes = np.array([t, np.cross([0.0, 0.0, 1.0], t)])
        slip = axes @ (v + np.cross(w, point - x))
        if tangential == "active" and before.feature.size:
            slip += (d[1:] - before.deflection[0, 0, 1:]) / H
            seen += 1
        elif tangential == "active":
            slip += d[1:] / H
        u = report.result.posed.problem.velocity(report.result.posed.z)
        assert u[0] * H == pytest.approx(low[2] + d[0], abs=1e-12)
        np.testing.assert_allclose(u[1:], slip, atol=1e-9)
    assert seen > 3 or tangential == "passive"


def test_w_holds_the_joints() -> None:
    """A unit impulse changes the velocity of a hinged ball as its inertia about the hinge allows: W = r J^-1 r."""
    for _, _, report in pressed_steps(pendulum(), sg.QuasiRigid()):
        W = np.asarray(report.result.posed.problem.W)
        hinge = 0.4 * 0.1**2 + 1.0
        x = report.result.posed.problem
        assert x.contact_count == 1
        arm = report.contacts.point[0] - 0.5 * report.contacts.gap[0] * report.contacts.normal[0]
        r = np.cross(arm, report.contacts.normal[0])
        assert W[0, 0] == pytest.approx(r @ r / hinge, rel=2e-2)


def test_layers_are_no_fault() -> None:
    """A run whose layers give way as the scene says is trusted; its certificate tells compliance and deflection."""
    run = sg.simulate(SCENES["core"](), duration=0.04, h=H, formulation=sg.QuasiRigid(), tolerance=1e-10)
    column = run.certificate
    assert column.verdict == "trusted"
    layer = run.layer("floor", "egg")
    pressing = layer.spring[:, 0] > 0.0
    S = 1.0 / (H * 8e3 + 60.0)
    np.testing.assert_allclose(column.compliance[pressing], S / H, rtol=1e-12)
    np.testing.assert_array_equal(column.compliance[~pressing], 0.0)
    np.testing.assert_array_equal(column.deflection[pressing], layer.deflection[1:][pressing, 0])
    assert column.layered.all()
    assert column.min_gap.min() > -1e-12
    assert column.overlap.max() < 1e-12
    rigid = sg.simulate(egg(), duration=0.04, h=H, formulation=sg.QuasiRigid(), tolerance=1e-10)
    assert not rigid.certificate.layered.any()


def _turned(q: Any) -> Any:
    w, x, y, z = q[3:]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
