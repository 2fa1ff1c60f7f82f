"""Problems without mechanics whose solutions are known, or known not to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import signorini as sg
from signorini.reproduce.s1_instantaneous import rod_scene
from tests.complementarity_problems import LINE_OF_SOLUTIONS, RAY_OF_SOLUTIONS, billups, isolated


def _friction(W: Any, b: list[float], mu: float) -> sg.FrictionProblem:
    """Return the problem of one contact."""
    return sg.FrictionProblem(np.array(W), np.array(b), np.array([mu]), dim=len(b))


def press(impulse: float, mass: float = 1e6) -> sg.FrictionProblem:
    """A body of `mass` that comes down at ``impulse / mass`` and slides at a tenth of it: it sticks for mu = 0.5."""
    v = impulse / mass
    return _friction(np.eye(3) / mass, [-v, 0.1 * v, 0.0], 0.5)


def slide(impulse: float, mass: float = 1e6) -> sg.FrictionProblem:
    """The same at twice its speed of fall: it slides, and friction takes mu of the normal impulse."""
    v = impulse / mass
    return _friction(np.eye(3) / mass, [-v, 2.0 * v, 0.0], 0.5)


SOLVABLE: dict[str, tuple[Callable[[], Any], list[list[float]]]] = {
    "MCP x - 3": (lambda: sg.MCP(lambda x: x - 3.0, lower=0.0, x0=[0.0]), [[3.0]]),
    "MCP at its bound": (lambda: sg.MCP(lambda x: x + 3.0, lower=0.0, x0=[5.0]), [[0.0]]),
    "MCP exp(x) - 2": (lambda: sg.MCP(lambda x: np.exp(x) - 2.0, lower=0.0, x0=[0.0]), [[np.log(2.0)]]),
    "MCP 1e6 x - 1": (lambda: sg.MCP(lambda x: 1e6 * x - 1.0, lower=0.0, x0=[0.0]), [[1e-6]]),
    "MCP billups": (billups, [[1.0 + np.sqrt(1.01)]]),
    "MCP x - 1e6": (lambda: sg.MCP(lambda x: x - 1e6, lower=0.0, x0=[0.0]), [[1e6]]),
    "LCP isolated": (isolated, [[1, 0, 0]]),
    "LCP 2 by 2": (lambda: sg.LCP([[2, 1], [1, 2]], [-5, -6]), [[4 / 3, 7 / 3]]),
    "friction of 4e6 N s sticks": (lambda: press(4e6), [[4e6, -4e5, 0.0]]),
    "friction of 4e6 N s slides": (lambda: slide(4e6), [[4e6, -2e6, 0.0]]),
    "friction of 4e-6 N s sticks": (lambda: press(4e-6, 1e-6), [[4e-6, -4e-7, 0.0]]),
    "friction in flight": (lambda: _friction(np.eye(3), [1.0, 2.0, 0.0], 0.5), [[0.0, 0.0, 0.0]]),
}
"""Problems and their solutions."""

UNSOLVABLE: dict[str, Callable[[], Any]] = {
    "MCP -1 - x^2": lambda: sg.MCP(lambda x: -1.0 - x * x, lower=0.0, x0=[0.0]),
    "LCP 0 z - 1": lambda: sg.LCP([[0.0]], [-1.0]),
    "LCP -z - 1": lambda: sg.LCP([[-1.0]], [-1.0]),
    "LCP isolated, disturbed": lambda: isolated(1e-3),
    # W_nn - mu W_nt < 0 while it slides, and it cannot stop: Painleve's rod pressed down
    "friction of Painleve": lambda: _friction([[1.0, 2.0], [2.0, 1.0]], [-1.0, 9.0], 1.0),
}
"""Problems that no point solves: each F is negative wherever x >= 0, or no case of the law fits."""

RUNNING_AWAY: dict[str, Callable[[], Any]] = {
    "MCP -1e6 / (1 + x)": lambda: sg.MCP(lambda x: -1e6 / (1.0 + x), lower=0.0, x0=[0.0]),
    "MCP -1 / (1 + x)": lambda: sg.MCP(lambda x: -1.0 / (1.0 + x), lower=0.0, x0=[0.0]),
    "MCP -1e-3 exp(-x)": lambda: sg.MCP(lambda x: -1e-3 * np.exp(-x), lower=0.0, x0=[0.0]),
    "MCP -exp(-x)": lambda: sg.MCP(lambda x: -np.exp(-x), lower=0.0, x0=[0.0]),
    "MCP -1e6 exp(-x)": lambda: sg.MCP(lambda x: -1e6 * np.exp(-x), lower=0.0, x0=[0.0]),
}
"""The same, with residuals that vanish as x grows: a point far out looks like a solution and is none."""

SEVERAL: dict[str, tuple[Callable[[], Any], Callable[[Any], bool]]] = {
    "a line of solutions": (lambda: LINE_OF_SOLUTIONS, lambda z: abs(z.sum() - 1.0) < 1e-6),
    "a ray of solutions": (lambda: RAY_OF_SOLUTIONS, lambda z: abs(z[1] - z[0] - 1.0) < 1e-6),
}
"""Problems that many points solve, and what all of these have in common."""

RODS: dict[str, tuple[Callable[[], sg.Scene], sg.Status]] = {
    "a rod that slides gently": (lambda: rod_scene(0.3, -1.0, 0.0), sg.Status.SOLVED),
    "a rod in Painleve's region, pressed": (lambda: rod_scene(1.5, -1.0, 0.0), sg.Status.NO_SOLUTION),
    "a rod in Painleve's region, lifting": (lambda: rod_scene(1.5, -1.0, 5.0), sg.Status.SEVERAL_SOLUTIONS),
}
"""The instantaneous model of a sliding rod."""
