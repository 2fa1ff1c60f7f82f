"""Scenes and problems whose truth is known: what they do, by a formula or by reason, and what must be said of them.

A truth is a function that returns a scene and a check. The check looks at the motion alone, so that a verdict is never
compared with what the program says of itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import signorini as sg
from signorini._arrays import Array

G = 9.81
TRUSTED, REMARKS, NOT_TRUSTED = "trusted", "trusted with remarks", "not trusted"
STANDS = 1e-8
"""What stands may move by so much, for each metre of its size [m/m]."""

Check = Callable[[sg.Trajectory], None]
Told = tuple[sg.Scene, Check]


@dataclass(frozen=True)
class Truth:
    """A scene, its known motion, and the only verdict that is right."""

    tell: Callable[[], Told]
    verdict: str = TRUSTED
    duration: float = 0.3
    h: float = 5e-3
    formulation: Any = None
    because: str = ""
    """What a remark must speak of."""

    def run(self) -> tuple[sg.Trajectory, Check]:
        """Return the motion, until it is no longer finite, and how to check it."""
        scene, check = self.tell()
        options: dict[str, Any] = {"duration": self.duration, "h": self.h, "formulation": self.formulation}
        try:
            return sg.simulate(scene, on_failure="keep", progress=False, **options), check
        except sg.SolverFailure as failure:
            assert isinstance(failure.trajectory, sg.Trajectory)
            return failure.trajectory, check


def on_floor(friction: float = 0.5, **contact: Any) -> sg.Scene:
    """Return a scene with nothing but a floor."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(friction=friction, **contact)
    return scene


def planar_floor(friction: float = 0.5) -> sg.Scene:
    """Return a planar scene with nothing but a floor."""
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.set_contact(friction=friction)
    return scene


def about_y(angle: float) -> tuple[float, float, float, float]:
    """Return the quaternion of a turn about y."""
    return (float(np.cos(angle / 2)), 0.0, float(np.sin(angle / 2)), 0.0)


def about_x(angle: float) -> tuple[float, float, float, float]:
    """Return the quaternion of a turn about x."""
    return (float(np.cos(angle / 2)), float(np.sin(angle / 2)), 0.0, 0.0)


def moving(trajectory: sg.Trajectory) -> tuple[str, ...]:
    """Return the names of the bodies that may move."""
    return trajectory.names[trajectory.fixed_count :]


def stands(size: float = 1.0, within: float = STANDS) -> Check:
    """Check that nothing moves nor turns."""

    def check(trajectory: sg.Trajectory) -> None:
        q = trajectory.q[:, trajectory.fixed_count :]
        assert np.abs(q[:, :, :3] - q[0, :, :3]).max() < within * size
        turned = np.minimum(np.abs(q[:, :, 3:] - q[0, :, 3:]), np.abs(q[:, :, 3:] + q[0, :, 3:]))
        assert turned.max() < 10 * within

    return check


def accelerates(name: str, acceleration: Any, within: float = 1e-6) -> Check:
    """Check that velocity grows in proportion to time, relative to `within` of the final one, or of 1 m/s^2."""

    def check(trajectory: sg.Trajectory) -> None:
        t, v = trajectory.time, trajectory.linear_velocity(name)
        expected = v[0] + t[:, None] * np.asarray(acceleration, dtype=float)
        assert np.abs(v - expected).max() < within * t[-1] * max(1.0, float(np.abs(acceleration).max()))

    return check


def falls_freely(trajectory: sg.Trajectory, name: str) -> bool:
    """Tell whether a body has fallen as if nothing held it, to 1 %."""
    axis = 1 if trajectory.planar else 2
    speed = trajectory.linear_velocity(name)[-1, axis]
    return bool(abs(speed + G * trajectory.time[-1]) < 0.01 * G * trajectory.time[-1])


def moved(trajectory: sg.Trajectory, name: str) -> Array:
    """Return the way of the body frame from its start [m]."""
    x = trajectory.position(name)
    way: Array = x[-1] - x[0]
    return way
