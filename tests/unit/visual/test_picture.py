"""Pictures: rays meet what they should, shadows fall where they should."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.visual import Solid, plot_motion
from signorini.visual.camera import frame
from signorini.visual.raycast import _LAMP, _enter, _light, render

NO_PLANES, REST = np.zeros((0, 4)), np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def at(x: float, y: float, z: float) -> Array:
    return np.array([x, y, z, 1.0, 0.0, 0.0, 0.0])


def ball(radius: float = 1.0, body: int = 0) -> Solid:
    return Solid(body, np.zeros((1, 3)), NO_PLANES, radius)


def capsule() -> Solid:
    return Solid(0, np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]), NO_PLANES, 0.5)


def cube() -> Solid:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    planes = np.array([[*(s * np.eye(3)[k]), 1.0] for k in range(3) for s in (-1, 1)], dtype=float)
    return Solid(0, corners, planes, 0.0)


def ground(body: int = 0) -> Solid:
    return Solid(body, np.zeros((0, 3)), np.array([[0.0, 0.0, 1.0, 0.0]]), 0.0)


def cast(solid: Solid, origin: list[float], direction: list[float]) -> tuple[float, Array]:
    t, n = _enter(solid, np.array([origin], dtype=np.float32), np.array([direction], dtype=np.float32))
    return float(t[0]), n[0].astype(float)


@pytest.mark.parametrize(
    ("solid", "origin", "direction", "distance", "normal"),
    [
        (ball(), [5, 0, 0], [-1, 0, 0], 4.0, [1, 0, 0]),
        (ball(), [5, 0.6, 0], [-1, 0, 0], 4.2, [0.8, 0.6, 0]),
        (capsule(), [5, 0, 0.5], [-1, 0, 0], 4.5, [1, 0, 0]),
        (capsule(), [5, 0, 1.4], [-1, 0, 0], 4.7, [0.6, 0, 0.8]),
        (capsule(), [0, 0, 5], [0, 0, -1], 3.5, [0, 0, 1]),
        (cube(), [5, 0.3, 0.2], [-1, 0, 0], 4.0, [1, 0, 0]),
        (cube(), [0, 0, 5], [0, 0, -1], 4.0, [0, 0, 1]),
        (ground(), [0, 0, 2], [0.6, 0, -0.8], 2.5, [0, 0, 1]),
    ],
)
def test_rays_enter(
    solid: Solid, origin: list[float], direction: list[float], distance: float, normal: list[float]
) -> None:
    t, n = cast(solid, origin, direction)
    assert t == pytest.approx(distance, rel=1e-6)
    assert n == pytest.approx(normal, abs=1e-6)


@pytest.mark.parametrize(
    ("solid", "origin", "direction"),
    [
        (ball(), [5, 1.01, 0], [-1, 0, 0]),
        (ball(), [5, 0, 0], [1, 0, 0]),
        (capsule(), [5, 0, 1.51], [-1, 0, 0]),
        (cube(), [5, 1.01, 0], [-1, 0, 0]),
        (cube(), [5, 0, 0], [1, 0, 0]),
        (cube(), [0, 0, 3], [0.8, 0, -0.6]),  # past the edge: leaves one slab before it enters the other
        (ground(), [0, 0, 2], [1, 0, 0]),
    ],
)
def test_rays_miss(solid: Solid, origin: list[float], direction: list[float]) -> None:
    assert cast(solid, origin, direction)[0] == np.inf


def test_a_ball_throws_its_shadow_along_the_light() -> None:
    """Below a ball at height 3 the ground is dark where the line to the lamp passes the ball, and lit elsewhere."""
    high = ball(0.5).moved(np.array([0.0, 0.0, 3.0]))
    foot = np.array([0.0, 0.0, 3.0]) - 3.0 / float(_LAMP[2]) * _LAMP
    points = np.array([foot + x * np.eye(3)[0] for x in (0.0, 0.4, 0.9)], dtype=np.float32)
    normals = np.tile(np.array([0.0, 0.0, 1.0], dtype=np.float32), (3, 1))
    under, beside, away = _light(points, normals, [ground(), high], 1e-4)
    assert under == beside < 0.75 * away


def test_a_solid_is_placed_by_its_pose() -> None:
    quarter = np.array([1.0, 2.0, 3.0, np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # about z
    placed = cube()._replace(vertices=np.array([[1.0, 0.0, 0.0]])).placed(quarter)
    assert placed.vertices[0] == pytest.approx([1.0, 3.0, 3.0])
    inside = placed.planes[:, :3] @ np.array([1.0, 2.0, 3.0]) - placed.planes[:, 3]
    assert inside == pytest.approx(-np.ones(6))


def test_the_camera_holds_all_points() -> None:
    rng = np.random.default_rng(1)
    points, radii = rng.uniform(-3.0, 5.0, (30, 3)), rng.uniform(0.1, 0.4, 30)
    camera = frame(points, radii, np.array([1.0, -2.0, 1.0]), 1.6)
    seen = camera.seen(points)
    offset = np.abs(seen[:, :2] - camera.centre) + (radii / seen[:, 2])[:, None]
    assert (offset <= np.array(camera.half)).all()
    assert (offset.max(axis=0) / np.array(camera.half)).max() > 0.85, "the scene should fill the picture"


def test_windows_contain_their_balls() -> None:
    """The whole outline of a ball, as it is seen, lies inside of its window."""
    camera = frame(np.array([[-2.0, -2.0, 0.0], [2.0, 2.0, 2.0]]), np.full(2, 0.5), np.array([1.0, -2.0, 1.0]), 1.6)
    rng = np.random.default_rng(2)
    for centre in rng.uniform([-1.5, -1.5, 0.0], [1.5, 1.5, 2.0], (20, 3)):
        surface = rng.normal(size=(4000, 3))
        seen = camera.seen(centre + 0.3 * surface / np.linalg.norm(surface, axis=1)[:, None])
        column = 80.0 * (1.0 + (seen[:, 0] - camera.centre[0]) / camera.half[0])
        row = 50.0 * (1.0 - (seen[:, 1] - camera.centre[1]) / camera.half[1])
        window = camera.window(centre[None], 0.3, 160, 100)
        assert window[0] <= max(row.min(), 0.0)
        assert window[1] >= min(row.max(), 100.0)
        assert window[2] <= max(column.min(), 0.0)
        assert window[3] >= min(column.max(), 160.0)
        assert window[1] - window[0] <= 2.0 * np.ptp(row) + 4.0, "a window should not be much larger than its ball"


def test_the_picture_shows_the_ball_where_it_is() -> None:
    poses = np.array([REST, at(1.5, 0.4, 0.9)])
    camera = frame(np.array([[-2.0, -2.0, 0.0], [2.0, 2.0, 2.0]]), np.full(2, 0.5), np.array([1.0, -2.0, 1.0]), 1.6)
    picture = render(
        [ground(0), ball(0.7, 1)], poses, np.array([[0.5, 0.5, 0.5], [1.0, 0.0, 0.0]]), camera, 160, 100, 4.0
    )
    red = np.argwhere(picture[..., 0] > 1.5 * picture[..., 1])
    x, y, depth = camera.seen(poses[1:, :3])[0]
    middle = [
        50.0 * (1.0 - (y - camera.centre[1]) / camera.half[1]),
        80.0 * (1.0 + (x - camera.centre[0]) / camera.half[0]),
    ]
    assert red.mean(axis=0) + 0.5 == pytest.approx(middle, abs=2.0)
    radius = 80.0 * 0.7 / depth / camera.half[0]
    assert len(red) == pytest.approx(np.pi * radius**2, rel=0.1)


def test_plot_motion_draws_every_moment() -> None:
    solids = [ground(0), ball(0.5, 1), capsule()._replace(body=2), cube()._replace(body=3)]
    pose = np.array([REST, at(0, 0, 1), at(2, 0, 2), at(-3, 0, 1)])
    figure = plot_motion(solids, np.array([0.0, 0.5, 1.0]), np.array([pose, pose, pose]), 1, width=80)
    assert [len(axes.images) for axes in figure.axes] == [1, 1, 1, 0]
    assert np.ptp(np.asarray(figure.axes[0].images[0].get_array())) > 0.4
    assert [axes.texts[0].get_text() for axes in figure.axes[:3]] == ["t = 0.00 s", "t = 0.50 s", "t = 1.00 s"]


def test_plot_motion_in_the_plane() -> None:
    square = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float)
    wall = Solid(0, np.zeros((0, 3)), np.array([[0.0, 1.0, 0.0, -1.0]]), 0.0)
    solids = [wall, ball(0.5, 1), Solid(2, square, NO_PLANES, 0.0), Solid(2, square, NO_PLANES, 0.2)]
    pose = np.array([REST, at(3, 0, 0), REST])
    figure = plot_motion(solids, np.array([0.0]), pose[None], 1, planar=True)
    patches = figure.axes[0].patches
    assert len(patches) == 4
    low, high = (
        np.array(patches[3].get_path().vertices).min(axis=0),
        np.array(patches[3].get_path().vertices).max(axis=0),
    )
    assert low == pytest.approx([-1.2, -1.2], abs=1e-9)
    assert high == pytest.approx([1.2, 1.2], abs=1e-9)
