"""Numbers with names."""

from __future__ import annotations

from enum import IntEnum


class Word(IntEnum):
    """A closed set of words: kernels and files know the number, ``str()`` gives the word."""

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")
