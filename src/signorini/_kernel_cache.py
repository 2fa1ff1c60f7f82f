"""Machine code on disk: where it lives, and how it is read.

Numba notices an edit only in the file of the function that it cached: a caller keeps the old machine code of a callee
edited in another file. Here the machine code of a module lives in a folder named by a hash of that module and of every
module of the library that it imports, directly or not, so that a stale kernel is impossible. A second start takes 1 %
of the CPU time of a cold one; were it read as Numba reads, 5 % (``benchmarks/bench_compiler.py``, two stages).
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import sys
import tempfile
import time
import zlib
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numba
from numba.core import caching
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime.nrt import rtsys

from signorini._inner import Kept

_PACKAGE = Path(__file__).parent
_FROM = re.compile(r"\nfrom (signorini[\w.]*) import (\([^)]*\)|[^\n]+)")
_PLAIN = re.compile(r"\nimport (signorini[\w.]*)")
_FORGET_AFTER = 60 * 86400.0  # seconds without use after which machine code of other versions is deleted


# --- the hash of a module --------------------------------------------------------


@cache
def _modules() -> dict[str, Path]:
    """Return the files of the library by the names of their modules."""
    names = ((path.relative_to(_PACKAGE.parent).with_suffix("").parts, path) for path in _PACKAGE.rglob("*.py"))
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for parts, path in names}


@cache
def _read(path: Path) -> tuple[bytes, frozenset[Path]]:
    """Return the digest of a file, and the files of the library that it names in its imports."""
    content, files = path.read_bytes(), _modules()
    text = "\n" + content.decode()
    named = set(_PLAIN.findall(text))
    for package, names in _FROM.findall(text):
        named.update((package, *(f"{package}.{name}" for name in re.findall(r"\w+", names))))
    return hashlib.sha256(content).digest(), frozenset(files[name] for name in named if name in files)


@cache
def _hash_of_sources(path: Path) -> str:
    """Hash the module at `path` with everything it imports from the library."""
    digests: dict[Path, bytes] = {}
    pending = [path, _PACKAGE / "_jit.py"]
    while pending:
        file = pending.pop()
        if file not in digests:
            digests[file], imported = _read(file)
            pending.extend(imported)
    whole = hashlib.sha256(numba.__version__.encode())
    for file in sorted(digests):
        whole.update(digests[file])
    return whole.hexdigest()[:20]


# --- folders -----------------------------------------------------------------------


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def _cache_root() -> Path:
    """Where machine code is kept: ``NUMBA_CACHE_DIR`` if set, else the user's cache folder, else a temporary one."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        root = Path(chosen) / "signorini"
    else:
        home = Path(os.path.expanduser("~"))  # Path.home() raises where there is none
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA", home))
        elif sys.platform == "darwin":
            base = home / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME", home / ".cache"))
        root = base / "signorini" / "kernels"
    return root if _writable(root) or root.is_dir() else _elsewhere()


@cache
def _elsewhere() -> Path:
    """Return a temporary root, for what a root that cannot be written lacks."""
    return Path(tempfile.mkdtemp(prefix="signorini-"))


@cache
def _folder(name: str) -> Path:
    """Return the folder of this name, marked as used; delete what was not used for long."""
    root = _cache_root()
    folder = root / name
    if folder.exists():
        with suppress(OSError):  # it may be read-only
            os.utime(folder)
        return folder
    if not _writable(root):
        folder = _elsewhere() / name
        folder.mkdir(exist_ok=True)
        return folder
    oldest = time.time() - _FORGET_AFTER
    for other in root.iterdir() if root.exists() else ():
        with suppress(FileNotFoundError):  # another process may be faster
            if other.stat().st_mtime < oldest:
                shutil.rmtree(other, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


_names: set[str] = set()  # of the folders of all modules that were imported


def has_none() -> bool:
    """Tell whether there is no machine code at all for the modules that were imported."""
    return not any(next((_cache_root() / name).glob("*/*.nbi"), None) for name in _names)


# --- reading -------------------------------------------------------------------------


# The name of earlier versions of Numba has an underscore.
_Provided: Any = getattr(caching, "UserProvidedCacheLocator", None) or cast(Any, caching)._UserProvidedCacheLocator


class _Place(_Provided):  # type: ignore[misc]
    """The folder of a kernel, which need not be writable."""

    def ensure_cache_path(self) -> None:
        with suppress(OSError):
            cast(Any, super()).ensure_cache_path()


class _Here(Kept):
    _locator_classes = [_Place]  # noqa: RUF012


class _Checked(IndexDataCacheFile):
    """The files of a kernel, with a checksum: machine code that is damaged would not raise but run."""

    def _save_data(self, name: str, data: Any) -> None:
        content = pickle.dumps(data, protocol=-1)
        cast(Any, super())._save_data(name, (zlib.crc32(content), content))

    def _load_data(self, name: str) -> Any:
        checksum, content = cast(Any, super())._load_data(name)
        if zlib.crc32(content) != checksum:
            raise EOFError("checksum differs")
        return pickle.loads(content)


@cache
def _tell_damage(folder: str) -> None:
    """Say once for a folder that machine code is damaged."""
    print(f"signorini: machine code in {folder} is damaged and is compiled again", file=sys.stderr, flush=True)


class _Disk(FunctionCache):
    """Numba's cache of a kernel, read before Numba learns all that it can compile: 85 % less of a second start."""

    _impl_class = _Here

    def __init__(self, function: FunctionType) -> None:
        cast(Any, super()).__init__(function)
        self._cache_file: Any
        self._cache_file.__class__ = _Checked

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return a kernel compiled for arguments of these types, None if there is none."""
        cast(Any, rtsys).initialize(context)  # all of Numba that machine code calls
        try:
            with cast(Any, self)._guard_against_spurious_io_errors():
                return cast(Any, self)._load_overload(signature, context)
        except Exception:  # whatever unpickling raises on damaged bytes
            _tell_damage(str(_cache_root()))
            with suppress(OSError):
                cast(Any, self).flush()
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write a kernel, where that is possible: a disk may be full or read-only."""
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            cast(Any, super()).save_overload(signature, compiled)


class KernelCache(NullCache):
    """The cache of a kernel, opened when it is first asked for: most are taken in by others, and never are."""

    is_by_address = False
    """Whether the kernel is called by its address, so that its machine code is to be kept."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._name = _hash_of_sources(Path(function.__code__.co_filename))
        _names.add(self._name)

    @cached_property
    def _disk(self) -> Any:
        # The folder is handed to Numba only here, so that a user's own kernels keep their own cache.
        config: Any = numba.config
        with global_compiler_lock:
            before = config.CACHE_DIR
            config.CACHE_DIR = str(_folder(self._name))
            try:
                return cast(Any, _Disk)(self._function)
            finally:
                config.CACHE_DIR = before

    @property
    def cache_path(self) -> Any:
        """The folder of the kernel."""
        return self._disk.cache_path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Read it for arguments of these types."""
        return self._disk.load_overload(sig, target_context)

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Write it."""
        if self.is_by_address:
            cres.library.get_pointer_to_function(cres.fndesc.llvm_func_name)
        self._disk.save_overload(sig, cres)

    def flush(self) -> None:
        """Forget it."""
        self._disk.flush()
