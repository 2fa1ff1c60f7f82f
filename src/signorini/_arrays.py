"""The array types of the library and the check that arrays pass at the door.

Kernels meet a single kind of array (float64 or int64, C-contiguous, writable), so each compiles once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from signorini.errors import InputError

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def checked(value: ArrayLike, shape: Sequence[int | None], what: str) -> Array:
    """Return `value` as a fresh contiguous float64 array of the given shape.

    Parameters
    ----------
    value : array_like
    shape : sequence of int or None
        Expected shape; None stands for any length.
    what : str
        How an error names the thing, for example ``"body 'ball': position"``.

    Raises
    ------
    InputError
        If `value` is not numeric, not finite or of another shape.
    """
    try:
        array = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} is {value!r}, must be an array of numbers") from error
    if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
        wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"
        raise InputError(f"{what} has shape {array.shape}, must be {wanted}")
    if not np.isfinite(array).all():
        raise InputError(f"{what} is {value!r}, must be finite" if array.size < 10 else f"{what} must be finite")
    return array


def checked_number(
    value: object, what: str, *, above: float | None = None, least: float | None = None, most: float | None = None
) -> float:
    """Return `value` as a float within the bounds (``> above``, ``>= least``, ``<= most``) or raise `InputError`."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} is {value!r}, must be a number") from error
    if not np.isfinite(number):
        raise InputError(f"{what} is {number}, must be finite")
    if above is not None and not number > above:
        raise InputError(f"{what} is {number}, must be > {above:g}")
    if least is not None and not number >= least:
        raise InputError(f"{what} is {number}, must be >= {least:g}")
    if most is not None and not number <= most:
        raise InputError(f"{what} is {number}, must be <= {most:g}")
    return number


LEAST_TOLERANCE, GREATEST_TOLERANCE = 1e-14, 1e-2
"""Residuals that may be asked for: rounding forbids smaller ones, and greater ones leave no digit that counts."""


def checked_tolerance(value: object, what: str) -> float:
    """Return a tolerance of residuals if it lies between 1e-14 and 1e-2, else raise `InputError`."""
    tolerance = checked_number(value, what)
    if not LEAST_TOLERANCE <= tolerance <= GREATEST_TOLERANCE:
        raise InputError(f"{what} is {tolerance:g}, must be from {LEAST_TOLERANCE:g} to {GREATEST_TOLERANCE:g}")
    return tolerance


def padded(x: Array, width: int) -> Array:
    """Return vectors (n, any) with `width` components, the missing ones zero."""
    out = np.zeros((x.shape[0], width))
    out[:, : x.shape[1]] = x
    return out


def checked_choice(value: object, what: str, *known: object) -> None:
    """Raise `InputError` unless `value` is one of those known."""
    if value not in known:
        *most, last = (repr(word) for word in known)
        raise InputError(f"{what} is {value!r}, must be {', '.join(most)} or {last}")


def checked_flag(value: object, what: str) -> bool:
    """Return `value` if it is True or False, else raise `InputError`: "no" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{what} is {value!r}, must be True or False")
    return bool(value)
