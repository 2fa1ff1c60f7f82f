"""Parameter studies: the grid, its order, and independence of chunks and runners."""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.analysis import (
    Axis,
    Rod,
    StabilityMap,
    boundary_layer,
    p_matrix,
    rod_columns,
    scene_columns,
    stability_map,
    study,
)
from signorini.analysis.maps import minor_code
from signorini.errors import InputError


def weighted(parameters: dict[str, Array]) -> dict[str, Array]:
    return {"value": parameters["a"] + 100.0 * parameters["b"], "pair": np.stack([parameters["a"]] * 2, axis=1)}


AXES = (Axis("a", np.array([1.0, 2.0])), Axis("b", np.array([3.0, 4.0, 5.0])))


def test_the_last_axis_varies_fastest() -> None:
    columns = study(weighted, AXES)
    assert columns["value"].tolist() == [[301.0, 401.0, 501.0], [302.0, 402.0, 502.0]]
    assert columns["pair"].shape == (2, 3, 2)


@pytest.mark.parametrize("chunk", [1, 4, 6, 1000])
def test_chunks_do_not_change_the_result(chunk: int) -> None:
    assert np.array_equal(study(weighted, AXES, chunk=chunk)["value"], study(weighted, AXES)["value"])


def test_the_runner_given_does_the_work() -> None:
    """Each chunk passes through it, and the whole grid is never held at once."""
    sizes = []

    def counting(function: Any, chunks: Iterable[Any]) -> Iterable[Any]:
        for chunk in chunks:
            sizes.append(chunk["a"].size)
            yield function(chunk)

    study(weighted, AXES, run=counting, chunk=4)
    assert sizes == [4, 2]


def shuffled(function: Any, chunks: Iterable[Any]) -> list[Any]:
    """Evaluate the last chunk first, as a scheduler might."""
    return [function(chunk) for chunk in reversed(list(chunks))][::-1]


ROD_AXES = Axis.midpoints("u_1", -4, 4, 40), Axis.midpoints("u_2", -4, 4, 30)


def rod_map() -> StabilityMap:
    return stability_map(rod_columns(Rod()), *ROD_AXES)


def test_runners_do_not_change_the_result() -> None:
    """Bit for bit, on other threads and in another order."""
    expected = study(rod_columns(Rod()), ROD_AXES)
    with ThreadPoolExecutor(2) as pool:
        for run in (pool.map, shuffled):
            found = study(rod_columns(Rod()), ROD_AXES, run=run, chunk=70)
            assert all(np.array_equal(found[key], expected[key]) for key in expected)


def test_a_map_says_at_every_point_what_the_single_tests_say() -> None:
    found = rod_map()
    assert found.spectrum.shape == (30, 40)
    for i in range(0, 30, 3):
        for j in range(0, 40, 3):
            D = Rod().matrix(found.x.values[j], found.y.values[i])
            layer = boundary_layer(D)
            assert found.spectrum[i, j] == layer.spectrum
            assert found.critical_damping[i, j] == pytest.approx(layer.critical_damping, rel=1e-9, abs=1e-12)
            assert found.unique[i, j] == bool(p_matrix(D))


def test_the_rod_takes_other_parameters_too() -> None:
    """A map over angle and friction evaluates the rod of each point."""
    x, y = Axis("theta", np.array([1.0, 1.2, 1.4])), Axis("u_1", np.array([0.5, 1.5]))
    found = stability_map(rod_columns(Rod()), x, y)
    for i, u in enumerate(y.values):
        for j, theta in enumerate(x.values):
            assert found.spectrum[i, j] == boundary_layer(Rod(theta=theta).matrix(u, 0.0)).spectrum


def test_bits_of_the_minors() -> None:
    """Bit s - 1 stands for the rows in the binary form of s."""
    D = np.random.default_rng(0).standard_normal((200, 3, 3))
    for matrix, code in zip(D, minor_code(D), strict=True):
        for size in (1, 2, 3):
            for rows in combinations(range(3), size):
                s = sum(1 << i for i in rows)
                assert bool(code >> (s - 1) & 1) == (np.linalg.det(matrix[np.ix_(rows, rows)]) <= 0.0)


def box(lean: float, friction: float, *, height: float) -> sg.Scene:
    """Plank of the given height sliding on its two lower corners, in a plane that leans by `lean`."""
    scene = sg.Scene(planar=True, gravity=(9.81 * np.sin(lean), -9.81 * np.cos(lean)))
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    corners = ((-0.5, -0.5 * height), (0.5, -0.5 * height), (0.5, 0.5 * height), (-0.5, 0.5 * height))
    scene.add_body(sg.Polygon(corners), mass=1.0, position=(0, 0.5 * height), velocity=(1.0, 0), name="box")
    scene.set_contact(friction=friction)
    return scene


def test_maps_of_a_scene() -> None:
    """The box 1 m wide and h high digs in its front corner where d = 1/m + w (w - mu h) / (4 J) < 0, at any slope."""
    h = 3.0
    x, y = Axis("friction", np.array([0.5, 1.2, 1.4, 1.5, 2.0])), Axis("lean", np.array([0.0, 0.2]))
    found = stability_map(scene_columns(partial(box, height=h)), x, y)
    J = (1.0 + h * h) / 12.0
    digs = 1.0 + (1.0 - x.values * h) / (4.0 * J) < 0.0
    front = (found.minors & 0b11) != 0
    assert np.array_equal(front, np.stack([digs, digs]))
    assert 0 < digs.sum() < digs.size


def test_four_hundred_squared_points_in_five_seconds() -> None:
    axes = Axis.midpoints("u_1", -4, 4, 400), Axis.midpoints("u_2", -4, 4, 400)
    began = time.perf_counter()
    stability_map(rod_columns(Rod()), *axes)
    assert time.perf_counter() - began < 5.0


def test_areas_are_stable_only_for_positive_damping() -> None:
    with pytest.raises(InputError, match="damping"):
        rod_map().stable(0.0)


@pytest.mark.parametrize(
    ("axes", "message"),
    [((), "axes"), ((AXES[0], AXES[0]), "different")],
)
def test_bad_axes_are_refused(axes: tuple[Axis, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        study(weighted, axes)


def test_an_axis_without_values_is_refused() -> None:
    with pytest.raises(InputError, match="empty"):
        Axis("a", np.zeros(0))
    with pytest.raises(InputError, match="rising"):
        Axis.midpoints("a", 1.0, 0.0, 3)
