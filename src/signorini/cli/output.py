"""Where results go: a directory that is checked before anything is computed, and one JSON document."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from signorini._jit import announce_compilation, is_cold
from signorini.errors import FileError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT = Path("signorini-out")


class Output:
    """A directory that results are written to, and the list of what was written."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.files: list[str] = []
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                pass
        except OSError as error:
            raise FileError(f"output directory {str(directory)!r} cannot be written: {error.strerror}") from error

    def path(self, name: str) -> Path:
        """Return the path of a file in the directory."""
        return self.directory / name

    def add(self, name: str) -> None:
        """List a file that was written."""
        self.files.append(str(self.path(name)))

    def write_text(self, name: str, text: str) -> None:
        """Write and list a text file."""
        self.path(name).write_text(text, encoding="utf-8")
        self.add(name)

    def write_figure(self, name: str, figure: Figure) -> None:
        """Write and list a figure as PNG."""
        figure.savefig(self.path(name), dpi=150)
        self.add(name)


def to_json(document: Any) -> str:
    """Return JSON that any reader takes: numbers that are none, and infinite ones, become null."""
    return json.dumps(_plain(document), indent=1, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy arrays and scalars
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def say(message: str) -> None:
    """Say something in one line, on standard error."""
    print(f"signorini: {message}", file=sys.stderr, flush=True)


def announce_first_run() -> None:
    """Say that a command takes longer where nothing was compiled yet."""
    if is_cold():
        announce_compilation()
