"""``signorini check``: can the rigid model be believed in this scene?"""

from __future__ import annotations

from pathlib import Path

from signorini.analysis import check_state
from signorini.analysis.wedging import redundancy, wedging
from signorini.cli.output import announce_first_run, to_json
from signorini.errors import InputError
from signorini.scene import Scene
from signorini.simulation import Simulator
from signorini.simulation.simulator import within_range

_SMALL_STEP = 1e-3  # seconds in which contacts must close to be looked at, where the file names no step size


def check(path: Path, *, at: float, damping: float | None, outside: bool, as_json: bool) -> int:
    """Test existence, uniqueness and stability of the contact forces, redundant joints and wedging, at time `at`."""
    if at < 0.0:
        raise InputError(f"--at is {at}, must be >= 0")
    scene = Scene.load(path, outside=outside)
    announce_first_run()
    simulator = Simulator(scene, h=float(scene.simulate.get("h", _SMALL_STEP)))
    while simulator.state.t < at * (1.0 - 1e-12):
        simulator.advance()
    model, state = simulator.model, simulator.snapshot().state
    with within_range():
        validity = check_state(model, state, damping=damping)
        contacts = simulator.formulation.detect(model, state, simulator.h)
        tests = wedging(model, state, contacts)
        joints = redundancy(model, state) if model.joints.row_count else None
    if as_json:
        print(
            to_json(
                {
                    "scene": str(path),
                    "time": validity.time,
                    "outcome": str(validity.outcome),
                    "unique": str(validity.unique),
                    "stable": str(validity.stable),
                    "critical_damping": validity.critical_damping,
                    "notes": list(validity.notes),
                    "wedging": {what: test.holds for what, test in tests.items()},
                    "joints": None
                    if joints is None
                    else {"rows": joints.rows, "rank": joints.rank, "redundant": list(joints.joints)},
                }
            )
        )
        return 0
    print(validity)
    if joints is not None:
        print(f"joints: {joints}")
    for what, test in tests.items():
        print(f"{what}: {test}")
    return 0
