"""Friction problems of known mechanics, shared by the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array
from signorini.problems.delassus import Delassus
from signorini.problems.friction import FrictionProblem

_FRAME = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # normal up, tangents along x and y


def friction(W: Any, b: ArrayLike, mu: ArrayLike, **options: Any) -> FrictionProblem:
    """Pose a problem from lists of numbers."""
    return FrictionProblem(W, np.array(b, dtype=np.float64), np.array(mu, dtype=np.float64), **options)


def corner_jacobian(arm: Array, sign: float) -> Array:
    """Rows ``sign (t, arm x t)`` for the three directions of a horizontal contact, (3, 6)."""
    return sign * np.hstack([_FRAME, np.cross(arm, _FRAME)])


def box_stack(
    count: int,
    *,
    ratio: float = 1.0,
    heavy: str = "top",
    kick: float = 0.0,
    mu: float = 0.5,
    h: float = 0.005,
    seed: int = 0,
    tilt: float = 0.0,
) -> FrictionProblem:
    """Unit cubes on the ground, each on four corners of the one below: hyperstatic, one step under gravity.

    `ratio` is the mass of the heavy boxes (the top one, or every second), `kick` the size of random velocities,
    `tilt` the angle of gravity from the vertical.
    """
    mass = np.ones(count)
    mass[-1 if heavy == "top" else slice(1, None, 2)] = ratio
    inertia = mass / 6.0
    body_a, body_b, J_a, J_b = [], [], [], []
    for k in range(count):
        half = 0.5 - 0.01 * k
        for x in (-half, half):
            for y in (-half, half):
                body_a.append(k)  # body 0 is the ground, box k is body k + 1
                body_b.append(k + 1)
                J_a.append(corner_jacobian(np.array([x, y, 0.5]), -1.0))
                J_b.append(corner_jacobian(np.array([x, y, -0.5]), 1.0))
    M_inv = np.zeros((count + 1, 6, 6))
    for k in range(count):
        M_inv[k + 1] = np.diag([1.0 / mass[k]] * 3 + [1.0 / inertia[k]] * 3)
    W = Delassus(np.array(body_a), np.array(body_b), np.array(J_a), np.array(J_b), M_inv)
    v = kick * np.random.default_rng(seed).normal(size=(count + 1, 6))
    v[:, :3] += 9.81 * h * np.array([np.sin(tilt), 0.0, -np.cos(tilt)])
    v[0] = 0.0
    b = np.einsum("cij,cj->ci", W.J_a, v[W.body_a]) + np.einsum("cij,cj->ci", W.J_b, v[W.body_b])
    return FrictionProblem(W, b.reshape(-1), np.full(4 * count, mu))


def random_problem(
    seed: int,
    contacts: int,
    *,
    dim: int = 3,
    rank: int | None = None,
    asymmetry: float = 0.0,
    frictionless: float = 0.0,
    zero_rows: float = 0.0,
    mass_ratio: float = 1.0,
) -> FrictionProblem:
    """Random W = A A^T (+ a skew part), solvable: b = A v is the velocity of some motion."""
    rng = np.random.default_rng(seed)
    n = dim * contacts
    k = n if rank is None else rank
    A = rng.normal(size=(n, k)) * mass_ratio ** rng.uniform(-0.5, 0.5, size=k)
    A.reshape(contacts, dim, k)[rng.random(contacts) < zero_rows] = 0.0
    X = rng.normal(size=(k, k))
    N = np.eye(k) + asymmetry * (X - X.T)
    mu = np.where(rng.random(contacts) < frictionless, 0.0, rng.uniform(0.0, 1.0, contacts))
    return FrictionProblem(A @ N @ A.T, A @ rng.normal(size=k), mu, dim=dim)
