"""What the certificate costs: the stages of a compiled step that fill it, beside the whole step.

Run as ``python -m benchmarks.bench_stages``. Each stage is called by its address, as the step calls it, many times on
the state that a run has reached. Steps are timed without a log; all times are CPU time. Checking the law and handing
impulses over do more than fill the certificate, and count in full in the first share: the one decides whether the step
is solved again by other methods, the other leaves the impulses from which the next step begins. The second share is
that of the stages without which the motion would be the same.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.bench_bin import bin_of
from benchmarks.peers.ours import build
from benchmarks.peers.scenes import PeerScene, free_box, sphere_pile, stack

import signorini as sg
from signorini._arrays import IntArray
from signorini._jit import kernel, perform
from signorini.engine import arrays as ea

RESULT = Path(__file__).parent / "results" / "stages.csv"
STAGES = {"law": ea.LAW, "account": ea.ACCOUNT, "gaps": ea.SMALLEST_GAP, "hand over": ea.HAND_OVER}
CERTIFICATE_ONLY = ("account", "gaps")
SETTLING, STEPS, CALLS, ROUNDS = 300, 200, 2000, 5


@kernel
def repeat(address: int, t: IntArray, count: int) -> None:
    """Call a stage so many times."""
    for _ in range(count):
        perform(address, (t,))


SCENES: dict[str, Callable[[], PeerScene]] = {
    "one box": free_box,
    "ten boxes": lambda: stack(1.0),
    "bin of 27": lambda: bin_of(27, 0),
    "125 spheres": lambda: sphere_pile(125),
}


def best(call: Callable[[], object], count: int) -> float:
    """Return the CPU time of one of `count` calls in the fastest of some rounds [us]."""
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        call()
        times.append((time.process_time() - begin) / count)
    return 1e6 * min(times)


def measure(scene: PeerScene) -> dict[str, float]:
    """Return the time of a step and of its stages [us]."""
    simulator = sg.Simulator(build(scene), h=scene.h)
    engine = simulator.engine
    assert engine is not None
    engine.run(SETTLING)
    found = {"step": best(lambda: engine.run(STEPS), STEPS)}
    table = engine.arena.table
    repeat(int(table[ea.LAW, 0]), table, 1)  # compiles
    for name, row in STAGES.items():
        address = int(table[row, 0])
        found[name] = best(lambda address=address: repeat(address, table, CALLS), CALLS)  # type: ignore[misc]
    return found


def main() -> None:
    RESULT.parent.mkdir(exist_ok=True)
    with RESULT.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["scene", "step_us", *(f"{name.replace(' ', '_')}_us" for name in STAGES), "share", "share_only"])
        for name, make in SCENES.items():
            found = measure(make())
            share = sum(found[stage] for stage in STAGES) / found["step"]
            only = sum(found[stage] for stage in CERTIFICATE_ONLY) / found["step"]
            out.writerow([name, *(f"{found[key]:.3g}" for key in ("step", *STAGES)), f"{share:.3f}", f"{only:.3f}"])
            file.flush()
            print(
                f"{name:<14}"
                + "".join(f"{key} {value:8.2f}   " for key, value in found.items())
                + f"{share:.1%} {only:.1%}"
            )


if __name__ == "__main__":
    main()
