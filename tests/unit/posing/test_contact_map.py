"""The map between mechanics and complementarity, and its return."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from signorini.dynamics import ContactMap, contact_wrenches, drive_velocity, relative_velocity
from signorini.posing.midpoint import free_motion, midpoint
from signorini.posing.time_stepping import begin, candidates, contact_space
from signorini.scene import compile_scene

H = 0.01


def joined_boxes(*, joints: bool, planar: bool) -> sg.Scene:
    scene = sg.Scene(planar=planar)
    place = (lambda x, y: (x, y)) if planar else (lambda x, y: (x, 0.0, y))
    shape = sg.Polygon([(-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1)]) if planar else sg.Box((0.4, 0.2, 0.2))
    scene.add_fixed(sg.HalfSpace(place(0.0, 1.0)), name="floor")
    for k in range(3):
        spin = 0.3 * k if planar else (0.1, 0.3 * k, -0.2)
        where, velocity = place(0.5 * k, 0.1), place(0.2, -0.4 + 0.1 * k)
        scene.add_body(shape, mass=1.0 + k, position=where, velocity=velocity, angular_velocity=spin, name=f"b{k}")
    if joints:
        axis = None if planar else (0, 1, 0)
        for k in range(2):
            anchor = place(0.25 + 0.5 * k, 0.1)
            scene.add_joint("revolute", f"b{k}", f"b{k + 1}", anchor=anchor, axis=axis, limits=(-1.0, 0.001))
    scene.set_contact(friction=0.5)
    return scene


@pytest.mark.parametrize("joints", [False, True])
@pytest.mark.parametrize("planar", [False, True])
def test_velocities_of_contacts_are_those_of_the_bodies(joints: bool, planar: bool) -> None:
    """W p + b is what contacts see of v+, whatever the impulses; joints hold in both."""
    model = compile_scene(joined_boxes(joints=joints, planar=planar))
    state = model.initial_state
    at = midpoint(model, state, begin(model, state), H, "implicit")
    free, contacts = free_motion(model, at), candidates(model, state, H, "implicit")
    assert contacts.contact_count >= 6
    space: ContactMap = contact_space(model, at, free, contacts, secant=True, common_point=False)
    p = np.random.default_rng(7).normal(size=space.b.shape)
    p[contacts.contact_count :, 1:] = 0.0
    v = space.body_velocity(p)
    J_a, J_b = contact_wrenches(
        contacts, state.q, dim=2 if planar else 3, point_a=contacts.point_a, point_b=contacts.point_b
    )
    seen = relative_velocity(J_a, J_b, contacts, v + drive_velocity(model, state, H, secant=True))
    np.testing.assert_allclose(space.velocity(p), seen, rtol=1e-10, atol=1e-10)
    assert np.abs(space.velocity(0.0 * p) - seen).max() > 0.1
