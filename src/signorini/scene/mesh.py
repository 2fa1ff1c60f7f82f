"""Meshes: closed surfaces of triangles as bodies of convex parts.

Contact is exact between the convex parts; the mesh itself gives mass, mass centre and inertia if it encloses a volume.
Nothing is repaired in silence: a surface that is open, crosses itself or has no thickness is refused and the error says
where.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from signorini._arrays import Array, IntArray, checked, checked_number
from signorini.errors import FileError, InputError
from signorini.io import clipped
from signorini.model.shapes import ShapeKind
from signorini.scene.convex import Polytope
from signorini.scene.mass import MassProperties, solid_polyhedron
from signorini.scene.shape import Shape
from signorini.scene.shapes import ConvexHull
from signorini.scene.surface import fault_of, outward, volume_of

FORMATS = (".stl", ".obj", ".ply", ".off")
DECOMPOSE = "decompose"
# A mesh that fills its convex hull up to this fraction is convex: single precision, as in STL files, reaches 1e-7.
_CONVEX = 1e-6
_CONCAVITY = 0.05  # of the decomposition, as its authors measure it: a few per cent of the body's size
_MOST_BYTES = 512 << 20  # of a file
_APART = 0.1  # of the extent, by which parts may stick out of their mesh before a mistake in units is likely


@dataclass(frozen=True, init=False)
class Mesh(Shape):
    """A solid enclosed by triangles, which touches others through convex parts.

    Parameters
    ----------
    file_or_vertices : path or (n, 3) array_like, optional
        A file (STL, OBJ, PLY or OFF, read by `trimesh`, the extra ``mesh``), or vertices [m]. May be left out if
        convex parts are given.
    faces : (m, 3) array_like of int, optional
        Rows of the vertices of each triangle.
    convex_parts : sequence, or ``"decompose"``, optional
        Point sets (k, 3) or pairs (vertices, faces) whose convex hulls together make the body; ``"decompose"``
        approximates the mesh by such parts (`coacd`, the extra ``mesh``). Not needed if the mesh is convex.

    Raises
    ------
    InputError
        If the mesh is not convex and no parts are given, or has no volume, is open or crosses itself.
    """

    vertices: Any
    """(n, 3) or None [m]."""
    faces: Any
    """(m, 3) or None."""
    convex_parts: Any
    """Points of each part, (k, 3) [m]."""
    kind: ClassVar[ShapeKind] = ShapeKind.HULL
    text_words: ClassVar[tuple[str, ...]] = ("file", "convex_parts")

    def __init__(self, file_or_vertices: Any = None, faces: Any = None, convex_parts: Any = None) -> None:
        if isinstance(file_or_vertices, str | os.PathLike):
            if faces is not None:
                raise InputError("mesh: faces are given beside a file, must come from the file alone")
            file_or_vertices, faces = _read(Path(file_or_vertices))
        surface = None
        if file_or_vertices is not None:
            surface = _surface(file_or_vertices, faces)
        elif faces is not None or convex_parts is None:
            raise InputError("mesh: has no vertices, must have a file, vertices with faces, or convex_parts")
        parts, watertight = _parts(surface, convex_parts)
        self._check("vertices", None if surface is None else tuple(map(tuple, surface[0].tolist())))
        self._check("faces", None if surface is None else tuple(map(tuple, surface[1].tolist())))
        self._check("convex_parts", tuple(part.points for part in parts))
        self.__dict__["_pieces"] = parts
        self.__dict__["_enclosed"] = surface if watertight else None

    @classmethod
    def words(cls) -> dict[str, bool]:
        return dict.fromkeys(("file", "vertices", "faces", "convex_parts"), False)

    @classmethod
    def from_words(cls, values: Mapping[str, Any], folder: Path) -> Mesh:
        words = dict(values)
        if "file" in words and "vertices" in words:
            raise InputError("mesh: has file and vertices, must have one of them")
        given = words.pop("vertices", None)
        if "file" in words:
            given = folder / words.pop("file")
        return cls(given, **words)

    def pieces(self) -> tuple[Shape, ...]:
        pieces: tuple[Shape, ...] = self.__dict__["_pieces"]
        return pieces

    def polytope(self) -> Polytope | None:
        """Return the polytope of a convex mesh."""
        if len(self.pieces()) > 1:
            raise InputError(f"mesh: has {len(self.pieces())} convex parts, must be taken part by part")
        return self.pieces()[0].polytope()

    def mass_properties(self, density: float) -> MassProperties:
        checked_number(density, "density", above=0.0)
        enclosed = self.__dict__["_enclosed"]
        if enclosed is not None:
            vertices, triangles = enclosed
            return solid_polyhedron(vertices, map(tuple, triangles.tolist()), density)
        return MassProperties.sum(piece.mass_properties(density) for piece in self.pieces())

    def to_dict(self) -> dict[str, Any]:
        """Return vertices, faces and parts as numbers, whatever file or library they came from."""
        values: dict[str, Any] = {"convex_parts": [list(map(list, part)) for part in self.convex_parts]}
        if self.vertices is not None:
            values |= {"vertices": list(map(list, self.vertices)), "faces": list(map(list, self.faces))}
        return {self.word(): values}


Surface = tuple[Array, IntArray]


def _read(path: Path) -> tuple[Array, IntArray]:
    """Return vertices and triangles of a file."""
    if path.suffix.lower() not in FORMATS:
        raise FileError(f"mesh: file {str(path)!r} ends in {path.suffix!r}, must be one of {', '.join(FORMATS)}")
    try:
        import trimesh
    except ImportError:
        raise InputError(
            f"mesh: file {str(path)!r} needs the package trimesh, must be installed: pip install 'signorini[mesh]'"
        ) from None
    try:
        size = path.stat().st_size
        if size > _MOST_BYTES:
            raise FileError(f"mesh: file {str(path)!r} has {size >> 20} MB, must have at most {_MOST_BYTES >> 20}")
        mesh: Any = trimesh.load(path, force="mesh", process=False)
        return np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"mesh: file {str(path)!r} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # whatever a reader of foreign formats raises
        raise FileError(f"mesh: file {str(path)!r} is not a mesh: {clipped(str(error), 100)}") from error


def _surface(vertices: Any, faces: Any) -> Surface:
    """Return checked vertices, those that coincide made one, and triangles."""
    x = checked(vertices, (None, 3), "mesh: vertices")
    if faces is None:
        raise InputError("mesh: faces are missing, must be rows of three vertices")
    given = checked(faces, (None, 3), "mesh: faces")
    triangles = given.astype(np.int64)
    if len(triangles) == 0 or (triangles != given).any() or triangles.min() < 0 or triangles.max() >= len(x):
        raise InputError(f"mesh: faces must name vertices by whole numbers from 0 to {len(x) - 1}")
    distinct, row = np.unique(x, axis=0, return_inverse=True)
    triangles = row.reshape(-1)[triangles]
    collapsed = (triangles == np.roll(triangles, 1, axis=1)).any(axis=1)
    return distinct, outward(distinct, triangles[~collapsed])


def _parts(surface: Surface | None, given: Any) -> tuple[tuple[ConvexHull, ...], bool]:
    """Return the convex parts and whether the surface encloses a volume."""
    fault = "has no surface" if surface is None else fault_of(*surface)
    if isinstance(given, str):
        if given != DECOMPOSE:
            raise InputError(f"mesh: convex_parts is {given!r}, must be {DECOMPOSE!r} or a sequence of parts")
        if surface is None or fault:
            raise InputError(f"mesh: {fault}, must be a closed surface to be decomposed")
        given = _decomposed(*surface)
    if given is not None:
        parts = tuple(_part(one, f"mesh: convex_parts[{k}]") for k, one in enumerate(_sequence(given)))
        if surface is not None:
            _check_place(surface[0], parts)
        return parts, not fault
    assert surface is not None
    if fault:
        raise InputError(f"mesh: {fault}, must be a closed surface; or give convex_parts")
    hull = ConvexHull(surface[0])
    filled = volume_of(*surface) / (hull.mass_properties(1.0).mass)
    if filled < 1.0 - _CONVEX:
        raise InputError(
            f"mesh: is not convex, fills {100.0 * filled:.4g} % of its hull, must have convex_parts: "
            f"a sequence of parts, or {DECOMPOSE!r}"
        )
    return (hull,), True


def _sequence(given: Any) -> Sequence[Any]:
    parts = list(given) if isinstance(given, list | tuple | np.ndarray) else []
    if not parts:
        raise InputError("mesh: convex_parts must be a sequence of at least one part")
    return parts


def _part(given: Any, what: str) -> ConvexHull:
    """Return the hull of a part given by points, or by vertices and faces."""
    pair = isinstance(given, list | tuple) and len(given) == 2 and np.ndim(given[0]) == 2
    points = checked(given[0] if pair else given, (None, 3), what)
    try:
        hull = ConvexHull(points)
    except InputError as error:
        raise InputError(f"{what}: {str(error).partition(': ')[2]}") from None
    if pair:
        surface = _surface(points, given[1])
        fault = fault_of(*surface)
        if fault:
            raise InputError(f"{what}: {fault}, must be a closed surface; or give its points alone")
        filled = volume_of(*surface) / hull.mass_properties(1.0).mass
        if filled < 1.0 - _CONVEX:
            raise InputError(f"{what}: is not convex, fills {100.0 * filled:.4g} % of its hull, must be convex")
    return hull


def _check_place(vertices: Array, parts: Sequence[ConvexHull]) -> None:
    """Refuse parts that lie elsewhere than the mesh or have another size."""
    points = np.concatenate([np.array(part.points) for part in parts])
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    off = max(np.abs(points.min(axis=0) - low).max(), np.abs(points.max(axis=0) - high).max())
    if off > _APART * float((high - low).max()):
        raise InputError(
            f"mesh: convex_parts reach from {points.min(axis=0).round(6).tolist()} to "
            f"{points.max(axis=0).round(6).tolist()}, must fill the mesh, which reaches from "
            f"{low.round(6).tolist()} to {high.round(6).tolist()}"
        )


def _decomposed(vertices: Array, triangles: IntArray) -> list[Array]:
    """Return the points of convex parts that approximate the mesh, the same at every call."""
    try:
        import coacd
    except ImportError:
        raise InputError(
            "mesh: decomposing needs the package coacd, must be installed: pip install 'signorini[mesh]'; "
            "or give convex_parts"
        ) from None
    coacd.set_log_level("off")
    found = coacd.run_coacd(coacd.Mesh(vertices, triangles), threshold=_CONCAVITY, seed=0, preprocess_mode="off")
    return [np.array(points, dtype=np.float64) for points, _ in found]
