"""Files that are damaged or mean: every kind and seed is one, the same on every machine.

A third of the mutants has bytes changed, as disks and networks change them; the others keep to the format and say
something strange in it, as programs and people do.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import yaml

import signorini as sg

Rng = np.random.Generator

SCENES = (
    """
contact: {friction: 0.4, restitution: 0.2}
fixed: [{name: floor, shape: {half_space: {normal: [0, 0, 1]}}}]
bodies:
- {name: box, shape: {box: {size: [1, 0.5, 0.4]}}, mass: 2.0, position: [0, 0, 0.2], velocity: [1, 0, 0]}
- {name: ball, shape: {sphere: {radius: 0.3}}, density: 500.0, position: [0, 0, 0.7], orientation: [1, 0, 0, 0]}
- name: both
  shapes:
  - {capsule: {radius: 0.1, length: 0.5}}
  - {convex_hull: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}, position: [0.1, 0, 0]}
  mass: 1.0
  inertia: [0.1, 0.1, 0.2]
  position: [3, 0, 1]
pairs: [{between: [box, ball], friction: 0.1}]
exclude: [[ball, both]]
forces: [{body: ball, force: [0, 1, 0]}]
simulate: {duration: 0.03, h: 0.01, formulation: {moreau_jean: {}}, tolerance: 1.0e-7}
""",
    """
planar: true
gravity: [0, -9.81]
fixed: [{name: floor, shape: {half_space: {normal: [0, 1]}}}]
bodies:
- {name: disc, shape: {disc: {radius: 0.5}}, mass: 1.0, position: [0, 0.5], orientation: 0.3}
- {name: wedge, shape: {polygon: {points: [[0, 0], [1, 0], [0, 1]]}}, mass: 2.0, position: [2, 0.4]}
contact: {friction: 0.3}
simulate: {duration: 0.03, h: 0.01, formulation: {stewart_trinkle: {directions: 4}}, record: motion}
""",
    """
bodies:
- {name: rod, shape: {box: {size: [1, 0.1, 0.1]}}, mass: 1.0, position: [0.5, 0, 0]}
- {name: end, shape: {sphere: {radius: 0.2}}, mass: 1.0, position: [1.5, 0, 0], velocity: [0, 0, 0]}
joints:
- {name: hinge, kind: revolute, body_b: rod, anchor: [0, 0, 0], axis: [0, 1, 0], limits: [-2, 2], friction: 0.1}
- {name: elbow, kind: spherical, body_a: rod, body_b: end, anchor: [1, 0, 0]}
springs: [{name: spring, body_a: rod, body_b: end, anchor: [[0, 0, 0.5], [0, 0, 0.5]], stiffness: 10.0, damping: 0.1}]
simulate: {duration: 0.03, h: 0.01}
""",
    """
fixed: [{name: floor, shape: {half_space: {}}, layer: {stiffness: 1.0e+5, damping: 10.0, max_deflection: 0.01}}]
bodies:
- {name: ball, shape: {ellipsoid: {semi_axes: [0.1, 0.2, 0.1]}}, mass: 1.0, position: [0, 0, 0.1]}
- {name: part, shape: {mesh: {file: tetrahedron.off}}, mass: 1.0, position: [3, 0, 2]}
simulate: {duration: 0.02, h: 0.01, formulation: quasi_rigid}
""",
)
OLDER = Path(__file__).parents[2] / "tests" / "unit" / "simulation" / "data"
OFF = "OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n"
_STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 7, 10**9, 10**30, -(10**400), 1e-300, 1e-150, 1e150, 1e308, -1e-9, 0.5),
    *(float("nan"), float("inf"), "", "abc", "true", "1_000", "1e5", "box", "../../etc/passwd", "/dev/zero", "é" * 300),
    *([], {}, [[]], [[[1.0]]], [1.0], [1, 2], [1, 2, 3], [0, 0, 0], [1e200, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    *(["a", "b", "c"], {"box": 5}, {"moreau_jean": 5}, {"stewart_trinkle": {"directions": 100000}}, {"a": {"b": []}}),
)


# --- bytes ---------------------------------------------------------------------------


def damaged_bytes(content: bytes, r: Rng) -> bytes:
    """Return the content with bits flipped, or a piece lost, repeated, zeroed or put elsewhere."""
    data = bytearray(content)
    for _ in range(int(r.integers(1, 4))):
        n = max(len(data), 1)
        at, length = int(r.integers(n)), int(min(n, r.integers(1, 1 + 2 ** int(r.integers(1, 12)))))
        match int(r.integers(8)):
            case 0 | 1 | 2 if data:
                data[at] ^= 1 << int(r.integers(8))
            case 3:
                data[at : at + length] = r.integers(0, 256, length, dtype=np.uint8).tobytes()
            case 4:
                data[at : at + length] = bytes(min(length, len(data) - at))
            case 5:
                del data[at:]
            case 6:
                del data[at : at + length]
            case _:
                data[at:at] = data[at : at + length]
    return bytes(data)


# --- trees ---------------------------------------------------------------------------


def _places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(place for key, value in items for place in _places(value, (*path, key)))]


def _deep(r: Rng) -> Any:
    value: Any = 1.0
    for _ in range(int(r.choice([5, 60, 900, 20_000]))):
        value = [value] if r.random() < 0.7 else {"a": value}
    return value


def _changed_leaf(old: Any, r: Rng) -> Any:
    if isinstance(old, bool) or not isinstance(old, int | float):
        return copy.deepcopy(_STRANGE[int(r.integers(len(_STRANGE)))])
    match int(r.integers(5)):
        case 0:
            return -old
        case 1:
            return float(old) * 10.0 ** float(r.integers(-200, 200))
        case 2:
            return float(r.choice([0.0, 1e-12, 1e12, 3.0]))
        case _:
            return copy.deepcopy(_STRANGE[int(r.integers(len(_STRANGE)))])


def strange_tree(tree: Any, r: Rng) -> Any:
    """Return dicts and lists with one to three entries changed, lost, renamed, repeated or put elsewhere."""
    tree = copy.deepcopy(tree)
    for _ in range(int(r.choice([1, 1, 1, 2, 3]))):
        places = [place for place in _places(tree) if place]
        if not places:
            break
        *above, key = places[int(r.integers(len(places)))]
        parent = tree
        for step in above:
            parent = parent[step]
        match int(r.integers(12)):
            case 0:
                del parent[key]
            case 1 if isinstance(parent, dict):
                parent[str(key)[:-1] + "x" if r.random() < 0.9 else "n" * 1_000_000] = parent.pop(key)
            case 2 if isinstance(parent, list):
                parent.extend([copy.deepcopy(parent[key])] * int(r.choice([1, 3, 40])))
            case 3:
                parent[key] = [parent[key]]
            case 4:
                parent[key] = _deep(r) if r.random() < 0.3 else {"a": parent[key]}
            case 5:
                other = tree
                for step in places[int(r.integers(len(places)))]:
                    other = other[step]
                    if r.random() < 0.2:
                        break
                parent[key] = copy.deepcopy(other)
            case _:
                parent[key] = _changed_leaf(parent[key], r)
    return tree


def strange_array(a: Any, r: Rng) -> Any:
    """Return an array of another shape or type, or with other entries."""
    a = np.array(a)
    match int(r.integers(9)):
        case 0:
            return a.ravel()
        case 1:
            return a[..., None]
        case 2:
            return a[:-1] if a.ndim else np.array([a, a])
        case 3:
            return np.zeros((0, *a.shape[1:]), a.dtype) if a.ndim else np.zeros(0)
        case 4:
            return a.astype([np.complex128, np.int8, np.float32, np.bool_][int(r.integers(4))]) if _is_number(a) else a
        case 5:
            return np.array(["a", "b"]) if r.random() < 0.5 else np.array("text")
        case 6 if a.ndim:
            return np.concatenate([a, a])
        case _ if a.size and _is_number(a):
            flat = a.ravel().copy()
            whole = flat.dtype.kind in "iu"
            values = [-1, 2**30, 2**62, -(2**31), 10**6] if whole else [np.nan, np.inf, 1e300, -1e300, 1e-300, -1.0]
            with np.errstate(all="ignore"):
                value = values[int(r.integers(len(values)))]
                flat[int(r.integers(flat.size))] = np.array(value).astype(flat.dtype)
            return flat.reshape(a.shape)
    return np.array(3.0)


def _is_number(a: Any) -> bool:
    return bool(a.dtype.kind in "biufc")


# --- files of HDF5 and zip ---------------------------------------------------------------


def _datasets(group: Any) -> list[str]:
    found: list[str] = []
    group.visit(found.append)
    return sorted(found)


def strange_hdf5(path: Path, r: Rng) -> None:
    """Change one or two things in an HDF5 file: values, shapes, types, links, claims of size, labels."""
    with h5py.File(path, "r+") as file:
        for _ in range(int(r.integers(1, 3))):
            names = _datasets(file)
            if not names:
                return
            name = names[int(r.integers(len(names)))]
            _strange_entry(file, name, r)


def _strange_entry(file: Any, name: str, r: Rng) -> None:
    old = file[name][()] if isinstance(file.get(name), h5py.Dataset) else None
    pick = int(r.integers(14))
    if pick == 0:
        file.attrs["part of"] = "abc"
        return
    del file[name]
    match pick:
        case 1:
            file[name] = h5py.SoftLink("/")
        case 2:
            file[name] = h5py.SoftLink("/nothing")
        case 3:
            file[name] = h5py.ExternalLink("/dev/zero" if r.random() < 0.5 else "other.h5", "/")
        case 4:
            file.create_dataset(name, shape=(10**6, 10**7), dtype="f8", chunks=(10, 10))
        case 5:
            file.create_group(name)
        case 6:
            file.create_dataset(name, data=h5py.Empty("f8"))
        case 7:
            file.create_dataset(name, data="text" if r.random() < 0.5 else "x" * 100_000)
        case 8:
            file[name] = file["/"]
        case 9:
            file.create_dataset(name, data=float(r.choice([0.0, -1.0, 1e300, np.nan])))
        case 10:
            pass
        case 11 if isinstance(old, np.ndarray) and _is_number(old):
            file.create_dataset(name, data=np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]))
        case _:
            if isinstance(old, np.ndarray | np.generic) and _is_number(np.asarray(old)):
                changed = strange_array(old, r)
                file.create_dataset(name, data=changed.tolist() if changed.dtype.kind == "U" else changed)
            else:
                file.create_dataset(name, data=int(r.integers(100)))


def strange_npz(path: Path, r: Rng) -> None:
    """Change one or two fields of an npz file."""
    with np.load(path) as data:
        fields = {name: data[name] for name in data.files}
    for _ in range(int(r.integers(1, 3))):
        name = sorted(fields)[int(r.integers(len(fields)))]
        if r.random() < 0.1 and len(fields) > 1:
            del fields[name]
        else:
            fields[name] = strange_array(fields[name], r)
    with path.open("wb") as file:
        np.savez_compressed(file, **fields)


# --- kinds -------------------------------------------------------------------------------


class Originals:
    """Files that are whole, made once in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tetrahedron.off").write_text(OFF)
        self.scenes = []
        for k, text in enumerate(SCENES):
            path = folder / f"scene{k}.yaml"
            path.write_text(text)
            self.scenes.append(path)
        self.meshes = _meshes(folder)
        self.runs = [self._run(k) for k in (0, 2)]
        self.older = sorted(OLDER.glob("*.h5"))
        self.npz, self.fclib = _problems(folder)

    def _run(self, k: int) -> Path:
        path = self.folder / f"run{k}.h5"
        scene = sg.Scene.load(self.scenes[k])
        sg.simulate(scene, duration=0.04, h=0.01, progress=False, checkpoint=path)
        return path


def _meshes(folder: Path) -> list[Path]:
    import trimesh

    solid: Any = trimesh.creation.box(extents=(1.0, 2.0, 3.0))
    paths = [folder / f"box.{word}" for word in ("stl", "obj", "ply", "off")]
    for path in paths:
        solid.export(path)
    return paths


def _problems(folder: Path) -> tuple[list[Path], list[Path]]:
    W = np.array([[2.0, 0.1, 0.0], [0.1, 1.5, 0.2], [0.0, 0.2, 1.0]])
    W = np.kron(np.array([[1.0, 0.2], [0.2, 1.0]]), W)
    q, mu = np.array([-1.0, 0.3, 0.1, -0.5, 0.0, 0.2]), np.array([0.5, 0.3])
    npz = [folder / name for name in ("friction.npz", "lcp.npz", "mlcp.npz", "sparse.npz")]
    sg.FrictionProblem(W, q, mu).save(npz[0])
    sg.LCP(W, q).save(npz[1])
    sg.MixedLCP(W[:2, :2], W[:2, 2:], W[2:, :2], W[2:, 2:], q[:2], q[2:]).save(npz[2])
    from scipy import sparse

    sg.FrictionProblem(sparse.csr_array(W), q, mu).save(npz[3])
    fclib = []
    for k, form in enumerate(("csc", "csr", "coo")):
        path = folder / f"fclib{k}.hdf5"
        matrix: Any = {"csc": sparse.csc_array, "csr": sparse.csr_array, "coo": sparse.coo_array}[form](W)
        with h5py.File(path, "w") as file:
            group = file.create_group("fclib_local")
            group["spacedim"] = np.array([3], dtype=np.int32)
            group["vectors/q"], group["vectors/mu"] = q, mu
            entries = (matrix.col, matrix.row) if form == "coo" else (matrix.indptr, matrix.indices)
            for key, value in zip("pi", entries, strict=True):
                group[f"W/{key}"] = value.astype(np.int32)
            group["W/x"] = matrix.data
            nz = {"csc": -1, "csr": -2, "coo": matrix.nnz}[form]
            for key, number in (("m", 6), ("n", 6), ("nz", nz), ("nzmax", matrix.nnz)):
                group[f"W/{key}"] = np.array([number], dtype=np.int32)
        fclib.append(path)
    return npz, fclib


def _written(path: Path, original: Path, r: Rng, strange: Callable[[Path, Rng], None]) -> Path:
    shutil.copy(original, path)
    if r.random() < 0.3:
        path.write_bytes(damaged_bytes(path.read_bytes(), r))
    else:
        try:
            strange(path, r)
        except Exception:  # two changes of one file may contradict each other
            path.write_bytes(damaged_bytes(original.read_bytes(), r))
    return path


def _pick(options: list[Path], r: Rng) -> Path:
    return options[int(r.integers(len(options)))]


def _strange_scene(path: Path, r: Rng) -> None:
    path.write_text(_yaml(strange_tree(yaml.safe_load(path.read_text()), r)))


def _yaml(tree: Any) -> str:
    """Return data in the flow style, written without recursion."""
    out: list[str] = []
    stack: list[Any] = [tree]
    while stack:
        value = stack.pop()
        if isinstance(value, _Raw):
            out.append(value)
        elif isinstance(value, dict):
            items: list[Any] = [_Raw("}")]
            for key, item in reversed(value.items()):
                items += [_Raw(", "), item, _Raw(f"{_plain(key)}: ")]
            stack += [*items, _Raw("{")]
        elif isinstance(value, list):
            items = [_Raw("]")]
            for item in reversed(value):
                items += [_Raw(", "), item]
            stack += [*items, _Raw("[")]
        else:
            out.append(_plain(value))
    return "".join(out)


class _Raw(str):
    """Text that is written as it is."""


def _plain(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}.get(repr(value), repr(value))
    if isinstance(value, int):
        return str(value)
    return (
        f"'{value}'" if value in ("true", "1e5") else f"{value}" if value.replace("_", "a").isalnum() else f'"{value}"'
    )


def _mesh(path: Path, r: Rng) -> None:
    path.write_bytes(damaged_bytes(path.read_bytes(), r))


def mutant(kind: str, seed: int, originals: Originals, folder: Path) -> Path:
    """Write the mutant of this kind and seed into `folder`."""
    r = np.random.default_rng([sorted(KINDS).index(kind), seed])
    shutil.copy(originals.folder / "tetrahedron.off", folder)
    match kind:
        case "scene":
            return _written(folder / "scene.yaml", _pick(originals.scenes, r), r, _strange_scene)
        case "older":
            return _written(folder / "run.h5", _pick(originals.older, r), r, strange_hdf5)
        case "repair":
            path = folder / "run.h5"
            path.write_bytes(damaged_bytes(_pick(originals.runs, r).read_bytes(), r))
            return path
        case "trajectory" | "checkpoint":
            return _written(folder / "run.h5", _pick(originals.runs, r), r, strange_hdf5)
        case "npz":
            return _written(folder / "problem.npz", _pick(originals.npz, r), r, strange_npz)
        case "fclib":
            return _written(folder / "problem.hdf5", _pick(originals.fclib, r), r, strange_hdf5)
    original = _pick(originals.meshes, r)
    return _written(folder / original.name, original, r, _mesh)


KINDS = ("scene", "trajectory", "older", "checkpoint", "repair", "npz", "fclib", "mesh")
