"""Where all bodies of a mechanism are, and how hinges and named points follow from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics.response.flexible import bent, handles, rotation, turns
from signorini.dynamics.response.limbs import Hinge, Limb
from signorini.dynamics.response.spatial import cross, quaternion


@dataclass(frozen=True, slots=True)
class Subspaces:
    """P of every hinge, or D: item k has as many columns as are its own."""

    padded: Array
    """(n, 6, 3), or of directions that are held (n, 6, 6)."""
    columns: IntArray

    def __getitem__(self, k: int) -> Array:
        own: Array = self.padded[k, :, : self.columns[k]]
        return own


class Posture(NamedTuple):
    """Poses and velocities of all bodies of the model, and the motion subspaces of the limbs."""

    x: Array
    """(n_b, 3)"""
    e: Array
    """(n_b, 4)"""
    R: Array
    """(n_b, 3, 3)"""
    v: Array
    """(n_b, 3)"""
    w: Array
    """(n_b, 3)"""
    place: Array
    """Origin of B of each limb, then of each chord, (n, 3)."""
    across: Array
    """Where these act on the inboard row: at the same place, but at the other end of a line, (n, 3)."""
    P: Subspaces
    """(6, f) of each."""
    turning: Array
    """A_t of each, (n, 6)."""
    modal: Array
    """(n_m,)"""
    modal_rate: Array
    """(n_m,)"""
    points: dict[int, tuple[Array, Array]]
    """T (6, 6 + nu) and A^ (6,) of the rows of points."""


# --- poses of joints -----------------------------------------------------------


def frames(hinge: Hinge, x: Array, R: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return origins and rotations of A and B in the world."""
    (x_a, A), (x_b, B) = (
        (anchor, frame) if row < 0 else (x[row] + R[row] @ anchor, R[row] @ frame)
        for row, anchor, frame in zip((hinge.inboard, hinge.row), hinge.anchor, hinge.frame, strict=True)
    )
    return (x_a, A), (x_b, B)


def relative_pose(hinge: Hinge, x: Array, R: Array) -> tuple[Array, Array]:
    """Return origin and rotation of B as seen from A."""
    (x_a, A), (x_b, B) = frames(hinge, x, R)
    return A.T @ (x_b - x_a), A.T @ B


# --- points ------------------------------------------------------------------


def place_points(
    limb: Limb,
    q: Array,
    u: Array,
    x: Array,
    e: Array,
    R: Array,
    v: Array,
    w: Array,
    points: dict[int, tuple[Array, Array]],
) -> None:
    """Fill in the frame and all points of a flexible limb from the row by which it is held."""
    if limb.flexible is None:
        return
    own, rate, b, held = q[limb.modes_q], u[limb.modes_u], limb.body, limb.row
    named = limb.flexible.points
    if held != b:
        k = held - b - 1
        R[b] = R[held] @ rotation(named.Psi[k] @ own).T
        w[b] = w[held] - R[b] @ (named.Psi[k] @ rate)
        r = R[b] @ bent(named, own)[k]
        x[b], e[b] = x[held] - r, quaternion(R[b], e[b])
        v[b] = v[held] - cross(w[b], r) - R[b] @ ((named.Phi[k] + named.Chi[k] @ own) @ rate)
    T, fast = handles(named, R[b], w[b], own, rate)
    there, turned = bent(named, own) @ R[b].T, turns(named, own)
    motion = np.concatenate([w[b], v[b], rate])
    for k in range(there.shape[0]):
        row = b + 1 + k
        points[row] = T[k], fast[k]
        if row != held:
            x[row], R[row] = x[b] + there[k], R[b] @ turned[k]
            e[row] = quaternion(R[row], e[row])
            velocity = T[k] @ motion
            w[row], v[row] = velocity[:3], velocity[3:]
