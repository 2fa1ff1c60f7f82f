"""The mixed LCP and the reduced one are the same step."""

from typing import Any

import numpy as np
import pytest

import signorini as sg


def arm_on_floor(hinges: int, **joint: Any) -> sg.Scene:
    """A body on one hinge, or on several of the same axis, that falls onto a rough floor."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(offset=-0.2), name="floor")
    scene.add_body(sg.Sphere(radius=0.1), mass=1.0, inertia=(0.09, 0.10, 0.02), position=(0.5, 0, 0), name="arm")
    for k in range(hinges):
        scene.add_joint("revolute", None, "arm", anchor=(0, 0.2 * k, 0), axis=(0, 1, 0), name=f"hinge{k}", **joint)
    scene.set_contact(friction=0.5)
    return scene


@pytest.mark.parametrize("hinges", [1, 2])
@pytest.mark.parametrize("joint", [{}, {"friction": 1.0}, {"limits": (-0.1, 0.1)}, {"spring": 30.0, "damping": 1.0}])
def test_mixed_and_reduced_form_give_the_same_motion(hinges: int, joint: dict[str, Any]) -> None:
    runs = [
        sg.simulate(arm_on_floor(hinges, **joint), duration=0.3, h=0.02, formulation=formulation, tolerance=1e-12)
        for formulation in (sg.StewartTrinkle(), sg.StewartTrinkle(form="mixed", solver=None))
    ]
    np.testing.assert_allclose(runs[1].v, runs[0].v, atol=1e-9)
    assert runs[1].certificate.residual.max() <= 1e-10
    assert abs(runs[0].joint("hinge0").coordinate[-1]) > 0.05  # it has moved


def test_a_free_body_needs_no_joints_in_the_mixed_form() -> None:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(radius=1.0), mass=1.0, position=(0, 0, 1), velocity=(2, 0, 0), name="ball")
    scene.set_contact(friction=0.2)
    formulation = sg.StewartTrinkle(form="mixed", solver=None)
    run = sg.simulate(scene, duration=0.6, h=0.12, formulation=formulation)
    np.testing.assert_allclose(run.linear_velocity("ball")[-1], [10 / 7, 0, 0], atol=1e-12)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(sg.InputError, match="form is 'full', must be 'reduced' or 'mixed'"):
        sg.StewartTrinkle(form="full")


def test_efforts_of_joints_are_controls() -> None:
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Sphere(radius=0.1), mass=1.0, inertia=(0.5, 0.5, 0.5), position=(0, 0, 0), name="wheel")
    scene.add_joint("revolute", None, "wheel", anchor=(0, 0, 0), axis=(0, 0, 1), name="axle")
    simulator = sg.Simulator(scene, h=0.1)
    simulator.step(controls={"axle": 2.0})
    np.testing.assert_allclose(simulator.state.v[0], [0, 0, 0, 0, 0, 0.1 * 2.0 / 0.5], atol=1e-14)
