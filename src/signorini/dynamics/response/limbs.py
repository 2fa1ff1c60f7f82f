"""Joints of mechanisms, and the trees and chords that they make of the bodies (S5 spec 4).

Every joint is a :class:`Hinge` of an inboard row a and an outboard row b. Those of a spanning forest carry a
:class:`Limb` each, whose coordinates are theirs; the others are chords, which close loops and have no coordinates.
Chords are distance joints, gears and springs between points, which hold one direction or none, and whatever joint is
left: driven ones are the last to be, since coordinates of limbs follow a prescribed motion exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array
from signorini.dynamics.response.spatial import about_z, matrix
from signorini.model import Deformable, Model, frame_rows

SIZES = {
    "free": (7, 6),
    "fixed": (0, 0),
    "revolute": (1, 1),
    "prismatic": (1, 1),
    "cylindrical": (2, 2),
    "spherical": (4, 3),
    "universal": (2, 2),
    "planar": (3, 3),
}
"""Numbers of coordinates and of speeds."""
LINES = ("distance", "spring")
"""Kinds that act along the line between two points."""
OWN = ("revolute", "prismatic", *LINES)
"""Kinds with one coordinate of their own."""
_CHORDS = ("gear", *LINES)
SLIDES = {"prismatic": (2,), "cylindrical": (2,), "planar": (0, 1)}
"""Axes of A along which coordinates displace B, the first ones."""
TURNS = ("revolute", "cylindrical", "planar")
"""Kinds whose last coordinate turns B about the last axis of A."""
_Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True)
class Hinge:
    """A joint between two rows of the model."""

    joint: int
    """Its number in the model, -1 for a body that floats."""
    kind: str
    sign: float
    """Of the joint's own coordinate beside ours: -1 where body a hangs from body b."""
    inboard: int
    """Row of the body or the point that it hangs from, -1 for the world."""
    row: int
    """That of the body or the point on the other side."""
    anchor: tuple[Array, Array]
    """Origins of A and B in the frames of the mass centres, or of the points [m]."""
    frame: tuple[Array, Array]
    """Rotations of A and B to these frames, (3, 3)."""
    rest: Array
    """Rotation of B to A at coordinates of zero, (3, 3)."""
    driven: bool
    """Whether its coordinate is prescribed."""

    @property
    def columns(self) -> int:
        """Number of columns of P: directions in which it moves, of a line or a gear that in which it acts."""
        return 1 if self.kind in _CHORDS else 0 if self.joint < 0 else SIZES[self.kind][1]

    @property
    def acts_along(self) -> bool:
        """Whether it holds the direction of P, and not what is across it."""
        return self.kind in _CHORDS

    @property
    def moves(self) -> bool:
        """Whether it moves along a coordinate of its own, by itself or driven."""
        return self.kind in OWN and (self.driven or self.kind != "distance")

    @property
    def held(self) -> int:
        """Number of directions that it holds."""
        if self.kind in _CHORDS:
            return int(self.kind != "spring" or self.driven)
        return 6 if self.driven else 6 - SIZES[self.kind][1]


@dataclass(frozen=True, slots=True)
class Limb(Hinge):
    """A moving body with what it hangs by."""

    body: int
    """Its row in the model, that of its frame."""
    q: slice
    u: slice
    flexible: Deformable | None
    modes_q: slice
    """Its modal coordinates."""
    modes_u: slice
    """Their rates among the speeds."""

    @property
    def size(self) -> int:
        """Number of accelerations of its frame and its modes."""
        return 6 + int(self.modes_u.stop) - int(self.modes_u.start)


def make_limbs(model: Model) -> tuple[list[Limb], list[Hinge]]:
    """Return the moving bodies, every one after what it hangs from, and the chords between them."""
    joints, arrays = model.joints, model.joints.arrays
    frame = frame_rows(model)
    deformable = {one.row: one for one in model.flexible}
    ends = [
        tuple(int(frame[b]) if b >= model.fixed_count else -1 for b in (int(arrays.body_a[g]), int(arrays.body_b[g])))
        for g in range(joints.count)
    ]
    chosen = _spanning(model, ends)
    near: dict[int, list[tuple[int, int, float]]] = {}
    for g in sorted(chosen):
        rows = int(arrays.body_a[g]), int(arrays.body_b[g])
        for side, sign in ((0, 1.0), (1, -1.0)):
            near.setdefault(ends[g][side], []).append((g, rows[1 - side], sign))
    limbs: list[Limb] = []
    seen: set[int] = set()
    sizes = [0, 0]

    def add(row: int, inboard: int, g: int, sign: float) -> None:
        own = deformable.get(int(frame[row]))
        parts = []
        for side, joint in enumerate(SIZES["free" if g < 0 else joints.kinds[g]]):
            middle = sizes[side] + joint
            last = middle + (0 if own is None else own.body.mode_count)
            parts.append((slice(sizes[side], middle), slice(middle, last)))
            sizes[side] = last
        (q, modes_q), (u, modes_u) = parts
        limbs.append(Limb(*_hinge(model, row, inboard, g, sign), int(frame[row]), q, u, own, modes_q, modes_u))
        seen.add(int(frame[row]))

    def grow(first: int) -> None:
        waiting = [first]
        for at in waiting:
            for g, other, sign in near.get(at, []):
                if other >= model.fixed_count and int(frame[other]) not in seen:
                    add(other, int(arrays.body_a[g] if sign > 0.0 else arrays.body_b[g]), g, sign)
                    waiting.append(int(frame[other]))

    grow(-1)
    for body in range(model.fixed_count, model.body_count):
        if int(frame[body]) not in seen:
            add(body, -1, -1, 1.0)
            grow(body)
    chords = [
        Hinge(*_hinge(model, int(arrays.body_b[g]), int(arrays.body_a[g]), g, 1.0))
        for g in range(joints.count)
        if g not in chosen
    ]
    return limbs, chords


def _spanning(model: Model, ends: list[tuple[int, ...]]) -> set[int]:
    """Return the joints of a spanning forest, as many driven ones among them as can be."""
    joints, top = model.joints, dict[int, int]()

    def root(body: int) -> int:
        while body in top:
            body = top[body]
        return body

    chosen = set()
    for g in sorted(range(joints.count), key=lambda g: not _driven(model, g)):
        a, b = root(ends[g][0]), root(ends[g][1])
        if joints.kinds[g] not in _CHORDS and a != b:
            top[max(a, b)] = min(a, b)  # the world, -1, stays on top
            chosen.add(g)
    return chosen


def _driven(model: Model, g: int) -> bool:
    return model.joints.motions[g] is not None and bool(np.isinf(model.joints.effort_limit[g]))


def _hinge(
    model: Model, row: int, inboard: int, g: int, sign: float
) -> tuple[int, str, float, int, int, tuple[Array, Array], tuple[Array, Array], Array, bool]:
    """Return the fields of a hinge."""
    if g < 0:
        eye = np.eye(3)
        return g, "free", sign, inboard, row, (np.zeros(3), -model.mass_centre[row]), (eye, eye), eye, False
    arrays, kind = model.joints.arrays, model.joints.kinds[g]
    sides = ((arrays.anchor_a[g], arrays.frame_a[g]), (arrays.anchor_b[g], arrays.frame_b[g]))
    if sign < 0.0:
        sides = sides[::-1]
    frame = (matrix(sides[0][1]), matrix(sides[1][1]))
    poses = model.initial_state.q
    at = [np.eye(3) if b < 0 else matrix(poses[b, 3:]) for b in (inboard, row)]
    rest = (at[0] @ frame[0]).T @ (at[1] @ frame[1]) if kind == "universal" else np.eye(3)
    anchor = (sides[0][0].copy(), sides[1][0].copy())
    return g, kind, sign, inboard, row, anchor, frame, rest, _driven(model, g)


# --- kinematics of joints -----------------------------------------------------


def placed(hinge: Hinge, q: Array) -> tuple[Array, Array]:
    """Return origin and rotation of B as seen from A, of coordinates."""
    d, R = np.zeros(3), np.eye(3)
    for k, axis in enumerate(SLIDES.get(hinge.kind, ())):
        d[axis] = q[k]
    if hinge.kind in TURNS:
        R = about_z(q[-1])
    elif hinge.kind == "universal":
        R = about_z(q[0]) @ hinge.rest @ about_z(q[1])
    return d, R


def coordinates(hinge: Hinge, d: Array, R: Array) -> Array:
    """Return the coordinates nearest to this origin and rotation of B as seen from A."""
    slides = [d[axis] for axis in SLIDES.get(hinge.kind, ())]
    if hinge.kind == "universal":
        now, first = R @ _Z, hinge.rest @ _Z
        back, back_first = R.T @ _Z, hinge.rest.T @ _Z
        return np.array([_angle(first, now), _angle(back, back_first)])
    return np.array([*slides, *([np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])] if hinge.kind in TURNS else [])])


def _angle(first: Array, second: Array) -> float:
    """Return the angle about z from one vector to another."""
    return float(np.arctan2(first[0] * second[1] - first[1] * second[0], first[0] * second[0] + first[1] * second[1]))


def subspace(hinge: Hinge, A: Array, turned: Array) -> Array:
    """Return P at the origin of B, (6, f), for the frame A in the world and B turned against it."""
    P = np.zeros((6, SIZES[hinge.kind][1]))
    for k, axis in enumerate(SLIDES.get(hinge.kind, ())):
        P[3:, k] = A[:, axis]
    if hinge.kind in TURNS:
        P[:3, -1] = A[:, 2]
    elif hinge.kind == "universal":
        P[:3, 0], P[:3, 1] = A[:, 2], A @ turned @ _Z
    elif hinge.kind == "spherical":
        P[:3] = np.eye(3)
    return P


def along(P: Array, relative: Array) -> Array:
    """Return the speeds of a velocity of b against a; axes of a universal joint are at right angles as people type."""
    if not P.shape[1]:
        return np.zeros(0)
    return np.asarray(np.linalg.solve(P.T @ P, P.T @ relative), dtype=np.float64)
