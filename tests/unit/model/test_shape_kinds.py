"""Curved kinds of shapes stand in one table, and three files are all that name a smooth one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import signorini
from signorini._jit import kernel
from signorini.geometry.tables import Family, family_of, tables_of
from signorini.model import ShapeKind
from signorini.model.shape_kinds import CURVED, LAST_CURVED, SMOOTH, Size, Vector, curved_support
from signorini.scene import SHAPES, compile_scene

pytestmark = pytest.mark.kernels

SOURCE = Path(signorini.__file__).parent
SIZES = {
    ShapeKind.CYLINDER: (0.3, 0.5, 0.0, 0.0),
    ShapeKind.CONE: (0.3, 0.8, 0.0, 0.0),
    ShapeKind.ELLIPSOID: (0.3, 0.5, 0.4, 2.0),
    ShapeKind.SUPERELLIPSOID: (0.3, 0.5, 0.4, 3.0),
}


@kernel
def support(kind: int, size: Size, n: Vector) -> Vector:
    return curved_support(kind, size, n)


def test_table_has_every_curved_kind() -> None:
    """Kernels tell curved kinds by numbers without gaps, and smooth ones by greater numbers than others."""
    assert [int(kind) for kind in CURVED] == list(range(int(ShapeKind.CYLINDER), int(ShapeKind.IMPLICIT)))
    assert list(CURVED)[-len(SMOOTH) :] == list(SMOOTH)
    assert int(ShapeKind.IMPLICIT) == LAST_CURVED + 1
    assert set(SIZES) == set(CURVED), "a new kind needs sizes here"
    offered = {shape.kind for shape in SHAPES.values() if hasattr(shape, "kind")}
    assert set(CURVED) <= offered


@pytest.mark.parametrize("kind", CURVED)
def test_support_points_agree_with_inequalities(kind: ShapeKind) -> None:
    """The farthest point along n is on the surface, and no other point of the surface is farther."""
    size, rng = SIZES[kind], np.random.default_rng(3)
    solid = CURVED[kind].inequalities(np.array(size))
    directions = rng.normal(size=(40, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = np.array([support(int(kind), size, (n[0], n[1], n[2])) for n in directions])
    assert np.abs(solid.values(points).max(axis=1)).max() < 3.1e-11  # as near as the side of a cone is, a hyperboloid
    assert ((points @ directions.T).max(axis=0) <= np.einsum("ij,ij->i", points, directions) + 1e-12).all()


@pytest.mark.parametrize("kind", CURVED)
def test_least_width_is_that_along_an_axis(kind: ShapeKind) -> None:
    size, axes = SIZES[kind], np.vstack([np.eye(3), -np.eye(3)])
    reach = [np.dot(n, support(int(kind), size, (n[0], n[1], n[2]))) for n in axes]
    assert abs(CURVED[kind].width(np.array(size)) - min(np.add(reach[:3], reach[3:]))) < 1e-15


@pytest.mark.parametrize("kind", CURVED)
def test_scenes_with_it_are_of_the_curved_family(kind: ShapeKind) -> None:
    scene = signorini.Scene()
    shape = {
        ShapeKind.CYLINDER: signorini.Cylinder(0.3, 0.5),
        ShapeKind.CONE: signorini.Cone(0.3, 0.8),
        ShapeKind.ELLIPSOID: signorini.Ellipsoid((0.3, 0.5, 0.4)),
        ShapeKind.SUPERELLIPSOID: signorini.Superellipsoid((0.3, 0.5, 0.4), 3.0),
    }[kind]
    scene.add_body(shape, position=(0.0, 0.0, 0.0), mass=1.0)
    model = compile_scene(scene)
    assert family_of(tables_of(model.shapes, model.hulls, model.materials, model.fixed_count)) is Family.CURVED


@pytest.mark.parametrize("kind", SMOOTH)
def test_three_files_name_a_smooth_kind(kind: ShapeKind) -> None:
    """They are those that ``extending.rst`` names."""
    named = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(rf"\b{kind.name}\b", path.read_text(encoding="utf-8"))
    }
    files = {"model/shapes.py", "model/shape_kinds.py", "scene/curved_shapes.py"}
    page = (Path(__file__).parents[3] / "docs" / "extending.rst").read_text(encoding="utf-8")
    assert named - {"scene/shapes.py"} == files  # where the ellipse of planar scenes is an ellipsoid
    assert all(f"``{file}``" in page for file in files)
