"""Names of bodies and joints: new ones are unique, others are known."""

from __future__ import annotations

from collections.abc import Mapping

from signorini.errors import InputError
from signorini.io import MOST_NAME, clipped, short
from signorini.scene.body import Body, Fixed
from signorini.scene.flexible import FlexibleBody

AnyBody = str | Body | Fixed | FlexibleBody
"""A body, or its name; points of flexible bodies have names only."""


def new_name(name: str | None, stem: str, *taken: Mapping[str, object], what: str = "name") -> str:
    """Return `name` if it is free, for None one that is made of `stem` and a number."""
    if name is None:
        count = sum(map(len, taken)) + 1
        while any(f"{stem}{count}" in known for known in taken):
            count += 1
        return f"{stem}{count}"
    if not isinstance(name, str) or not name:
        raise InputError(f"name is {short(name)}, must be a string that is not empty")
    if len(name) > MOST_NAME:
        raise InputError(f"name {short(name)} has {len(name)} letters, must have at most {MOST_NAME}")
    if any(name in known for known in taken):
        raise InputError(f"{what} {name!r} is already taken, must be unique")
    return name


def name_of(body: AnyBody, *known: Mapping[str, object]) -> str:
    """Return the name of a body, which must be one of those known."""
    name = body.name if isinstance(body, Body | Fixed | FlexibleBody) else body
    if not isinstance(name, str) or not any(name in some for some in known):
        names = ", ".join(repr(one) for some in known for one in some)
        raise InputError(f"no body is called {short(name)}; there are {clipped(names, 150) or 'none yet'}")
    return name


def pair_of(pair: tuple[AnyBody, AnyBody], *known: Mapping[str, object]) -> tuple[str, str]:
    """Return the names of two different bodies in their order."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError(f"between is {pair!r}, must be a pair of names")
    a, b = sorted(name_of(body, *known) for body in pair)
    if a == b:
        raise InputError(f"between is ({a!r}, {b!r}), must be two different bodies")
    return a, b


def joined_names(
    body_a: AnyBody | None,
    body_b: AnyBody | None,
    what: str,
    fixed: Mapping[str, object],
    *moving: Mapping[str, object],
) -> tuple[str | None, str]:
    """Return the names of two bodies that may be joined, the world being None."""
    a, b = (None if body is None else name_of(body, fixed, *moving) for body in (body_a, body_b))
    if b is None:
        raise InputError(f"{what}: body_b is None, must be a body; the world comes first, as body_a")
    if a == b:
        raise InputError(f"{what}: joins {a!r} to itself, must be two different bodies")
    if not any(name in some for some in moving for name in (a, b)):
        raise InputError(f"{what}: joins {a!r} and {b!r}, at least one must be a body that can move")
    return a, b
