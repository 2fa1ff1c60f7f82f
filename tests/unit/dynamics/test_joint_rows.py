"""Rows of joints: their derivatives, and which motions every kind leaves free."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.dynamics import advance, bilateral_rows, joint_coordinates, joint_rows, prescribed_pose
from signorini.model import Model, RowKind, State
from signorini.scene import compile_scene

ANCHOR, AXIS = np.array([0.3, -0.2, 0.5]), np.array([2.0, -1.0, 2.0]) / 3.0
ACROSS = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)
FAR = np.array([1.1, 0.4, -0.3])
SPATIAL: dict[str, dict[str, Any]] = {
    "fixed": {"anchor": ANCHOR},
    "revolute": {"anchor": ANCHOR, "axis": AXIS},
    "prismatic": {"anchor": ANCHOR, "axis": AXIS},
    "cylindrical": {"anchor": ANCHOR, "axis": AXIS},
    "spherical": {"anchor": ANCHOR},
    "universal": {"anchor": ANCHOR, "axis": [AXIS, ACROSS]},
    "planar": {"anchor": ANCHOR, "axis": AXIS},
    "distance": {"anchor": [ANCHOR, FAR]},
}
PLANAR: dict[str, dict[str, Any]] = {
    "fixed": {"anchor": ANCHOR[:2]},
    "revolute": {"anchor": ANCHOR[:2]},
    "prismatic": {"anchor": ANCHOR[:2], "axis": (0.6, 0.8)},
    "distance": {"anchor": [ANCHOR[:2], FAR[:2]]},
}
SPACING = 1e-5  # central differences: rounding 1e-16 over it, error of the second order
TOLERANCE = 1e-9


def two_bodies(kind: str, *, planar: bool = False, world: bool = False, **more: Any) -> Model:
    """Join two bodies in general positions, or one to the world."""
    scene = sg.Scene(planar=planar)
    e = np.array([0.8, 0.2, -0.4, 0.4])
    if planar:
        scene.add_body(sg.Disc(0.2), position=(-0.4, 0.3), orientation=0.7, name="a")
        scene.add_body(sg.Disc(0.2), position=(0.9, 0.1), orientation=-0.4, name="b")
    else:
        scene.add_body(sg.Box((0.2, 0.3, 0.4)), position=(-0.4, 0.3, 0.1), orientation=e, name="a")
        scene.add_body(sg.Box((0.3, 0.1, 0.2)), position=(0.9, 0.1, 0.2), name="b")
    words = {**(PLANAR if planar else SPATIAL).get(kind, {}), **more}
    scene.add_joint(kind, None if world else "a", "b", **words, name="j")
    return compile_scene(scene)


def moved(model: Model, state: State, v: Array) -> State:
    return advance(model, state.copy(), v, 1.0, exact_rotation=True)


def drifted(model: Model, seed: int) -> State:
    """Move both bodies so that the joint does not hold any more."""
    size = 0.1 * np.random.default_rng(seed).standard_normal((model.body_count, 6))
    if model.planar:
        size[:, 2:5] = 0.0
    return moved(model, model.initial_state, size)


def by_differences(model: Model, state: State, table: Any, near: Array) -> Array:
    """Return the rates of psi for every velocity component, (n_r, 6 n_b)."""
    columns = []
    for k in range(6 * model.body_count):
        v = np.zeros((model.body_count, 6))
        v.reshape(-1)[k] = SPACING
        ahead, behind = (
            joint_rows(model.joints.arrays, table, moved(model, state, side * v).q, near).psi for side in (1.0, -1.0)
        )
        columns.append((ahead - behind) / (2.0 * SPACING))
    return np.array(columns).T


@pytest.mark.parametrize("world", [False, True])
@pytest.mark.parametrize("kind", SPATIAL)
def test_jacobian_is_the_derivative_of_psi(kind: str, world: bool) -> None:
    """``J v = d psi / dt``, also where the joint has drifted apart."""
    model = two_bodies(kind, world=world)
    state = drifted(model, 3)
    rows = joint_rows(model.joints.arrays, model.joints.rows, state.q, np.zeros(1))
    expected = by_differences(model, state, model.joints.rows, np.zeros(1))
    assert np.abs(rows.psi).max() > 1e-3
    np.testing.assert_allclose(rows.dense(model.body_count), expected, atol=TOLERANCE)


@pytest.mark.parametrize("kind", PLANAR)
def test_planar_jacobian_is_the_derivative_of_psi(kind: str) -> None:
    model = two_bodies(kind, planar=True)
    state = drifted(model, 4)
    J = joint_rows(model.joints.arrays, model.joints.rows, state.q, np.zeros(1)).dense(model.body_count)
    expected = by_differences(model, state, model.joints.rows, np.zeros(1))
    in_plane = np.tile([True, True, False, False, False, True], model.body_count)
    np.testing.assert_allclose(J[:, in_plane], expected[:, in_plane], atol=TOLERANCE)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "distance"])
def test_coordinate_row_is_the_derivative_of_the_coordinate(kind: str) -> None:
    """Also after more than one turn; angles where the axes are still parallel."""
    model = two_bodies(kind)
    v = np.zeros((2, 6))
    amount = 7.5 if kind == "revolute" else 0.4
    v[1] = free_motions(model, kind)[0] * amount
    if kind == "distance":
        v[1] = 0.3
    state = moved(model, model.initial_state, v) if kind != "revolute" else turned(model, amount)
    near = np.array([amount])
    table = model.joints.coordinates
    J = joint_rows(model.joints.arrays, table, state.q, near).dense(2)
    np.testing.assert_allclose(J, by_differences(model, state, table, near), atol=TOLERANCE)
    if kind != "distance":
        assert joint_coordinates(model.joints, state.q, near)[0] == pytest.approx(amount, rel=1e-12)


def turned(model: Model, angle: float) -> State:
    """Turn body b about the hinge."""
    state = model.initial_state
    v = np.zeros((2, 6))
    v[1, 3:] = AXIS * angle
    after = moved(model, state, v)
    arm = state.q[1, :3] - ANCHOR
    along = AXIS * (AXIS @ arm)
    across = arm - along
    after.q[1, :3] = ANCHOR + along + np.cos(angle) * across + np.sin(angle) * np.cross(AXIS, arm)
    return after


def free_motions(model: Model, kind: str) -> Array:
    """Velocities (v, omega) of body b that a joint of this kind must allow while a stands still."""
    t_1, t_2 = ACROSS, np.cross(AXIS, ACROSS)
    zero, eye = np.zeros(3), np.eye(3)
    u = (FAR - ANCHOR) / np.linalg.norm(FAR - ANCHOR)
    beside = np.linalg.svd(u.reshape(1, 3))[2][1:]
    at_anchor: dict[str, list[tuple[Array, Array]]] = {
        "fixed": [],
        "revolute": [(zero, AXIS)],
        "prismatic": [(AXIS, zero)],
        "cylindrical": [(zero, AXIS), (AXIS, zero)],
        "spherical": [(zero, axis) for axis in eye],
        "universal": [(zero, AXIS), (zero, ACROSS)],
        "planar": [(t_1, zero), (t_2, zero), (zero, AXIS)],
        "distance": [*((across, zero) for across in beside), *((zero, axis) for axis in eye)],
    }
    point = FAR if kind == "distance" else ANCHOR
    centre = model.initial_state.q[1, :3]
    return np.array([[*(v + np.cross(omega, centre - point)), *omega] for v, omega in at_anchor[kind]]).reshape(-1, 6)


@pytest.mark.parametrize("kind", SPATIAL)
def test_a_joint_holds_all_motions_but_those_of_its_kind(kind: str) -> None:
    """As many independent rows as motions it takes away, and the others at speed zero in every row."""
    model = two_bodies(kind)
    rows = joint_rows(model.joints.arrays, model.joints.rows, model.initial_state.q, np.zeros(1))
    J_b = rows.dense(2)[:, 6:]
    motions = free_motions(model, kind)
    assert np.abs(rows.psi).max() < 1e-14
    assert np.linalg.matrix_rank(J_b, tol=1e-10) == rows.row_count == 6 - len(motions)
    assert np.abs(J_b @ motions.T).max(initial=0.0) < 1e-14
    # A motion of both bodies as one is never held.
    for axis in np.eye(3):
        together = np.array([[*axis, 0, 0, 0]] * 2)
        spin = np.array([[*np.cross(axis, q[:3]), *axis] for q in model.initial_state.q])
        assert np.abs(rows.velocity(together)).max() < 1e-14
        assert np.abs(rows.velocity(spin)).max() < 1e-14


@pytest.mark.parametrize(("kind", "left"), [("fixed", 0), ("revolute", 1), ("prismatic", 1), ("distance", 2)])
def test_a_planar_joint_holds_all_motions_but_those_of_its_kind(kind: str, left: int) -> None:
    model = two_bodies(kind, planar=True)
    rows = joint_rows(model.joints.arrays, model.joints.rows, model.initial_state.q, np.zeros(1))
    J_b = rows.dense(2)[:, [6, 7, 11]]
    assert np.linalg.matrix_rank(J_b, tol=1e-10) == rows.row_count == 3 - left
    arm = model.initial_state.q[1, :2] - (FAR if kind == "distance" else ANCHOR)[:2]
    about = np.array([-arm[1], arm[0], 1.0])  # turning about the anchor
    if kind in ("revolute", "distance"):
        assert np.abs(J_b @ about).max() < 1e-14
    if kind == "prismatic":
        assert np.abs(J_b @ [0.6, 0.8, 0.0]).max() < 1e-14


def test_gear_row_holds_the_ratio_of_speeds_about_both_axes() -> None:
    scene = sg.Scene()
    for name in ("a", "b"):
        scene.add_body(sg.Box((0.2, 0.3, 0.4)), position=(0, 0, 0), name=name)
        scene.add_joint("spherical", None, name, anchor=(0, 0, 0))
    scene.add_joint("gear", "a", "b", axis=np.array([AXIS, (0, 0, 1)]), ratio=-2.5)
    model = compile_scene(scene)
    rows = joint_rows(model.joints.arrays, model.joints.rows, model.initial_state.q, np.zeros(3))
    v = np.random.default_rng(1).standard_normal((2, 6))
    assert list(model.joints.rows.kind[6:]) == [RowKind.GEAR]
    assert rows.velocity(v)[6] == pytest.approx(v[1, 5] + 2.5 * AXIS @ v[0, 3:], rel=1e-12)


def test_rate_of_a_driven_row_and_of_a_moving_wall() -> None:
    """``psi_t``: the rate at frozen poses, here of ``psi = x - x_wall(t) - s(t)``."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.Sphere(0.1), motion=lambda t: (0.5 * t, 0.0, 0.0), name="wall")
    scene.add_body(sg.Sphere(0.1), position=(1, 0, 0), name="b")
    scene.add_joint("prismatic", "wall", "b", anchor=(0, 0, 0), axis=(1, 0, 0), motion=lambda t: 0.2 * t + t * t)
    model = compile_scene(scene)
    state = replace(model.initial_state.copy(), t=0.1)
    state.q[:1], state.v[:1] = prescribed_pose(model, state.t)
    rows = bilateral_rows(model, state, np.zeros(1), 1e-3, secant=False)
    assert rows.rate[-1] == pytest.approx(-0.5 - 0.2 - 0.2, rel=1e-9)
