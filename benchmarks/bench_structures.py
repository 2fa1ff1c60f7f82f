"""Structures that must stand, or fall, in our own engine with its default settings: what each of them did.

::

    python -m benchmarks.bench_structures [--only cards] [--seconds 1] [--compliance auto] [--check] [--out FILE]

Printed and written for each: bodies, contacts that touch at the start, step, seconds simulated, the largest
displacement of any body (of a grip: of the box against the palm, once closed), steps that were softened, the deepest
overlap, the largest residual, mean and median CPU time of a step, the verdict of the report ("Raised" if a step ended
in an exception), and whether it did as it must. A run ends early when a body has moved by ten times the limit: all is
known then. Falling takes time: a structure that must fall and still stands when ``--seconds`` are over is called open.

With ``--check`` nothing is run: of each structure are printed the contacts at the start, the smallest and the largest
gap of those that touch, the smallest of the others, and whether forces within the friction cones can hold it, by linear
programming (cones are pyramids of 16 sides, 2 % too narrow).
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.structures import STRUCTURES, Structure

import signorini as sg
from signorini._arrays import Array, BoolArray
from signorini.errors import SignoriniError
from signorini.formulations import Engine
from signorini.math.rotation import tangent_frame
from signorini.model import Contacts
from signorini.simulation.certificate import Certificate, StepCertificate, from_checks

TOUCHING = 1e-9  # [m]
WARM_STEPS = 20
OVER = 10.0  # limits: bodies that have moved so far have fallen
SIDES = 16  # of the pyramids in place of cones


def simulator_of(structure: Structure, compliance: str | float) -> tuple[sg.Simulator, Engine]:
    """Return a simulator at the start, and its engine."""
    simulator = sg.Simulator(structure.builder(), h=structure.h, formulation=sg.MoreauJean(compliance=compliance))
    assert simulator.engine is not None
    return simulator, simulator.engine


def touching(contacts: Contacts) -> BoolArray:
    """Return which contacts touch, (n_c,)."""
    touch: BoolArray = np.abs(contacts.gap) < TOUCHING
    return touch


def places(structure: Structure, simulator: sg.Simulator) -> Callable[[], Array]:
    """Return a function that tells where the bodies measured are, (n, 3) [m]."""
    model = simulator.model
    rows = slice(model.fixed_count, None)
    if structure.of:
        row = model.names.index(structure.of)
        rows = slice(row, row + 1)
    against = model.names.index(structure.against) if structure.against else None

    def now() -> Array:
        q = simulator.state.q
        origin = 0.0 if against is None else q[against, :3]
        return np.asarray(q[rows, :3] - origin)

    return now


def outcome(structure: Structure, moved: float, cut_short: bool) -> str:
    """Tell whether a structure did as it must."""
    stood = moved < structure.limit
    if stood and not structure.stands and cut_short:
        return "open"
    return "yes" if np.isfinite(moved) and stood == structure.stands else "no"


def run(structure: Structure, seconds: float, compliance: str | float) -> dict[str, Any]:
    """Simulate a structure and return its row of the table."""
    warm, _ = simulator_of(structure, compliance)
    with suppress(SignoriniError):
        warm.run(WARM_STEPS)  # compiles or loads the kernels
    simulator, engine = simulator_of(structure, compliance)
    contacts = int(np.count_nonzero(touching(engine.ahead())))
    steps = round(min(seconds, structure.duration) / structure.h)
    begin = round(structure.since / structure.h)
    place = places(structure, simulator)
    start, moved = place(), 0.0
    certificates: list[StepCertificate] = []
    shown, raised = time.perf_counter(), False
    for k in range(1, steps + 1):
        began = time.process_time()
        try:
            simulator.run(1)
        except SignoriniError as error:
            raised = True
            print(f"    {structure.name}: step {k} raised {error}", flush=True)
            break
        spent = time.process_time() - began
        certificates.append(from_checks(simulator.model, engine.checks, spent))
        if k <= begin:
            start = place()
        moved = float(np.maximum(moved, np.linalg.norm(place() - start, axis=1).max()))  # keeps what is no number
        if moved > OVER * structure.limit or not np.isfinite(moved):
            break
        if time.perf_counter() - shown > 10.0:
            shown = time.perf_counter()
            print(f"    {structure.name}: step {k} of {steps}, moved by {moved:.1e} m", flush=True)
    done = Certificate.of(certificates)
    return {
        "name": structure.name,
        "bodies": simulator.model.body_count - simulator.model.fixed_count,
        "contacts": contacts,
        "h": structure.h,
        "seconds": len(certificates) * structure.h,
        "moved m": moved,
        "softened steps": int(np.count_nonzero(done.compliance > 0.0)),
        "overlap m": max(0.0, -float(done.min_gap.min(initial=0.0))),
        "residual": float(done.residual.max(initial=0.0)),
        "ms": 1e3 * float(np.mean(done.solve_time)),
        "median ms": 1e3 * float(np.median(done.solve_time)),
        "verdict": "Raised" if raised else done.verdict,
        "must": "stand" if structure.stands else "fall",
        "did": "no" if raised else outcome(structure, moved, seconds < structure.duration),
    }


def can_be_held(simulator: sg.Simulator, contacts: Contacts) -> bool:
    """Tell whether forces at the contacts that touch, within their cones, balance gravity."""
    from scipy.optimize import linprog

    model = simulator.model
    fixed, count, touch = model.fixed_count, model.body_count - model.fixed_count, np.flatnonzero(touching(contacts))
    x, weight = simulator.state.q[fixed:, :3], model.arrays.mass[fixed:, None] * model.arrays.gravity
    unit, size = float(np.linalg.norm(weight, axis=1).mean()), float(model.arrays.bound[fixed:].mean())
    angles = 2.0 * np.pi * np.arange(SIDES) / SIDES
    sums = np.zeros((count, 6, touch.size * SIDES))
    for k, c in enumerate(touch):
        n = contacts.normal[c]
        t, o = (np.array(one) for one in tangent_frame((float(n[0]), float(n[1]), float(n[2]))))
        mu = float(model.materials.friction[contacts.material[c]])
        edges = n[:, None] + mu * (np.outer(t, np.cos(angles)) + np.outer(o, np.sin(angles)))
        point = 0.5 * (contacts.point_a[c] + contacts.point_b[c])
        for body, sign in ((contacts.body_a[c] - fixed, -1.0), (contacts.body_b[c] - fixed, 1.0)):
            if body >= 0:
                moment = np.cross((point - x[body]) / size, edges, axisb=0).T
                sums[body, :, SIDES * k : SIDES * (k + 1)] += sign * np.concatenate([edges, moment])
    load = np.concatenate([-weight / unit, np.zeros((count, 3))], axis=1)
    answer = linprog(np.ones(sums.shape[2]), A_eq=sums.reshape(6 * count, -1), b_eq=load.reshape(-1))
    return bool(answer.status == 0)


def check(structure: Structure) -> None:
    """Print what the start of a structure is like."""
    simulator, engine = simulator_of(structure, "auto")
    contacts = engine.ahead()
    touch = touching(contacts)
    gap, others = contacts.gap[touch], contacts.gap[~touch]
    held = "guided" if simulator.model.joints.any else "can be held" if can_be_held(simulator, contacts) else "cannot"
    print(
        f"{structure.name:<26} bodies {simulator.model.body_count - simulator.model.fixed_count:>3}  touching "
        f"{gap.size:>4}  gaps {gap.min(initial=0.0):+.1e} .. {gap.max(initial=0.0):+.1e}  others {others.size:>4} from "
        f"{others.min(initial=np.inf):+.1e}  {held:<11}  must {'stand' if structure.stands else 'fall'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="part of the names of those to run")
    parser.add_argument("--seconds", type=float, default=np.inf, help="simulate no more than this")
    parser.add_argument("--compliance", choices=("auto", "0"), default="auto")
    parser.add_argument("--check", action="store_true", help="look at the start of each, run nothing")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/structures.csv"))
    options = parser.parse_args()
    chosen = [structure for name, structure in STRUCTURES.items() if options.only in name]
    if not chosen:
        parser.error(f"no structure has {options.only!r} in its name; there are {', '.join(STRUCTURES)}")
    if options.check:
        for structure in chosen:
            check(structure)
        return
    compliance: str | float = 0.0 if options.compliance == "0" else "auto"
    table = []
    for k, structure in enumerate(chosen):
        row = run(structure, options.seconds, compliance)
        table.append({key: f"{x:.4g}" if isinstance(x, float) else x for key, x in row.items()})
        print(f"[{k + 1}/{len(chosen)}]  " + "  ".join(f"{key} {x}" for key, x in table[-1].items()), flush=True)
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(table[0]))
            writer.writeheader()
            writer.writerows(table)
    print(f"{sum(row['did'] == 'yes' for row in table)} of {len(table)} did as they must")


if __name__ == "__main__":
    main()
