"""Where machine code lives, and what reading it takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from signorini import _kernel_cache
from signorini._jit import IS_PLAIN

_FILES = {
    "_jit": "",
    "math/__init__": "",
    "math/kernels": "from signorini.math.numbers import (\n    ONE,\n    TWO,\n)\nfrom signorini.math import words\n",
    "math/numbers": "import signorini.deep\nONE, TWO = 1, 2\n",
    "math/words": "",
    "deep": "",
    "other": "",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of some modules that import each other."""
    folder = tmp_path / "signorini"
    for name, text in _FILES.items():
        file = folder / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(_kernel_cache, "_PACKAGE", folder)
    return folder


def _hash(package: Path) -> str:
    """Return what another process would find."""
    caches = (_kernel_cache._modules, _kernel_cache._read, _kernel_cache._hash_of_sources)
    try:
        for made in caches:
            made.cache_clear()
        return _kernel_cache._hash_of_sources(package / "math" / "kernels.py")
    finally:
        for made in caches:
            made.cache_clear()


@pytest.mark.parametrize("edited", ["math/kernels", "math/numbers", "math/words", "math/__init__", "deep", "_jit"])
def test_an_edit_of_whatever_a_module_imports_moves_its_machine_code(package: Path, edited: str) -> None:
    before = _hash(package)
    with (package / f"{edited}.py").open("a") as file:
        file.write("\nTHREE = 3\n")
    assert _hash(package) != before


def test_an_edit_elsewhere_does_not(package: Path) -> None:
    before = _hash(package)
    (package / "other.py").write_text("THREE = 3\n")
    assert _hash(package) == before


_FIRST_STEP = """
import sys
import signorini as sg
scene = sg.Scene(gravity=(0, 0, -9.81))
scene.add_fixed(sg.HalfSpace())
scene.add_body(sg.Sphere(radius=1.0), mass=1.0, position=(0, 0, 1), velocity=(2, 0, 0))
sg.Simulator(scene, h=0.01).step()
heavy = {"scipy.linalg", "scipy.sparse", "h5py", "matplotlib", "numba.np.arraymath", "signorini.analysis"}
print(sorted(heavy & set(sys.modules)))
"""


@pytest.mark.skipif(IS_PLAIN, reason="Numba's own cache learns first")
@pytest.mark.compiled_only
def test_a_first_step_from_machine_code_loads_neither_scipy_nor_what_numba_could_compile() -> None:
    run = [sys.executable, "-c", _FIRST_STEP]
    subprocess.run(run, capture_output=True, check=True)  # where nothing is compiled yet
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME"])
def test_a_folder_that_cannot_be_written_is_not_used(name: str, tmp_path: Path) -> None:
    """A file stands where the folder should be; machine code goes to a temporary folder instead."""
    (tmp_path / "file").touch()
    words = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    words[name] = str(tmp_path / "file")
    ask = "from signorini._kernel_cache import _cache_root, _writable; print(_cache_root(), _writable(_cache_root()))"
    run = [sys.executable, "-c", ask]
    said = subprocess.run(run, capture_output=True, text=True, check=True, env=words).stdout.split()
    assert not said[0].startswith(str(tmp_path))
    assert said[1] == "True"
