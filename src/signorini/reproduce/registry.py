"""The examples by name."""

from __future__ import annotations

from collections.abc import Sequence

from signorini.errors import InputError
from signorini.reproduce import s1_instantaneous, s1_joints, s1_sliding_sphere, s2, s3, s4, s5, s5_manipulator
from signorini.reproduce.reproduction import Example

EXAMPLES: tuple[Example, ...] = (
    *s1_sliding_sphere.EXAMPLES,
    *s1_joints.EXAMPLES,
    *s1_instantaneous.EXAMPLES,
    *s2.EXAMPLES,
    *s3.EXAMPLES,
    *s4.EXAMPLES,
    *s5.EXAMPLES,
    *s5_manipulator.EXAMPLES,
)
"""In the order of the papers; each module of a paper's examples adds its own."""


def choose(names: Sequence[str]) -> list[Example]:
    """Return the examples called `names`, all of them for ``["all"]`` or none given."""
    if not names or list(names) == ["all"]:
        return list(EXAMPLES)
    known = {example.name: example for example in EXAMPLES}
    for name in names:
        if name not in known:
            raise InputError(f"example {name!r} is unknown, known are {', '.join([*known, 'all'])}")
    return [known[name] for name in names]
