"""Joints of QuasiRigid: rows that hold where steps end, of all kinds, in loops, driven; and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg

H = 1e-3

KINDS: dict[str, dict[str, Any]] = {
    "fixed": {"anchor": (0, 0, 0.3)},
    "revolute": {"anchor": (0, 0, 0.3), "axis": (0, 1, 0)},
    "prismatic": {"anchor": (0, 0, 0.3), "axis": (1, 0, 0.3)},
    "cylindrical": {"anchor": (0, 0, 0.3), "axis": (1, 0, 0.3)},
    "spherical": {"anchor": (0, 0, 0.3)},
    "universal": {"anchor": (0, 0, 0.3), "axis": ((1, 0, 0), (0, 1, 0))},
    "planar": {"anchor": (0, 0, 0.3), "axis": (0, 1, 0.2)},
    "distance": {"anchor": ((-0.3, 0, 0.3), (0.2, 0, 0.3))},
    "gear": {"axis": ((0, 1, 0), (0, 1, 0)), "ratio": -2.0},
}


def pair(kind: str) -> sg.Scene:
    """Two balls, joined, fall on a soft floor, the left one first; of a gear both turn on axles, the left in it."""
    made, geared = sg.Scene(), kind == "gear"
    made.add_fixed(sg.HalfSpace(), name="floor")
    for name, x, z, spin in (("left", -0.3, 0.095 if geared else 0.11, 2.0), ("right", 0.3, 0.3, -4.0)):
        made.add_body(
            sg.Sphere(0.1),
            mass=1.0,
            position=(x, 0, z),
            velocity=(0, 0, 0 if geared else -1),
            angular_velocity=(0, spin * geared, 0),
            name=name,
        )
        if geared:
            made.add_joint("revolute", None, name, anchor=(x, 0, z), axis=(0, 1, 0))
    made.add_joint(kind, "left", "right", name="joint", **KINDS[kind])
    made.set_contact(friction=0.3)
    made.set_layer("floor", stiffness=1e4, damping=20.0, max_deflection=0.01)
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_holds_where_steps_end(kind: str) -> None:
    """Rows are 0 to rounding, of gears the speeds; the energy balance closes; a layer is pressed meanwhile."""
    run = sg.simulate(pair(kind), duration=0.06, h=H, formulation=sg.QuasiRigid(), tolerance=1e-10)
    assert not run.certificate.failed().any()
    assert run.contact_log.impulse[:, 0].max() > 0.0
    assert run.certificate.joint_drift.max() <= 1e-12
    assert run.certificate.energy_error.max() <= 1e-12
    assert run.certificate.joint_apart.max() <= 1e-12
    if kind == "gear":
        spin = [run.angular_velocity(name)[1:, 1] for name in ("left", "right")]
        np.testing.assert_allclose(spin[1], -2.0 * spin[0], atol=1e-9)
        assert np.ptp(spin[0]) > 0.1


def four_bar(**driven: Any) -> sg.Scene:
    """Three bars and four hinges in space: 20 rows on 18 freedoms, of which one stays free."""
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(offset=-0.62), name="floor")
    places = {"crank": (0.0, 0.0, -0.25), "rod": (0.5, 0.0, -0.5), "rocker": (1.0, 0.0, -0.25)}
    for name, at in places.items():
        shape = sg.Box((1.0, 0.1, 0.1) if name == "rod" else (0.1, 0.1, 0.5))
        made.add_body(shape, mass=1.0, position=at, name=name)
    for name, a, b, at in (
        ("first", None, "crank", (0, 0, 0)),
        ("second", "crank", "rod", (0, 0, -0.5)),
        ("third", "rod", "rocker", (1, 0, -0.5)),
        ("fourth", None, "rocker", (1, 0, 0)),
    ):
        made.add_joint("revolute", a, b, anchor=at, axis=(0, 1, 0), name=name, **(driven if name == "first" else {}))
    made.set_contact(friction=0.3)
    made.set_layer("floor", stiffness=1e4, damping=20.0)
    return made


def test_loops_hold_and_motions_are_met() -> None:
    """A driven four-bar drags its rod over a soft floor: the angle is the motion's, the drive gives what is lost."""

    def motion(t: float) -> float:
        return 0.8 * float(np.sin(3.0 * t))

    made = four_bar(motion=motion)
    run = sg.simulate(made, duration=0.04, h=2e-3, formulation=sg.QuasiRigid(), tolerance=1e-10)
    assert not run.certificate.failed().any()
    assert run.certificate.joint_drift.max() <= 1e-12
    assert run.certificate.energy_error.max() <= 1e-12
    assert (run.certificate.redundant_rows == 3).all()
    angle = run.joint("first")
    np.testing.assert_allclose(angle.coordinate, [motion(t) for t in run.time], atol=1e-12)
    assert np.abs(angle.effort).max() > 0.0
    np.testing.assert_allclose(angle.speed[1:-1], np.gradient(angle.coordinate, run.time)[1:-1], atol=0.02)


def test_what_hangs_is_held_at_its_anchor() -> None:
    """The reaction on a ball at rest under a ball joint is m g h upwards, without a moment there."""
    made = sg.Scene()
    made.add_body(sg.Sphere(0.1), mass=2.0, position=(0, 0, -1), name="bob")
    made.add_joint("spherical", None, "bob", anchor=(0, 0, 0), name="hinge")
    report = sg.Simulator(made, h=H, formulation=sg.QuasiRigid()).step()
    assert report.result.joints is not None
    np.testing.assert_allclose(report.result.joints.reaction[0], [0, 0, 2.0 * 9.81 * H, 0, 0, 0], atol=1e-14)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"friction": 1.0}, "has friction, must have none"),
        ({"limits": (-1.0, 1.0)}, "has limits, must have none"),
        ({"spring": 10.0, "damping": 1.0}, "has a spring and damping, must have none"),
        ({"motion": lambda t: t, "effort_limit": 1.0}, "has a motor of limited effort, must have none"),
    ],
)
def test_other_laws_are_refused_in_one_line(words: dict[str, Any], message: str) -> None:
    made = sg.Scene()
    made.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, -1), name="bob")
    made.add_joint("revolute", None, "bob", anchor=(0, 0, 0), axis=(0, 1, 0), name="hinge", **words)
    with pytest.raises(sg.InputError, match=f"joint 'hinge': {message} for QuasiRigid.*MoreauJean knows") as caught:
        sg.Simulator(made, h=H, formulation=sg.QuasiRigid())
    assert "\n" not in str(caught.value)
