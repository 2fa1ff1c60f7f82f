from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from signorini.errors import FileError, InputError
from signorini.io import GrowingTree, read_tree, remove_tree, write_tree


def same(a: Any, b: Any) -> bool:
    """Compare types and bits, so that nan equals nan and -0.0 differs from 0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
    if isinstance(a, float | complex):
        return np.array(a).tobytes() == np.array(b).tobytes()
    return bool(a == b)


def there_and_back(tree: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder) / "tree.h5", tree)
        return read_tree(Path(folder) / "tree.h5")


# NUL ends a text in HDF5; such text is refused, see below.
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    hnp.complex_number_dtypes(endianness="?", sizes=(64, 128)),
)
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
values = st.one_of(
    arrays,
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.complex_numbers(),
    texts,
    st.lists(texts, max_size=4),
)
keys = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
trees = st.dictionaries(
    keys, st.recursive(values, lambda inner: st.dictionaries(keys, inner, max_size=3), max_leaves=6), max_size=5
)


@given(trees)
def test_round_trip_is_exact(tree: dict[str, Any]) -> None:
    assert same(there_and_back(tree), tree)


ARRAYS = (np.zeros((0, 3)), np.zeros(0, dtype=np.int64), np.array(-0.0), np.array([True]), np.array([1], np.int8))
OTHERS: tuple[Any, ...] = (
    True,
    7,
    2**64 - 1,
    5e-324,
    -0.0,
    float("nan"),
    "",
    "µ ⊥",
    [],
    ["a", "", "ü"],
    None,
    {},
    {"x": {"y": None}},
)


@pytest.mark.parametrize("value", [*ARRAYS, *OTHERS], ids=repr)
def test_single_values_return_as_they_were(value: Any) -> None:
    assert same(there_and_back({"value": value}), {"value": value})


def test_keys_may_look_like_paths() -> None:
    tree = {"a/b": 1, "a": {"b": 2}, ".": 3, "..": 4, "%2F": 5, "/": 6, " ": 7}
    assert same(there_and_back(tree), tree)


def test_order_of_keys_is_kept() -> None:
    names = [f"body{k}" for k in range(30, 0, -1)]
    assert list(there_and_back(dict.fromkeys(names, 0))) == names


def test_payload_of_nan_is_kept() -> None:
    odd = np.array([0x7FF8_0000_DEAD_BEEF, 0xFFF0_0000_0000_0001], dtype=np.uint64).view(np.float64)
    assert same(there_and_back({"odd": odd}), {"odd": odd})


def test_numpy_scalars_come_back_as_python_numbers() -> None:
    tree = {"a": np.float32(1.5), "b": np.int8(-3), "c": np.bool_(True), "d": np.float64(0.1)}
    assert same(there_and_back(tree), {"a": 1.5, "b": -3, "c": True, "d": 0.1})


def test_strided_arrays_are_written_by_value() -> None:
    x = np.arange(24.0).reshape(4, 6)
    assert same(there_and_back({"x": x[::2, ::-3], "y": x.T}), {"x": x[::2, ::-3].copy(), "y": x.T.copy()})


def test_other_tools_read_the_file(tmp_path: Path) -> None:
    write_tree(tmp_path / "tree.h5", {"time": np.array([0.0, 0.5]), "run": {"names": ["floor", "ball"], "h": 0.5}})
    with h5py.File(tmp_path / "tree.h5") as file:
        assert file["time"][:].tolist() == [0.0, 0.5]
        assert file["run/names"].asstr()[:].tolist() == ["floor", "ball"]
        assert file["run/h"][()] == 0.5


@pytest.mark.parametrize(
    ("tree", "named"),
    [
        ({"a": {"b": object()}}, "/a/b is of type object"),
        ({"a": [1, 2]}, "/a is of type list"),
        ({"a": np.array(["x"])}, "/a is an array of <U1"),
        ({"a": 2**64}, "/a is 18446744073709551616"),
        ({"a": "x\0y"}, "/a is 'x\\x00y'"),
        ({"a": ["\ud800"]}, "/a is '\\ud800'"),
        ({1: 2}, "key 1"),
        ({"": 2}, "key ''"),
    ],
)
def test_what_would_not_return_exactly_is_refused(tmp_path: Path, tree: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError) as caught:
        write_tree(tmp_path / "tree.h5", tree)
    assert str(caught.value).startswith(named)
    assert ", must " in str(caught.value) or ": must " in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kept", [0, 1, 100, 0.5, -1])
def test_truncated_file(tmp_path: Path, kept: float) -> None:
    path = tmp_path / "tree.h5"
    write_tree(path, {"x": np.arange(1000.0), "names": ["a", "b"]})
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data)) if kept == 0.5 else int(kept)])
    told = "truncated, must be a complete HDF5 file|not an HDF5 file|damaged, .*: its checksum is missing"
    with pytest.raises(FileError, match=rf"^{path}: is ({told})$"):
        read_tree(path)


def test_file_that_is_not_hdf5(tmp_path: Path) -> None:
    path = tmp_path / "scene.yaml"
    path.write_text("gravity: [0, 0, -9.81]\n")
    with pytest.raises(FileError, match=f"^{path}: is not an HDF5 file$"):
        read_tree(path)


@pytest.mark.parametrize("place", ["missing.h5", "file/tree.h5", "folder"])
def test_place_that_cannot_be_read(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match=f"^{tmp_path / place}: cannot read: [^\n]+$"):
        read_tree(tmp_path / place)


def test_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "tree.h5"
    with pytest.raises(FileError, match=f"^{path}: cannot write: [^\n]+$"):
        write_tree(path, {"x": 1})


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX resource limits")
def test_full_disk_is_one_line_and_keeps_the_old_file(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk."""
    path = tmp_path / "tree.h5"
    write_tree(path, {"x": 1})
    script = (
        "import resource, signal, sys, numpy as np; from signorini.io import write_tree\n"
        "from signorini.errors import FileError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))\n"
        "try: write_tree(sys.argv[1], {'x': np.zeros(100000)})\n"
        "except FileError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert run.stdout.startswith(f"{path}: cannot write: ")
    assert run.stdout.count("\n") == 1
    assert read_tree(path) == {"x": 1}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    """Kill a process that writes without pause: whatever stands under the name can be read."""
    path = tmp_path / "tree.h5"
    script = (
        "import sys, numpy as np; from signorini.io import write_tree\n"
        "for k in range(10**9): write_tree(sys.argv[1], {'k': k, 'x': np.full(300000, float(k))})\n"
    )
    for delay in (0.0, 0.013, 0.029):
        with subprocess.Popen([sys.executable, "-c", script, str(path)]) as process:
            deadline = time.monotonic() + 60.0
            while not path.exists() and time.monotonic() < deadline:
                time.sleep(0.005)
            time.sleep(delay)
            process.kill()
        tree = read_tree(path)
        assert (tree["x"] == tree["k"]).all()
        path.unlink()


# --- trees that grow ---------------------------------------------------------


def grow(path: Path) -> None:
    tree = GrowingTree(path)
    tree.write({"name": "a", "x": np.arange(2.0), "group": {"y": np.zeros((1, 3)), "fixed": "text"}})
    tree.add({"x": np.array([2.0]), "group": {"y": np.ones((2, 3))}}, {"name": "b"})
    tree.add({"x": np.array([3.0]), "group": {"y": np.ones((0, 3))}}, {"name": "c"})


def test_what_is_added_is_read_as_one_tree(tmp_path: Path) -> None:
    path = tmp_path / "tree.h5"
    grow(path)
    y = np.array([[0.0] * 3, [1.0] * 3, [1.0] * 3])
    assert same(read_tree(path), {"name": "c", "x": np.arange(4.0), "group": {"y": y, "fixed": "text"}})


def test_parts_of_another_tree_do_not_count(tmp_path: Path) -> None:
    """A process killed after it wrote a new tree, and before it removed the old parts, leaves both."""
    path, other = tmp_path / "tree.h5", tmp_path / "other.h5"
    grow(path)
    GrowingTree(other).write({"x": np.zeros(1)})
    other.replace(path)
    assert same(read_tree(path), {"x": np.zeros(1)})


def test_a_whole_tree_takes_the_place_of_all_parts(tmp_path: Path) -> None:
    path, mine = tmp_path / "tree.h5", tmp_path / "tree.h5.0003"
    grow(path)
    mine.write_text("of somebody else")
    write_tree(path, {"x": np.zeros(1)})
    assert sorted(tmp_path.iterdir()) == [path, mine]
    grow(path)
    remove_tree(path)
    assert list(tmp_path.iterdir()) == [mine]


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    path, part = tmp_path / "tree.h5", tmp_path / "tree.h5.0001"
    grow(path)
    part.write_bytes(part.read_bytes()[:1000])
    with pytest.raises(FileError, match=r"tree\.h5\.0001"):
        read_tree(path)


def test_a_file_that_cannot_grow_is_one_error(tmp_path: Path) -> None:
    """As on a full disk: the reason in the words of the system, and none from h5py (errors to pytest)."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, hard))
    try:
        with pytest.raises(FileError) as error:
            write_tree(tmp_path / "tree.h5", {f"x{k}": np.zeros(100) for k in range(100)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(error.value).lower() == f"{tmp_path / 'tree.h5'}: cannot write: file too large".lower()
    assert list(tmp_path.iterdir()) == []
