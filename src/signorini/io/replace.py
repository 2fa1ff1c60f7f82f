"""Writing a file so that it is either the old one or the new one, never half of it."""

from __future__ import annotations

import errno
import glob
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from signorini.errors import FileError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Lend a temporary file beside `path`; it takes the name `path` when the block ends without an exception.

    A run that is killed inside the block leaves at `path` what was there before, at worst with a file
    ``.name.*.part`` beside it, which the next write removes.

    Raises
    ------
    FileError
        If the folder is missing or not writable, or if writing fails.
    """
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        if target.is_dir():
            raise IsADirectoryError(None, "is a directory")
        _remove_leftovers(target)
        # Made by open, not by tempfile: the file then gets the permissions that the user's umask asks for.
        part.open("xb").close()
        yield part
        part.replace(target)
    except OSError as error:
        raise FileError(f"{path}: cannot write: {reason(error)}{_space_left(error, target)}") from error
    finally:
        # After a success the name is gone; where the folder itself is wrong there is nothing to remove.
        if part.parent.is_dir():
            part.unlink(missing_ok=True)


def _space_left(error: OSError, target: Path) -> str:
    """Say how much room there is, where that is what is missing."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return ""
    with suppress(OSError):
        return f" ({shutil.disk_usage(target.parent).free / 1e6:.1f} MB are free)"
    return ""


def _remove_leftovers(target: Path) -> None:
    """Remove what processes left that were killed while they wrote `target`, or a file numbered after it."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        writer = re.search(r"\.(\d+)-[0-9a-f]{8}\.part$", left.name)
        if writer is None or not _is_alive(int(writer[1])):
            left.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    if process == os.getpid() or sys.platform == "win32":  # where asking a process would end it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def reason(error: Exception) -> str:
    """Return what went wrong as one line, without the path that the caller names anyway."""
    text = getattr(error, "strerror", None) or str(error)
    said = re.search(r"error message = '([^']+)'", text)  # what the system said, in a line of HDF5 about itself
    if said:
        return said[1]
    return " ".join(str(text).split())
