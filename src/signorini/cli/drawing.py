"""From a scene and its trajectory to the arrays that a picture needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from signorini._arrays import Array
from signorini.model import Model, ShapeKind
from signorini.scene import Scene, compile_scene
from signorini.simulation import Trajectory
from signorini.visual import Solid, plot_motion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOMENTS = 4


def picture(scene: Scene, trajectory: Trajectory, moments: int = _MOMENTS) -> Figure:
    """Draw the bodies at the start, at the end and in between."""
    # Most happens early: the moments lie closer together there.
    share = np.linspace(0.0, 1.0, moments) ** 1.5
    rows = np.unique(np.round(share * trajectory.step_count).astype(int))
    return plot_motion(
        solids(compile_scene(scene)),
        trajectory.time[rows],
        trajectory.q[rows],
        trajectory.fixed_count,
        planar=trajectory.planar,
    )


def solids(model: Model) -> list[Solid]:
    """Return the shapes of a model as a picture knows them, in the frames of the mass centres."""
    return [_solid(model, s) for s in range(model.shapes.kind.size)]


def _solid(model: Model, s: int) -> Solid:
    shapes, hulls = model.shapes, model.hulls
    kind, size, hull = ShapeKind(int(shapes.kind[s])), shapes.size[s], int(shapes.hull[s])
    vertices, planes, radius = np.zeros((0, 3)), np.zeros((0, 4)), 0.0
    if kind is ShapeKind.HALF_SPACE:
        planes = np.array([[*size[1:4], size[0]]])
    else:
        vertices = hulls.vertex[hulls.vertex_start[hull] : hulls.vertex_start[hull + 1]]
        radius = float(size[0])
        if kind is ShapeKind.HULL:
            faces = slice(hulls.face_start[hull], hulls.face_start[hull + 1])
            planes = np.column_stack([hulls.face_normal[faces], hulls.face_offset[faces]])
    place: Array = np.concatenate([shapes.position[s], shapes.quaternion[s]])
    return Solid(int(shapes.body[s]), vertices, planes, radius).placed(place)
