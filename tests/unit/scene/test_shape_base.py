"""What every kind of shape must bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.model.shape_kinds import convex_set
from signorini.model.shapes import ShapeKind
from signorini.scene.curved_shapes import Curved
from signorini.scene.mass import MassProperties
from signorini.scene.shape import Shape

VERTICES = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]


@dataclass(frozen=True)
class WithoutPolytope(Shape):
    """A shape without a polytope."""

    def mass_properties(self, density: float) -> MassProperties:
        return MassProperties(density, np.zeros(3), np.eye(3))


@dataclass(frozen=True)
class WithoutMass(Shape):
    """A shape without mass properties."""

    def polytope(self) -> None:
        return None


@dataclass(frozen=True)
class WithoutParameters(Curved):
    """A curved shape without parameters."""

    def mass_properties(self, density: float) -> MassProperties:
        return MassProperties(density, np.zeros(3), np.eye(3))


@pytest.mark.parametrize(
    ("kind", "missing"),
    [(WithoutPolytope, "polytope"), (WithoutMass, "mass_properties"), (WithoutParameters, "parameters")],
)
def test_a_shape_that_lacks_something_cannot_be_made(kind: Any, missing: str) -> None:
    with pytest.raises(TypeError, match=missing):
        kind()


def test_a_convex_mesh_is_its_polytope() -> None:
    mesh = sg.Mesh(VERTICES, FACES)
    polytope = mesh.polytope()
    assert polytope is not None
    assert sorted(map(tuple, polytope.vertices)) == sorted(map(tuple, VERTICES))
    assert mesh.farthest(np.array([-1.0, 0.0, 0.0])) == 2.0


def test_a_mesh_of_several_parts_has_no_polytope() -> None:
    mesh = sg.Mesh(convex_parts=[VERTICES, VERTICES + 2.0])
    with pytest.raises(sg.InputError, match="mesh: has 2 convex parts, must be taken part by part"):
        mesh.polytope()


@pytest.mark.parametrize("kind", [ShapeKind.POLYGON, ShapeKind.IMPLICIT])
def test_kinds_without_inequalities(kind: ShapeKind) -> None:
    none = np.zeros((0, 3))
    with pytest.raises(sg.InputError, match=f"shape kind is {kind.name}, must be one"):
        convex_set(kind, np.zeros(4), none, none, none[:, 0])
