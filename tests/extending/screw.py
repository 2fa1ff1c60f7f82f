r"""A kind of joint: a nut that turns by one turn for each `pitch` that it moves along z.

It is a cylindrical joint with one more condition, :math:`\theta = \kappa z`, :math:`\kappa = 2\pi/pitch`, written so
that it is smooth over any number of turns: :math:`\psi = \sin(\theta - \kappa z)/\kappa`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import signorini as sg
from signorini._arrays import Array


def add_screw(scene: sg.Scene, body: str, *, pitch: float, name: str) -> None:
    """Hold `body`, which is on the axis z of the world, to a screw."""
    kappa = 2.0 * np.pi / pitch

    def psi(q: Array, t: float) -> Any:
        z, w, turn = q[2], q[3], q[6]
        return (2.0 * w * turn * np.cos(kappa * z) - (w**2 - turn**2) * np.sin(kappa * z)) / kappa

    scene.add_joint("cylindrical", None, body, anchor=(0, 0, 0), axis=(0, 0, 1), name=name)
    scene.add_constraint(psi, [body], name=f"{name}: pitch")
