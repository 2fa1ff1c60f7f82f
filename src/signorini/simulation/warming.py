"""Compile on two cores: a first run spends its time in the compiler, which uses only one."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from signorini._jit import compile_for, is_cold
from signorini.formulations import Engine
from signorini.formulations.step_bodies import free_step, move_step
from signorini.formulations.step_checks import account, check_law, hand_over
from signorini.formulations.step_contacts import pose_step
from signorini.formulations.step_solve import contact_velocities, solve_step
from signorini.geometry.detection import KERNELS
from signorini.geometry.tables import Family, scratch_for, tables_of
from signorini.model import Model
from signorini.scene import Box, HalfSpace, Scene, Sphere, compile_scene

_warmed: set[Family] = set()  # in this process
_HELPER = "import sys; from signorini.simulation.warming import compile_half; compile_half(int(sys.argv[1]))"


def warm_up(engine: Engine) -> None:
    """Compile what a compiled run needs, if this machine never did, half of it in a second process.

    Without that process, wherever none can be made, all is compiled here when it is first called.
    """
    if not is_cold() or engine.family is None or engine.family in _warmed:
        return
    _warmed.add(engine.family)
    try:
        helper = subprocess.Popen(
            [sys.executable, "-c", _HELPER, str(int(engine.family))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return
    with helper:
        table = np.zeros((1, 4), dtype=np.int64)
        for stage in (solve_step, contact_velocities, move_step, account):
            compile_for(stage, table)


def compile_half(family: int) -> None:
    """Compile the other half, for scenes of a family of shapes."""
    table = np.zeros((1, 4), dtype=np.int64)
    model = _model(Family(family))
    tables = tables_of(model.shapes, model.hulls, model.materials, model.fixed_count)
    compile_for(KERNELS[Family(family)], *tables, model.initial_state.q, model.arrays.bound, *scratch_for(tables, 16))
    for stage in (pose_step, free_step, hand_over, check_law):
        compile_for(stage, table)


def _model(family: Family) -> Model:
    """Return a scene of any size: only the types of its arrays count."""
    scene = Scene()
    scene.add_fixed(HalfSpace())
    scene.add_body(Sphere(1.0) if family == Family.SIMPLE else Box((1.0, 1.0, 1.0)), mass=1.0, position=(0.0, 0.0, 1.0))
    return compile_scene(scene)
