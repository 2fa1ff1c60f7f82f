"""Throw random and degenerate poses of all shapes at detection and look for anything that is not a proper contact.

Run as ``python -m benchmarks.fuzz_geometry [poses]`` (default 1000000, some minutes). Poses are of pairs: random ones,
coincident centres, parallel and exactly turned axes, exact and almost exact touch along an axis, offsets of a hair's
breadth; among the shapes are needles and plates with an aspect ratio of 1000. Every pair must give finite contacts with
unit normals, whose gap is the way between its points along the normal.
"""

from __future__ import annotations

import itertools
import sys
import time

import numpy as np
from benchmarks.distance_judge import ANY_PAIR

import signorini as sg
from signorini._arrays import Array
from signorini.geometry.detect import detect_arrays
from signorini.model import Contacts
from signorini.scene import Shape
from signorini.scene.encode import encode

_SPACING, _REACH = 40.0, 6.0
CONSISTENT = 1e-9  # of 1 m: what gap and points may differ by; coordinates are some 100 m

_HULL = sg.ConvexHull(0.6 * np.random.default_rng(3).normal(size=(14, 3)))
SHAPES: tuple[Shape, ...] = (
    sg.Sphere(0.5),
    sg.Sphere(1e-3),
    sg.Capsule(0.3, 1.0),
    sg.Capsule(1e-3, 2.0),
    sg.Box((1.0, 1.0, 1.0)),
    sg.Box((2.0, 0.002, 1.0)),
    _HULL,
    sg.Cylinder(0.5, 1.0),
    sg.Cylinder(1.0, 0.002),
    sg.Cylinder(0.001, 2.0),
    sg.Cone(0.5, 1.0),
    sg.Cone(1.0, 0.002),
    sg.Ellipsoid((0.5, 0.5, 0.5)),
    sg.Ellipsoid((1.0, 0.001, 0.3)),
    sg.Superellipsoid((0.5, 0.4, 0.3), 4.0),
    sg.Superellipsoid((0.5, 0.5, 0.5), 20.0),
)
PAIRS = list(itertools.combinations_with_replacement(SHAPES, 2))
_TURNS = np.array(
    [e for e in itertools.product((-1.0, 0.0, 1.0), repeat=4) if any(e)]
)  # quarter and third turns about the axes and the diagonals
_QUARTERS = _TURNS / np.linalg.norm(_TURNS, axis=1)[:, None]


def random_poses(count: int, r: np.random.Generator) -> Array:
    """Return relative poses (count, 2, 7), half of them degenerate."""
    e = r.normal(size=(count, 2, 4))
    poses = np.concatenate([np.zeros((count, 2, 3)), e / np.linalg.norm(e, axis=2)[:, :, None]], axis=2)
    poses[:, 1, :3] = r.uniform(0.0, 1.2, (count, 1)) * r.normal(size=(count, 3))
    kind = r.integers(0, 12, count)
    exact = np.isin(kind, (1, 3, 5))  # quarter turns, both in world axes
    poses[exact, :, 3:] = _QUARTERS[r.integers(0, len(_QUARTERS), (count, 2))][exact]
    same = np.isin(kind, (0, 2, 4))  # equal axes
    poses[same, 1, 3:] = poses[same, 0, 3:]
    poses[np.isin(kind, (0, 1)), 1, :3] = 0.0  # coincident centres
    axis = np.isin(kind, (2, 3))  # along an axis, at distances at which such shapes touch
    steps = np.array([0.5, 1.0, 1.5, 0.501, 1.001, 2.0, 0.75, 0.25, 0.65, 0.8])
    along = np.eye(3)[r.integers(0, 3, count)] * (r.choice(steps, count) * r.choice([-1.0, 1.0], count))[:, None]
    poses[axis, 1, :3] = along[axis]
    hair = np.isin(kind, (4, 5))
    poses[hair, 1, :3] = (10.0 ** r.uniform(-320.0, -6.0, (count, 1)) * r.normal(size=(count, 3)))[hair]
    return poses


def faults(contacts: Contacts, pair_count: int) -> list[str]:
    """Return what is wrong with the contacts of pairs of bodies 2k and 2k + 1."""
    found = []
    if not all(np.isfinite(column).all() for column in contacts):
        found.append("not finite")
        return found
    if np.abs(np.linalg.norm(contacts.normal, axis=1) - 1.0).max(initial=0.0) > 1e-12:
        found.append("normal not of length 1")
    step = contacts.point_b - contacts.point_a - contacts.gap[:, None] * contacts.normal
    if np.abs(step).max(initial=0.0) > CONSISTENT:
        found.append(f"gap and points differ by {np.abs(step).max():.1e}")
    owner = np.unique(contacts.body_a // 2)
    if owner.size != pair_count:
        found.append(f"{pair_count - owner.size} pairs without contact")
    if (contacts.body_a // 2 != contacts.body_b // 2).any():
        found.append("contact between strangers")
    return found


class Fuzz:
    """All pairs of shapes side by side; poses change."""

    def __init__(self) -> None:
        self.count = len(PAIRS)
        placed = [(2 * k + side, pair[side].at()) for k, pair in enumerate(PAIRS) for side in range(2)]
        self.shapes, self.hulls = encode(placed, np.zeros((2 * self.count, 3)))
        edge = int(np.ceil(self.count ** (1.0 / 3.0)))
        cells = np.array(list(itertools.product(range(edge), repeat=3)))[: self.count]
        self.place = _SPACING * (cells - 0.5 * edge)

    def look(self, poses: Array) -> list[str]:
        """Return what is wrong with one pose of every pair, (count, 2, 7)."""
        q = poses.copy()
        q[:, :, :3] += self.place[:, None]
        q = q.reshape(-1, 7).copy()
        contacts = detect_arrays(self.shapes, self.hulls, ANY_PAIR, 0, q, np.full(len(q), _REACH))
        return faults(contacts, self.count)

    def culprits(self, poses: Array) -> list[str]:
        """Look at each pair alone and name those that fail."""
        named = []
        for k, pair in enumerate(PAIRS):
            shapes, hulls = encode([(0, pair[0].at()), (1, pair[1].at())], np.zeros((2, 3)))
            contacts = detect_arrays(shapes, hulls, ANY_PAIR, 0, poses[k].copy(), np.full(2, _REACH))
            named += [f"{pair[0]} {pair[1]} {poses[k].tolist()}: {fault}" for fault in faults(contacts, 1)]
        return named


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    fuzz, r = Fuzz(), np.random.default_rng(0)
    done, bad, began = 0, 0, time.process_time()
    while done < wanted:
        poses = random_poses(fuzz.count, r)
        wrong = fuzz.look(poses)
        done += fuzz.count
        if wrong:
            bad += 1
            print(f"after {done} poses: {'; '.join(wrong)}")
            for line in fuzz.culprits(poses)[:5]:
                print("  ", line)
    seconds = time.process_time() - began
    print(f"{done} poses, {bad} batches with faults, {seconds:.0f} s, {done / seconds:.0f} poses per second")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
