"""The matrix D of scenes against Newton and Euler written out for each contact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import signorini as sg
from signorini._arrays import Array
from signorini.analysis import Answer, sliding_matrices
from signorini.analysis.judgement import uniqueness
from signorini.analysis.sliding import SlidingMatrix
from signorini.geometry import detect
from signorini.math.rotation import matrix as rotation_matrix
from signorini.model import Contacts, Model, State
from signorini.scene import compile_scene


def touching_contacts(model: Model) -> Contacts:
    return detect(model, model.initial_state, np.full(model.body_count, 1e-5))


def by_newton_and_euler(model: Model, contacts: Contacts) -> Array:
    """d_ij: normal acceleration that a unit normal force with its friction at contact j gives contact i."""
    state = model.initial_state
    D = np.zeros((contacts.contact_count,) * 2)
    for j in range(contacts.contact_count):
        n, x = contacts.normal[j], contacts.point_b[j]
        a, b = int(contacts.body_a[j]), int(contacts.body_b[j])
        slip = point_velocity(state, b, x) - point_velocity(state, a, x)
        slip -= n * (n @ slip)
        mu = model.materials.friction[contacts.material[j]]
        force = n - mu * slip / np.linalg.norm(slip)
        acceleration = {b: response(model, b, force, x), a: response(model, a, -force, x)}
        for i in range(contacts.contact_count):
            for body, sign in ((int(contacts.body_b[i]), 1.0), (int(contacts.body_a[i]), -1.0)):
                if body in acceleration:
                    linear, angular = acceleration[body]
                    r = contacts.point_b[i] - state.q[body, :3]
                    D[i, j] += sign * contacts.normal[i] @ (linear + np.cross(angular, r))
    return D


def point_velocity(state: State, body: int, x: Array) -> Array:
    velocity: Array = state.v[body, :3] + np.cross(state.v[body, 3:], x - state.q[body, :3])
    return velocity


def response(model: Model, body: int, force: Array, x: Array) -> tuple[Array, Array]:
    """Accelerations of one body under one force."""
    mass = model.arrays.mass[body]
    if mass == 0.0:
        return np.zeros(3), np.zeros(3)
    q = model.initial_state.q[body]
    R = np.array(rotation_matrix(q[3:])).reshape(3, 3)
    torque = np.cross(x - q[:3], force)
    angular = np.linalg.solve(R @ model.arrays.inertia[body] @ R.T, torque)
    if model.planar:
        angular = np.array([0.0, 0.0, torque[2] / model.arrays.inertia[body, 2, 2]])
    return force / mass, angular


def tumbling_pair(seed: int) -> sg.Scene:
    """A ball sliding on the floor and a second one sliding on its back."""
    r = np.random.default_rng(seed)
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    up = np.array([*r.uniform(-0.6, 0.6, 2), 1.0])
    up /= np.linalg.norm(up)
    spin = r.uniform(-3, 3, (2, 3))
    inertia = (0.3, 0.4, 0.5)
    v = np.array([*r.uniform(-1, 1, 2), 0.0])
    scene.add_body(
        sg.Sphere(1.0), mass=2.0, inertia=inertia, position=(0, 0, 1), velocity=v, angular_velocity=spin[0], name="a"
    )
    # The upper ball moves with the lower one along the line of centres, so that the contact stays closed.
    w = r.uniform(-1, 1, 3)
    w += up * (up @ (v - w))
    scene.add_body(
        sg.Sphere(0.5),
        mass=0.7,
        inertia=inertia,
        position=(0, 0, 1) + 1.5 * up,
        velocity=w,
        angular_velocity=spin[1],
        name="b",
    )
    scene.set_contact(friction=float(r.uniform(0.1, 1.5)))
    return scene


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_spatial_matrix_is_newton_and_euler(seed: int) -> None:
    model = compile_scene(tumbling_pair(seed))
    (found,) = sliding_matrices(model)
    expected = by_newton_and_euler(model, touching_contacts(model))
    assert found.D.shape == (2, 2)
    assert pytest.approx(expected, abs=1e-10) == found.D


def test_planar_matrix_is_newton_and_euler() -> None:
    """A polygon that slides on two corners."""
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    corners = ((-0.5, -0.5), (0.7, -0.5), (0.6, 0.8))
    scene.add_body(sg.Polygon(corners), mass=1.7, position=(0, 0.5), velocity=(-1.0, 0), name="block")
    scene.set_contact(friction=0.9)
    model = compile_scene(scene)
    (found,) = sliding_matrices(model)
    assert found.D.shape == (2, 2)
    assert pytest.approx(by_newton_and_euler(model, touching_contacts(model)), abs=1e-12) == found.D


def box_on(base_fixed: bool) -> SlidingMatrix:
    """A box sliding on a larger one, which is fixed or sticks to the floor."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    if base_fixed:
        scene.add_fixed(sg.Box((2, 2, 1)), position=(0, 0, 0.5), name="base")
    else:
        scene.add_body(sg.Box((2, 2, 1)), mass=3.0, position=(0, 0, 0.5), name="base")
    scene.add_body(sg.Box((0.5, 0.5, 0.5)), mass=1.0, position=(0, 0, 1.25), velocity=(1, 0.3, 0), name="top")
    scene.set_contact(friction=0.4)
    (found,) = sliding_matrices(compile_scene(scene))
    return found


def test_contacts_that_stick_hold_like_a_fixed_body() -> None:
    """Bilateral rows of the sticking contacts, although dependent, eliminate the motion of the base."""
    held, fixed = box_on(base_fixed=False), box_on(base_fixed=True)
    assert held.held_contacts.size == 4
    assert fixed.held_contacts.size == 0
    assert pytest.approx(fixed.D, abs=1e-9) == held.D


def test_four_corners_have_three_independent_normals() -> None:
    """Sliding straight the motion is unique all the same; D restricted to the normals is the spectrum without zeros."""
    found = box_on(base_fixed=True)
    assert found.rank == 3
    assert found.push_rank == 3
    unique, _, sharing_open = uniqueness(found)
    assert unique is Answer.YES
    assert sharing_open
    kept = np.sort(np.linalg.eigvals(found.on_independent_normals(np.arange(4))).real)
    whole = np.sort(np.linalg.eigvals(found.D).real)
    assert whole[0] == pytest.approx(0.0, abs=1e-12)
    assert kept == pytest.approx(whole[1:], abs=1e-9)


def test_friction_enters_linearly() -> None:
    """D(s mu) = W + s (D - W)."""
    scene = tumbling_pair(3)
    mu = scene.contact.friction
    (full,) = sliding_matrices(compile_scene(scene))
    scene.set_contact(friction=0.37 * mu)
    (less,) = sliding_matrices(compile_scene(scene))
    assert full.with_friction(0.37) == pytest.approx(less.D, abs=1e-12)
    assert full.with_friction(0.0) == pytest.approx(full.W, abs=0.0)


def test_bodies_that_do_not_touch_each_other_are_groups_of_their_own() -> None:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(3):
        scene.add_body(sg.Sphere(0.5), mass=1.0 + k, position=(3.0 * k, 0, 0.5), velocity=(1, 0, 0))
    scene.set_contact(friction=0.3)
    found = sliding_matrices(compile_scene(scene))
    assert [float(matrix.D[0, 0]) for matrix in found] == pytest.approx([1.0, 1 / 2, 1 / 3])


def test_a_chain_of_bodies_is_one_group_whatever_the_order_of_its_contacts() -> None:
    """Balls in a row that touch each other and the floor: one matrix of all contacts that slide."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in (0, 3, 1, 2, 4):
        scene.add_body(sg.Sphere(0.5), mass=1.0, position=(float(k), 0, 0.5), velocity=(0, 1, 0), name=f"ball{k}")
    scene.set_contact(friction=0.3)
    (found,) = sliding_matrices(compile_scene(scene))
    assert found.bodies.size == 5
    assert found.contacts.size == 5
    assert found.held_contacts.size == 4  # between the balls nothing slips
