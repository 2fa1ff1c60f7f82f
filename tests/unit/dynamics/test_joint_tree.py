"""Elimination along trees, with loops, against dense linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.dynamics import JointSystem, Rows, inertia_blocks, inverse_inertia, joint_rows, joint_system
from signorini.scene import compile_scene

EXACT = 1e-12
KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "spherical", "universal", "planar", "distance")


def words(kind: str, r: np.random.Generator) -> dict[str, Any]:
    axis = r.standard_normal(3)
    across = np.cross(axis, r.standard_normal(3))
    if kind == "universal":
        return {"anchor": r.uniform(-1, 1, 3), "axis": [axis, across]}
    if kind == "distance":
        return {"anchor": r.uniform(-1, 1, (2, 3))}
    if kind in ("fixed", "spherical"):
        return {"anchor": r.uniform(-1, 1, 3)}
    return {"anchor": r.uniform(-1, 1, 3), "axis": axis}


def random_scene(seed: int, *, loops: int = 0, springs: int = 0, ratio: float = 1.0, n: int = 8) -> sg.Scene:
    """Join bodies to one of those before, or to the world, then close loops at random."""
    r = np.random.default_rng(seed)
    scene = sg.Scene()
    for k in range(n):
        e = r.standard_normal(4)
        scene.add_body(
            sg.Box(r.uniform(0.1, 0.4, 3)),
            mass=ratio ** r.uniform(-0.5, 0.5),
            position=r.uniform(-1, 1, 3),
            orientation=e / np.linalg.norm(e),
            name=f"b{k}",
        )
        before = None if k == 0 else f"b{r.integers(k)}"
        pair = (before, f"b{k}") if before is None or r.random() < 0.5 else (f"b{k}", before)
        kind = str(r.choice(KINDS))
        soft: dict[str, Any] = {"spring": 50.0, "damping": 1.0} if kind in ("revolute", "prismatic") else {}
        if k != n - 2:  # one body stays free in some seeds, so that there are several trees
            scene.add_joint(kind, pair[0], pair[1], **words(kind, r), **soft)
    for _ in range(loops):
        a, b = r.choice(n, 2, replace=False)
        scene.add_joint("spherical", f"b{a}", f"b{b}", anchor=r.uniform(-1, 1, 3))
    for _ in range(springs):
        a, b = r.choice(n, 2, replace=False)
        scene.add_spring(f"b{a}", f"b{b}", anchor=r.uniform(-1, 1, (2, 3)), stiffness=30.0, damping=0.5)
    return scene


def planar_scene(seed: int, *, loops: int) -> sg.Scene:
    r = np.random.default_rng(seed)
    scene = sg.Scene(planar=True)
    for k in range(7):
        scene.add_body(sg.Disc(0.1), mass=r.uniform(0.5, 2), position=r.uniform(-1, 1, 2), name=f"b{k}")
        before = None if k < 2 else f"b{r.integers(k)}"
        kind = str(r.choice(["fixed", "revolute", "prismatic"]))
        axis: dict[str, Any] = {"axis": r.standard_normal(2)} if kind == "prismatic" else {}
        scene.add_joint(kind, before, f"b{k}", anchor=r.uniform(-1, 1, 2), **axis)
    for _ in range(loops):
        a, b = r.choice(7, 2, replace=False)
        scene.add_joint("distance", f"b{a}", f"b{b}", anchor=r.uniform(-1, 1, (2, 2)))
    return scene


def system_of(scene: sg.Scene, seed: int) -> tuple[JointSystem, Array]:
    """Factor the joints and choose a right-hand side and velocities."""
    model = compile_scene(scene)
    r = np.random.default_rng(seed)
    state = model.initial_state
    M_inv = inverse_inertia(model.arrays, state.q)
    system = joint_system(model, state, np.zeros(model.joints.count), M_inv, 1e-2, secant=False)
    v = r.standard_normal((model.body_count, 6))
    if model.planar:
        v[:, 2:5] = 0.0
    system.x2[:] = r.standard_normal(system.x2.size)
    return system, v


def dense(system: JointSystem) -> tuple[Array, Array, Array]:
    """Return M, B and E of S1 eq. (40), E the compliance."""
    n = system.model.body_count
    M = np.zeros((6 * n, 6 * n))
    for b, block in enumerate(inertia_blocks(system.model.arrays, system.model.initial_state.q)):
        M[6 * b : 6 * b + 6, 6 * b : 6 * b + 6] = block
    return M, system.rows.dense(n), np.diag(system.compliance)


@pytest.mark.parametrize(
    ("scene", "name"),
    [
        *((random_scene(seed), f"tree {seed}") for seed in range(4)),
        *((random_scene(seed, loops=2), f"loops {seed}") for seed in (4, 6, 7)),
        *((random_scene(seed, loops=1, springs=3), f"springs {seed}") for seed in (9, 10, 11)),
        *((planar_scene(seed, loops=2), f"planar {seed}") for seed in range(3)),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_against_a_dense_solve(scene: sg.Scene, name: str) -> None:
    """The solution of ``M v - B^T l = M v_free, -B v - E l = x2``."""
    system, v_free = system_of(scene, 5)
    M, B, E = dense(system)
    n, k = M.shape[0], B.shape[0]
    K = np.block([[M, -B.T], [-B, -E]])
    expected = np.linalg.solve(K, np.concatenate([M @ v_free.reshape(-1), system.x2]))
    v, impulse = system.solve(v_free)
    scale = np.linalg.cond(K) * 1e-16  # what the dense solution itself may be wrong by
    assert scale < 1e-9
    assert system.redundant == 0
    np.testing.assert_allclose(v.reshape(-1), expected[:n], atol=max(EXACT, scale) * np.abs(expected[:n]).max())
    np.testing.assert_allclose(impulse, expected[n:], atol=max(EXACT, scale) * np.abs(expected[n:]).max())
    assert k == system.rows.row_count


@pytest.mark.parametrize("ratio", [1e2, 1e5, 1e8])
def test_both_equations_hold_whatever_the_masses(ratio: float) -> None:
    """Momentum balance and joint rows, each to rounding of its own largest term."""
    system, v_free = system_of(random_scene(12, loops=1, ratio=ratio), 5)
    M, B, E = dense(system)
    v, impulse = system.solve(v_free)
    gained = (M @ (v - v_free).reshape(-1)).reshape(-1, 6)
    pushed = (B.T @ impulse).reshape(-1, 6)
    size = np.abs(B.T) @ np.abs(impulse) + np.abs(M) @ np.abs(v.reshape(-1)) + np.abs(M) @ np.abs(v_free.reshape(-1))
    assert np.abs(gained - pushed).max() <= EXACT * size.max()
    held = B @ v.reshape(-1) + E @ impulse + system.x2
    assert np.abs(held).max() <= EXACT * max(np.abs(v).max(), np.abs(system.x2).max()) * ratio**0.25


def test_redundant_rows_have_the_smallest_impulses() -> None:
    """With dependent rows: velocities of the pseudo-inverse, impulses of least Euclidean norm."""
    scene = random_scene(21, n=5)
    for _ in range(2):  # the same hinge three times, and a fixed joint beside a hinge elsewhere
        scene.add_joint("revolute", "b0", "b1", anchor=(0.2, 0.1, 0.4), axis=(1, 2, 3))
    scene.add_joint("revolute", None, "b4", anchor=(0.5, 0.1, 0.4), axis=(0, 2, 3))
    scene.add_joint("revolute", None, "b4", anchor=(0.5, 2.1, 3.4), axis=(0, 2, 3))
    system, v_free = system_of(scene, 6)
    M, B, _ = dense(system)
    rigid = system.compliance == 0.0
    r = np.random.default_rng(7)
    system.x2[:] = 0.0
    x2 = -B @ r.standard_normal(M.shape[0])  # can be met
    system.x2[rigid] = x2[rigid]
    v, impulse = system.solve(v_free)
    rank = np.linalg.matrix_rank(B[rigid], tol=1e-10)
    assert system.redundant == rigid.sum() - rank >= 10
    pushed = M @ (v - v_free).reshape(-1) - B[~rigid].T @ impulse[~rigid]
    least = np.linalg.pinv(B[rigid].T, rcond=1e-10) @ pushed
    np.testing.assert_allclose(impulse[rigid], least, atol=1e-10 * np.abs(least).max())
    assert np.abs(system.unmet(v, impulse)).max() <= 1e-11 * np.abs(v).max()


def test_so_they_are_where_more_rows_depend_than_bodies_have_motions() -> None:
    """One body on three hinges of one axis: ten rows too many for its six motions."""
    scene = sg.Scene()
    scene.add_body(sg.Box((0.2, 0.4, 0.1)), mass=2.0, position=(0, 0, 0), name="b")
    for k in range(3):
        scene.add_joint("revolute", None, "b", anchor=(0.1, 0.3 * k, 0), axis=(0, 1, 0))
    system, v_free = system_of(scene, 3)
    M, B, _ = dense(system)
    system.x2[:] = 0.0
    v, impulse = system.solve(v_free)
    least = np.linalg.pinv(B.T, rcond=1e-10) @ (M @ (v - v_free).reshape(-1))
    assert system.redundant == 10
    np.testing.assert_allclose(impulse, least, atol=1e-12 * np.abs(least).max())


def test_contradicting_rows_are_told() -> None:
    """Two hinges on one axis with different speeds cannot both hold; what is missing is reported."""
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), position=(0, 0, 0), name="b")
    for _ in range(2):
        scene.add_joint("revolute", None, "b", anchor=(0, 0, 0), axis=(0, 0, 1))
    system, v = system_of(scene, 3)
    system.x2[:] = 0.0
    system.x2[5] = 1.0  # the second hinge asks for a speed that the first forbids
    new, impulse = system.solve(v)
    assert np.abs(system.unmet(new, impulse)).max() == pytest.approx(1.0, rel=1e-9)


def test_mobility_of_any_rows_against_dense_blocks() -> None:
    """``H A11 H^T`` with ``A11 = M^-1 - M^-1 B^T S^-1 B M^-1`` (S1 eq. 44), rows on joined and on free bodies."""
    scene = random_scene(31, loops=1)
    scene.add_body(sg.Sphere(0.2), position=(3, 0, 0), name="alone")
    system, _ = system_of(scene, 8)
    M, B, E = dense(system)
    M_inv = np.linalg.inv(M)
    A11 = M_inv - M_inv @ B.T @ np.linalg.solve(B @ M_inv @ B.T + E, B @ M_inv)
    r = np.random.default_rng(9)
    body = r.integers(-1, system.model.body_count, 12)
    H = Rows(2 * np.arange(7, dtype=np.int64), body, r.standard_normal((12, 6)), np.zeros(6), np.zeros(6))
    full = H.dense(system.model.body_count)
    W = system.mobility(H)
    np.testing.assert_allclose(W, full @ A11 @ full.T, atol=1e-11 * np.abs(W).max())


def test_joint_rows_of_a_scene_stand_joint_by_joint() -> None:
    """The spanning forest takes the rows of a joint as one run of rows."""
    model = compile_scene(random_scene(41, loops=2))
    rows = joint_rows(model.joints.arrays, model.joints.rows, model.initial_state.q, np.zeros(model.joints.count))
    tree = model.joints.tree
    in_tree = np.concatenate([np.arange(a, b) for a, b in zip(tree.row_start, tree.row_stop, strict=True)])
    assert sorted([*in_tree, *tree.loop_row]) == list(range(rows.row_count))
