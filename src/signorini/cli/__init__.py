"""The command line: ``signorini demo | run | view | audit | reproduce | check | solve``.

Nothing heavy is imported before a command begins, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

from signorini.cli.arguments import parse
from signorini.cli.stopping import Stopping
from signorini.errors import InputError, SceneWarning, SolverFailure
from signorini.io.limits import MOST_LETTERS, clipped

__all__ = ["main"]

BAD_INPUT, FAILED, STOPPED = 2, 1, 128
_WHO = "signorini: "


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0, 1 computation failed or not trusted, 2 bad input, 128 + signal."""
    with Stopping() as stopping:
        try:
            return _command(argv)
        except KeyboardInterrupt as error:
            return _complain(str(error) or "interrupted", STOPPED + stopping.number)


def _command(argv: Sequence[str] | None) -> int:
    try:
        arguments = parse(sys.argv[1:] if argv is None else argv)
        with warnings.catch_warnings():
            warnings.filterwarnings("always", category=SceneWarning)
            warnings.showwarning = _warn
            code: int = arguments.command(arguments)
        return code
    except InputError as error:
        return _complain(str(error), BAD_INPUT)
    except SolverFailure as error:
        return _complain(str(error), FAILED)
    except BrokenPipeError:
        # The reader of our output has gone (`signorini ... | head`): nobody is left to tell.
        sys.stdout = None
        return FAILED
    except MemoryError:
        return _complain("out of memory: the problem is too large for this machine", BAD_INPUT)
    except OSError as error:
        return _complain(f"{error.filename or 'file'}: {error.strerror or error}", BAD_INPUT)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Say a warning in one line."""
    print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)


def _complain(message: str, code: int) -> int:
    """Say in one line what is wrong; what a file is refused for in one of at most 300 letters."""
    most = MOST_LETTERS - len(_WHO) if code == BAD_INPUT else len(message)
    print(_WHO + clipped(message, most), file=sys.stderr)
    return code
