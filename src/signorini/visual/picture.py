"""Still pictures of moving bodies: a sheet of moments, spatial or planar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array
from signorini.visual.camera import Camera, frame
from signorini.visual.raycast import count_seen, render
from signorini.visual.solids import Solid
from signorini.visual.style import BODY_COLOURS, GREY, INK, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ASPECT = 1.6  # width to height of one still
_FIXED_COLOUR = np.array([0.62, 0.64, 0.67])
_ELEVATIONS = np.deg2rad([24.0, 38.0])
_AZIMUTHS = np.deg2rad(
    [-65.0, -90.0, -115.0, -40.0, -140.0, 65.0, 90.0, 115.0]
)  # the first wins unless another is better
_MOMENTS_TO_HOLD = 12  # of a film, which the camera holds
_TRIAL = (64, 40)  # rays by which views are compared


def plot_motion(
    solids: Sequence[Solid],
    time: Array,
    poses: Array,
    fixed_count: int,
    *,
    planar: bool = False,
    columns: int = 2,
    width: int = 420,
    view: Sequence[float] | Array | None = None,
) -> Figure:
    """Draw the bodies at several moments.

    Parameters
    ----------
    solids : sequence of Solid
        Every piece of every body.
    time : (n,) array
        The moments [s].
    poses : (n, n_b, 7) array
        Position and quaternion of each body at each moment; the first `fixed_count` bodies are drawn grey.
    planar : bool
        Draw the x-y plane.
    columns : int
        Stills per row.
    width : int
        Pixels of one still.
    view : (3,) sequence, optional
        Direction from the scene to the camera; chosen if not given.
    """
    moving = [solid for solid in solids if solid.body >= fixed_count]
    balls = [solid.placed(pose[solid.body]).ball() for pose in poses for solid in moving]
    centres, radii = np.array([centre for centre, _ in balls]), np.array([radius for _, radius in balls])
    columns = min(columns, len(time))
    rows = -(-len(time) // columns)
    with styled():
        figure = new_figure(
            width * columns / 150.0,
            width / _ASPECT * rows / 150.0,
            left=0.005,
            right=0.995,
            bottom=0.005,
            top=0.995,
            wspace=0.015,
            hspace=0.02,
        )
        axes = list(figure.subplots(rows, columns, squeeze=False).reshape(-1))
        for panel in axes:
            panel.set_axis_off()
        if planar:
            for panel, pose in zip(axes, poses, strict=False):
                _draw_planar(panel, solids, pose, fixed_count, centres, radii)
        else:
            _draw_spatial(axes, solids, poses, fixed_count, centres, radii, width, view)
        for panel, t in zip(axes, time, strict=False):
            panel.text(0.02, 0.96, f"t = {t:.2f} s", transform=panel.transAxes, va="top", color=INK, fontsize=9)
    return figure


def stills(
    solids: Sequence[Solid], poses: Array, fixed_count: int, width: int, height: int, *, planar: bool
) -> Iterator[Array]:
    """Return one picture after another, (height, width, 3) from 0 to 1, all from one place.

    Of planar scenes too: they are seen along their axis, as plates are.
    """
    moving = [solid for solid in solids if solid.body >= fixed_count]
    if planar:
        moments = poses[:, None]
        for pose in moments:
            yield _planar_still(solids, pose[0], poses, fixed_count, width, height)
        return
    some = poses[np.unique(np.linspace(0, len(poses) - 1, _MOMENTS_TO_HOLD).astype(int))]
    balls = [solid.placed(pose[solid.body]).ball() for pose in some for solid in moving]
    centres, radii = np.array([centre for centre, _ in balls]), np.array([radius for _, radius in balls])
    extent = float(np.linalg.norm(np.ptp(centres, axis=0))) + 2.0 * float(radii.max())
    camera = _camera(solids, some, fixed_count, centres, radii, None)
    colours = np.array([body_colour(solid.tinted, fixed_count) for solid in solids])
    for pose in poses:
        yield render(solids, pose, colours, camera, width, height, extent).astype(float)


def _planar_still(
    solids: Sequence[Solid], pose: Array, poses: Array, fixed_count: int, width: int, height: int
) -> Array:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    moving = [solid for solid in solids if solid.body >= fixed_count]
    balls = [solid.placed(one[solid.body]).ball() for one in poses[[0, len(poses) // 2, -1]] for solid in moving]
    centres, radii = np.array([centre for centre, _ in balls]), np.array([radius for _, radius in balls])
    with styled():
        figure = new_figure(width / 100.0, height / 100.0, left=0.0, right=1.0, bottom=0.0, top=1.0)
        figure.set_dpi(100.0)
        panel = figure.subplots()
        panel.set_axis_off()
        _draw_planar(panel, solids, pose, fixed_count, centres, radii)
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
    picture: Array = np.asarray(canvas.buffer_rgba())[:, :, :3] / 255.0
    return picture


def _draw_spatial(
    axes: Sequence[Axes],
    solids: Sequence[Solid],
    poses: Array,
    fixed_count: int,
    centres: Array,
    radii: Array,
    width: int,
    view: Sequence[float] | Array | None,
) -> None:
    extent = float(np.linalg.norm(np.ptp(centres, axis=0))) + 2.0 * float(radii.max())
    camera = _camera(solids, poses, fixed_count, centres, radii, view)
    colours = np.array([body_colour(solid.tinted, fixed_count) for solid in solids])
    for panel, pose in zip(axes, poses, strict=False):
        panel.imshow(render(solids, pose, colours, camera, width, round(width / _ASPECT), extent), aspect="equal")


def _camera(
    solids: Sequence[Solid],
    poses: Array,
    fixed_count: int,
    centres: Array,
    radii: Array,
    view: Sequence[float] | Array | None,
) -> Camera:
    """Return the camera, among those around the scene, that sees most of the moving bodies at start, middle and end."""
    if view is not None:
        return frame(centres, radii, np.array(view, dtype=float), _ASPECT)
    moments = poses[np.unique([0, len(poses) // 2, len(poses) - 1])]
    best, most = None, -1.0
    for elevation in _ELEVATIONS:
        for azimuth in _AZIMUTHS:
            flat = np.cos(elevation)
            direction = np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)])
            camera = frame(centres, radii, direction, _ASPECT)
            # The square root asks for something to be seen at every moment rather than much at one.
            seen = sum(np.sqrt(count_seen(solids, pose, camera, fixed_count, *_TRIAL)) for pose in moments)
            if best is None or seen > 1.02 * most:
                best, most = camera, seen
    assert best is not None
    return best


def _draw_planar(
    axes: Axes, solids: Sequence[Solid], poses: Array, fixed_count: int, centres: Array, radii: Array
) -> None:
    from matplotlib.patches import Circle, Polygon

    low, high = (centres - radii[:, None]).min(axis=0)[:2], (centres + radii[:, None]).max(axis=0)[:2]
    middle, half = 0.5 * (low + high), 0.56 * np.maximum(high - low, 1e-9)
    half = np.maximum(half, half[::-1] * np.array([_ASPECT, 1.0 / _ASPECT]))
    reach = 4.0 * float(half.max())
    for solid in solids:
        shape = solid.placed(poses[solid.body])
        colour = body_colour(solid.tinted, fixed_count)
        style: dict[str, Any] = {"facecolor": colour, "edgecolor": INK, "linewidth": 0.8}
        if solid.is_half_space:
            n, offset = shape.planes[0, :2], shape.planes[0, 3]
            foot = middle + (offset - n @ middle) * n
            along = reach * np.array([-n[1], n[0]])
            corners = [foot - along, foot + along, foot + along - reach * n, foot - along - reach * n]
            axes.add_patch(Polygon(corners, facecolor="#dcdfe3", edgecolor=GREY, linewidth=0.8, zorder=0))
        elif len(shape.vertices) == 1:
            centre = shape.vertices[0, :2]
            axes.add_patch(Circle((centre[0], centre[1]), solid.radius, **style))
            spoke = np.array([2.0 * np.arctan2(poses[solid.body, 6], poses[solid.body, 3])])
            rim = centre + solid.radius * np.concatenate([np.cos(spoke), np.sin(spoke)])
            axes.plot([centre[0], rim[0]], [centre[1], rim[1]], color=INK, lw=0.8)
        else:
            axes.add_patch(Polygon(outline(shape), **style))
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    axes.set_aspect("equal")


def outline(solid: Solid) -> Array:
    """Return the outline of a planar polygon (counter-clockwise) or segment, rounded by a disc, (k, 2)."""
    vertices, radius = solid.vertices[:, :2], solid.radius
    if radius == 0.0:
        return vertices
    edge = []
    for before, here, after in zip(np.roll(vertices, 1, 0), vertices, np.roll(vertices, -1, 0), strict=True):
        first, second = (np.arctan2(-d[0], d[1]) for d in (here - before, after - here))
        turn = (second - first) % (2.0 * np.pi)
        angles = first + turn * np.linspace(0.0, 1.0, 12)
        edge.append(here + radius * np.column_stack([np.cos(angles), np.sin(angles)]))
    return np.concatenate(edge)


def body_colour(body: int, fixed_count: int) -> Array:
    """Return red, green and blue of a body, from 0 to 1."""
    from matplotlib.colors import to_rgb

    if body < fixed_count:
        return _FIXED_COLOUR
    return np.array(to_rgb(BODY_COLOURS[(body - fixed_count) % len(BODY_COLOURS)]))
