"""Writing a file so that it is either the old one or the new one, never half of it."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from signorini.errors import FileError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Lend a temporary file beside `path`; it takes the name `path` when the block ends without an exception.

    A run that is killed inside the block leaves at `path` what was there before, at worst with a file
    ``.name.*.part`` beside it.

    Raises
    ------
    FileError
        If the folder is missing or not writable, or if writing fails.
    """
    target = Path(path)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        if target.is_dir():
            raise IsADirectoryError(None, "is a directory")
        # Made by open, not by tempfile: the file then gets the permissions that the user's umask asks for.
        part.open("xb").close()
        yield part
        part.replace(target)
    except OSError as error:
        raise FileError(f"{path}: cannot write: {reason(error)}") from error
    finally:
        # After a success the name is gone; where the folder itself is wrong there is nothing to remove.
        if part.parent.is_dir():
            part.unlink(missing_ok=True)


def reason(error: Exception) -> str:
    """Return what went wrong as one line, without the path that the caller names anyway."""
    text = getattr(error, "strerror", None) or str(error)
    said = re.search(r"error message = '([^']+)'", text)  # what the system said, in a line of HDF5 about itself
    if said:
        return said[1]
    return " ".join(str(text).split())
