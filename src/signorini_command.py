"""Where the command ``signorini`` begins: outside the package, so that an interrupt while it loads is told in one line.

Loading NumPy and the package takes a good part of a second, in which Python would answer an interrupt with the stack
of whatever module is being read.
"""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

INTERRUPTED = 128 + signal.SIGINT


def main() -> int:
    """Load the package and run its command line."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # what the caller ignores stays ignored
        signal.signal(signal.SIGINT, _leave)
    from signorini.cli import main as command

    signal.signal(signal.SIGINT, before)
    return command()


def _leave(number: int, _: FrameType | None) -> NoReturn:
    """End at once: nothing is computed yet, and modules that are read only in part cannot be relied upon."""
    os.write(2, b"signorini: interrupted\n")
    os._exit(INTERRUPTED)
