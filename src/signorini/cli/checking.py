"""``signorini check``: can the rigid model be believed in this scene?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from signorini.analysis import check_state
from signorini.analysis.regularity import Regularity, disassembly, pointed_cone
from signorini.cli.output import announce_compilation, to_json
from signorini.errors import InputError
from signorini.formulations import MoreauJean
from signorini.scene import Scene
from signorini.simulation import Simulator

_SMALL_STEP = 1e-3  # seconds in which contacts must close to be looked at, where the file names no step size


def check(path: Path, *, at: float, damping: float | None, as_json: bool) -> int:
    """Test existence, uniqueness and stability of the contact forces, and whether contacts wedge, at time `at`."""
    if at < 0.0:
        raise InputError(f"--at is {at}, must be >= 0")
    scene = Scene.load(path)
    announce_compilation()
    simulator = Simulator(scene, h=float(scene.simulate.get("h", _SMALL_STEP)))
    while simulator.state.t < at * (1.0 - 1e-12):
        simulator.advance()
    validity = check_state(simulator.model, simulator.state, damping=damping)
    wedging = _wedging(simulator)
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
                    "wedging": {what: test.holds for what, test in wedging.items()},
                }
            )
        )
        return 0
    print(validity)
    for what, test in wedging.items():
        print(f"{what}: {test}")
    return 0


def _wedging(simulator: Simulator) -> dict[str, Regularity]:
    """Return the tests of S2 on the contacts that the next step sees; none without contacts."""
    model, state, h = simulator.model, simulator.state, simulator.h
    formulation: Any = MoreauJean()
    contacts = formulation.detect(model, state, h)
    if not contacts.contact_count:
        return {}
    memory = formulation.init(model, state)
    problem = formulation.step(model, state, contacts, memory, h, tolerance=simulator.tolerance).problem
    return {"bodies can be taken apart": disassembly(problem), "friction cone is pointed": pointed_cone(problem)}
