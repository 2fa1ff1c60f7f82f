"""The answer to a question about a matrix or a state that rounding, size or theory may leave open."""

from __future__ import annotations

from signorini._words import Word


class Answer(Word):
    """Yes, no, or why neither; ``str()`` gives the word."""

    NO = 0
    YES = 1
    BORDERLINE = 2
    """Within rounding of the border between yes and no."""
    UNDECIDED = 3
    """Too large for the exact test, and no quick one decides; or outside the theory."""
