"""Distances and normals of every combination of shapes against their definitions, convex programs and `coal`.

Run as ``python -m benchmarks.check_distances [pairs] [first-second ...]`` (default 10000 of every combination, some
minutes); writes ``benchmarks/results/distances.csv``, where rows of other combinations stay as they are. A third of the
pairs are anywhere, the others within 1e-3 ... 1e-12 of touch.

============  ==========================================================================================================
``missed``    pairs without a contact
``planes``    worst difference of the gap and the gap between supporting planes across the normal, by closed forms [m]
``points``    worst difference of the gap and the distance of both points, and worst distance of points outside [m]
``normal``    worst difference of the normal and the direction between the points where these are 1 mm apart or more,
              and, of smooth surfaces, from the normal that convex programs find
``shortfall`` of overlapping pairs: by how much the best of other ways out is shorter [m]: along coal's normal, and
              along that of convex programs for a sample; judged by the same closed forms
``coal_off``  pairs in which coal's distance differs by more than 1e-7; ``coal_wrong``: those of them in which the
              closed forms refute coal: its distance is not that across its own normal, or ours is proven
============  ==========================================================================================================

Apart, ``planes`` and ``points`` prove a distance without any other library: one bounds it from below, the other from
above. `coal` is asked for a tolerance of 1e-12; for curved shapes it is often off by more than it says.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from benchmarks.distance_judge import (
    COMBINATIONS,
    SMOOTH,
    coal_distance,
    coal_placed,
    coal_request,
    detected,
    judge,
    outside,
    random_pairs,
    separation,
)

from signorini._arrays import Array
from signorini.model import Contacts
from signorini.scene import Shape

_SAMPLE = 20  # pairs of a combination that convex programs judge
_AT_ONCE = 1000
FIELDS = ("first", "second", "pairs", "missed", "planes", "points", "normal", "shortfall", "coal_off", "coal_wrong")


def look(
    row: dict[str, float], a: Shape, b: Shape, q: Array, contacts: Contacts, request: object, *, sample: bool
) -> None:
    """Add one pair to the row of its combination."""
    c = int(contacts.gap.argmin())
    gap, n = float(contacts.gap[c]), contacts.normal[c]
    p_a, p_b = contacts.point_a[c], contacts.point_b[c]
    planes = abs(separation(a, q[0], b, q[1], n) - gap)
    step = p_b - p_a
    points = max(float(np.abs(step - gap * n).max()), outside(a, q[0], p_a), outside(b, q[1], p_b))
    row["planes"], row["points"] = max(row["planes"], planes), max(row["points"], points)
    if gap > 1e-3:
        row["normal"] = max(row["normal"], float(np.linalg.norm(n - step / np.linalg.norm(step))))
    ways = []
    if sample:
        found = judge(a, q[0], b, q[1])
        ways.append(separation(a, q[0], b, q[1], found.normal))
        if {a.word(), b.word()} <= set(SMOOTH) and abs(found.gap - gap) < 1e-12 and "cone" not in (a.word(), b.word()):
            row["normal"] = max(row["normal"], float(np.linalg.norm(n - found.normal)))
    if request is not None:
        placed = coal_placed(a, q[0]), coal_placed(b, q[1])
        d, m = coal_distance(*placed, request)
        own = separation(a, q[0], b, q[1], m / np.linalg.norm(m)) if np.linalg.norm(m) > 0.5 else -np.inf
        ways.append(own)
        if not abs(d - gap) <= 1e-7:
            row["coal_off"] += 1
            row["coal_wrong"] += abs(own - d) > 1e-7 or (gap > 0.0 and max(planes, points) < 1e-9) or own <= gap + 1e-9
    if gap <= 0.0 and ways:
        row["shortfall"] = max(row["shortfall"], max(ways) - gap)


def check(first: str, second: str, count: int, seed: int) -> dict[str, float]:
    """Return the worst of `count` random pairs of a combination."""
    row: dict[str, float] = dict.fromkeys(FIELDS[2:], 0.0)
    r = np.random.default_rng([seed, COMBINATIONS.index((first, second))])
    request = None
    if "superellipsoid" not in (first, second):
        try:
            request = coal_request()
        except ImportError:
            print("coal is not installed: judged by definitions and convex programs alone", file=sys.stderr)
    for begin in range(0, count, _AT_ONCE):
        pairs, poses = random_pairs(first, second, min(_AT_ONCE, count - begin), r)
        for k, ((a, b), q, contacts) in enumerate(zip(pairs, poses, detected(pairs, poses), strict=True)):
            row["pairs"] += 1
            if contacts.contact_count == 0:
                row["missed"] += 1
                continue
            look(row, a, b, q, contacts, request, sample=begin == 0 and k < _SAMPLE)
    return row


def written(row: dict[str, float]) -> list[str]:
    """Return the cells of a row: numbers of pairs, and errors with two digits."""
    return [
        f"{row[name]:.0f}" if name in ("pairs", "missed") or "coal" in name else f"{row[name]:.1e}"
        for name in FIELDS[2:]
    ]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    chosen = [tuple(word.split("-")) for word in sys.argv[2:]] or COMBINATIONS
    if unknown := [c for c in chosen if c not in COMBINATIONS]:
        sys.exit(f"no such combinations: {unknown}; there are {', '.join('-'.join(c) for c in COMBINATIONS)}")
    path = Path(__file__).parent / "results" / "distances.csv"
    known: dict[tuple[str, ...], list[str]] = {}
    if path.exists():
        with path.open(newline="") as file:
            known = {(line[0], line[1]): line[2:] for line in list(csv.reader(file))[1:]}
    for first, second in (c for c in COMBINATIONS if c in chosen):
        cells = known[first, second] = written(check(first, second, count, 0))
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(FIELDS)
            table.writerows([*c, *known[c]] for c in COMBINATIONS if c in known)
        print(
            f"{first:>14} {second:<14}",
            *(f"{name} {cell}" for name, cell in zip(FIELDS[2:], cells, strict=True)),
            flush=True,
        )


if __name__ == "__main__":
    main()
