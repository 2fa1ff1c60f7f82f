"""Bad input of layered scenes, each named in one line (S3 spec, section 12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import signorini as sg


def dropped(shape: Any = None, *, layer: dict[str, Any] | None = None, height: float = 0.5, **contact: Any) -> sg.Scene:
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(), name="floor")
    made.add_body(shape or sg.Sphere(0.1), mass=1.0, position=(0, 0, height), name="ball")
    made.set_contact(**{"friction": 0.4, **contact})
    if layer is not None:
        made.set_layer("ball", **layer)
    return made


def weighed(**words: Any) -> sg.Scene:
    made = dropped()
    ball = made.bodies.pop("ball")
    made.add_body(ball.shapes, **{"mass": 1.0, "position": (0, 0, 0.5), "name": "ball", **words})
    return made


def cubed(x: Any) -> Any:
    """Return a function whose gradient vanishes on the unit sphere."""
    return (x @ x - 1.0) ** 3


def hollow(x: Any) -> Any:
    """Return a function that is zero in the whole unit ball, gradient and all."""
    return max(0.0, float(x @ x) - 1.0) ** 2


BAD: dict[str, tuple[Callable[[], sg.Scene], str]] = {
    "not convex": (
        lambda: dropped(sg.Implicit(lambda x: float(1.0 - x @ x), bounds=2.0)),
        "implicit: f is not convex|implicit: .*not convex",
    ),
    "gradient zero on the surface": (
        lambda: dropped(sg.Implicit(cubed, bounds=2.0)),
        "implicit: gradient vanishes on the surface",
    ),
    "gradient zero inside": (lambda: dropped(sg.Implicit(hollow, bounds=2.0)), "implicit: f is nowhere below 0"),
    "stiffness indefinite": (
        lambda: dropped(layer={"stiffness": np.diag([1.0, -1.0, 1.0])}),
        "layer of 'ball': stiffness has eigenvalues .* must be positive definite",
    ),
    "damping indefinite": (
        lambda: dropped(layer={"stiffness": 1.0, "damping": [1.0, -1.0, 1.0]}),
        "layer of 'ball': damping has eigenvalues .* must be positive semidefinite",
    ),
    "no stiffness above a core": (lambda: dropped(layer={"stiffness": 0.0, "max_deflection": 0.01}), "positive defin"),
    "thickness negative": (
        lambda: dropped(layer={"stiffness": 1.0, "max_deflection": -0.01}),
        "layer of 'ball': max_deflection is -0.01, must be >= 0",
    ),
    "thickness beyond the inradius": (
        lambda: dropped(layer={"stiffness": 1.0, "max_deflection": 0.1}),
        "layer of 'ball': max_deflection is 0.1, must be < 0.1 m, the inradius",
    ),
    "half axis zero": (lambda: dropped(ellipsoid=(1.0, 1.0, 0.0)), "ellipsoid"),
    "half axis negative": (lambda: dropped(ellipsoid=(1.0, 1.0, -0.01)), "ellipsoid"),
    "overlap beyond the layer": (
        lambda: dropped(layer={"stiffness": 1e3, "max_deflection": 0.01}, height=0.07),
        "'floor' and 'ball' overlap by 0.03 m at the start, must by at most 0.01 m",
    ),
    "mass negative": (lambda: weighed(mass=-1.0), "mass is -1.0"),
    "inertia that no body has": (lambda: weighed(inertia=(1.0, 1.0, 3.0)), "inertia"),
    "quaternion zero": (lambda: weighed(orientation=(0, 0, 0, 0)), "orientation"),
    "state not finite": (lambda: weighed(velocity=(0, 0, np.inf)), "velocity"),
    "stiffness of another shape": (lambda: dropped(layer={"stiffness": [1.0, 2.0]}), "stiffness"),
    "friction negative": (lambda: dropped(friction=-0.1), "friction"),
    "restitution": (lambda: dropped(restitution=0.5), "contact: restitution is 0.5, must be 0 for QuasiRigid"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_named_in_one_line(what: str) -> None:
    make, message = BAD[what]
    with pytest.raises(sg.InputError, match=message) as caught:
        sg.Simulator(make(), h=1e-3, formulation=sg.QuasiRigid())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("h", [0.0, -1e-3, float("nan")])
def test_steps_have_a_length(h: float) -> None:
    with pytest.raises(sg.InputError, match="h is") as caught:
        sg.Simulator(dropped(), h=h, formulation=sg.QuasiRigid())
    assert "\n" not in str(caught.value)


def test_what_begins_in_a_layer_has_deflected_it() -> None:
    """An overlap within the layer is its deflection: delta_n = -D."""
    made = dropped(layer={"stiffness": 1e3, "max_deflection": 0.05}, height=0.07)
    with pytest.warns(sg.SceneWarning, match=r"overlap by 0.03 m at the start, within their layers: these begin defl"):
        memory = sg.Simulator(made, h=1e-3, formulation=sg.QuasiRigid()).memory
    assert memory.deflection[0, 1, 0] == pytest.approx(0.03, abs=1e-15)
