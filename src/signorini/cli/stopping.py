"""Signals that ask a command to end: it ends in order, with what was computed on disk."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any

_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}


class Stopping:
    """Inside, these signals raise KeyboardInterrupt; while one is handled others do not, so that all gets written."""

    def __init__(self) -> None:
        self.number = int(signal.SIGINT)
        """The signal that came last."""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stopping:
        if threading.current_thread() is threading.main_thread():
            for number in (getattr(signal, name) for name in _WORDS if hasattr(signal, name)):
                # What the caller ignores stays ignored (nohup); None is a handler that is not Python's.
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _stop(self, number: int, _: FrameType | None) -> None:
        error = sys.exc_info()[1]
        while error is not None:
            if isinstance(error, KeyboardInterrupt):
                return
            error = error.__context__
        self.number = number
        raise KeyboardInterrupt(_WORDS[signal.Signals(number).name])
