"""The convex fixed point of S2 solves the problems of mechanisms too: once joints are eliminated they are the same."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array


def falling_arm(friction: float) -> sg.Scene:
    """Let an arm of two links fall onto the floor beside its base."""
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_body(sg.Segment((-0.5, 0), (0.5, 0), radius=0.05), mass=1.0, position=(0.5, 1.0), name="upper")
    scene.add_body(sg.Segment((-0.4, 0), (0.4, 0), radius=0.05), mass=0.7, position=(1.4, 1.0), name="lower")
    scene.add_joint("revolute", None, "upper", anchor=(0.0, 1.0), friction=0.2, name="shoulder")
    scene.add_joint("revolute", "upper", "lower", anchor=(1.0, 1.0), limits=(-1.0, 1.0), name="elbow")
    scene.set_contact(friction=friction)
    return scene


def run(solver: object, friction: float) -> tuple[Array, sg.Trajectory]:
    """Return the positions of the outer link and the trajectory."""
    trajectory = sg.simulate(
        falling_arm(friction),
        duration=0.8,
        h=5e-3,
        formulation=sg.StewartTrinkle(solver=solver),
        tolerance=1e-10,
        progress=False,
    )
    return trajectory.position("lower"), trajectory


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_falling_arm(friction: float) -> None:
    """Same steps, same problems: the paths of Lemke's method and of the fixed point agree, and both are solved."""
    by_pivots, reference = run(sg.Lemke(), friction)
    by_relaxation, trajectory = run(sg.AnitescuHart(), friction)
    assert trajectory.certificate.residual.max() <= 1e-10
    assert reference.certificate.min_gap.min() < 1e-3  # it did land
    assert np.abs(by_relaxation - by_pivots).max() < 1e-6
