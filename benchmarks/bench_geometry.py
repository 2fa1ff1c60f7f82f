"""Pairs per second of every combination of shapes, and the broad phase by number of bodies, beside `coal`.

Run as ``python -m benchmarks.bench_geometry``; writes ``benchmarks/results/geometry.csv``. Times are CPU times, the
least of several repeats. Ours goes from the poses of all bodies to the arrays of contact manifolds, exact to rounding,
in one call for a scene of 1000 pairs, broad phase included, as a simulation does in every step. `coal` is called from
Python pair by pair, which is how it is used from there, without a broad phase, in three ways:

==========  ============================================================================================================
``call``    the bare call of ``distance``, one pair of points to its default tolerance of 1e-6; poses are set already
            and nothing is read
``result``  the same from poses to numbers: both poses set, ``distance``, normal and both points stored in arrays
``patch``   collision within the same margin and then the contact patch, which is what a manifold takes; poses are set
            already and nothing is read
==========  ============================================================================================================

The broad phase of `coal` is its dynamic AABB tree with the callback that it brings along; the one of ours includes the
frames and boxes of all shapes, and order.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.distance_judge import ANY_PAIR, COMBINATIONS, coal_placed, random_pairs

import signorini as sg
from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.geometry.detect import detect_arrays
from signorini.geometry.frames import place_shapes
from signorini.geometry.pairs import find_pairs
from signorini.geometry.tables import Tables, scratch_for, tables_of
from signorini.scene import Shape
from signorini.scene.encode import encode

_PAIRS, _REPEATS = 1000, 5
_SPACING, _REACH = 40.0, 0.1


def least(function: Callable[[], object], repeats: int = _REPEATS) -> float:
    """Return the least CPU time of a call [s]; the first one, which may compile, does not count."""
    function()
    times = []
    for _ in range(repeats):
        began = time.process_time()
        function()
        times.append(time.process_time() - began)
    return min(times)


def ours(pairs: list[tuple[Shape, Shape]], poses: Array) -> float:
    """Return pairs per second of detection, broad phase and manifolds included."""
    n = len(pairs)
    if isinstance(pairs[0][0], sg.HalfSpace):  # one plane for all
        place = np.array([(_SPACING * (k % 15), _SPACING * (k // 15), 0.0) for k in range(n)])
        q = np.vstack([[0, 0, 0, 1, 0, 0, 0], np.hstack([poses[:, 1, :3] * [0, 0, 0.3] + place, poses[:, 1, 3:]])])
        placed = [(0, sg.HalfSpace().at()), *((k + 1, b.at()) for k, (_, b) in enumerate(pairs))]
    else:
        place = np.array([(_SPACING * (k % 6), _SPACING * (k // 6 % 6), _SPACING * (k // 36)) for k in range(n)])
        q = poses.copy()
        q[:, :, :3] += place[:, None]
        q = q.reshape(-1, 7).copy()
        placed = [(2 * k + side, pair[side].at()) for k, pair in enumerate(pairs) for side in range(2)]
    shapes, hulls = encode(placed, np.zeros((len(q), 3)))
    reach = np.full(len(q), _REACH)
    return n / least(lambda: detect_arrays(shapes, hulls, ANY_PAIR, 0, q, reach))


def theirs(pairs: list[tuple[Shape, Shape]], poses: Array) -> tuple[float, float, float] | None:
    """Return pairs per second of coal's signed distance, of the same with poses and results, and of contact patches.

    None if it does not know a shape or is not installed.
    """
    try:
        import coal
    except ImportError:
        return None
    placed = [(coal_placed(a, q[0]), coal_placed(b, q[1])) for (a, b), q in zip(pairs, poses, strict=True)]
    if any(x is None or y is None for x, y in placed):
        return None
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    touch, touches = coal.CollisionRequest(), coal.CollisionResult()
    touch.security_margin, touch.enable_contact = 2.0 * _REACH, True
    patch, patches = coal.ContactPatchRequest(), coal.ContactPatchResult()
    turns = [[np.array(one[1].getRotation()) for one in pair] for pair in placed]
    origins = [[np.array(one[1].getTranslation()) for one in pair] for pair in placed]
    value = np.empty((len(pairs), 10))

    def calls() -> None:
        for a, b in placed:
            result.clear()
            coal.distance(a[0], a[1], b[0], b[1], request, result)

    def results() -> None:
        for k, (a, b) in enumerate(placed):
            a[1].setTransform(turns[k][0], origins[k][0])
            b[1].setTransform(turns[k][1], origins[k][1])
            result.clear()
            value[k, 9] = coal.distance(a[0], a[1], b[0], b[1], request, result)
            value[k, :3] = result.getNearestPoint1()
            value[k, 3:6] = result.getNearestPoint2()
            value[k, 6:9] = result.normal

    def manifolds() -> None:
        for a, b in placed:
            touches.clear()
            coal.collide(a[0], a[1], b[0], b[1], touch, touches)
            patches.clear()
            coal.computeContactPatch(a[0], a[1], b[0], b[1], touches, patch, patches)

    n = len(pairs)
    try:
        return n / least(calls), n / least(results), n / least(manifolds)
    except RuntimeError:  # patches of some pairs are not part of coal
        return n / least(calls), n / least(results), np.nan


def mixed(n: int) -> tuple[list[Shape], Array]:
    """Return spheres and boxes of sizes from 0.1 to 1, every thousandth ten times larger, about one neighbour each."""
    r = np.random.default_rng(n)
    size = 10.0 ** r.uniform(-1.0, 0.0, n) * np.where(np.arange(n) % 1000 == 0, 10.0, 1.0)
    kinds: list[Shape] = [sg.Sphere(1.0 * s) if k % 2 else sg.Box((s, s, s)) for k, s in enumerate(size)]
    q = np.zeros((n, 7))
    q[:, :3] = r.uniform(0.0, (0.8 * n) ** (1.0 / 3.0), (n, 3))
    e = r.normal(size=(n, 4))
    q[:, 3:] = e / np.linalg.norm(e, axis=1)[:, None]
    return kinds, q


@kernel
def _broad_phase(
    shape: Array,
    label: IntArray,
    solid: Array,
    q: Array,
    reach: Array,
    world: Array,
    cells: IntArray,
    work: Array,
) -> int:
    place_shapes(shape, label, solid, q, reach, world)
    return find_pairs(shape, label, q, reach, world, cells, work)


def broad_ours(tables: Tables, q: Array) -> tuple[float, int]:
    """Return the time of the broad phase, frames and boxes included [s], and the number of pairs."""
    reach, scratch = np.zeros(len(q)), scratch_for(tables, 16 * len(q))

    def run() -> int:
        return _broad_phase(*tables[:3], q, reach, scratch.world, scratch.cells, scratch.work)

    return least(run, 3), run()


def broad_theirs(kinds: list[Shape], q: Array) -> tuple[float, int] | None:
    """Return the same of coal's dynamic tree: update of all boxes and collection of overlapping pairs."""
    try:
        import coal
    except ImportError:
        return None
    placed = [coal_placed(shape, pose) for shape, pose in zip(kinds, q, strict=True)]
    objects = [coal.CollisionObject(shape, transform) for shape, transform in placed]
    manager = coal.DynamicAABBTreeCollisionManager()
    for one in objects:
        manager.registerObject(one)
    manager.setup()
    count = 0

    def run() -> None:
        nonlocal count
        callback = coal.CollisionCallBackCollect(30 * len(objects))
        for one in objects:
            one.computeAABB()
        manager.update()
        manager.collide(callback)
        count = callback.numCollisionPairs()

    return least(run, 3), count


def main() -> None:
    path = Path(__file__).parent / "results" / "geometry.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["what", "ours", "coal_call", "ratio", "coal_result", "ratio", "coal_patch", "ratio", "unit"])
        for first, second in COMBINATIONS:
            pairs, poses = random_pairs(first, second, _PAIRS, np.random.default_rng(0))
            mine, other = ours(pairs, poses), theirs(pairs, poses)
            row = [f"{mine:.0f}"]
            for one in () if other is None else other:
                row += [f"{one:.0f}", f"{mine / one:.2f}"]
            table.writerow([f"{first}-{second}", *row, *[""] * (7 - len(row)), "pairs/s"])
            print(f"{first + '-' + second:32}", *(f"{cell:>9}" for cell in row), flush=True)
        for n in (1_000, 10_000, 100_000):
            kinds, q = mixed(n)
            shapes, hulls = encode([(k, shape.at()) for k, shape in enumerate(kinds)], np.zeros((n, 3)))
            seconds, count = broad_ours(tables_of(shapes, hulls, ANY_PAIR, 0), q)
            peer = broad_theirs(kinds, q)
            row = [f"{1e3 * seconds:.3g}", "" if peer is None else f"{1e3 * peer[0]:.3g}"]
            row.append("" if peer is None else f"{peer[0] / seconds:.1f}")
            table.writerow([f"broad phase {n}", *row, "", "", "", "", "ms"])
            print(
                f"broad phase of {n:6} bodies: {row[0]} ms, {count} pairs; coal {row[1]} ms, ratio {row[2]}", flush=True
            )


if __name__ == "__main__":
    main()
