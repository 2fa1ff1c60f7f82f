"""Pictures of rounded polytopes, curved solids and half-spaces by casting rays through the pixels.

The work is done on whole pictures at once: compiling kernels for it would take longer than the few stills of a run.

Light comes from one distant lamp and from the sky; what the lamp does not reach lies in shadow. Silhouettes and edges
get a thin line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from signorini._arrays import Array, IntArray
from signorini.visual.camera import Camera
from signorini.visual.solids import Solid, rotation_matrix
from signorini.visual.surfaces import enter_surface

Pixels = NDArray[np.float32]

_LAMP = np.array([-0.42, -0.50, 0.7572978], dtype=np.float32)  # a unit vector
_SKY = np.array([0.965, 0.972, 0.980], dtype=np.float32)
_GROUND = np.array([0.855, 0.865, 0.875], dtype=np.float32)
_LINE = np.array([0.16, 0.18, 0.21], dtype=np.float32)
_DARKNESS = np.float32(0.75)  # of the lines
_SAMPLES = 2  # rays per pixel along each side of the picture
_NEVER = np.float32(np.inf)
_SHARP = 0.92  # cosine between neighbouring normals below which a line is drawn
_LIFT = 1e-4  # of the scene's size: where rays to the lamp begin, above the surface they leave


class Hits(NamedTuple):
    """What the rays meet first; all arrays (rows, columns, ...)."""

    distance: Pixels
    """inf where nothing is met."""
    solid: IntArray
    """Number of the solid, -1 for none."""
    normal: Pixels


def render(
    solids: Sequence[Solid], poses: Array, colours: Array, camera: Camera, width: int, height: int, extent: float
) -> Pixels:
    """Return the picture as an array (height, width, 3) of numbers from 0 to 1.

    Parameters
    ----------
    solids : sequence of Solid
        In the frames of their bodies.
    poses : (n_b, 7) array
        Position and quaternion of each body.
    colours : (n_solids, 3) array
        Of bounded solids; half-spaces are drawn as ground.
    camera : Camera
    width, height : int
        Pixels.
    extent : float
        Size of what happens in the scene [m]; sets the grid on the ground and how soon it fades.
    """
    # All lengths are seen from the eye, so that single precision is enough.
    placed = [solid.placed(poses[solid.body]).moved(-camera.eye) for solid in solids]
    rays = camera.rays(_SAMPLES * width, _SAMPLES * height).astype(np.float32)
    hits = _first_hits(placed, camera, rays)
    colour = np.empty_like(rays)
    colour[:] = _SKY
    met = np.flatnonzero(hits.solid >= 0)
    number = hits.solid.reshape(-1)[met]
    point = hits.distance.reshape(-1)[met, None] * rays.reshape(-1, 3)[met]
    base = np.empty_like(point)
    order = np.argsort(number, kind="stable")
    ends = np.searchsorted(number[order], np.arange(len(placed) + 1))
    for i, solid in enumerate(placed):
        mine = order[ends[i] : ends[i + 1]]
        if solid.is_half_space:
            base[mine] = _ground_colour(point[mine] + camera.eye, solid, extent)
        else:
            tone = _pattern(point[mine] + camera.eye, solids[i], poses[solid.body])
            base[mine] = colours[i] * tone[:, None]
    base *= _light(point, hits.normal.reshape(-1, 3)[met], placed, _LIFT * extent)[:, None]
    colour.reshape(-1, 3)[met] = base

    grounds = np.array([solid.is_half_space for solid in placed] + [False])
    middle = float(np.linalg.norm(camera.eye - poses[:, :3].mean(axis=0)))
    far = np.where(grounds[hits.solid], np.clip((hits.distance - middle) / (4.0 * extent), 0.0, 1.0), 0.0)
    colour += far[..., None] * (_SKY - colour)
    colour += (_DARKNESS * _edges(hits) * (1.0 - far))[..., None] * (_LINE - colour)
    picture: Pixels = colour.reshape(height, _SAMPLES, width, _SAMPLES, 3).mean(axis=(1, 3))
    return np.clip(picture, 0.0, 1.0)


def count_seen(solids: Sequence[Solid], poses: Array, camera: Camera, first_body: int, width: int, height: int) -> int:
    """Return how many of ``width * height`` rays meet one of the bodies from `first_body` on."""
    placed = [solid.placed(poses[solid.body]).moved(-camera.eye) for solid in solids]
    hits = _first_hits(placed, camera, camera.rays(width, height).astype(np.float32))
    counted = np.array([solid.body >= first_body for solid in solids] + [False])  # the last stands for -1, the sky
    return int(counted[hits.solid].sum())


def _first_hits(placed: Sequence[Solid], camera: Camera, rays: Pixels) -> Hits:
    height, width = rays.shape[:2]
    distance = np.full((height, width), np.inf, dtype=np.float32)
    index = np.full((height, width), -1, dtype=np.int64)
    normal = np.zeros_like(rays)
    for i, solid in enumerate(placed):
        rows, columns = slice(0, height), slice(0, width)
        if solid.is_half_space:
            # From inside a half-space nothing else could be seen: such a wall is left out.
            if solid.planes[0, 3] >= 0.0:
                continue
        else:
            first_row, last_row, first_column, last_column = camera.window(
                solid.vertices + camera.eye, solid.radius, width, height
            )
            rows, columns = slice(first_row, last_row), slice(first_column, last_column)
        d = rays[rows, columns]
        if d.size == 0:
            continue
        t, n = _enter(solid, np.zeros((1, 3), dtype=np.float32), d.reshape(-1, 3))
        t, n = t.reshape(d.shape[:2]), n.reshape(d.shape)
        nearer = t < distance[rows, columns]
        distance[rows, columns][nearer] = t[nearer]
        index[rows, columns][nearer] = i
        normal[rows, columns][nearer] = n[nearer]
    return Hits(distance, index, normal)


def _enter(solid: Solid, origin: Pixels, d: Pixels) -> tuple[Pixels, Pixels]:
    """Return where rays enter a solid (inf where they miss it) and its normal there, (n,), (n, 3)."""
    radius = np.float32(solid.radius)
    if solid.surface is not None:
        return enter_surface(solid.surface, origin, d)
    if len(solid.planes):
        return _enter_planes(solid.planes.astype(np.float32), radius, origin, d)
    ends = solid.vertices.astype(np.float32)
    t, n = _enter_ball(ends[0], radius, origin, d)
    if len(ends) == 2:
        for t_other, n_other in (_enter_ball(ends[1], radius, origin, d), _enter_tube(ends, radius, origin, d)):
            nearer = t_other < t
            t[nearer], n[nearer] = t_other[nearer], n_other[nearer]
    return t, n


def _enter_planes(planes: Pixels, radius: np.float32, origin: Pixels, d: Pixels) -> tuple[Pixels, Pixels]:
    normals = np.ascontiguousarray(planes[:, :3])
    speed = normals @ d.T
    height = normals @ origin.T - (planes[:, 3:] + radius)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = -height / speed
    t_in = np.where(speed < 0.0, t, -_NEVER)
    # A ray along a plane crosses it nowhere; above the plane it misses the solid.
    t_out = np.where(speed > 0.0, t, np.where((speed == 0.0) & (height > 0.0), -_NEVER, _NEVER)).min(axis=0)
    face = t_in.argmax(axis=0)
    entered = np.take_along_axis(t_in, face[None], axis=0)[0]
    return np.where((entered > 0.0) & (entered < t_out), entered, _NEVER), normals[face]


def _enter_ball(centre: Pixels, radius: np.float32, origin: Pixels, d: Pixels) -> tuple[Pixels, Pixels]:
    o = origin - centre
    b = _dot(o, d)
    nearest = o - b[:, None] * d
    root = np.sqrt(np.maximum(radius * radius - _dot(nearest, nearest), 0.0))
    t = -b - root
    hit = (root > 0.0) & (t > 0.0)
    return np.where(hit, t, _NEVER), (nearest - root[:, None] * d) / radius


def _enter_tube(ends: Pixels, radius: np.float32, origin: Pixels, d: Pixels) -> tuple[Pixels, Pixels]:
    """Enter the side of a cylinder between two points."""
    axis = ends[1] - ends[0]
    length = np.linalg.norm(axis)
    axis = axis / length
    o = origin - ends[0]
    d_across = d - (d @ axis)[:, None] * axis
    o_across = o - (o @ axis)[:, None] * axis
    a = np.maximum(_dot(d_across, d_across), np.float32(1e-12))  # a ray along the axis enters by a cap
    b = _dot(o_across, d_across) / a
    nearest = o_across - b[:, None] * d_across
    root = np.sqrt(np.maximum(radius * radius - _dot(nearest, nearest), 0.0) / a)
    t = -b - root
    along = (o @ axis) + t * (d @ axis)
    hit = (root > 0.0) & (t > 0.0) & (along >= 0.0) & (along <= length)
    return np.where(hit, t, _NEVER), (nearest - root[:, None] * d_across) / radius


def _dot(a: Pixels, b: Pixels) -> Pixels:
    """Return the dot products of rows."""
    dot: Pixels = a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + a[:, 2] * b[:, 2]
    return dot


def _light(point: Pixels, normal: Pixels, placed: Sequence[Solid], lift: float) -> Pixels:
    """Return how bright points are: the sky always shines, the lamp where nothing stands in between."""
    facing = normal @ _LAMP
    toward = np.flatnonzero(facing > 0.0)
    origin = point[toward] + np.float32(lift) * normal[toward]
    # Seen along the light, only points beneath a solid can lie in its shadow.
    across = np.cross(_LAMP, [0.0, 1.0, 0.0]).astype(np.float32)
    across /= np.linalg.norm(across)
    axes = (across, np.cross(_LAMP, across), _LAMP)
    a, b, height = (origin @ axis for axis in axes)
    shadowed = np.zeros(len(toward), dtype=bool)
    for solid in placed:
        if solid.is_half_space:
            continue
        (a_low, b_low, _), (a_high, b_high, top) = _bounds(solid.vertices @ np.transpose(axes), solid.radius)
        candidates = np.flatnonzero((a > a_low) & (a < a_high) & (b > b_low) & (b < b_high))
        candidates = candidates[height[candidates] < top]
        if candidates.size:
            t, _ = _enter(solid, origin[candidates], np.broadcast_to(_LAMP, (candidates.size, 3)))
            shadowed[candidates[np.isfinite(t)]] = True
    lamp = np.maximum(facing, 0.0)
    lamp[toward[shadowed]] = 0.0
    light: Pixels = 0.46 + 0.12 * normal[:, 2] + 0.52 * lamp
    return light


def _bounds(points: Array, radius: float) -> tuple[Array, Array]:
    """Return the corners of the box around points and balls about them."""
    return points.min(axis=0) - radius, points.max(axis=0) + radius


def _pattern(point: Array, solid: Solid, pose: Array) -> Array:
    """Return the two tones of round bodies, by octants of the body frame, so that one sees them turn."""
    if len(solid.planes):
        return np.ones(len(point))
    local = (point - pose[:3]) @ rotation_matrix(pose[3:]) - solid.vertices.mean(axis=0)
    return np.where(np.prod(np.sign(local), axis=1) > 0.0, 1.0, 0.8)


def _ground_colour(point: Array, solid: Solid, extent: float) -> Pixels:
    """Return the ground with a faint grid, spaced by a round number near a tenth of the scene."""
    n = solid.planes[0, :3]
    across = np.cross(n, [1.0, 0.0, 0.0] if abs(n[0]) < 0.7 else [0.0, 1.0, 0.0])
    across /= np.linalg.norm(across)
    along = np.cross(across, n)
    spacing = 10.0 ** np.round(np.log10(extent / 6.0))
    colour = np.broadcast_to(_GROUND, point.shape).copy()
    for axis in (across, along):
        place = point @ axis / spacing
        line = np.abs(place - np.round(place)) < 0.008
        colour[line] *= 0.93
    return colour


def _edges(hits: Hits) -> Array:
    """Return 1 where the solid or its face changes from one sample to the next, else 0."""
    edge = np.zeros(hits.solid.shape)
    all_but_last, all_but_first = slice(None, -1), slice(1, None)
    for here, there in (
        ((all_but_last, slice(None)), (all_but_first, slice(None))),
        ((slice(None), all_but_last), (slice(None), all_but_first)),
    ):
        other = hits.solid[here] != hits.solid[there]
        bent = np.einsum("rci,rci->rc", hits.normal[here], hits.normal[there]) < _SHARP
        edge[here] = np.maximum(edge[here], other | (bent & (hits.solid[here] >= 0)))
    return edge
