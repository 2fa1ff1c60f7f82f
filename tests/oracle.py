"""Random scenes in which the compiled step is compared with the step by functions of Python, from the same states."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import signorini as sg
from signorini.engine import arrays as ea
from signorini.posing.base import StepResult
from tests.by_python import another_solution, overlaps
from tests.by_python.step import ByPython

GRAVITY = 9.81
TOLERANCE = 1e-12
LAWS: tuple[dict[str, Any], ...] = (
    *({}, {}, {}),  # by the passive law
    {"theta": 0.5},
    {"theta": 0.75, "gyroscopic": "implicit"},
    {"restitution_law": "newton"},
    {"restitution_law": "poisson"},
    {"stiffness": 3e4},
    {"gyroscopic": "explicit"},
)
HINGES: tuple[dict[str, Any], ...] = (
    {},
    {"limits": (-0.2, 0.3)},
    {"friction": 0.3},
    {"spring": 20.0},
    {"spring": (50.0, 0.1), "damping": 0.3},
    {"motion": lambda t: 0.3 * np.sin(9.0 * t)},
    {"motion": lambda t: 0.3 * np.sin(9.0 * t), "effort_limit": 0.4},
)


class Compared(NamedTuple):
    """What came of a scene."""

    steps: int
    """That could be compared."""
    pressed: int
    """Those of them with an impulse."""
    worst: float
    """Largest difference of a velocity, of the fastest."""
    open: int
    """Steps left out because the law leaves velocities open."""


def random_scene(rng: np.random.Generator) -> tuple[sg.Scene, dict[str, Any]]:
    """Return a scene of a few bodies, in overlaps some of them, and the options of its formulation."""
    options = dict(LAWS[rng.integers(len(LAWS))])
    joined = bool(rng.random() < 0.5)
    scene = sg.Scene(gravity=(0.5 * rng.standard_normal(), 0, -GRAVITY))
    if rng.random() < 0.3:
        frequency = 30.0 * rng.random()
        scene.add_fixed(sg.Box((9, 9, 0.4)), motion=lambda t: (0.05 * np.sin(frequency * t), 0, -0.2), name="floor")
    else:
        scene.add_fixed(sg.HalfSpace(), name="floor")
    displaced = not joined and "stiffness" not in options and "theta" not in options
    count, apart = int(rng.integers(2, 6)), 0.21 if displaced or rng.random() < 0.5 else 0.199
    stacked = not joined and rng.random() < 0.4
    for k in range(count):
        shape = (sg.Sphere(0.1), sg.Box((0.2, 0.2, 0.2)), sg.Capsule(0.05, 0.1))[rng.integers(1 if joined else 3)]
        place = (0.01 * rng.standard_normal(), 0.0, 0.1 + apart * k) if stacked else (apart * k, 0.0, 0.1005)
        scene.add_body(
            shape,
            mass=float(np.exp(rng.standard_normal())),
            position=place,
            velocity=(0.0 if stacked else 1.0) * rng.standard_normal(3),
            angular_velocity=(0.0 if stacked else 3.0) * rng.standard_normal(3),
            name=f"body {k}",
        )
    for k in range(count - 1 if joined else 0):
        words = HINGES[rng.integers(len(HINGES))]
        anchor = (apart * (k + 0.5), 0, 0.1005)
        scene.add_joint("revolute", f"body {k}", f"body {k + 1}", anchor=anchor, axis=(0, 1, 0), **words)
    friction: dict[str, Any] = {"friction": float(rng.choice([0.0, 0.3, 0.8]))}
    if "stiffness" not in options:
        friction["restitution"] = float(rng.choice([0.0, 0.0, 0.5, 1.0]))
    if rng.random() < 0.3:
        friction |= {"torsional": 0.01, "rolling": 0.005}
    scene.set_contact(**friction)
    if rng.random() < 0.4:
        _add_function(scene, rng, count)
    return scene, options


def _add_function(scene: sg.Scene, rng: np.random.Generator, count: int) -> None:
    """Hold a body in a plane by a function, or two at no more than their distance, or at that distance.

    Hinged bodies lie straight, as far apart as they can be: to hold that distance is a dead centre, where velocities
    are as uncertain as the rounding of reactions divided by the angle that is left. Theirs has a lower bound instead.
    """
    first, second = (f"body {k}" for k in rng.permutation(count)[:2])
    if rng.random() < 0.4:
        n, at_first = rng.standard_normal(3), np.array(scene.bodies[first].position)
        scene.add_constraint(lambda q, t: n @ (q[:3] - at_first), [first])
        return
    length = float(np.linalg.norm(np.subtract(scene.bodies[first].position, scene.bodies[second].position)))
    kind, side = ("inequality", -1.0) if rng.random() < 0.6 else ("equality", 1.0)
    if scene.joints:
        kind, side, length = "inequality", 1.0, 0.98 * length
    scene.add_constraint(lambda q, t: side * (np.linalg.norm(q[7:10] - q[:3]) - length), [first, second], kind=kind)


def compare(
    scene: sg.Scene, options: dict[str, Any], steps: int, h: float = 2e-3, *, accounts: bool = False
) -> Compared:
    """Take steps by both ways, each from where the compiled one has come to.

    Left out are steps in which the rules for overlaps differ, those that were posed again more than once, each time of
    which multiplies what the last left, and those where Coulomb's law leaves velocities open: there each solves the
    problem of the other. Where contacts with friction rebound, which part of the rebound is taken follows from the
    solutions found on the way, and one of these may be open. With `accounts` balances and reports are compared, too.
    """
    fast, slow = (
        sg.Simulator(scene, h=h, formulation=stepper(**options), tolerance=TOLERANCE)
        for stepper in (sg.MoreauJean, ByPython)
    )
    assert fast.engine is not None
    assert slow.engine is None
    displaces = options.get("theta", 1.0) == 1.0 and "stiffness" not in options and not fast.model.joints.count
    compared, pressed, worst, free = 0, 0, 0.0, 0
    rubs = bool(fast.model.materials.friction.any())
    for _ in range(steps):
        slow.restore(fast.snapshot())
        one, other = fast.step(), slow.step()
        if not (one.certificate.status == other.certificate.status == sg.Status.SOLVED):
            continue
        if (displaces and overlaps(one)) or fast.engine.arena[ea.COUNTS][ea.MENDED] > 1:
            continue
        fastest = max(np.abs(fast.state.v).max(), h * GRAVITY)
        error = float(np.abs(fast.state.v - slow.state.v).max() / fastest)
        rebounds = rubs and fast.engine.arena[ea.COUNTS][ea.REBOUNDS] == 1
        if error > 1e-9 and (rebounds or another_solution(one.result, other.result)):
            free += 1
            continue
        compared, pressed = compared + 1, pressed + bool(one.result.impulse[:, 0].any())
        worst = max(worst, error, _accounts(one, other) if accounts else 0.0)
    return Compared(compared, pressed, worst, free)


def _accounts(one: sg.StepReport, other: sg.StepReport) -> float:
    """Return the largest difference of energies and of what joints report, relative to the largest of their kind."""
    pairs = [(np.array(_energies(one)), np.array(_energies(other)))]
    first, second = one.result.joints, other.result.joints
    if first is not None and second is not None:
        words = ["coordinate", "speed", "effort", "drift", "apart", "unmet"]
        if _same_impulses(one.result, other.result):  # else reactions are as open as these
            words.append("reaction")
        pairs += [(np.asarray(getattr(first, word)), np.asarray(getattr(second, word))) for word in words]
    assert one.certificate.energy_error <= 1e-12
    return max(float(np.abs(a - b).max(initial=0.0) / max(np.abs(b).max(initial=0.0), 1.0)) for a, b in pairs)


def _energies(report: sg.StepReport) -> list[float]:
    """Return the balance of a step; which bodies count as hit is open where an impulse is next to nothing."""
    balance = report.result.balance._asdict()
    balance["impact"] += balance.pop("integration")
    return list(balance.values())


def _same_impulses(one: StepResult, other: StepResult) -> bool:
    """Tell whether the impulses and couples of two steps are the same, which velocities may leave open."""
    pairs = [(one.impulse, other.impulse)]
    if one.couple is not None and other.couple is not None:
        pairs.append((one.couple, other.couple))
    return all(float(np.abs(a - b).max(initial=0.0)) <= 1e-10 for a, b in pairs)
