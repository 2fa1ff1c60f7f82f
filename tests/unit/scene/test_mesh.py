"""Meshes: what is refused, mass properties, convex parts, files."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array, IntArray
from signorini.scene import compile_scene
from signorini.scene.surface import fault_of

# A cube with corners at +-1, triangles counter-clockwise seen from outside.
CORNERS = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=float)
QUADS = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
CUBE = np.array([(q[0], q[i], q[i + 1]) for q in QUADS for i in (1, 2)])
# An L: the square [0, 2] x [0, 2] without [1, 2] x [1, 2], one high.
L_OUTLINE = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], dtype=float)
L_PARTS = [
    [(x, y, z) for x in (0.0, 2.0) for y in (0.0, 1.0) for z in (0.0, 1.0)],
    [(x, y, z) for x in (0.0, 1.0) for y in (1.0, 2.0) for z in (0.0, 1.0)],
]


def l_mesh() -> tuple[Array, IntArray]:
    """Return the L as vertices and triangles."""
    n = len(L_OUTLINE)
    x = np.vstack([np.column_stack([L_OUTLINE, np.full(n, z)]) for z in (0.0, 1.0)])
    caps = [(0, 1, 3), (1, 2, 3), (0, 3, 5), (3, 4, 5)]
    faces = [(c, b, a) for a, b, c in caps] + [(a + n, b + n, c + n) for a, b, c in caps]
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, j + n), (i, j + n, i + n)]
    return x, np.array(faces)


def test_convex_mesh_has_the_mass_of_its_box() -> None:
    """A cube of edge 2 as triangles: mass, centre and inertia of the box, whichever way its triangles run."""
    box = sg.Box((2.0, 2.0, 2.0)).mass_properties(700.0)
    for faces in (CUBE, CUBE[:, ::-1]):
        mesh = sg.Mesh(CORNERS + np.array([1.0, 2.0, 3.0]), faces).mass_properties(700.0)
        assert mesh.mass == pytest.approx(box.mass, rel=1e-14)
        np.testing.assert_allclose(mesh.centre, [1.0, 2.0, 3.0], rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(mesh.inertia, box.inertia, rtol=0.0, atol=1e-11)


def test_mass_comes_from_the_mesh_if_it_is_closed() -> None:
    """The parts may overlap or approximate; the volume of the L is 3, its centre 5/6 from the outer sides."""
    mesh = sg.Mesh(*l_mesh(), convex_parts=L_PARTS)
    wide = sg.Mesh(*l_mesh(), convex_parts=[L_PARTS[0], np.array(L_PARTS[1]) * [1.0, 2.0, 1.0] - [0.0, 2.0, 0.0]])
    for one in (mesh, wide):
        own = one.mass_properties(1.0)
        assert own.mass == pytest.approx(3.0, rel=1e-14)
        np.testing.assert_allclose(own.centre, [5.0 / 6.0, 5.0 / 6.0, 0.5], rtol=1e-14)
    parts = sg.Mesh(convex_parts=L_PARTS).mass_properties(1.0)
    np.testing.assert_allclose(parts.inertia, mesh.mass_properties(1.0).inertia, rtol=0.0, atol=1e-14)


def test_parts_touch_and_the_notch_is_empty() -> None:
    """A small ball in the notch of the L is clear of it by what the picture says; a hull would swallow it."""
    scene = sg.Scene()
    scene.add_fixed(sg.Mesh(*l_mesh(), convex_parts=L_PARTS).at((5.0, 0.0, 0.0)))
    scene.add_body(sg.Sphere(0.1), position=(6.3, 1.4, 0.5), name="ball")
    model = compile_scene(scene)
    assert model.shapes.kind.size == 3
    from signorini.geometry import detect

    contacts = detect(model, model.initial_state, np.full(2, 0.5))
    np.testing.assert_allclose(np.sort(contacts.gap), [0.2, 0.3], rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(sorted(contacts.normal.tolist()), [[0, 1, 0], [1, 0, 0]], rtol=0.0, atol=1e-14)


def _pierced() -> tuple[Array, IntArray]:
    """Return two tetrahedra of which one stands in the side of the other."""
    x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
    f = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    return np.vstack([x, x + 0.2]), np.vstack([f, f + 4])


BAD = {
    "is open along 3 edges": (CORNERS, CUBE[1:]),
    "triangles disagree on the outside": (CORNERS, np.vstack([CUBE[1:], CUBE[:1, ::-1]])),
    "has no thickness": (CORNERS * [1.0, 1.0, 0.0] + [0.0, 0.0, 1e-13] * np.sign(CORNERS), CUBE),
    "crosses itself": _pierced(),
    "is not convex, fills 85.71 % of its hull": l_mesh(),
    "faces must name vertices by whole numbers from 0 to 7": (CORNERS, CUBE + 1),
    "faces are missing": (CORNERS, None),
}


@pytest.mark.parametrize("complaint", BAD)
def test_bad_meshes_are_refused_by_name(complaint: str) -> None:
    """The message says what is wrong; nothing is repaired in silence."""
    with pytest.raises(sg.InputError, match=f"mesh: .*{complaint}"):
        sg.Mesh(*BAD[complaint])


def test_touching_shells_do_not_cross() -> None:
    """Two cubes that share the plane of a face do not cross; shifted into each other they do."""
    both = np.vstack([CUBE, CUBE + 8])
    assert fault_of(np.vstack([CORNERS, CORNERS + np.array([2.0, 0.5, 0.5])]), both) == ""
    assert "crosses itself" in fault_of(np.vstack([CORNERS, CORNERS + np.array([1.9, 0.5, 0.5])]), both)


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ([], "at least one part"),
        (3.0, "at least one part"),
        ("voxels", "must be 'decompose'"),
        ([[(0, 0, 0), (1, 0, 0), (0, 1, 0)]], r"convex_parts\[0\]: the points span no volume"),
        ([l_mesh()], r"convex_parts\[0\]: is not convex"),
        ([np.array(L_PARTS[0]) * 1000.0], "must fill the mesh"),
    ],
)
def test_bad_parts_are_refused(parts: object, complaint: str) -> None:
    """Parts must be convex, have a volume and lie where the mesh lies."""
    with pytest.raises(sg.InputError, match=complaint):
        sg.Mesh(*l_mesh(), convex_parts=parts)


def test_saved_mesh_comes_back(tmp_path: Path) -> None:
    """A scene file holds the numbers of a mesh; reading gives an equal shape."""
    scene = sg.Scene()
    mesh = sg.Mesh(*l_mesh(), convex_parts=[((CORNERS + 1.0) * [1.0, 1.0, 0.5], CUBE)])
    scene.add_body(mesh.at((0.1, 0.2, 0.3)), position=(0, 0, 1), name="l")
    scene.save(tmp_path / "l.yaml")
    again = sg.Scene.load(tmp_path / "l.yaml")
    assert again.bodies["l"].shapes == scene.bodies["l"].shapes
    assert again.bodies["l"].mass == scene.bodies["l"].mass


def test_file_lies_beside_the_scene(tmp_path: Path) -> None:
    """``file`` is a path relative to the scene file; vertices of STL triangles that coincide are one."""
    trimesh = pytest.importorskip("trimesh")
    (tmp_path / "parts").mkdir()
    trimesh.Trimesh(CORNERS, CUBE, process=False).export(tmp_path / "parts" / "cube.stl")
    (tmp_path / "cube.yaml").write_text(
        "bodies: [{name: cube, shape: {mesh: {file: parts/cube.stl}}, density: 1.0, position: [0, 0, 0]}]"
    )
    body = sg.Scene.load(tmp_path / "cube.yaml").bodies["cube"]
    assert body.mass == pytest.approx(8.0, rel=1e-14)
    with pytest.raises(sg.FileError, match=r"missing\.stl' cannot be read|missing\.stl' is not a mesh"):
        sg.Mesh(tmp_path / "missing.stl")
    with pytest.raises(sg.FileError, match=r"ends in '\.py'"):
        sg.Mesh("anything.py")
    (tmp_path / "bad.stl").write_text("not a mesh")
    with pytest.raises(sg.InputError, match="mesh: "):
        sg.Mesh(tmp_path / "bad.stl")


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, an error says which package is missing and how to get it."""
    monkeypatch.setitem(sys.modules, "trimesh", None)
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(sg.InputError, match=r"trimesh.*signorini\[mesh\]"):
        sg.Mesh("cube.stl")
    with pytest.raises(sg.InputError, match=r"coacd.*signorini\[mesh\]"):
        sg.Mesh(*l_mesh(), convex_parts="decompose")


def test_decomposed_l_leaves_the_notch_empty() -> None:
    """The decomposition fills the L and not its notch: parts together hold its volume to a few per cent."""
    pytest.importorskip("coacd")
    mesh = sg.Mesh(*l_mesh(), convex_parts="decompose")
    assert len(mesh.convex_parts) >= 2
    volume = sum(piece.mass_properties(1.0).mass for piece in mesh.pieces())
    assert volume == pytest.approx(3.0, rel=0.05)
