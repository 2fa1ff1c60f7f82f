"""Exceptions of the library, all derived from :class:`SignoriniError`, and its warning.

A user's mistake raises :class:`InputError` at the door, with one line that names the thing, its value and
what is needed. A numerical failure is data (``Solution.status``); only :func:`signorini.simulate` turns it into
a :class:`SolverFailure`, and only if asked to.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SignoriniError(Exception):
    """Root of all exceptions raised on purpose."""


class InputError(SignoriniError, ValueError):
    """The input is wrong; the message names the thing, its value and what is needed."""


class FileError(InputError):
    """A file cannot be read or written, or does not contain what it should."""


class SolverFailure(SignoriniError, RuntimeError):
    """A step's problem was not solved to the tolerance asked for.

    Attributes
    ----------
    step : int
        Number of the failed step, counted from 0.
    time : float
        Time at the start of that step [s].
    problem : object
        The problem as posed; ``problem.save(path)`` keeps it for study.
    trajectory : object
        What was computed, the failed step included: its last state and its last row tell how it failed.
    """

    def __init__(self, message: str, *, step: int, time: float, problem: object, trajectory: object = None) -> None:
        super().__init__(message)
        self.step = step
        self.time = time
        self.problem = problem
        self.trajectory = trajectory


class SceneWarning(UserWarning):
    """Something in a scene is suspicious; the message names the thing, its value with unit, and what to try."""


def suggestion(word: object, known: Iterable[str]) -> str:
    """Return how a message about an unknown word goes on: with the nearest known word, or with all of them."""
    words = list(known)
    near = difflib.get_close_matches(str(word), words, n=1)
    return f", did you mean {near[0]!r}?" if near else f", must be one of {', '.join(words)}"
