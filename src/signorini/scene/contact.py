"""Laws of contact as the user writes them, checked at the door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from signorini._arrays import checked, checked_number
from signorini.errors import InputError


@dataclass(frozen=True, slots=True)
class ContactData:
    """The law of one pair of bodies, or of all pairs."""

    friction: float = 0.0
    restitution: float = 0.0
    torsional: float = 0.0
    rolling: float = 0.0
    ellipsoid: tuple[float, float, float] | None = None


def make_contact(
    what: str,
    *,
    planar: bool,
    friction: float,
    restitution: float,
    torsional: float,
    rolling: float,
    ellipsoid: ArrayLike | None,
) -> ContactData:
    """Check the words of a law of contact."""
    data = ContactData(
        friction=checked_number(friction, f"{what}: friction", least=0.0),
        restitution=checked_number(restitution, f"{what}: restitution", least=0.0, most=1.0),
        torsional=checked_number(torsional, f"{what}: torsional", least=0.0),
        rolling=checked_number(rolling, f"{what}: rolling", least=0.0),
        ellipsoid=None if ellipsoid is None else _half_axes(ellipsoid, f"{what}: ellipsoid", planar=planar),
    )
    if data.ellipsoid is not None and data.torsional > 0.0:
        raise InputError(f"{what}: torsional is {data.torsional:g}, must be 0 with an ellipsoid, which has e_r")
    if planar and data.torsional > 0.0:
        raise InputError(f"{what}: torsional is {data.torsional:g}, must be 0 in a planar scene")
    return data


def _half_axes(value: ArrayLike, what: str, *, planar: bool) -> tuple[float, float, float]:
    e = checked(value, (3,), what)
    if planar or e.min() <= 0.0:
        raise InputError(f"{what} is {e.tolist()}, must be three positive half axes, and none in a planar scene")
    return (float(e[0]), float(e[1]), float(e[2]))


def words(data: ContactData) -> Mapping[str, Any]:
    """Return the contact data that differ from their defaults, and friction always."""
    default = ContactData()
    return {
        key: list(value) if isinstance(value := getattr(data, key), tuple) else value
        for key in data.__slots__
        if key == "friction" or getattr(data, key) != getattr(default, key)
    }
