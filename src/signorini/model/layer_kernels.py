"""What layers give way under impulses: the laws of :mod:`~signorini.model.layers` on rows of numbers."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini._jit import bare_kernel, inner_kernel

NONE, LINEAR, HUNT_CROSSLEY = range(3)
"""Laws, in the first column of a row."""
THICKNESS, STIFFNESS, DAMPING, YIELDING = 1, 2, 11, 20
"""Columns: largest normal deflection [m]; K, C and ``(h K + C)^-1``, (3, 3) each by rows. Of Hunt and Crossley's law
the first three of `STIFFNESS` are stiffness, exponent and damping."""
LAW_COLUMNS = 29
_SPECK = 1e-12  # deflection below which the slope of a law that begins without one is taken there [m]
_NEWTON_STEPS = 60


@inner_kernel
def _respond_linear(law: Array, p: Array, before: Array, deflection: Array, slope: Array) -> float:
    """Springs and dampers after Kelvin and Voigt."""
    for i in range(3):
        deflection[i] = 0.0
        for j in range(3):
            slope[i, j] = law[YIELDING + 3 * i + j]
            carried = p[j]
            for k in range(3):
                carried += law[DAMPING + 3 * j + k] * before[k]
            deflection[i] += slope[i, j] * carried
    beyond = deflection[0] - law[THICKNESS]
    if not beyond > 0.0:
        return 0.0
    core = beyond / slope[0, 0]
    for i in range(1, 3):
        deflection[i] -= core * slope[i, 0]
        for j in range(1, 3):
            slope[i, j] -= law[YIELDING + 3 * i] * law[YIELDING + j] / law[YIELDING]
    deflection[0] = law[THICKNESS]
    for i in range(3):
        slope[0, i] = 0.0
        slope[i, 0] = 0.0
    return float(core)


@inner_kernel
def _pressed(p: float, k: float, e: float, c: float, b: float, least: float) -> float:
    """Return the root beyond `least` of ``d^e (k + c (d - b)) = p``, by Newton's method from above."""
    d = max((p / k) ** (1.0 / e), b, least)
    for _ in range(_NEWTON_STEPS):
        slope = e * d ** (e - 1.0) * (k + c * (d - b)) + c * d**e
        step = (d**e * (k + c * (d - b)) - p) / slope
        d = max(d - step, least)
        if abs(step) <= 1e-16 * d:
            break
    return float(d)


@inner_kernel
def _respond_hunt_crossley(law: Array, p: Array, before: Array, h: float, deflection: Array, slope: Array) -> float:
    k, e, c, b = h * law[STIFFNESS], law[STIFFNESS + 1], law[STIFFNESS + 2], before[0]
    least = max(0.0, b - k / c) if c > 0.0 else 0.0  # where a layer ends that nothing presses
    d = _pressed(p[0], k, e, c, b, least) if p[0] > 0.0 else least
    for i in range(3):
        deflection[i] = 0.0
        for j in range(3):
            slope[i, j] = 0.0
    if d > law[THICKNESS]:
        d = law[THICKNESS]
        deflection[0] = d
        return float(p[0] - d**e * (k + c * (d - b)))
    deflection[0] = d
    at = max(d, _SPECK)  # the slope of a relaxed layer is infinite
    slope[0, 0] = 1.0 / (e * at ** (e - 1.0) * (k + c * max(at - b, least - b)) + c * at**e)
    return 0.0


@bare_kernel
def respond(law: Array, p: Array, before: Array, h: float, deflection: Array, slope: Array) -> float:
    """Let the impulse `p` (3,) of `h` seconds act on a layer that was deflected by `before` (3,).

    Fill `deflection` (3,) [m] and `slope` (3, 3), its derivative by the impulse; return the part of the normal impulse
    that the rigid core takes [N s].
    """
    if law[0] == LINEAR:
        return _respond_linear(law, p, before, deflection, slope)
    return _respond_hunt_crossley(law, p, before, h, deflection, slope)


@inner_kernel
def stored(law: Array, deflection: Array, active: bool) -> float:
    """Return the energy in a layer [J]; where tangential deflections are passive they store nothing."""
    if law[0] == HUNT_CROSSLEY:
        e = law[STIFFNESS + 1]
        return float(law[STIFFNESS] * deflection[0] ** (e + 1.0) / (e + 1.0))
    energy = 0.0
    for i in range(3 if active else 1):
        for j in range(3 if active else 1):
            energy += deflection[i] * law[STIFFNESS + 3 * i + j] * deflection[j]
    return 0.5 * energy


@inner_kernel
def elastic_force(law: Array, deflection: Array, i: int) -> float:
    """Return component `i` of the elastic force [N]."""
    if law[0] == HUNT_CROSSLEY:
        return law[STIFFNESS] * deflection[0] ** law[STIFFNESS + 1] if i == 0 else 0.0
    row = STIFFNESS + 3 * i
    return float(law[row] * deflection[0] + law[row + 1] * deflection[1] + law[row + 2] * deflection[2])


def linear_row(stiffness: Array, damping: Array, thickness: float, h: float) -> Array:
    """Return the row of Kelvin's and Voigt's law for steps of `h` seconds, (LAW_COLUMNS,)."""
    row = np.zeros(LAW_COLUMNS)
    row[0], row[THICKNESS] = LINEAR, thickness
    row[STIFFNESS:DAMPING], row[DAMPING:YIELDING] = stiffness.ravel(), damping.ravel()
    row[YIELDING:] = np.linalg.inv(h * stiffness + damping).ravel()
    return row


def hunt_crossley_row(stiffness: float, exponent: float, damping: float, thickness: float) -> Array:
    """Return the row of Hunt and Crossley's law, (LAW_COLUMNS,)."""
    row = np.zeros(LAW_COLUMNS)
    row[0], row[THICKNESS] = HUNT_CROSSLEY, thickness
    row[STIFFNESS : STIFFNESS + 3] = stiffness, exponent, damping
    return row
