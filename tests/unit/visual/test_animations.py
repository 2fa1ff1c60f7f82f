"""Runs as single files: pages that play offline, animated models, films."""

from __future__ import annotations

import itertools
import json
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.errors import InputError
from signorini.simulation.seen import film_of
from signorini.visual.pieces import Pieces, quaternion, split, times, turned
from signorini.visual.solids import rotation_matrix
from tests.chromium import Tab, chromium

SLIDER = 'document.querySelector("iframe")?.contentDocument?.querySelector("[role=slider]")'
NODES = 'document.querySelector("iframe").contentWindow.__viserSceneTree.getState()'


def scene() -> sg.Scene:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(friction=0.3)
    shapes = [
        sg.Box((0.3, 0.2, 0.1)),
        sg.Box((0.1, 0.2, 0.4)),
        sg.Sphere(0.15),
        sg.Capsule(0.1, 0.2),
        sg.Cylinder(0.1, 0.2),
        sg.Cone(0.15, 0.3),
        sg.Ellipsoid((0.2, 0.1, 0.15)),
        sg.Superellipsoid((0.2, 0.1, 0.15), 4.0),
        sg.ConvexHull([(0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3)]),
    ]
    for k, shape in enumerate(shapes):
        at = (0.6 * (k % 3), 0.6 * (k // 3), 0.21)
        scene.add_body(shape, density=500.0, position=at, velocity=(1, 0, 0), name=f"body {k}")
    scene.add_joint("revolute", "body 0", "body 1", anchor=(0.3, 0, 0.2), axis=(0, 1, 0), name="hinge")
    return scene


@pytest.fixture(scope="module")
def run() -> sg.Trajectory:
    return sg.simulate(scene(), duration=0.3, h=0.01)


# --- triangles -------------------------------------------------------------------


def of_body(run: sg.Trajectory, body: str) -> list[Pieces]:
    film = film_of(run, np.array([0]))
    b = run.names.index(body)
    return [pieces._replace(body=pieces.body[i], place=pieces.place[i], scale=pieces.scale[i], colour=pieces.colour[i])
            for pieces in film.pieces for i in np.flatnonzero(pieces.body == b)]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "volume"),
    [
        ("body 0", 0.3 * 0.2 * 0.1),
        ("body 1", 0.1 * 0.2 * 0.4),
        ("body 2", 4.0 / 3.0 * np.pi * 0.15**3),
        ("body 3", 4.0 / 3.0 * np.pi * 0.1**3 + np.pi * 0.1**2 * 0.2),
        ("body 4", np.pi * 0.1**2 * 0.2),
        ("body 5", np.pi * 0.15**2 * 0.3 / 3.0),
        ("body 6", 4.0 / 3.0 * np.pi * 0.2 * 0.1 * 0.15),
        ("body 8", 0.3**3 / 6.0),
    ],
)
def test_triangles_enclose_the_volume_of_their_solid(run: sg.Trajectory, body: str, volume: float) -> None:
    """By the divergence theorem, so that a triangle that faces inwards counts against it; facets lie inside."""
    total = 0.0
    for pieces in of_body(run, body):
        vertices, faces = split(pieces.shape)
        x = pieces.scale * vertices
        a, b, c = (x[faces[:, k]] for k in range(3))
        total += float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6.0
    assert 0.95 * volume < total < volume * (1.0 + 1e-9)


def test_bodies_of_one_kind_share_a_shape_whatever_their_size() -> None:
    scene = sg.Scene()
    for k in range(5):
        scene.add_body(sg.Sphere(0.1 + 0.01 * k), position=(k, 0, 0))
        scene.add_body(sg.Box((0.1, 0.1 + 0.02 * k, 0.3)), position=(k, 1, 0))
    film = film_of(sg.simulate(scene, duration=0.01, h=0.01), np.array([0]))
    assert sorted(len(pieces.body) for pieces in film.pieces) == [5, 5, 5]  # a ball has two tones


def test_quaternions_turn_as_matrices_do() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4))
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    x = rng.normal(size=3)
    assert turned(a, x) == pytest.approx(rotation_matrix(a) @ x)
    assert rotation_matrix(times(a, b)) == pytest.approx(rotation_matrix(a) @ rotation_matrix(b))
    assert rotation_matrix(quaternion(rotation_matrix(a))) == pytest.approx(rotation_matrix(a))
    assert quaternion(np.diag([-1.0, -1.0, 1.0])) == pytest.approx([0.0, 0.0, 0.0, 1.0])


# --- forces ----------------------------------------------------------------------


def test_arrows_are_the_certified_impulses_of_the_step(run: sg.Trajectory) -> None:
    """Their sum over a body is its contact force in that step."""
    film = film_of(run, np.array([0, 12, 30]))
    assert len(film.forces[0].point) == 0
    for forces, step in zip(film.forces[1:], (11, 29), strict=True):
        table = run.contacts(step)
        assert len(forces.point) == len(table) > 0
        total = forces.normal.sum(axis=0) + forces.friction.sum(axis=0)
        impulse = (table.normal_impulse[:, None] * table.normal + table.friction_impulse).sum(axis=0)
        assert total == pytest.approx(impulse / 0.01, rel=1e-9)
        assert forces.slips.tolist() == [str(mode) == "slip" for mode in table.mode]
    assert film_of(sg.simulate(scene(), duration=0.01, h=0.01, record="motion"), np.array([1])).forces == []


# --- glTF --------------------------------------------------------------------------


def parts(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    magic, version, size = struct.unpack_from("<4sII", data)
    assert (magic, version, size) == (b"glTF", 2, len(data))
    length, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON"
    document: dict[str, Any] = json.loads(data[20 : 20 + length])
    return document, data[28 + length :]


def numbers(document: dict[str, Any], binary: bytes, accessor: int) -> Array:
    about = document["accessors"][accessor]
    view = document["bufferViews"][about["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[about["type"]]
    flat = np.frombuffer(binary, np.float32, about["count"] * width, view["byteOffset"])
    return flat.reshape(about["count"], width).astype(float)


def test_a_model_moves_as_the_run_does(run: sg.Trajectory, tmp_path: Path) -> None:
    run.animate(tmp_path / "run.glb", rate=1000.0, speed=1.0)
    document, binary = parts(tmp_path / "run.glb")
    (animation,) = document["animations"]
    found = {}
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        name = document["nodes"][channel["target"]["node"]]["name"]
        found[name, channel["target"]["path"]] = sampler
    time = numbers(document, binary, found["body 2", "translation"]["input"])
    assert time[:, 0] == pytest.approx(run.time, abs=1e-6)
    x = numbers(document, binary, found["body 2", "translation"]["output"])
    assert x == pytest.approx(run.centre("body 2"), abs=1e-6)
    turn = numbers(document, binary, found["body 2", "rotation"]["output"])
    along = np.abs(np.einsum("ij,ij->i", turn[:, [3, 0, 1, 2]], run.orientation("body 2")))
    assert along == pytest.approx(np.ones(31), abs=1e-6)
    assert not any(name == "floor" for name, _ in found)
    run.animate(tmp_path / "usual.glb")
    run.save(tmp_path / "saved.glb")
    assert (tmp_path / "saved.glb").read_bytes() == (tmp_path / "usual.glb").read_bytes()


_STRANGER = """
import sys
sys.modules["signorini"] = None  # as on a machine without it: whoever imports it fails
import trimesh
scene = trimesh.load(sys.argv[1])
print(len(scene.geometry), *(round(float(x), 4) for x in scene.bounds.reshape(-1)))
"""


def test_another_reader_opens_the_model(run: sg.Trajectory, tmp_path: Path) -> None:
    """By trimesh, in a process without this library: bodies where they are at the start, z up turned to y up."""
    run.animate(tmp_path / "run.glb")
    command = [sys.executable, "-c", _STRANGER, str(tmp_path / "run.glb")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    count, *bounds = map(float, found.stdout.split())
    assert count >= 9
    low_y, high_y = bounds[1], bounds[4]
    assert low_y == pytest.approx(0.0, abs=1e-3)  # the floor
    assert high_y == pytest.approx(0.21 + 0.3, abs=1e-3)  # the corner of the hull


# --- films -------------------------------------------------------------------------


def test_a_gif_shows_as_many_pictures_as_the_rate_asks_for(tmp_path: Path) -> None:
    from PIL import Image

    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.2), mass=1.0, position=(0, 0, 1))
    run = sg.simulate(scene, duration=0.5, h=0.01)
    run.animate(tmp_path / "run.gif", speed=1.0, rate=10.0, width=64)
    film: Any
    with Image.open(tmp_path / "run.gif") as film:
        assert (film.size, film.n_frames) == ((64, 40), 6)
        assert film.info["duration"] == 100
        first = np.asarray(film.convert("L"), dtype=float)
        film.seek(5)
        last = np.asarray(film.convert("L"), dtype=float)
    rows = np.arange(40)[:, None]
    dark = [((rows * (image < 200)).sum() / (image < 200).sum()) for image in (first, last)]
    assert dark[1] > dark[0] + 5, "the ball falls"


def test_a_film_has_its_length(tmp_path: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg (the extra 'video') is not among the tests'")
    scene = sg.Scene(planar=True)
    scene.add_body(sg.Disc(0.2), mass=1.0, position=(0, 1))
    sg.simulate(scene, duration=0.5, h=0.01).animate(tmp_path / "run.mp4", speed=0.5, rate=10.0, width=64)
    assert ffmpeg.count_frames_and_secs(str(tmp_path / "run.mp4")) == (11, pytest.approx(1.1, abs=0.1))
    assert [path.name for path in tmp_path.iterdir()] == ["run.mp4"]


def test_other_endings_are_refused(run: sg.Trajectory, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must end in"):
        run.animate(tmp_path / "run.avi")
    assert list(tmp_path.iterdir()) == []


# --- pages ---------------------------------------------------------------------------


def test_a_page_keeps_to_its_size(run: sg.Trajectory, tmp_path: Path) -> None:
    """1 MB, 40 bytes for a body in a picture and 80 for a contact."""
    pytest.importorskip("viser", reason="viser (the extra 'view') is not among the extras of the tests")
    run.animate(tmp_path / "run.html", rate=100.0, speed=1.0)
    bodies, contacts = 9 * 31, run.contact_log.gap.size
    assert (tmp_path / "run.html").stat().st_size <= 1e6 + 40 * bodies + 80 * contacts


@pytest.fixture(scope="module")
def tab(run: sg.Trajectory, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with chromium() as tab:
        path = tmp_path_factory.mktemp("page") / "run.html"
        run.animate(path, speed=0.01)  # so that it does not begin anew meanwhile, which shows everything
        tab.open(path.as_uri())
        tab.wait(f'Number({SLIDER}?.getAttribute("aria-valuenow")) > 0.3')
        tab.wait(f'"/contacts/normal" in {NODES}')
        yield tab


def _is_later(before: float, look: list[float]) -> bool:
    return look[0] > before + 0.01


def test_play_advances_the_time_and_the_curves_follow(tab: Tab) -> None:
    look = """[document.getElementById("clock").textContent.split(" ")[2],
               document.querySelector("line.now").getAttribute("x1")].map(Number)"""
    looks = [tab.ask(look)]
    for _ in range(3):
        looks.append(tab.wait(look, partial(_is_later, looks[-1][0])))
    for (t, x), (later, further) in itertools.pairwise(looks):
        assert (further - x) / (later - t) == pytest.approx((320.0 - 46.0) / 0.3, rel=0.1)


def test_arrows_switch_off_and_on(tab: Tab) -> None:
    shown = f'{NODES}["/contacts/normal"].visibility ?? true'
    box = 'document.querySelector(`[data-node="/contacts/normal"]`)'
    assert tab.wait(shown)
    tab.ask(f"{box}.click()")
    tab.wait(shown, lambda value: value is False, seconds=10)
    tab.ask(f"{box}.click()")
    tab.wait(shown, seconds=10)


def test_nothing_comes_from_outside_and_nothing_goes_wrong(tab: Tab) -> None:
    assert tab.errors == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:", "blob:", "about:"))] == []
    assert len(tab.requests) > 0


def test_a_page_plays_inside_of_a_notebook(run: sg.Trajectory, tmp_path: Path) -> None:
    """As the output of a cell, in a frame of its own."""
    with chromium() as tab:
        (tmp_path / "cell.html").write_text(f"<!doctype html><body>{run.show()._repr_html_()}", encoding="utf-8")
        tab.open((tmp_path / "cell.html").as_uri())
        inner = SLIDER.replace("document.", 'document.querySelector("iframe")?.contentDocument?.', 1)
        tab.wait(f'Number({inner}?.getAttribute("aria-valuenow")) > 0.1')
        assert tab.errors == []
