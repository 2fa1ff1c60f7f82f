"""``signorini warm-up``: machine code made beforehand, for containers and machines without a compiler's patience."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from signorini.cli.output import say
from signorini.errors import FileError

_SCENES = (
    """
contact: {friction: 0.3, restitution: 0.1}
fixed: [{name: floor, shape: {half_space: {}}}]
bodies:
- {name: box, shape: {box: {size: [1, 1, 1]}}, mass: 1.0, position: [0, 0, 0.5]}
- {name: ball, shape: {sphere: {radius: 0.5}}, mass: 1.0, position: [0, 0, 1.5]}
- {name: rod, shape: {capsule: {radius: 0.1, length: 1.0}}, mass: 1.0, position: [3, 0, 2]}
joints: [{kind: revolute, body_b: rod, anchor: [3, 0, 2.5], axis: [0, 1, 0]}]
""",
    """
planar: true
contact: {friction: 0.3}
fixed: [{name: floor, shape: {half_space: {normal: [0, 1]}}}]
bodies: [{name: disc, shape: {disc: {radius: 0.5}}, mass: 1.0, position: [0, 0.5]}]
""",
)
_H, _STEPS = 0.01, 5


def warm_up(into: Path | None) -> int:
    """Compile what usual runs need: both kinds of scenes, with and without joints, and both time steppings."""
    if into is not None:
        try:
            into.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{into}: cannot write: {error.strerror}") from error
        os.environ["NUMBA_CACHE_DIR"] = str(into.resolve())  # before anything is compiled
    from signorini.formulations import MoreauJean, StewartTrinkle
    from signorini.scene import Scene
    from signorini.simulation import simulate

    with tempfile.TemporaryDirectory() as folder:
        for k, text in enumerate(_SCENES):
            path = Path(folder) / f"scene{k}.yaml"
            path.write_text(text)
            for formulation in (MoreauJean(), StewartTrinkle()):
                simulate(
                    Scene.load(path),
                    h=_H,
                    duration=_STEPS * _H,
                    formulation=formulation,
                    on_failure="keep",
                    progress=False,
                    checkpoint=Path(folder) / "run.h5",
                )
    say(f"ready; use it with NUMBA_CACHE_DIR={into.resolve()}" if into is not None else "ready")
    return 0
