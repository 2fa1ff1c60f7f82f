"""Pictures of rounded polytopes and half-spaces by casting rays through the pixels.

Light comes from one distant lamp and from the sky; what the lamp does not reach lies in shadow. Silhouettes and edges
get a thin line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.visual.camera import Camera
from signorini.visual.solids import Solid, rotation_matrix

Triple = tuple[float, float, float]

_LAMP = (-0.42, -0.50, 0.7572978)  # direction towards it, a unit vector
_SKY = (0.965, 0.972, 0.980)
_GROUND = (0.855, 0.865, 0.875)
_LINE = (0.16, 0.18, 0.21)
_DARKNESS = 0.75  # of the lines
_SHARP = 0.92  # cosine between neighbouring normals below which a line is drawn
_SAMPLES = 2  # rays per pixel along each side of the picture
_LIFT = 1e-4  # of the scene's size: where rays to the lamp begin, above the surface they leave


class Bodies(NamedTuple):
    """Solids in world axes as arrays; solid i owns the rows ``start[i]:start[i + 1]`` of vertices and planes."""

    vertex: Array
    vertex_start: IntArray
    plane: Array
    plane_start: IntArray
    radius: Array
    ball: Array
    """Centre and radius of a ball around each solid, radius inf for half-spaces, (n, 4)."""
    colour: Array
    """(n, 3)"""
    centre: Array
    """Of the pattern on round solids, (n, 3)."""
    axes: Array
    """Rows are the world components of the body's axes, (n, 3, 3)."""


def render(
    solids: Sequence[Solid], poses: Array, colours: Array, camera: Camera, width: int, height: int, extent: float
) -> Array:
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
    bodies = pack(solids, poses, colours)
    view = _view(camera)
    solid, distance, normal = _traced(bodies, camera, _SAMPLES * width, _SAMPLES * height)
    samples = np.empty_like(normal)
    middle = float(np.linalg.norm(camera.eye - poses[:, :3].mean(axis=0)))
    shade(view, bodies, solid, distance, normal, extent, middle, samples)
    picture: Array = samples.reshape(height, _SAMPLES, width, _SAMPLES, 3).mean(axis=(1, 3))
    return np.clip(picture, 0.0, 1.0)


def count_seen(solids: Sequence[Solid], poses: Array, camera: Camera, first_body: int, width: int, height: int) -> int:
    """Return how many of ``width * height`` rays meet one of the bodies from `first_body` on."""
    bodies = pack(solids, poses, np.zeros((len(solids), 3)))
    solid, _, _ = _traced(bodies, camera, width, height)
    counted = np.array([s.body >= first_body for s in solids] + [False])  # the last entry stands for -1, the sky
    return int(counted[solid].sum())


def _view(camera: Camera) -> Array:
    """Return the camera as the kernels take it, (6, 3)."""
    return np.array([camera.eye, camera.right, camera.up, camera.forward, [*camera.centre, 0.0], [*camera.half, 0.0]])


def _traced(bodies: Bodies, camera: Camera, columns: int, rows: int) -> tuple[IntArray, Array, Array]:
    """Return for every ray the solid it meets first (-1 for none), the distance and the normal."""
    solid, distance = np.full((rows, columns), -1), np.full((rows, columns), np.inf)
    normal = np.zeros((rows, columns, 3))
    windows = [_window(bodies, i, camera, columns, rows) for i in range(bodies.radius.size)]
    trace(_view(camera), bodies, np.array(windows, dtype=np.int64), solid, distance, normal)
    return solid, distance, normal


def pack(solids: Sequence[Solid], poses: Array, colours: Array) -> Bodies:
    """Place the solids and lay them out as arrays."""
    placed = [solid.placed(poses[solid.body]) for solid in solids]
    balls = [(np.zeros(3), np.inf) if solid.is_half_space else solid.ball() for solid in placed]
    local = [np.zeros(3) if solid.is_half_space else solid.vertices.mean(axis=0) for solid in placed]
    return Bodies(
        vertex=np.concatenate([solid.vertices for solid in placed]),
        vertex_start=_starts([len(solid.vertices) for solid in placed]),
        plane=np.concatenate([solid.planes for solid in placed]),
        plane_start=_starts([len(solid.planes) for solid in placed]),
        radius=np.array([solid.radius for solid in placed], dtype=float),
        ball=np.array([[*centre, radius] for centre, radius in balls]),
        colour=np.array(colours, dtype=float),
        centre=np.array(local),
        axes=np.array([rotation_matrix(poses[solid.body, 3:]).T for solid in solids]),
    )


def _window(bodies: Bodies, i: int, camera: Camera, width: int, height: int) -> tuple[int, int, int, int]:
    """Return the rows and columns in which a solid may be seen."""
    if np.isfinite(bodies.ball[i, 3]):
        return camera.window(bodies.ball[i, :3], float(bodies.ball[i, 3]), width, height)
    # From inside a half-space nothing else could be seen: such a wall is left out.
    plane = bodies.plane[bodies.plane_start[i]]
    return (0, height, 0, width) if plane[:3] @ camera.eye > plane[3] else (0, 0, 0, 0)


def _starts(counts: list[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


# --- kernels -----------------------------------------------------------------


@kernel
def trace(view: Array, bodies: Bodies, windows: IntArray, solid: IntArray, distance: Array, normal: Array) -> None:
    """Find what the ray through each sample meets first: solid, distance and normal, in place.

    `windows` are the first and last rows and columns in which each solid may be seen, (n, 4).
    """
    rows, columns = solid.shape
    o = (view[0, 0], view[0, 1], view[0, 2])
    for i in range(windows.shape[0]):
        for r in range(windows[i, 0], windows[i, 1]):
            for c in range(windows[i, 2], windows[i, 3]):
                t, n = _enter(bodies, i, o, _ray(view, r, c, rows, columns))
                if t < distance[r, c]:
                    solid[r, c] = i
                    distance[r, c] = t
                    normal[r, c, 0], normal[r, c, 1], normal[r, c, 2] = n


@kernel
def _ray(view: Array, r: int, c: int, rows: int, columns: int) -> Triple:
    """Return the unit direction through a sample."""
    x = view[4, 0] + view[5, 0] * (2.0 * (c + 0.5) / columns - 1.0)
    y = view[4, 1] - view[5, 1] * (2.0 * (r + 0.5) / rows - 1.0)
    a = view[3, 0] + x * view[1, 0] + y * view[2, 0]
    b = view[3, 1] + x * view[1, 1] + y * view[2, 1]
    e = view[3, 2] + x * view[1, 2] + y * view[2, 2]
    length = math.sqrt(a * a + b * b + e * e)
    return (a / length, b / length, e / length)


@kernel
def _height(plane: Array, k: int, x: Triple) -> float:
    """Return how far a point lies above a plane."""
    height: float = plane[k, 0] * x[0] + plane[k, 1] * x[1] + plane[k, 2] * x[2] - plane[k, 3]
    return height


@kernel
def _enter(bodies: Bodies, i: int, o: Triple, d: Triple) -> tuple[float, Triple]:
    """Return where a ray enters solid i (inf if it misses it) and the normal there."""
    radius = bodies.radius[i]
    if bodies.plane_start[i + 1] > bodies.plane_start[i]:
        return _enter_planes(bodies.plane, bodies.plane_start[i], bodies.plane_start[i + 1], radius, o, d)
    first = bodies.vertex_start[i]
    t, n = _enter_ball(bodies.vertex, first, radius, o, d)
    if bodies.vertex_start[i + 1] - first == 2:
        t_end, n_end = _enter_ball(bodies.vertex, first + 1, radius, o, d)
        if t_end < t:
            t, n = t_end, n_end
        t_side, n_side = _enter_tube(bodies.vertex, first, radius, o, d)
        if t_side < t:
            t, n = t_side, n_side
    return t, n


@kernel
def _enter_planes(plane: Array, start: int, stop: int, radius: float, o: Triple, d: Triple) -> tuple[float, Triple]:
    """Enter the intersection of half-spaces."""
    t_in = 0.0
    t_out = math.inf
    face = -1
    for k in range(start, stop):
        speed = plane[k, 0] * d[0] + plane[k, 1] * d[1] + plane[k, 2] * d[2]
        height = _height(plane, k, o) - radius
        if speed < 0.0:
            if -height / speed > t_in:
                t_in = -height / speed
                face = k
        elif speed > 0.0:
            t_out = min(t_out, -height / speed)
        elif height > 0.0:
            t_out = -1.0
    if face < 0 or t_in >= t_out:
        return math.inf, (0.0, 0.0, 0.0)
    return t_in, (plane[face, 0], plane[face, 1], plane[face, 2])


@kernel
def _enter_ball(vertex: Array, k: int, radius: float, o: Triple, d: Triple) -> tuple[float, Triple]:
    """Enter a ball about a vertex."""
    x, y, z = o[0] - vertex[k, 0], o[1] - vertex[k, 1], o[2] - vertex[k, 2]
    b = x * d[0] + y * d[1] + z * d[2]
    x, y, z = x - b * d[0], y - b * d[1], z - b * d[2]  # nearest point of the line, seen from the centre
    square = radius * radius - (x * x + y * y + z * z)
    if square <= 0.0:
        return math.inf, (0.0, 0.0, 0.0)
    root = math.sqrt(square)
    if -b - root <= 0.0:
        return math.inf, (0.0, 0.0, 0.0)
    return -b - root, ((x - root * d[0]) / radius, (y - root * d[1]) / radius, (z - root * d[2]) / radius)


@kernel
def _enter_tube(vertex: Array, k: int, radius: float, o: Triple, d: Triple) -> tuple[float, Triple]:
    """Enter the side of the cylinder between two vertices."""
    a0, a1, a2 = vertex[k + 1, 0] - vertex[k, 0], vertex[k + 1, 1] - vertex[k, 1], vertex[k + 1, 2] - vertex[k, 2]
    length = math.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
    a0, a1, a2 = a0 / length, a1 / length, a2 / length
    x, y, z = o[0] - vertex[k, 0], o[1] - vertex[k, 1], o[2] - vertex[k, 2]
    start = x * a0 + y * a1 + z * a2
    rise = d[0] * a0 + d[1] * a1 + d[2] * a2
    x, y, z = x - start * a0, y - start * a1, z - start * a2
    e0, e1, e2 = d[0] - rise * a0, d[1] - rise * a1, d[2] - rise * a2
    across = e0 * e0 + e1 * e1 + e2 * e2
    if across < 1e-12:  # a ray along the axis enters by a cap
        return math.inf, (0.0, 0.0, 0.0)
    b = (x * e0 + y * e1 + z * e2) / across
    x, y, z = x - b * e0, y - b * e1, z - b * e2
    square = radius * radius - (x * x + y * y + z * z)
    if square <= 0.0:
        return math.inf, (0.0, 0.0, 0.0)
    root = math.sqrt(square / across)
    t = -b - root
    along = start + t * rise
    if t <= 0.0 or along < 0.0 or along > length:
        return math.inf, (0.0, 0.0, 0.0)
    return t, ((x - root * e0) / radius, (y - root * e1) / radius, (z - root * e2) / radius)


@kernel
def shade(
    view: Array,
    bodies: Bodies,
    solid: IntArray,
    distance: Array,
    normal: Array,
    extent: float,
    middle: float,
    samples: Array,
) -> None:
    """Colour each sample, in place: light, shadow, fading ground and lines; `middle` is the distance of the scene."""
    rows, columns = solid.shape
    spacing = 10.0 ** round(math.log10(extent / 6.0))
    for r in range(rows):
        for c in range(columns):
            i = solid[r, c]
            if i < 0:
                samples[r, c, 0], samples[r, c, 1], samples[r, c, 2] = _SKY
            far = 0.0
            if i >= 0:
                d = _ray(view, r, c, rows, columns)
                t = distance[r, c]
                x = (view[0, 0] + t * d[0], view[0, 1] + t * d[1], view[0, 2] + t * d[2])
                n = (normal[r, c, 0], normal[r, c, 1], normal[r, c, 2])
                light = brightness(bodies, x, n, _LIFT * extent)
                ground = bodies.ball[i, 3] == math.inf
                if ground:
                    light *= _grid(x, n, spacing)
                    far = min(1.0, max(0.0, (t - middle) / (4.0 * extent)))
                else:
                    light *= _tone(bodies, i, x)
                for k in range(3):
                    base = _GROUND[k] if ground else bodies.colour[i, k]
                    samples[r, c, k] = light * base + far * (_SKY[k] - light * base)
            if _on_edge(solid, normal, r, c):
                for k in range(3):
                    samples[r, c, k] += _DARKNESS * (1.0 - far) * (_LINE[k] - samples[r, c, k])


@kernel
def brightness(bodies: Bodies, x: Triple, n: Triple, lift: float) -> float:
    """Return how bright a point is: the sky always shines, the lamp where nothing stands in between."""
    sky = 0.46 + 0.12 * n[2]
    facing = n[0] * _LAMP[0] + n[1] * _LAMP[1] + n[2] * _LAMP[2]
    if facing <= 0.0:
        return sky
    start = (x[0] + lift * n[0], x[1] + lift * n[1], x[2] + lift * n[2])
    for i in range(bodies.radius.size):
        reach = bodies.ball[i, 3]
        a, b, e = bodies.ball[i, 0] - start[0], bodies.ball[i, 1] - start[1], bodies.ball[i, 2] - start[2]
        ahead = a * _LAMP[0] + b * _LAMP[1] + e * _LAMP[2]
        # Only bounded solids throw shadows, and only if the line to the lamp passes their ball.
        if ahead < -reach or a * a + b * b + e * e - ahead * ahead > reach * reach or reach == math.inf:
            continue
        if _enter(bodies, i, start, _LAMP)[0] < math.inf:
            return sky
    return sky + 0.52 * facing


@kernel
def _grid(x: Triple, n: Triple, spacing: float) -> float:
    """Return the tone of the ground: a little darker on the lines of a grid."""
    # one axis horizontal, the other up the slope
    a0, a1 = (-n[1], n[0]) if n[0] * n[0] + n[1] * n[1] > 1e-12 else (0.0, 1.0)
    length = math.sqrt(a0 * a0 + a1 * a1)
    a0, a1 = a0 / length, a1 / length
    u = (x[0] * a0 + x[1] * a1) / spacing
    v = (x[0] * -a1 * n[2] + x[1] * a0 * n[2] + x[2] * (a1 * n[0] - a0 * n[1])) / spacing
    on_line = abs(u - round(u)) < 0.008 or abs(v - round(v)) < 0.008
    return 0.93 if on_line else 1.0


@kernel
def _tone(bodies: Bodies, i: int, x: Triple) -> float:
    """Return the two tones of round bodies, by octants of the body frame, so that one sees them turn."""
    if bodies.plane_start[i + 1] > bodies.plane_start[i]:
        return 1.0
    sign = 1.0
    for k in range(3):
        along = 0.0
        for l in range(3):
            along += bodies.axes[i, k, l] * (x[l] - bodies.centre[i, l])
        if along < 0.0:
            sign = -sign
    return 1.0 if sign > 0.0 else 0.8


@kernel
def _on_edge(solid: IntArray, normal: Array, r: int, c: int) -> bool:
    """Tell whether the solid or its face changes towards the next sample to the right or below."""
    for k in range(2):
        s = min(r + k, solid.shape[0] - 1)
        e = min(c + 1 - k, solid.shape[1] - 1)
        if solid[s, e] != solid[r, c]:
            return True
        if solid[r, c] >= 0:
            cosine = 0.0
            for l in range(3):
                cosine += normal[r, c, l] * normal[s, e, l]
            if cosine < _SHARP:
                return True
    return False
