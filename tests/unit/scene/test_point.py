"""A shape without extent."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from signorini.errors import InputError
from signorini.scene import compile_scene, scene_from_dict, scene_to_dict


def hung(shape: object, **words: object) -> sg.Scene:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(shape, mass=2.0, inertia=(1, 1, 1), mass_centre=(0, 0, 0), position=(0, 0, 1.5), name="rod", **words)  # type: ignore[arg-type]
    return scene


def test_a_point_is_where_a_body_lands() -> None:
    """A point half a metre below the mass centre falls 1 m and stays on the floor: centre at 0.5 m."""
    trajectory = sg.simulate(hung(sg.Point().at((0, 0, -0.5))), duration=1.0, h=1e-2)
    assert trajectory.position("rod")[-1, 2] == pytest.approx(0.5, abs=1e-9)
    assert trajectory.certificate.verdict == "trusted"


def test_a_point_touches_other_solids_and_lives_in_the_plane_too() -> None:
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.Polygon([(-1, -1), (1, -1), (1, 0), (-1, 0)]), name="block")
    scene.add_body(
        sg.Point().at((0, -0.25)), mass=1.0, inertia=0.1, mass_centre=(0, 0), position=(0.2, 0.3), name="nib"
    )
    trajectory = sg.simulate(scene, duration=0.5, h=5e-3)
    assert trajectory.position("nib")[-1, 1] == pytest.approx(0.25, abs=1e-9)


def test_a_point_is_written_and_read() -> None:
    scene = hung([sg.Point().at((0, 0, -0.5)), sg.Point().at((0.1, 0, -0.5))])
    again = scene_from_dict(scene_to_dict(scene))
    assert again.bodies["rod"].shapes == scene.bodies["rod"].shapes


def test_a_point_has_no_mass() -> None:
    scene = sg.Scene()
    with pytest.raises(InputError, match=r"body 'p': point has no extent, must have mass, inertia and mass_centre"):
        scene.add_body(sg.Point(), position=(0, 0, 0), name="p")


def test_a_body_without_extent_is_refused() -> None:
    with pytest.raises(InputError, match=r"body 'rod': is a point at its mass centre, must have an extent"):
        compile_scene(hung(sg.Point()))


def test_points_of_a_body_turn_with_it() -> None:
    scene = hung(sg.Point().at((0, 0, -0.5)), orientation=(np.sqrt(0.5), np.sqrt(0.5), 0, 0))
    model = compile_scene(scene)
    assert model.arrays.bound[1] == pytest.approx(0.5)
