"""Compile on two cores: a first run spends most of its time in the compiler, which uses only one."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from signorini._jit import is_cold
from signorini.dynamics import advance
from signorini.formulations.time_stepping import free_motion
from signorini.geometry import detect
from signorini.model import Model
from signorini.problems import Delassus, FrictionProblem
from signorini.scene import Box, Capsule, HalfSpace, Scene, Sphere, compile_scene
from signorini.solvers import FrictionInteriorPoint, ProximalNewton, solve

_HELPER = "from signorini.cli.warming import compile_the_rest; compile_the_rest()"


def warm_up() -> None:
    """Compile what a simulation needs, if this machine never did: geometry here, the rest in a second process."""
    if not is_cold():
        return
    with subprocess.Popen(
        [sys.executable, "-c", _HELPER], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as helper:
        _compile_geometry()
        helper.wait()


def _model() -> Model:
    """Return bodies with shapes of every family, touching each other."""
    scene = Scene()
    scene.add_fixed(HalfSpace())
    for k, shape in enumerate((Sphere(1.0), Capsule(1.0, 1.0), Box((2.0, 2.0, 2.0)), Box((2.0, 2.0, 2.0)))):
        scene.add_body(shape, mass=1.0, position=(1.9 * k, 0.1 * k, 1.0), angular_velocity=(1.0, 1.0, 0.0))
    return compile_scene(scene)


def _compile_geometry() -> None:
    model = _model()
    detect(model, model.initial_state, np.full(model.body_count, 0.1))


def compile_the_rest() -> None:
    """Move bodies freely, and solve a small friction problem by every method that the default may call."""
    model = _model()
    free_motion(model, model.initial_state, 0.01, implicit=True)
    advance(model, model.initial_state, model.initial_state.v, 0.01, exact_rotation=True)
    body_a, body_b = np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64)
    J = np.zeros((2, 3, 6))
    J[:, :, :3] = np.eye(3)
    J[:, :, 3:] = np.array([[0.0, 0.5, 0.2], [0.3, 0.0, 0.1], [0.1, 0.4, 0.0]])
    J[1, :, 4] += 0.7
    M_inv = np.stack([np.zeros((6, 6)), np.eye(6)])
    b = np.array([-1.0, 0.5, 0.1, -0.8, 0.6, -0.2])
    problem = FrictionProblem(Delassus(body_a, body_b, -J, J, M_inv), b, np.array([0.3, 0.5]))
    for solver in (None, FrictionInteriorPoint(), ProximalNewton()):
        solve(problem, solver)
