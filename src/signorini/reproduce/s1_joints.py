r"""Joints in the time stepper of S1: a pendulum, redundant hinges, dry friction, and prescribed motions.

The pendulum (m = 1, mass centre at l = 0.5 from a hinge about y, inertia 0.35 about it) falls from the horizontal.
Its angle obeys :math:`\ddot\alpha = (m g l / 0.35) \cos\alpha`. Friction in a hinge through the mass centre brakes a
wheel of the same inertia evenly; friction of a hinge that exceeds :math:`m g l` holds the pendulum. A driven joint
lags behind its motion, :math:`x^+ = 0.3 (\sin \omega t + h \omega \cos \omega t)`, without the lag adding up.

References
----------
.. [S1] Trinkle (2003), section 3, eqs. (25)-(38); the numbers are section 7.3 of the specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import solve_ivp

from signorini._arrays import Array
from signorini.formulations import StewartTrinkle
from signorini.reproduce.reproduction import Check, Example, Reproduction, printed
from signorini.scene import HalfSpace, Scene, Sphere
from signorini.simulation import Trajectory, simulate
from signorini.visual import Curve, plot_against_exact

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRAVITY, MASS, ARM, INERTIA = 9.81, 1.0, 0.5, 0.35
_ROUNDING = 1e-12

# h, angle and error of the angular velocity at t = 0.5, largest drift of the joint.
_PENDULUM = (
    (0.01, "1.6210269", "0.0039", "0.00070"),
    (0.005, "1.6087510", "0.00094", "0.000175"),
    (0.0025, "1.6023747", "0.00023", "0.000044"),
    (0.00125, "1.5991266", "0.000057", "0.000011"),
)
_FALL = 0.5
_EXACT_ANGLE, _EXACT_SPEED = "1.5958383", "5.2933717"
_BRAKED = (0.84, 0.68, 0.52, 0.36, 0.20, 0.04, 0.0, 0.0)
_BRAKING = (*(0.056,) * 6, 0.014, 0.0)
_DRIVEN = ("0.06", "0.1184048", "0.1720892", "0.2189129", "0.2570092", "0.2848594")


# --- the scenes ----------------------------------------------------------------


def pendulum(*, friction: float = 0.0, hinges: int = 1) -> Scene:
    """Return the pendulum at rest, horizontal along x, on one hinge or several about the same axis."""
    scene = Scene(gravity=(0.0, 0.0, -GRAVITY))
    scene.add_body(
        Sphere(radius=0.1),
        mass=MASS,
        inertia=(0.09, 0.10, 0.02),
        mass_centre=(0.0, 0.0, 0.0),
        position=(ARM, 0.0, 0.0),
        name="pendulum",
    )
    for k in range(hinges):
        place: dict[str, Any] = {"anchor": (0.0, 0.3 * k, 0.0), "axis": (0.0, 1.0, 0.0)}
        scene.add_joint("revolute", None, "pendulum", **place, friction=friction, name=f"hinge {k + 1}")
    return scene


def wheel() -> Scene:
    """Return a wheel that turns at 1 rad/s on a hinge through its mass centre with the friction torque 0.7 N m."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_body(
        Sphere(radius=0.1),
        mass=MASS,
        inertia=(INERTIA, INERTIA, INERTIA),
        mass_centre=(0.0, 0.0, 0.0),
        position=(0.0, 0.0, 0.0),
        angular_velocity=(0.0, 1.0, 0.0),
        name="wheel",
    )
    scene.add_joint("revolute", None, "wheel", anchor=(0, 0, 0), axis=(0, 1, 0), friction=0.7, name="hinge")
    return scene


def driven_slider() -> Scene:
    """Return a slider of 2 kg whose joint follows ``0.3 sin 4t``."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_body(Sphere(radius=0.1), mass=2.0, position=(0, 0, 0), velocity=(1.2, 0, 0), name="slider")
    guide: dict[str, Any] = {"anchor": (0, 0, 0), "axis": (1, 0, 0), "motion": lambda t: 0.3 * float(np.sin(4.0 * t))}
    scene.add_joint("prismatic", None, "slider", **guide, name="guide")
    return scene


def moving_wall() -> Scene:
    """Return a particle at rest that touches a wall moving towards +x at 0.1 m/s."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_fixed(HalfSpace(normal=(1, 0, 0)), motion=lambda t: (0.1 * t, 0.0, 0.0), name="wall")
    scene.add_body(Sphere(radius=0.1), mass=1.0, position=(0.1, 0, 0), name="particle")
    return scene


def run(scene: Scene, duration: float, h: float) -> Trajectory:
    """Simulate with the polygonal cone, as in the paper."""
    return simulate(scene, duration=duration, h=h, formulation=StewartTrinkle(), progress=False)


def exact_fall(times: Array) -> Array:
    """Return angle and angular velocity of the falling pendulum, (2, n)."""
    factor = MASS * GRAVITY * ARM / INERTIA
    solution = solve_ivp(
        lambda _, x: (x[1], factor * np.cos(x[0])),
        (0.0, float(times[-1])),
        (0.0, 0.0),
        "DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-12,
    )
    values: Array = solution.y
    return values


# --- the checks ------------------------------------------------------------------


def joints() -> Reproduction:
    """Reproduce section 7.3."""
    falls = {row[0]: run(pendulum(), _FALL, row[0]) for row in _PENDULUM}
    braked, driven = run(wheel(), 0.64, 0.08), run(driven_slider(), 0.3, 0.05)
    checks = [
        *_fall_checks(falls),
        *_redundant_checks(),
        *_friction_checks(braked),
        *_held_checks(),
        *_driven_checks(driven),
        *_wall_checks(),
    ]
    data = {
        "pendulum": [{"h": h, "angle": float(fall.joint("hinge 1").coordinate[-1])} for h, fall in falls.items()],
        "wheel": braked.joint("hinge").speed.tolist(),
        "driven": driven.joint("guide").coordinate.tolist(),
    }
    return Reproduction(checks, data, {"joints": _figure(falls[_PENDULUM[0][0]], braked, driven)})


def _fall_checks(falls: dict[float, Trajectory]) -> list[Check]:
    angle, speed = exact_fall(np.array([_FALL]))[:, 0]
    checks = [printed("exact angle", _EXACT_ANGLE, angle), printed("exact omega", _EXACT_SPEED, speed)]
    for h, expected, error, drift in _PENDULUM:
        fall, at = falls[h], f" of the pendulum, h = {h:g}"
        joint = fall.joint("hinge 1")
        checks += [
            printed("angle" + at, expected, joint.coordinate[-1]),
            printed("error of omega" + at, error, abs(joint.speed[-1] - speed)),
            printed("largest joint drift" + at, drift, fall.certificate.joint_drift.max()),
        ]
    return checks


def _redundant_checks() -> list[Check]:
    one, two = (run(pendulum(hinges=n), 0.5, 0.01) for n in (1, 2))
    difference = float(np.abs(one.v - two.v).max())
    drift = float(two.certificate.joint_conflict.max())
    return [
        Check("steps with redundant hinges", 50.0, float(two.step_count), 0.0),
        Check("velocities with two hinges less those with one", 0.0, difference, _ROUNDING),
        Check("contradiction of the two hinges [m/s]", 0.0, drift, _ROUNDING),
    ]


def _friction_checks(braked: Trajectory) -> list[Check]:
    joint = braked.joint("hinge")
    checks = [Check("steps of the braked wheel", len(_BRAKED), braked.step_count, 0.0)]
    for k, (omega, beta) in enumerate(zip(_BRAKED, _BRAKING, strict=True)):
        at = f" of the braked wheel, step {k + 1}"
        checks += [
            Check("omega" + at, omega, float(joint.speed[k + 1]), _ROUNDING),
            Check("beta" + at, beta, abs(float(joint.effort[k])), _ROUNDING),
        ]
    return checks


def _held_checks() -> list[Check]:
    held, falling = (run(pendulum(friction=limit), 0.1, 0.01) for limit in (6.0, 3.0))
    speed = float(np.abs(held.joint("hinge 1").speed).max())
    beta = float(np.abs(held.joint("hinge 1").effort[0]))
    return [
        Check("omega of the pendulum held by friction 6", 0.0, speed, _ROUNDING),
        Check("beta of the pendulum held by friction 6", 0.04905, beta, _ROUNDING),
        printed("first omega with friction 3", "0.0544286", falling.joint("hinge 1").speed[1]),
    ]


def _driven_checks(driven: Trajectory) -> list[Check]:
    joint = driven.joint("guide")
    checks = [
        printed(f"x of the driven joint, step {k + 1}", text, joint.coordinate[k + 1]) for k, text in enumerate(_DRIVEN)
    ]
    gained = 2.0 * np.diff(driven.linear_velocity("slider")[:, 0])
    miss = float(np.abs(joint.effort - gained).max())
    return [*checks, Check("impulse of the driven joint less m dv", 0.0, miss, _ROUNDING)]


def _wall_checks() -> list[Check]:
    pushed = run(moving_wall(), 0.1, 0.1)
    speed = float(pushed.linear_velocity("particle")[1, 0])
    impulse = float(pushed.contacts(0).normal_impulse[0])
    return [
        Check("v at the moving wall", 0.1, speed, _ROUNDING),
        Check("pn of the moving wall", 0.1, impulse, _ROUNDING),
    ]


def _figure(fall: Trajectory, braked: Trajectory, driven: Trajectory) -> Figure:
    fine = np.linspace(0.0, _FALL, 101)
    angle = Curve("h = 0.01 s", fall.time, fall.joint("hinge 1").coordinate, fine, exact_fall(fine)[0])
    stop = np.array([0.0, 0.5, braked.time[-1]])
    speed = Curve("h = 0.08 s", braked.time, braked.joint("hinge").speed, stop, np.array([1.0, 0.0, 0.0]))
    t = np.linspace(0.0, driven.time[-1], 101)
    lag = Curve("h = 0.05 s", driven.time, driven.joint("guide").coordinate, t, 0.3 * np.sin(4.0 * t))
    return plot_against_exact(
        [
            ("pendulum", "angle [rad]", [angle]),
            ("wheel braked by its hinge", "angular velocity [rad/s]", [speed]),
            ("driven slider", "displacement [m]", [lag]),
        ],
        "Joints in the time stepper (points); exact motion (dotted)",
    )


EXAMPLES = (Example("joints", "S1", "hinges, redundant hinges, dry friction in joints, driven joints", joints),)
